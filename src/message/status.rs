//! The status: how the daemon is doing.

use serde::{Deserialize, Serialize};

/// Published once a second under `status`, and the answer to a query of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatusReading {
    /// Run number.
    pub epoch: u32,
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// Pace: 0 real time, 1 free.
    pub mode: u8,
    /// 0 waiting for a controller, 1 running, 2 stopped by a fault.
    pub phase: u8,
    /// Simulated seconds per second of wall time, since the last status.
    pub real_time_factor: f64,
    /// Median, 99th and 99.9th percentile of the wake-up latency since the start, ns.
    pub wakeup_latency_ns: [u64; 3],
    /// Median, 99th and 99.9th percentile of the cost of a tick since the start, ns.
    pub tick_cost_ns: [u64; 3],
    /// `SCHED_FIFO` priority of the physics thread; 0 if it was refused.
    pub fifo_priority: u8,
    /// Core of the physics thread; `u32::MAX` if it is not pinned.
    pub core: u32,
    /// 1 if memory is locked.
    pub memory_locked: u8,
    /// Named counters: overruns, drops, rejections by reason, …
    pub counters: Vec<Counter>,
    /// Grants that the system refused, with the remedy.
    pub refused: Vec<String>,
}

/// A named counter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Name.
    pub name: String,
    /// Count since the start.
    pub value: u64,
}

impl StatusReading {
    /// The counter `name`; 0 if there is none.
    #[must_use]
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.iter().find(|c| c.name == name).map_or(0, |c| c.value)
    }
}
