//! Snapshots that the loop publishes itself.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::simulation::Snapshot;

/// Publishes a snapshot.
pub type Publish = Box<dyn FnMut(&Snapshot) + Send>;

/// Where the loop publishes while controllers wait for each state: no other thread has to wake up
/// for it. The loop waits as long as publishing takes, so this is not for real time.
#[derive(Clone, Default)]
pub struct Direct(Arc<Mutex<Option<Publish>>>);

impl Direct {
    /// Sets what publishes from now on; `None` to publish nothing.
    pub fn set(&self, publish: Option<Publish>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = publish;
    }

    /// False if nothing publishes now.
    pub(super) fn publish(&self, snapshot: &Snapshot) -> bool {
        let mut publish = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        publish.as_mut().map(|publish| publish(snapshot)).is_some()
    }
}

impl fmt::Debug for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Direct")
    }
}
