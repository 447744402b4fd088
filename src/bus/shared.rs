//! A session that several robots of one daemon share.

use std::sync::{Arc, Mutex, PoisonError};

use zenoh::Session;

use crate::config::BusSettings;
use hardstand_error::Result;

use super::Bus;

/// The session that the first robot has opened. It ends with the last robot that has it.
#[derive(Clone, Debug, Default)]
pub struct SharedBus(Arc<Mutex<Option<Session>>>);

impl SharedBus {
    /// The session of the other robots if it is open, otherwise a new one.
    ///
    /// # Errors
    /// As [`Bus::open`].
    pub fn open(&self, settings: &BusSettings) -> Result<Bus> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = shared.as_ref().filter(|session| !session.is_closed()) {
            return Ok(Bus::of(session.clone()));
        }
        let bus = Bus::open(settings)?;
        *shared = Some(bus.session.clone());
        Ok(bus)
    }
}
