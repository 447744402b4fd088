//! Requests of an operator.

use std::time::Duration;

use hardstand_error::Result;
use hardstand_protocol::{
    ClearFaultsRequest, ControlRequest, FaultRequest, FrictionRequest, Kind, ModelReply, Order,
    OrderReply, PushRequest, SavedState, Scope, SpeedRequest, decode, encode,
};
use serde::Serialize;

use crate::Client;
use crate::client::received;
use crate::session::bus_error;

impl Client {
    /// Changes the coefficients of friction of `scope` in the run that `model` describes. Returns
    /// the first tick with the new coefficients.
    ///
    /// # Errors
    /// `ErrorKind::Input` with field, value and range if the daemon refuses it,
    /// `ErrorKind::Bus` if no daemon answers within `patience`, or it is too busy.
    pub fn set_friction(
        &self,
        model: &ModelReply,
        scope: Scope,
        mu_static: f64,
        mu_kinetic: f64,
        patience: Duration,
    ) -> Result<u64> {
        let ModelReply { layout_hash, run_id, .. } = *model;
        let request = FrictionRequest::new(layout_hash, run_id, scope, mu_static, mu_kinetic);
        self.order(Order::Friction, Kind::Friction, &request, patience)
    }

    /// Sends one of pause, resume, step, run_until, reset, stop and arm. Returns the tick from
    /// which on it holds; for steps, the number of ticks after which the simulation pauses. The
    /// request is not repeated if the daemon does not answer, since steps would be run twice.
    ///
    /// # Errors
    /// `ErrorKind::Input` with field, value and range if the daemon refuses it,
    /// `ErrorKind::Bus` if no daemon answers within `patience`, or it is too busy.
    pub fn steer(&self, order: Order, request: &ControlRequest, patience: Duration) -> Result<u64> {
        self.order(order, Kind::Control, request, patience)
    }

    /// Sets the simulated seconds per second of wall time; 0 for as many as the machine allows.
    /// Returns the first tick at that speed.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn set_speed(&self, speed: f64, patience: Duration) -> Result<u64> {
        self.order(Order::Speed, Kind::Speed, &SpeedRequest { speed }, patience)
    }

    /// Pushes a link. Returns the first tick of the push.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn push(&self, request: &PushRequest, patience: Duration) -> Result<u64> {
        self.order(Order::Push, Kind::Push, request, patience)
    }

    /// Injects a fault. Returns its first tick.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn fault(&self, request: &FaultRequest, patience: Duration) -> Result<u64> {
        self.order(Order::Fault, Kind::Fault, request, patience)
    }

    /// Clears faults. Returns the first tick without them.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn clear_faults(&self, request: &ClearFaultsRequest, patience: Duration) -> Result<u64> {
        self.order(Order::ClearFaults, Kind::ClearFaults, request, patience)
    }

    /// The complete state, which [`restore`](Self::restore) takes.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn snapshot(&self, patience: Duration) -> Result<SavedState> {
        let key = self.keys.order(Order::Snapshot);
        let bytes = self.ask(key, &[], patience)?;
        // a refusal is a message of another kind
        match decode::<OrderReply>(Kind::OrderReply, &bytes) {
            Ok(refused) => Err(refused.tick().map_or_else(|e| e, |_| bus_error(key, "no state"))),
            Err(_not_refused) => received(Kind::SavedState, &bytes),
        }
    }

    /// Continues from a saved state, as the next run. Returns the tick of the state.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn restore(&self, saved: &SavedState, patience: Duration) -> Result<u64> {
        self.order(Order::Restore, Kind::SavedState, saved, patience)
    }

    pub(crate) fn order<T: Serialize>(
        &self,
        order: Order,
        kind: Kind,
        request: &T,
        patience: Duration,
    ) -> Result<u64> {
        let mut payload = Vec::new();
        encode(kind, request, &mut payload)?;
        let bytes = self.ask(self.keys.order(order), &payload, patience)?;
        received::<OrderReply>(Kind::OrderReply, &bytes)?.tick()
    }
}
