//! Is a run a function of its inputs? The closed loop of a daemon and a controller is run again
//! and again, each time disturbed in another way, and all digests have to be the same.
//!
//! In lockstep nothing that wall time does may reach the robot: neither the pace, nor a debugger,
//! nor other programs. Where runs differ all the same, one of the two has a secret input, and the
//! logs tell which: if the same states were answered by another command, it is the controller.

mod attribution;
mod certificate;
mod machine;
mod page;
mod perturbation;
mod plan;
mod run;

pub use attribution::{Difference, Lease, LogSummary, attribute, listen};
pub use certificate::{Certificate, Controller, Scene, Snapshot};
pub use machine::Machine;
pub use page::page;
pub use perturbation::Stop;
pub use plan::{Perturbation, Task, plan, wall_s};
pub use run::{Bench, FinishedRun, Run, Verdict};

/// The names of the files of a certificate.
pub const JSON_FILE: &str = "certificate.json";
/// The page.
pub const PAGE_FILE: &str = "certificate.html";
