//! Is a run a function of its inputs? The closed loop of a daemon and a controller is run again
//! and again, each time disturbed in another way, and all digests have to be the same.
//!
//! In lockstep nothing that wall time does may reach the robot: neither the pace, nor a debugger,
//! nor other programs. Where runs differ all the same, one of the two has a secret input, and the
//! logs tell which: if the same states were answered by another command, it is the controller.

mod certificate;
mod judge;
mod machine;
mod page;
mod plan;
mod run;
mod trouble;

pub use certificate::{Certificate, Controller, Scene, Snapshot};
pub use judge::{Difference, Lease, Told, blame, listen};
pub use machine::Machine;
pub use page::page;
pub use plan::{Task, Trouble, plan, wall_s};
pub use run::{Bench, Gone, Run, Verdict};
pub use trouble::Stop;

/// The names of the files of a certificate.
pub const JSON_FILE: &str = "certificate.json";
/// The page.
pub const PAGE_FILE: &str = "certificate.html";
