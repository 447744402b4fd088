//! Queryables: `model`, `model/urdf`, `status`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};

use serde::Serialize;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::qos::CongestionControl;
use zenoh::query::Queryable;

use crate::fault_point;
use hardstand_error::Result;
use hardstand_protocol::{EventReading, GroundReply, Kind, ModelReply, StatusReading, encode};

use super::{Bus, Keys, SharedStatus, bus_error};

/// The answers to queries; they last as long as this value.
#[derive(Debug)]
pub struct Services {
    keys: Keys,
    status: SharedStatus,
    _queryables: Vec<Queryable<()>>,
}

impl Services {
    /// Declares the queryables.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
    pub fn start(
        bus: &Bus,
        keys: &Keys,
        model: &ModelReply,
        (urdf, ground): (&str, &GroundReply),
        run_id: Arc<AtomicU32>,
    ) -> Result<Self> {
        let status = SharedStatus::default();
        let model = model.clone();
        let encode_model = move || {
            let (mut buffer, now) = (Vec::new(), run_id.load(Ordering::Relaxed));
            let model = ModelReply { run_id: now, ..model.clone() };
            let _encoded = encode(Kind::Model, &model, &mut buffer).is_ok();
            buffer
        };
        let schema = |kind: Kind| Encoding::APPLICATION_OCTET_STREAM.with_schema(kind.schema());
        let live = SharedStatus::clone(&status);
        let encode_status = move || {
            let mut buffer = Vec::new();
            let now = live.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let _encoded = encode(Kind::Status, &now, &mut buffer).is_ok();
            buffer
        };
        let urdf = urdf.as_bytes().to_vec();
        let mut ground_bytes = Vec::new();
        encode(Kind::Ground, ground, &mut ground_bytes)?;
        let queryables = vec![
            answer(bus, &keys.model, schema(Kind::Model), encode_model)?,
            answer(bus, &keys.urdf, Encoding::TEXT_XML, move || urdf.clone())?,
            answer(bus, &keys.ground, schema(Kind::Ground), move || ground_bytes.clone())?,
            answer(bus, &keys.status, schema(Kind::Status), encode_status)?,
        ];
        Ok(Self { keys: keys.clone(), status, _queryables: queryables })
    }

    /// Publishes a status and keeps it for queries.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus) if it cannot be put.
    pub fn publish_status(&self, bus: &Bus, status: &StatusReading) -> Result<()> {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status.clone();
        let mut result = Ok(());
        bus.panic_guard.guard(|| {
            fault_point::visit("status");
            result = put(bus, &self.keys.status, Kind::Status, status);
        });
        result
    }

    /// Says what has happened.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus) if it cannot be put.
    pub fn publish_event(&self, bus: &Bus, event: &EventReading) -> Result<()> {
        let mut result = Ok(());
        bus.panic_guard.guard(|| result = put(bus, &self.keys.events, Kind::Event, event));
        result
    }
}

/// Puts what is said now and then on the bus.
fn put<T: Serialize>(bus: &Bus, key: &str, kind: Kind, value: &T) -> Result<()> {
    let mut buffer = Vec::new();
    encode(kind, value, &mut buffer)?;
    bus.session
        .put(key.to_string(), buffer)
        .encoding(Encoding::APPLICATION_OCTET_STREAM.with_schema(kind.schema()))
        .congestion_control(CongestionControl::Drop)
        .wait()
        .map_err(|e| bus_error(key, e))
}

pub(super) fn answer(
    bus: &Bus,
    key: &str,
    encoding: Encoding,
    payload: impl Fn() -> Vec<u8> + Send + Sync + 'static,
) -> Result<Queryable<()>> {
    let (own, panic_guard) = (key.to_string(), bus.panic_guard.clone());
    bus.session
        .declare_queryable(key.to_string())
        .callback(move |query| {
            panic_guard.guard(|| {
                let reply = query.reply(own.clone(), payload()).encoding(encoding.clone());
                let _peer_may_be_gone = reply.wait().is_ok();
            });
        })
        .wait()
        .map_err(|e| bus_error(key, e))
}
