//! The settings of the loop: pace, mode, start, and what its thread asks of the system.

use crate::limits::LEASES_MAX;

/// How time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One tick per period of wall time.
    RealTime(OverrunPolicy),
    /// As fast as the machine allows. Nothing is dropped: the loop waits for the recorder.
    Free,
}

/// What to do about deadlines that have passed before the tick before them was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrunPolicy {
    /// Skip them: the next tick waits for the next deadline on the original grid. Never a burst.
    Slip,
    /// Run the missed ticks at once, at most this many in a row; skip what is beyond.
    CatchUp {
        /// Largest backlog that is caught up, in ticks.
        ticks_max: u64,
    },
    /// End the run.
    Stop,
}

/// When simulated time begins to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartRule {
    /// When a controller has proved that it lives; until then the initial state is published.
    OnController,
    /// At once.
    Now,
}

/// Whether a tick waits for the commands that are due at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Never: late commands are counted.
    RealTime,
    /// Always.
    Lockstep,
    /// Until a budget of wall time is spent.
    Budgeted(Budget),
}

/// How long the loop waits for controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// In one tick, ns of wall time.
    pub per_tick_ns: u64,
    /// In all ticks of one window, ns of wall time.
    pub per_window_ns: u64,
    /// Length of a window, ticks.
    pub window_ticks: u64,
}

/// Controllers by the numbers of their names; 0 for an empty place.
pub type ControllerNumbers = [u64; LEASES_MAX];

/// What the physics thread asks of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealtimeSettings {
    /// `SCHED_FIFO` priority, 1 to 98.
    pub priority: u8,
    /// CPU for the physics thread; `None` for the last one the process may use.
    pub core: Option<usize>,
    /// Lock memory.
    pub lock_memory: bool,
    /// Refuse to run without all of it.
    pub required: bool,
    /// Time before a deadline from which on it is spun, not slept, ns.
    pub spin_ns: u64,
}

impl Mode {
    /// Its number on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::RealTime => hardstand_protocol::Mode::RealTime.code(),
            Self::Lockstep => hardstand_protocol::Mode::Lockstep.code(),
            Self::Budgeted(_) => hardstand_protocol::Mode::Budgeted.code(),
        }
    }
}

/// Wall time of a tick of `period_ns` at this speed (simulated s per s of wall time), ns.
#[must_use]
pub fn wall_period_ns(period_ns: u64, speed: f64) -> u64 {
    ((period_ns as f64 / speed).round() as u64).max(1)
}
