//! The sections of a scenario that do not affect the physics: real time and recorder.

use std::path::PathBuf;

use super::realtime::{OverrunPolicy, RealtimeSettings};

use super::section::Section;
use hardstand_log::LogLimits;

/// Settings of the recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSettings {
    /// Log file; empty: no log.
    pub file: String,
    /// Ticks between two keyframes.
    pub keyframe_every_ticks: u64,
    /// How large the log may become.
    pub limits: LogLimits,
    /// The log also has the messages of section `ros2`.
    pub ros2: bool,
}

impl RecordSettings {
    /// The log file, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        (!self.file.is_empty()).then(|| PathBuf::from(&self.file))
    }
}

/// Whether the daemon's process gives up what it does not need after its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// No.
    Off,
    /// As far as the kernel can.
    On,
    /// Completely, or it does not start.
    Required,
}

pub(super) fn sandbox(root: &Section<'_>) -> Sandbox {
    let s = root.section("security");
    let words = [("off", Sandbox::Off), ("on", Sandbox::On), ("required", Sandbox::Required)];
    let sandbox = s.choice("sandbox", &words).unwrap_or(Sandbox::On);
    s.finish();
    sandbox
}

pub(super) fn realtime(root: &Section<'_>) -> (RealtimeSettings, OverrunPolicy) {
    let s = root.section("realtime");
    let core = s.integer("core", -1, 1023);
    let ticks_max = s.count("catch_up_ticks_max", 1, 1000);
    let policies = [
        ("slip", OverrunPolicy::Slip),
        ("catch_up", OverrunPolicy::CatchUp { ticks_max }),
        ("stop", OverrunPolicy::Stop),
    ];
    let settings = RealtimeSettings {
        priority: s.count("priority", 1, 98) as u8,
        core: usize::try_from(core).ok(),
        lock_memory: s.bool("lock_memory"),
        required: s.bool("required"),
        spin_ns: s.count("spin_us", 0, 1000) * 1000,
    };
    let overrun = s.choice("overrun", &policies).unwrap_or(OverrunPolicy::Slip);
    s.finish();
    (settings, overrun)
}

pub(super) fn record(root: &Section<'_>) -> RecordSettings {
    let s = root.section("record");
    let settings = RecordSettings {
        file: s.text("file").into(),
        keyframe_every_ticks: s.count("keyframe_every_ticks", 1, 1_000_000),
        limits: LogLimits {
            segment_bytes_max: s.count("segment_mib", 1, 1_000_000) << 20,
            files_max: s.count("files_max", 1, 1_000_000) as usize,
            bytes_max: s.count("total_mib", 1, 1_000_000_000) << 20,
        },
        ros2: s.bool("ros2"),
    };
    s.finish();
    settings
}
