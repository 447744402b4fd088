//! What a replay reports.

use std::path::PathBuf;

use serde::Serialize;

use hardstand_log::{NextSegment, TickId};

/// The first difference between log and replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Ticks done when it showed.
    pub tick: u64,
    /// The quantity that differs first, with both values.
    pub quantity: String,
}

/// Result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// Ticks that were run again.
    pub ticks: u64,
    /// Digests that were equal.
    pub equal: u64,
    /// Tick of the first record.
    pub first_tick: u64,
    /// Digest before it.
    pub first_digest: u64,
    /// Digest after the last tick.
    pub digest: u64,
    /// The first difference, if any; the replay ends there.
    pub difference: Option<Difference>,
    /// The tick that the observer was looking for; the replay ends there.
    pub seen: Option<TickId>,
    /// Why the log ended early, if it did.
    pub damage: Option<String>,
    /// The file in which the run goes on, if it does.
    pub next_segment: Option<NextSegment>,
}

impl ReplayReport {
    /// True if nothing that follows in the log can change the report.
    pub(super) const fn is_settled(&self) -> bool {
        self.difference.is_some() || self.seen.is_some()
    }
}

/// Ticks that are in no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first that is missing.
    pub from_tick: u64,
    /// The first that is there again.
    pub to_tick: u64,
}

/// Result of the replay of all files of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunReport {
    /// Of all files together; the last one's damage.
    pub whole: ReplayReport,
    /// The files that were replayed.
    pub files: Vec<PathBuf>,
    /// Ticks that were lost between them.
    pub gaps: Vec<Gap>,
}
