//! Tests whether a run is a function of its inputs: runs the closed loop of a daemon and a
//! controller several times, each time perturbed in another way, and compares all digests.
//!
//! In lockstep nothing that depends on wall time may reach the robot: neither the pace, nor a
//! debugger, nor other programs. If runs differ all the same, the logs show the cause: if the same
//! states were answered by another command, it is the controller.

mod attribution;
mod certificate;
mod check;
mod inputs;
mod machine;
mod own_keys;
mod perturbation;
mod plan;
mod run;
mod signature;

pub use attribution::{
    Attribution, Difference, Lease, LogSummary, Reason, ReplayProblem, StateDifference, attribute,
    summarize,
};
pub use certificate::{Certificate, Controller, Note, Scene, Snapshot};
pub use check::{Check, Claim};
pub(crate) use inputs::named_files;
pub use inputs::{HashedFile, InputDifference, Inputs, sets_hash_order};
pub use machine::Machine;
pub use own_keys::own_key;
pub use perturbation::Stop;
pub use plan::{Perturbation, STOPPED_S, Task, plan, wall_s};
pub use run::{Bench, FinishedRun, Problem, Run, Verdict};
pub use signature::{sign, signature_file, signing_key, verify};

/// The form of a certificate.
pub const SCHEMA: &str = "hardstand.certificate.v2";

/// The names of the files of a certificate.
pub const JSON_FILE: &str = "certificate.json";
/// The page.
pub const PAGE_FILE: &str = "certificate.html";
