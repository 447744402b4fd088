//! Panics of RustDDS's own threads. They run no code of the daemon, so that nothing could catch
//! them there; only the hook of the process hears of them.

use std::panic::{set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// How RustDDS's threads are called.
const NAME: &str = "RustDDS";

static PANICS: AtomicU64 = AtomicU64::new(0);
static WATCHED: Once = Once::new();

/// Counts panics from now on; they are printed as before.
pub(super) fn watch() {
    WATCHED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            before(panic);
            if thread::current().name().is_some_and(|name| name.starts_with(NAME)) {
                PANICS.fetch_add(1, Ordering::Relaxed);
            }
        }));
    });
}

/// Panics since the first [`watch`].
pub(super) fn count() -> u64 {
    PANICS.load(Ordering::Relaxed)
}
