//! Counts messages and calls over ROS 2, and those that were rejected.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "zenoh")]
use super::orders::Refused;

/// Why a message is not a command, or why a call has no answer. A valid message becomes a command
/// and passes the same checks as every other command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RosRejection {
    /// The bytes are not a valid message.
    Cdr,
    /// Unknown, missing or repeated joints.
    Names,
    /// Unknown or repeated interfaces, or a different number of values and interfaces.
    Interfaces,
    /// A different number of values and joints.
    Size,
    /// Points without positions, times that do not increase, or all points in the past.
    Trajectory,
    /// Too many calls are waiting.
    Busy,
    /// Wrong checksum.
    Crc,
    /// Another robot may be on the domain.
    Guard,
    /// A call of a service whose type has another definition.
    Type,
    /// A command for another kind of Unitree's robots.
    Machine,
    /// A message that does not continue those of its publisher: two senders under one id.
    Sender,
    /// A stamp before this run, or where ticks wait for commands, one that is not of a state.
    Stamp,
    /// The robot's joints cannot be had now.
    Join,
    /// A call of Unitree's for what is not simulated.
    Call,
}

impl RosRejection {
    /// All reasons, in the order of their counters.
    pub const ALL: [Self; 14] = [
        Self::Cdr,
        Self::Names,
        Self::Interfaces,
        Self::Size,
        Self::Trajectory,
        Self::Busy,
        Self::Crc,
        Self::Guard,
        Self::Type,
        Self::Machine,
        Self::Sender,
        Self::Stamp,
        Self::Join,
        Self::Call,
    ];

    /// Name of the counter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cdr => "cdr",
            Self::Names => "names",
            Self::Interfaces => "interfaces",
            Self::Size => "size",
            Self::Trajectory => "trajectory",
            Self::Busy => "busy",
            Self::Crc => "crc",
            Self::Guard => "guard",
            Self::Type => "type",
            Self::Machine => "machine",
            Self::Sender => "sender",
            Self::Stamp => "stamp",
            Self::Join => "join",
            Self::Call => "call",
        }
    }
}

/// Counters of ROS 2, and the text of the last refusal.
#[derive(Debug, Default)]
pub struct RosCounters {
    published: AtomicU64,
    received: AtomicU64,
    called: AtomicU64,
    rejected: [AtomicU64; RosRejection::ALL.len()],
    last: Mutex<String>,
    /// One for each reason since the last look.
    fresh: Mutex<Vec<(&'static str, String)>>,
}

impl RosCounters {
    /// Name and value of each counter.
    #[must_use]
    pub fn all(&self) -> Vec<(String, u64)> {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut all = vec![
            ("ros2_published".to_string(), of(&self.published)),
            ("ros2_received".to_string(), of(&self.received)),
            ("ros2_called".to_string(), of(&self.called)),
        ];
        for reason in RosRejection::ALL {
            let name = format!("ros2_rejected_{}", reason.name());
            all.push((name, of(&self.rejected[reason as usize])));
        }
        all
    }

    /// A refusal for each reason since the last call.
    pub(crate) fn take_refused(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut *self.fresh.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last refusal; empty if there was none.
    #[must_use]
    pub fn last_refusal(&self) -> String {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(feature = "zenoh")]
impl RosCounters {
    pub(super) fn count_published(&self) {
        self.published.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_called(&self) {
        self.called.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count(&self, topic: &str, refused: &Refused) {
        self.rejected[refused.reason as usize].fetch_add(1, Ordering::Relaxed);
        let text = format!("{topic}: {refused}");
        // the guard tells by itself when it blocks for good
        if refused.reason != RosRejection::Guard {
            self.tell(refused.reason, &text);
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Keeps a text for [`take_refused`](Self::take_refused), one for each reason.
    pub(super) fn tell(&self, reason: RosRejection, text: &str) {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if fresh.iter().all(|(told, _)| *told != reason.name()) {
            fresh.push((reason.name(), text.into()));
        }
    }
}
