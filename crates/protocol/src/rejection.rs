//! The verdict on a command.

use serde::{Deserialize, Serialize};

numbered! {
    /// Why a command was refused. Each reason has its own counter in the status, under its name.
    pub enum Rejection {
        /// The payload is longer or shorter than a command for this robot.
        Size = 0, "size";
        /// Magic, version or kind of the message is wrong.
        Version = 1, "version";
        /// Another robot, joint order or period.
        Layout = 2, "layout";
        /// Another run.
        RunId = 3, "run_id";
        /// NaN or infinite.
        NotFinite = 4, "not_finite";
        /// A gain or set-point beyond the allowed range.
        OutOfRange = 5, "out_of_range";
        /// The session is 0, which stands for no session.
        Session = 6, "session";
        /// Too many commands at once.
        QueueFull = 7, "queue_full";
        /// Sequence number not greater than the last one.
        Sequence = 8, "sequence";
        /// Answers a tick that has not been reached.
        FutureTick = 9, "future_tick";
        /// Answers a tick that is older than `hold_ticks`.
        Late = 10, "late";
        /// Another session owns the robot.
        NotOwner = 11, "not_owner";
        /// The session has lost the robot; it must come back with a new session number.
        Revoked = 12, "revoked";
        /// The emergency stop is in force.
        Stopped = 13, "stopped";
        /// Answers a state that is not the controller's to answer, or applies at another tick than
        /// agreed.
        OffGrid = 14, "off_grid";
        /// Another command of the same session has answered the same state.
        Conflict = 15, "conflict";
        /// In lockstep only controllers that have joined are heard.
        NotJoined = 16, "not_joined";
    }
}

/// What became of one candidate for a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u8, u8)", try_from = "(u8, u8)")]
pub enum Verdict {
    /// Number 0: it is in force from this tick on.
    Accepted,
    /// Number 1: it counts as proof of life, no more.
    Proving,
    /// Number 2: it was refused.
    Rejected(Rejection),
}

impl From<Verdict> for (u8, u8) {
    /// The verdict's number, and that of the reason or 0.
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Accepted => (0, 0),
            Verdict::Proving => (1, 0),
            Verdict::Rejected(reason) => (2, reason.code()),
        }
    }
}

impl TryFrom<(u8, u8)> for Verdict {
    type Error = &'static str;

    fn try_from(numbers: (u8, u8)) -> Result<Self, Self::Error> {
        match numbers {
            (0, 0) => Ok(Self::Accepted),
            (1, 0) => Ok(Self::Proving),
            (2, reason) => match Rejection::from_code(reason) {
                Some(reason) => Ok(Self::Rejected(reason)),
                None => Err("unknown number of a rejection"),
            },
            _ => Err("unknown number of a verdict"),
        }
    }
}
