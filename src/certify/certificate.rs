//! The certificate as data.

use serde::Serialize;

use super::machine::Machine;
use super::run::{Run, Verdict};

/// What was certified, on what, by which runs. As JSON, its fields are those of
/// `docs/certify.md`.
#[derive(Clone, Debug, Serialize)]
pub struct Certificate {
    /// `"hardstand.certificate.v1"`.
    pub schema: &'static str,
    /// All runs are equal, and all logs replay.
    pub certified: bool,
    /// Version of Hardstand.
    pub hardstand: String,
    /// When the reference was run, RFC 3339, UTC.
    pub date: String,
    /// What was simulated.
    pub scenario: Scene,
    /// What commanded.
    pub controller: Controller,
    /// Where.
    pub machine: Machine,
    /// All runs.
    pub runs: Vec<Run>,
    /// What came of going on from a saved state, beside the two runs being equal.
    pub snapshot: Option<Snapshot>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// What was simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Scene {
    /// Its file.
    pub file: String,
    /// Keys that were set otherwise.
    pub set: Vec<String>,
    /// The robot's name.
    pub robot: String,
    /// Hash of robot and scenario as far as they decide the physics, 16 hex digits.
    pub physics_hash: String,
    /// Hash of names, order and period, 16 hex digits.
    pub layout_hash: String,
    /// Length of a tick, ns.
    pub period_ns: u64,
    /// Ticks of a run.
    pub ticks: u64,
    /// The same in simulated time, s.
    pub duration_s: f64,
    /// `"lockstep"`.
    pub mode: &'static str,
}

/// What commanded.
#[derive(Clone, Debug, Serialize)]
pub struct Controller {
    /// Its command.
    pub command: Vec<String>,
    /// How often controllers joined in the reference.
    pub joined: usize,
}

/// The runs from a saved state, beside the reference.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Snapshot {
    /// The state that they began with has this number.
    pub tick: u64,
    /// They are also equal to the rest of the reference. They need not be: a controller that was
    /// started anew has forgotten what the first one knew.
    pub equals_reference: bool,
}

impl Certificate {
    /// The runs that differ or failed.
    pub fn bad(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| {
            !run.replays || matches!(run.verdict, Verdict::Different | Verdict::Failed)
        })
    }
}
