//! Counters of what arrives.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hardstand_protocol::{JointCommand, Rejection, refused_set_point};

/// How many commands (or requests) arrived, and how many were refused at arrival, by reason.
#[derive(Debug, Default)]
pub struct ArrivalCounters {
    received: AtomicU64,
    rejected: [AtomicU64; Rejection::ALL.len()],
    /// The first one refused since the last look.
    refused: Mutex<Option<RefusedCommand>>,
}

/// Why a command was refused at arrival.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedCommand {
    /// The reason.
    pub reason: Rejection,
    /// Number of its set-points.
    pub joints: usize,
    /// If one of them is the reason: its number, and name, value and range of the number.
    pub set_point: Option<(usize, &'static str, f64, String)>,
}

impl ArrivalCounters {
    /// All that were received.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Those refused for `reason` at arrival.
    pub fn rejected(&self, reason: Rejection) -> u64 {
        self.rejected[reason as usize].load(Ordering::Relaxed)
    }

    /// The first command that was refused since the last call.
    pub(crate) fn take_refused(&self) -> Option<RefusedCommand> {
        self.refused.lock().ok()?.take()
    }

    /// Counts a command with these set-points as refused.
    pub(super) fn count_refused(
        &self,
        reason: Rejection,
        joints: &[JointCommand],
        gains_max: [f64; 2],
    ) {
        self.count(reason);
        // a flood is described once, and those are no mistakes of their sender
        let passes = [Rejection::RunId, Rejection::QueueFull].contains(&reason);
        if !passes
            && let Ok(mut refused) = self.refused.try_lock()
            && refused.is_none()
        {
            let set_point = refused_set_point(joints, gains_max);
            *refused = Some(RefusedCommand { reason, joints: joints.len(), set_point });
        }
    }

    pub(crate) fn count_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count(&self, reason: Rejection) {
        self.rejected[reason as usize].fetch_add(1, Ordering::Relaxed);
    }
}
