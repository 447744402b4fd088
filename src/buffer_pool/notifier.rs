//! Wakes a thread that waits for work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

/// Wakes a [`Waiter`]. If the waiter is awake, this takes neither a lock nor a system call.
#[derive(Clone, Debug)]
pub struct Notifier(Arc<Shared>);

/// Sleeps until its [`Notifier`] rings. Belongs to one thread.
#[derive(Debug)]
pub struct Waiter(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    rung: AtomicBool,
    sleeper: OnceLock<Thread>,
}

/// A notifier and its waiter.
#[must_use]
pub fn bell() -> (Notifier, Waiter) {
    let shared = Arc::new(Shared::default());
    (Notifier(Arc::clone(&shared)), Waiter(shared))
}

impl Notifier {
    /// Wakes the waiter, or makes its next sleep return at once.
    pub fn ring(&self) {
        if !self.0.rung.swap(true, Ordering::AcqRel)
            && let Some(sleeper) = self.0.sleeper.get()
        {
            sleeper.unpark();
        }
    }
}

impl Waiter {
    /// Sleeps until the notifier rings, at most for `patience`; returns at once if it has rung
    /// since the last sleep. May wake too early. A channel would first spin and yield for a while,
    /// on a core that the notifying thread may need.
    pub fn sleep(&self, patience: Duration) {
        let _the_same_each_time = self.0.sleeper.get_or_init(std::thread::current);
        if !self.0.rung.swap(false, Ordering::AcqRel) {
            std::thread::park_timeout(patience);
            // after this swap the thread sees everything that was sent before the ring
            self.0.rung.swap(false, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::{Waiter, bell};

    #[test]
    fn a_ring_before_the_sleep_skips_one_sleep() {
        let (bell, sleeper) = bell();
        let begin = Instant::now();
        bell.ring();
        bell.ring();
        sleeper.sleep(Duration::from_secs(60));
        assert!(begin.elapsed() < Duration::from_secs(30));
        let begin = Instant::now();
        sleeper.sleep(Duration::from_millis(20));
        assert!(begin.elapsed() >= Duration::from_millis(20), "one ring skips one sleep only");
    }

    #[test]
    fn no_ring_is_lost_between_threads() {
        const ROUNDS: usize = 20_000;
        let ((there, wait_there), (back, wait_back)) = (bell(), bell());
        let (sent, came) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (hears, answers) = (Arc::clone(&sent), Arc::clone(&came));
        let begin = Instant::now();
        let wait_for = |count: &AtomicUsize, n: usize, sleeper: &Waiter| {
            while count.load(Ordering::Acquire) < n {
                sleeper.sleep(Duration::from_secs(60));
            }
        };
        let echo = std::thread::spawn(move || {
            for n in 1..=ROUNDS {
                wait_for(&hears, n, &wait_there);
                answers.store(n, Ordering::Release);
                back.ring();
            }
        });
        for n in 1..=ROUNDS {
            sent.store(n, Ordering::Release);
            there.ring();
            wait_for(&came, n, &wait_back);
        }
        assert!(echo.join().is_ok());
        assert!(begin.elapsed() < Duration::from_secs(50), "a ring was lost");
    }
}
