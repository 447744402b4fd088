//! What the log holds of a tick.

use serde::{Deserialize, Serialize};

use crate::{
    Authority, ContactsReading, DrivesReading, Event, JointCommand, PlantFailure, SensorsReading,
    StateReading, Verdict,
};

/// A command that was a candidate in a tick, and the verdict on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateRecord {
    /// Session.
    pub session: u64,
    /// Sequence number.
    pub seq: u64,
    /// Tick of the state that it answers.
    pub answers_tick: u64,
    /// Tick at which it applies; 0 for at once.
    pub applies_tick: u64,
    /// Number of its set-points.
    pub size: u32,
    /// Accepted, proving or rejected.
    pub verdict: Verdict,
}

/// What was applied in a tick, and the digest after it: enough to run the tick again. The fields
/// after `missed_deadlines` are no part of the payload: they have messages of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogTick {
    /// Run id.
    pub run_id: u32,
    /// Tick that was run: the state before it has this number.
    pub tick: u64,
    /// All commands that were candidates in the tick, in their order.
    pub candidates: Vec<CandidateRecord>,
    /// Set-points of every session's last accepted command, in the order of `candidates`.
    pub joints: Vec<JointCommand>,
    /// Events that were applied.
    pub events: Vec<Event>,
    /// What the drives obeyed.
    pub authority: Authority,
    /// Why the plant failed in the tick, if it did; the digest is then the one before the tick.
    pub failure: Option<PlantFailure>,
    /// Digest after the tick.
    pub digest: u64,
    /// Wall deadlines missed before the tick.
    pub missed_deadlines: u64,
    /// State after the tick.
    #[serde(skip)]
    pub state: StateReading,
    /// Contacts after the tick, in a record that has room for them.
    #[serde(skip)]
    pub contacts: Option<ContactsReading>,
    /// What drives show after the tick; without joints if all are ideal.
    #[serde(skip)]
    pub drives: DrivesReading,
    /// The truth beside sensors with errors; empty if there are none.
    #[serde(skip)]
    pub sensors: SensorsReading,
    /// What the drives obeyed.
    #[serde(skip)]
    pub references: Vec<JointCommand>,
    /// State before the tick as words, when this record carries a keyframe; else empty.
    #[serde(skip)]
    pub keyframe: Vec<u64>,
}

/// The complete state before `tick`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyframe {
    /// Run id.
    pub run_id: u32,
    /// The tick that this state is before.
    pub tick: u64,
    /// The state, see `State::walk` of the physics; the last word is the digest.
    pub words: Vec<u64>,
}

/// A link of a log's chain: a checksum of the file's bytes since the link before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLink {
    /// Run id of the last tick before it.
    pub run_id: u32,
    /// The state after that tick has this number; of the first link of a file, that of the file
    /// before.
    pub tick: u64,
    /// Value of the link before it; of the first link of a file, of the last link before the
    /// closing one of the file before; 0 in the first file.
    pub follows: u64,
    /// XXH3 (64 bits) of the bytes from the chunk of the link before it, or from the beginning of
    /// the file, up to the chunk of this one, and of `follows` (little-endian) after them.
    pub value: u64,
    /// [`GOES_ON`](Self::GOES_ON), [`CLOSED`](Self::CLOSED) or [`RECOVERED`](Self::RECOVERED).
    pub end: u8,
}

impl LogLink {
    /// More links follow.
    pub const GOES_ON: u8 = 0;
    /// The last link of a file that the recorder has ended.
    pub const CLOSED: u8 = 1;
    /// The last link of a file that `recover` has ended.
    pub const RECOVERED: u8 = 2;
}

impl LogTick {
    /// True if the command `i` of `candidates` is the last one of its session that was accepted.
    #[must_use]
    pub fn is_in_force(&self, i: usize) -> bool {
        let Some((this, later)) = self.candidates.get(i..).and_then(<[_]>::split_first) else {
            return false;
        };
        let accepted = |o: &CandidateRecord| o.verdict == Verdict::Accepted;
        accepted(this) && !later.iter().any(|o| accepted(o) && o.session == this.session)
    }

    /// The commands in force with their set-points.
    pub fn in_force(&self) -> impl Iterator<Item = (&CandidateRecord, &[JointCommand])> {
        let mut rest = &self.joints[..];
        self.candidates.iter().enumerate().filter(|&(i, _)| self.is_in_force(i)).map(
            move |(_, o)| {
                let (these, others) = rest.split_at(rest.len().min(o.size as usize));
                rest = others;
                (o, these)
            },
        )
    }
}
