//! The run that an answer of the loop is about.

/// A run, as the answers of the loop name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Run number.
    pub id: u32,
    /// Published time of its tick 0, ns.
    pub begin_ns: u64,
}

impl Run {
    /// Published time of a tick, ns.
    #[must_use]
    pub const fn time_ns(self, tick: u64, period_ns: u64) -> u64 {
        self.begin_ns.wrapping_add(tick.wrapping_mul(period_ns))
    }
}
