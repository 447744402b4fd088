//! Wall time: it decides *when* a tick runs, never *what* it computes.

use std::cell::Cell;
use std::time::Duration;

use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{Timespec, clock_gettime};

use crate::buffer_pool::Waiter;

/// A monotonic clock with a sleep.
pub trait Clock {
    /// Now, ns from an arbitrary start.
    fn now_ns(&self) -> u64;
    /// Returns at `deadline_ns` or later; at once if it has passed.
    fn sleep_until(&self, deadline_ns: u64);
    /// Returns when `waiter` is notified, at `deadline_ns` at the latest. Not for real time: the
    /// notifying thread has to wake this one. A clock that cannot be woken sleeps to the end.
    fn sleep_until_notified(&self, _waiter: &Waiter, deadline_ns: u64) {
        self.sleep_until(deadline_ns);
    }
}

/// `CLOCK_MONOTONIC`. Reading it is no system call; waiting is one, with an absolute deadline.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock {
    /// The sleep ends this long before the deadline; the rest is spun away, ns. It takes the time
    /// that a sleeping core needs to wake up out of the latency.
    pub spin_ns: u64,
}

impl MonotonicClock {
    /// The clock of the physics thread. It spins a quarter of a period at most: the system stalls a
    /// `SCHED_FIFO` thread that leaves nothing for others.
    #[must_use]
    pub fn spinning(spin_ns: u64, period_ns: u64) -> Self {
        Self { spin_ns: spin_ns.min(period_ns / 4) }
    }
}

const SECOND_NS: u64 = 1_000_000_000;

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        let t = clock_gettime(rustix::time::ClockId::Monotonic);
        t.tv_sec.unsigned_abs() * SECOND_NS + t.tv_nsec.unsigned_abs()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        let wake_ns = deadline_ns.saturating_sub(self.spin_ns);
        let request = Timespec {
            tv_sec: (wake_ns / SECOND_NS).cast_signed(),
            tv_nsec: (wake_ns % SECOND_NS).cast_signed(),
        };
        // a signal may end the sleep early
        while self.now_ns() < wake_ns {
            let _interrupted = clock_nanosleep_absolute(ClockId::Monotonic, &request).is_err();
        }
        while self.now_ns() < deadline_ns {
            std::hint::spin_loop();
        }
    }

    fn sleep_until_notified(&self, waiter: &Waiter, deadline_ns: u64) {
        waiter.sleep(Duration::from_nanos(deadline_ns.saturating_sub(self.now_ns())));
    }
}

/// A clock for tests: it stands still except when slept on or moved.
#[derive(Debug, Default)]
pub struct ManualClock {
    now_ns: Cell<u64>,
}

impl ManualClock {
    /// Moves the clock forward.
    pub fn advance(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }
}

impl Clock for ManualClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        self.now_ns.set(self.now_ns.get().max(deadline_ns));
    }
}
