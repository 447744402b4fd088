//! Requests of an operator.

use std::time::Duration;

use hardstand_error::Result;
use hardstand_protocol::{
    Ask, ClearFaultsRequest, ControlRequest, FaultRequest, FrictionRequest, Kind, ModelReply,
    OrderReply, PushRequest, SavedState, Scope, SpeedRequest, decode, encode,
};
use serde::Serialize;

use crate::Client;
use crate::client::received;
use crate::session::bus_error;

impl Client {
    /// Changes the coefficients of friction of `scope` in the run that `model` describes, and gives
    /// the tick from whose start on they hold.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with field, value and range if the daemon refuses it,
    /// [`ErrorKind::Bus`] if no daemon answers within `patience`, or it is too busy.
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
        self.order(Ask::Friction, Kind::Friction, &request, patience)
    }

    /// Asks for one of pause, resume, step, run_until and reset, and gives the tick from which on
    /// it holds; for steps, the number of ticks after which the simulation pauses. A daemon that
    /// does not answer is not asked again, since steps would be run twice.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with field, value and range if the daemon refuses it,
    /// [`ErrorKind::Bus`] if no daemon answers within `patience`, or it is too busy.
    pub fn steer(&self, ask: Ask, request: &ControlRequest, patience: Duration) -> Result<u64> {
        self.order(ask, Kind::Control, request, patience)
    }

    /// Lets more or less time pass per second of wall time, 0 for as much as the machine allows,
    /// from the tick on that is given back.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn set_speed(&self, speed: f64, patience: Duration) -> Result<u64> {
        self.order(Ask::Speed, Kind::Speed, &SpeedRequest { speed }, patience)
    }

    /// Pushes a link, from the tick on that is given back.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn push(&self, request: &PushRequest, patience: Duration) -> Result<u64> {
        self.order(Ask::Push, Kind::Push, request, patience)
    }

    /// Breaks something, from the tick on that is given back.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn fault(&self, request: &FaultRequest, patience: Duration) -> Result<u64> {
        self.order(Ask::Fault, Kind::Fault, request, patience)
    }

    /// Ends faults, from the tick on that is given back.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn clear_faults(&self, request: &ClearFaultsRequest, patience: Duration) -> Result<u64> {
        self.order(Ask::ClearFaults, Kind::ClearFaults, request, patience)
    }

    /// The complete state, which [`restore`](Self::restore) takes.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn snapshot(&self, patience: Duration) -> Result<SavedState> {
        let key = self.keys.order(Ask::Snapshot);
        let bytes = self.ask(key, &[], patience)?;
        // a refusal is a message of another kind
        match decode::<OrderReply>(Kind::OrderReply, &bytes) {
            Ok(refused) => Err(refused.tick().map_or_else(|e| e, |_| bus_error(key, "no state"))),
            Err(_not_refused) => received(Kind::SavedState, &bytes),
        }
    }

    /// Goes on from a state, as the next run; the tick of the state.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn restore(&self, saved: &SavedState, patience: Duration) -> Result<u64> {
        self.order(Ask::Restore, Kind::SavedState, saved, patience)
    }

    pub(crate) fn order<T: Serialize>(
        &self,
        ask: Ask,
        kind: Kind,
        request: &T,
        patience: Duration,
    ) -> Result<u64> {
        let mut payload = Vec::new();
        encode(kind, request, &mut payload)?;
        let bytes = self.ask(self.keys.order(ask), &payload, patience)?;
        received::<OrderReply>(Kind::OrderReply, &bytes)?.tick()
    }
}
