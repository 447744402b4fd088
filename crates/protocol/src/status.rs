//! The status: how the daemon is doing.

use serde::{Deserialize, Serialize};

/// Published once a second under `status`, and the answer to a query of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatusReading {
    /// Run number.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// Length of a tick, ns.
    pub period_ns: u64,
    /// 0 real time, 1 lockstep, 2 budgeted.
    pub mode: u8,
    /// 0 waiting for a controller, 1 running, 2 stopped by a plant failure, 3 paused, 4 a tick
    /// waits for a controller.
    pub phase: u8,
    /// Plant failure, as in the state; 0 for none.
    pub failure: u8,
    /// What the drives obey: 0 zero, 1 fresh, 2 held, 3 damped, 4 stopped.
    pub authority: u8,
    /// Age of the command in force, ticks; `u32::MAX` before the first.
    pub command_age_ticks: u32,
    /// Session that owns the robot; 0 for none.
    pub command_session: u64,
    /// Simulated seconds per second of wall time that the loop tries to keep; 0 for as many as it
    /// can.
    pub speed: f64,
    /// Simulated seconds per second of wall time, since the last status.
    pub real_time_factor: f64,
    /// `SCHED_FIFO` priority of the physics thread; 0 if it was refused.
    pub fifo_priority: u8,
    /// Core of the physics thread; `u32::MAX` if it is not pinned.
    pub core: u32,
    /// 1 if memory is locked.
    pub memory_locked: u8,
    /// How late the physics thread woke up, in every tick since the start, ns; bins between
    /// [`LATENCY_EDGES_NS`].
    pub wakeup_latency_ns: Distribution,
    /// Cost of every tick since the start, from input to hand-over, ns; likewise.
    pub tick_cost_ns: Distribution,
    /// Age of the command in every tick in which one came into force, ticks; bins between
    /// [`AGE_EDGES_TICKS`].
    pub applied_age_ticks: Distribution,
    /// Named counters: overruns, drops, rejections by reason, …
    pub counters: Vec<Counter>,
    /// Grants that the system refused, with the remedy.
    pub refused: Vec<String>,
    /// Controllers that have joined.
    pub controllers: Vec<ControllerReading>,
    /// Names of those that the loop waits for now.
    pub missing: Vec<String>,
}

/// A controller that has joined, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerReading {
    /// Name.
    pub name: String,
    /// 0 required, 1 advisory, 2 observer.
    pub role: u8,
    /// Session; 0 for an observer.
    pub session: u64,
    /// Ticks between two states that it answers.
    pub period_ticks: u64,
    /// Remainder of their ticks by the period.
    pub phase_ticks: u64,
    /// From the state that it answers to the tick at which the answer applies.
    pub offset_ticks: u64,
    /// Number of its joints.
    pub joints: u32,
}

/// Many whole numbers in short: percentiles, the largest, and how many lie between fixed edges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// 99.99th percentile.
    pub p99_99: u64,
    /// Largest.
    pub max: u64,
    /// How many were below the first edge, from each edge to below the next, and from the last edge
    /// on: one more than there are edges.
    pub counts: Vec<u64>,
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

impl Distribution {
    /// How many numbers there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

/// 1, 1.5, 2, 3, 5, 7 µs, the same times ten, and so on up to 1 s.
pub const LATENCY_EDGES_NS: [u64; 37] = latency_edges();

/// The same from 1 tick on, whole numbers: 1, 2, 3, 5, 7, 10, 15, 20, … 1000.
pub const AGE_EDGES_TICKS: [u64; 18] =
    [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000];

const fn latency_edges() -> [u64; 37] {
    const STEPS_NS: [u64; 6] = [1000, 1500, 2000, 3000, 5000, 7000];
    let mut out = [0; 37];
    let (mut i, mut decade) = (0, 1);
    while i < out.len() {
        out[i] = STEPS_NS[i % 6] * decade;
        i += 1;
        if i % 6 == 0 {
            decade *= 10;
        }
    }
    out
}
