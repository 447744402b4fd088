//! Records whether a thread of the bus has panicked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by all threads of a session. A panic under the guard ends the session but not the thread:
/// without zenoh's threads the link would be lost, too.
#[derive(Clone, Debug, Default)]
pub struct PanicGuard {
    over: Arc<AtomicBool>,
}

impl PanicGuard {
    /// Runs `work`; a panic in it is printed as usual and recorded.
    pub fn guard(&self, work: impl FnOnce()) {
        // the session is closed, so the unfinished state of `work` is not used
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.end();
        }
    }

    /// Ends the work of the session's threads.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// True after a panic, or if the session is closed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
