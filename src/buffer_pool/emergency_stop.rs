//! The emergency stop: a way of its own to the loop, without a queue.
//!
//! A request is one atomic number, which the loop looks at before each tick and while it waits,
//! however long that is. So it cannot be full, busy, or behind anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Notifier, Run};

/// Time between two looks whether the loop has taken a request.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// Requests the emergency stop. Clones request the same one.
#[derive(Clone, Debug, Default)]
pub struct EmergencyStop {
    shared: Arc<Shared>,
    notifier: Option<Notifier>,
}

#[derive(Debug, Default)]
struct Shared {
    requested: AtomicU64,
    taken: AtomicU64,
    run_id: AtomicU32,
    begin_ns: AtomicU64,
    tick: AtomicU64,
}

/// The loop has taken the stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopTaken {
    /// The run.
    pub run: Run,
    /// The first tick in which the robot is stopped.
    pub tick: u64,
}

impl EmergencyStop {
    /// The same, and rings `notifier` after each request.
    #[must_use]
    pub fn ringing(self, notifier: Notifier) -> Self {
        Self { notifier: Some(notifier), ..self }
    }

    /// Requests the stop; the number of the request.
    pub fn request(&self) -> u64 {
        let number = self.shared.requested.fetch_add(1, Ordering::AcqRel) + 1;
        if let Some(notifier) = &self.notifier {
            notifier.ring();
        }
        number
    }

    /// Requests so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.shared.requested.load(Ordering::Acquire)
    }

    /// What became of a request; `None` if the loop has not taken it yet.
    #[must_use]
    pub fn taken(&self, number: u64) -> Option<StopTaken> {
        let Shared { taken, run_id, begin_ns, tick, .. } = &*self.shared;
        (taken.load(Ordering::Acquire) >= number).then(|| StopTaken {
            run: Run {
                id: run_id.load(Ordering::Relaxed),
                begin_ns: begin_ns.load(Ordering::Relaxed),
            },
            tick: tick.load(Ordering::Relaxed),
        })
    }

    /// Waits until the loop has taken a request; `None` after `patience`.
    #[must_use]
    pub fn wait_taken(&self, number: u64, patience: Duration) -> Option<StopTaken> {
        let begin = Instant::now();
        loop {
            match self.taken(number) {
                None if begin.elapsed() < patience => std::thread::sleep(LOOK_AGAIN),
                taken => return taken,
            }
        }
    }

    /// True if a request has not been taken yet.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.shared.requested.load(Ordering::Acquire) != self.shared.taken.load(Ordering::Relaxed)
    }

    /// The loop takes every request so far: the robot is stopped from `tick` on.
    pub fn take(&self, StopTaken { run, tick }: StopTaken) {
        let requests = self.requests();
        self.shared.run_id.store(run.id, Ordering::Relaxed);
        self.shared.begin_ns.store(run.begin_ns, Ordering::Relaxed);
        self.shared.tick.store(tick, Ordering::Relaxed);
        self.shared.taken.store(requests, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::{EmergencyStop, Run, StopTaken};

    #[test]
    fn one_look_takes_every_request_before_it() {
        let stop = EmergencyStop::default();
        assert!(!stop.is_requested());
        let numbers = [stop.request(), stop.clone().request()];
        assert!(stop.is_requested());
        assert_eq!(numbers.map(|n| stop.taken(n)), [None; 2]);
        let taken = StopTaken { run: Run { id: 3, begin_ns: 5 }, tick: 42 };
        stop.take(taken);
        assert_eq!(numbers.map(|n| stop.taken(n)), [Some(taken); 2]);
        assert!(!stop.is_requested());
        assert_eq!(stop.taken(stop.request()), None);
    }
}
