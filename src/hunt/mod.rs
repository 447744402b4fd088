//! Hunts: looks for a case in which a condition holds, among all that the section `hunt` of a
//! scenario describes, and shrinks it to what is needed.
//!
//! Cases are run as those of a [campaign](crate::campaign). Each step of a hunt depends on the
//! seed and on outcomes alone, so a hunt takes the same way on every machine, with any number of
//! cases at a time; one that was interrupted goes on.

mod bracket;
mod draw;
mod judge;
mod keep;
mod pushes;
mod reader;
mod search;
mod shrink;
mod space;
mod template;

pub use judge::{Judge, Judged, Kind};
pub use keep::{Catch, campaign_text};
pub use pushes::{PushLimit, PushProgress, Pushes, push_limits};
pub use search::{Limits, Progress, search};
pub use shrink::{Edge, Shrunk, shrink};
pub use space::{Candidate, Space};
