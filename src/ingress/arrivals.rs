//! Counters of what arrives.

use std::sync::atomic::{AtomicU64, Ordering};

use hardstand_protocol::Rejection;

/// How many commands (or requests) arrived, and how many were refused at arrival, by reason.
#[derive(Debug, Default)]
pub struct ArrivalCounters {
    received: AtomicU64,
    rejected: [AtomicU64; Rejection::ALL.len()],
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

    pub(crate) fn count_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count(&self, reason: Rejection) {
        self.rejected[reason as usize].fetch_add(1, Ordering::Relaxed);
    }
}
