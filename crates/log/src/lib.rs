//! Reads and writes logs: one record per tick of what was applied, and of the state after it.
//!
//! A log is an MCAP file that Foxglove, PlotJuggler, `ros2 bag` and the `mcap` tools open.
//! Attachments hold the robot (`robot.urdf`) and the complete scenario (`scenario.toml`); the
//! channels are `hardstand/tick` (what was applied, and the digest), `hardstand/state` (the same
//! bytes as on the bus), `hardstand/keyframe` (the complete state before a tick), `hardstand/chain`
//! (checksums over all bytes, link by link), and the side channels that the writer is given, for
//! instance the topics of ROS 2.

mod chain;
mod chain_reader;
mod chunk_parser;
#[cfg(unix)]
mod disk;
mod envelope;
#[cfg(unix)]
mod head;
mod index;
mod reader;
mod readings;
mod records;
mod recover;
#[cfg(unix)]
mod replace;
mod run_info;
mod run_writer;
mod segments;
mod side;
mod stamp;
mod storage;
mod verify;
mod writer;

#[cfg(unix)]
pub use disk::Disk;
pub use index::{RunIndex, Segment, TickId};
pub use reader::{LogReader, LogRecord};
pub use readings::{DRIVES_TOPIC, ReadingChannels, SENSORS_TOPIC};
pub use recover::{Recovered, recover, recover_into};
#[cfg(unix)]
pub use replace::refuse_inputs;
pub use run_info::{RunInfo, new_recording_id};
pub use run_writer::{LogLimits, RunWriter, WrittenLog};
pub use segments::NextSegment;
pub use side::{SideChannel, SideMessages};
pub use stamp::Stamp;
pub use storage::{LogFile, Storage};
pub use verify::{LogFault, Verdict, Verified, verify};
pub use writer::LogWriter;

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
/// Topic of the links of the chain: checksums over all bytes of the log.
pub const CHAIN_TOPIC: &str = "hardstand/chain";

/// Name of the metadata at the end of a file after which the log goes on in another one.
const NEXT_NOTE: &str = "hardstand-next";
/// Its keys: that file, its run number and its first tick.
const NEXT_SEGMENT: &str = "next_segment";
const NEXT_TICK: &str = "next_tick";
const NEXT_RUN_ID: &str = "next_run_id";
