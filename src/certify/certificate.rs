//! The certificate as data.

use serde::Serialize;

use super::check::Check;
use super::inputs::Inputs;
use super::machine::Machine;
use super::run::{Run, Verdict};

/// What was certified, on what, by which runs. As JSON, its fields are those of
/// `docs/certify.md`.
#[derive(Clone, Debug, Serialize)]
pub struct Certificate {
    /// `"hardstand.certificate.v2"`.
    pub schema: &'static str,
    /// All runs are equal, and all logs replay.
    pub certified: bool,
    /// Version of Hardstand.
    pub hardstand: String,
    /// When the reference was run, RFC 3339, UTC.
    pub date: String,
    /// What was simulated.
    pub scenario: Scene,
    /// The controller.
    pub controller: Controller,
    /// The machine.
    pub machine: Machine,
    /// What decided the runs besides the plant.
    pub inputs: Inputs,
    /// The comparison with the certificate that was repeated, if one was.
    pub check: Option<Check>,
    /// All runs.
    pub runs: Vec<Run>,
    /// The runs from a saved state, compared with the reference.
    pub snapshot: Option<Snapshot>,
    /// Remarks.
    pub notes: Vec<Note>,
}

/// A remark on a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Note {
    /// The plant stopped itself in the reference.
    PlantFailure {
        /// In this tick.
        tick: u64,
    },
    /// A controller is advisory: no tick waits for it.
    Advisory,
    /// A controller joined after the first tick.
    JoinedLate,
    /// The order of Python's sets was fixed by a variable: without it, runs may differ.
    HashOrderFixed,
}

/// What was simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Scene {
    /// Its file.
    pub file: String,
    /// Keys that were set on the command line.
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

/// The controller of a certificate.
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
    /// started again has lost the memory of the first one.
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
