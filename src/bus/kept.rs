//! A session that stays open from run to run of one process.

use std::sync::{Arc, Mutex, PoisonError};

use crate::config::BusSettings;
use hardstand_error::Result;

use super::Bus;

/// The session between two runs, so that clients stay connected.
#[derive(Clone, Debug, Default)]
pub struct KeptBus(Arc<Mutex<Option<(BusSettings, Bus)>>>);

impl KeptBus {
    /// The session of the run before if it has these settings, otherwise a new one.
    ///
    /// # Errors
    /// As [`Bus::open`].
    pub fn open(&self, settings: &BusSettings) -> Result<Bus> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match kept {
            Some((same, bus)) if same == *settings && !bus.has_died() => return Ok(bus),
            Some((_, bus)) => bus.close(),
            None => {}
        }
        Bus::open(settings)
    }

    /// Keeps the session of a run that has ended.
    pub fn keep(&self, settings: BusSettings, bus: Bus) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((settings, bus));
    }
}
