//! Our robot beside a real one: recorded commands drive the simulation, the error of each joint
//! is measured, and parameters of the scenario are fitted to the log.
//!
//! A replay needs neither daemon nor bus: [`Playback`] steps the plant in process. Replays are
//! independent of one another and run side by side; results do not depend on the number of
//! threads.

mod accuracy;
mod commands;
mod far;
mod fit;
mod hidden;
mod intervals;
mod jackknife;
mod least_squares;

mod observer;
mod parallel;
mod parameter;
mod playback;
mod replica;
mod result;

pub use accuracy::{Accuracy, JointAccuracy};
pub use fit::{FitSettings, Job, calibrate};
pub use least_squares::{Outcome, Problem, Solution, solve};
pub use observer::Observer;
pub use parameter::{Parameter, apply, parse_list};
pub use playback::{Playback, Trace};
pub use result::{Calibration, Estimate, Finding, overlay};
