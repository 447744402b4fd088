//! Whether a thread of the bus has panicked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by all threads that work for one session. What panics under its guard ends the session's
/// panic_guard, not its thread: zenoh's threads would take the link with them.
#[derive(Clone, Debug, Default)]
pub struct PanicGuard {
    over: Arc<AtomicBool>,
}

impl PanicGuard {
    /// Runs `work`; a panic in it is printed as usual and noted.
    pub fn guard(&self, work: impl FnOnce()) {
        // whatever `work` has left half done is given up with the session
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.end();
        }
    }

    /// Ends it: its threads have nobody to work for.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// True once something has panicked, or the session is closed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
