//! The log: written while the plant runs, read back and replayed.
//!
//! A log is an MCAP file that Foxglove, PlotJuggler and the `mcap` tools open. Attachments hold the
//! robot (`robot.urdf`) and the complete scenario (`scenario.toml`); the channels are
//! `hardstand/tick` (what was applied, and the digest), `hardstand/state` (the same bytes as on the
//! bus) and `hardstand/keyframe` (the complete state before a tick).

mod batches;
mod reader;
mod recorder;
mod replay;
mod run;
mod writer;

pub use reader::{LogReader, LogRecord, RunInfo};
pub use recorder::{Recorder, RecorderStats};
pub use replay::{Difference, ReplayReport, replay};
pub use writer::LogWriter;

use serde::{Deserialize, Serialize};

/// Name of the attachment with the robot.
pub const ROBOT_ATTACHMENT: &str = "robot.urdf";
/// Name of the attachment with the scenario.
pub const SCENARIO_ATTACHMENT: &str = "scenario.toml";
/// Topic of what was applied.
pub const TICK_TOPIC: &str = "hardstand/tick";
/// Topic of the states.
pub const STATE_TOPIC: &str = "hardstand/state";
/// Topic of the keyframes.
pub const KEYFRAME_TOPIC: &str = "hardstand/keyframe";

/// Key of the metadata `hardstand-gap`: the file in which the run goes on after lost ticks.
pub(crate) const NEXT_SEGMENT: &str = "next_segment";

/// The complete state before `tick`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyframe {
    /// Run number.
    pub epoch: u32,
    /// The tick that this state is before.
    pub tick: u64,
    /// The state, see [`State::walk`](crate::plant::State::walk); the last word is the digest.
    pub words: Vec<u64>,
}
