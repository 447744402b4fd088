//! The log: written while the plant runs, read back and replayed.
//!
//! A log is an MCAP file that Foxglove, PlotJuggler, `ros2 bag` and the `mcap` tools open.
//! Attachments hold the robot (`robot.urdf`) and the complete scenario (`scenario.toml`); the
//! channels are `hardstand/tick` (what was applied, and the digest), `hardstand/state` (the same
//! bytes as on the bus), `hardstand/keyframe` (the complete state before a tick), and the topics of
//! ROS 2.

mod batches;
mod chunk_parser;
mod fork;
mod index;
mod player;
mod reader;
mod recorder;
mod recording;
mod records;
mod recover;
mod replay;
mod ros2;
mod run;
mod segments;
mod state_file;
mod storage;
mod tick_view;
mod writer;

pub(crate) use run::input_of;

pub use fork::{Forked, fork, saved_state};
pub use index::{Part, RunIndex};
pub use player::Player;
pub use reader::{LogReader, LogRecord, RunInfo};
pub use recorder::Recorder;
pub use recording::{RecorderStats, Recording};
pub use recover::{Recovered, recover};
pub use replay::{Difference, ReplayReport, replay};
pub use ros2::RosChannels;
pub use segments::{Gap, RunReport, replay_run, replay_until};
pub use state_file::{read_state, write_state};
pub use storage::{Disk, LogFile, Storage};
pub use tick_view::{Look, TickId, TickView};
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

/// Name of the metadata at the end of a file after which the run goes on in another one.
const NEXT_NOTE: &str = "hardstand-next";
/// Its keys: that file, its run number and its first tick.
const NEXT_SEGMENT: &str = "next_segment";
const NEXT_TICK: &str = "next_tick";
const NEXT_RUN_ID: &str = "next_run_id";

/// The file in which a run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextSegment {
    /// Its name, in the same folder.
    pub file: String,
    /// Its run number: a run that was reset goes on as the next one.
    pub run_id: u32,
    /// Its first tick: ticks were lost if that is not the one after the last of this file.
    pub first_tick: u64,
}

/// The complete state before `tick`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyframe {
    /// Run number.
    pub run_id: u32,
    /// The tick that this state is before.
    pub tick: u64,
    /// The state, see [`State::walk`](hardstand_physics::plant::State::walk); the last word is the digest.
    pub words: Vec<u64>,
}
