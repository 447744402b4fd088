//! Keeps the thread of a port going after a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crossbeam_channel::Sender;

use super::PortCounters;
use crate::rt::RecentPanics;

/// Time between a panic and the restart.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs the work of a port, and says when it was restarted.
#[derive(Clone, Debug)]
pub struct PortGuard {
    name: String,
    restarted: Sender<String>,
    counters: PortCounters,
}

impl PortGuard {
    /// For the port `name`, which is sent to `restarted` after each restart.
    #[must_use]
    pub fn new(name: String, restarted: Sender<String>, counters: PortCounters) -> Self {
        let guard = Self { name, restarted, counters };
        guard.count(0);
        guard
    }

    /// Runs `work` until it returns. After a panic in it, which is printed as usual, it runs again
    /// with the same socket or memory, because a sandboxed daemon cannot open another. After too
    /// many panics it does not run again, and the thread of the port ends.
    pub fn keep(&self, mut work: impl FnMut()) {
        let (mut panics, mut restarts) = (RecentPanics::default(), 0);
        // what the work leaves unfinished is a packet or a reading, which the next one replaces
        while catch_unwind(AssertUnwindSafe(&mut work)).is_err() {
            if panics.add().is_some() {
                return;
            }
            std::thread::sleep(PAUSE);
            restarts += 1;
            self.count(restarts);
            let _full = self.restarted.try_send(self.name.clone()).is_err();
        }
    }

    /// The counter is called like the port's others: that of the bus `bus.legs` begins with
    /// `bus_legs_`.
    fn count(&self, restarts: u64) {
        self.counters.set(&self.name.replace('.', "_"), &[("restarts", restarts)]);
    }
}
