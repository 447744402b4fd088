//! Counters of ports, for the status.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counters by name, shared by the threads of all ports and the monitor.
#[derive(Clone, Debug, Default)]
pub struct PortCounters(Arc<Mutex<BTreeMap<String, u64>>>);

impl PortCounters {
    fn counters(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the counters of one port, whose names then begin with `port` and `_`.
    pub fn set(&self, port: &str, counts: &[(&str, u64)]) {
        let mut counters = self.counters();
        for (name, count) in counts {
            counters.insert(format!("{port}_{name}"), *count);
        }
    }

    /// Name and value of each counter, by name.
    #[must_use]
    pub fn all(&self) -> Vec<(String, u64)> {
        self.counters().iter().map(|(name, count)| (name.clone(), *count)).collect()
    }
}
