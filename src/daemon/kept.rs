//! What stays between the runs of a process that runs one scenario after another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "zenoh")]
use crate::bus::KeptBus;
use crate::limits::FIRST_RUN_ID;

/// The bus, and the number of the next run: clients notice a new run by its number.
#[derive(Clone, Debug)]
pub struct Kept {
    #[cfg(feature = "zenoh")]
    pub(super) bus: KeptBus,
    next_run: Arc<AtomicU32>,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            #[cfg(feature = "zenoh")]
            bus: KeptBus::default(),
            next_run: Arc::new(AtomicU32::new(FIRST_RUN_ID)),
        }
    }
}

impl Kept {
    pub(super) fn next_run(&self) -> u32 {
        self.next_run.load(Ordering::Relaxed)
    }

    /// The runs up to this number are over.
    pub(super) fn note_end(&self, run_id: u32) {
        self.next_run.store(run_id.saturating_add(1), Ordering::Relaxed);
    }
}
