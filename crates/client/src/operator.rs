//! Requests of an operator.

use std::time::{Duration, Instant};

use hardstand_error::Result;
use hardstand_protocol::{
    AnchorsRequest, ClearFaultsRequest, ConstraintRequest, ControlRequest, FaultRequest,
    FrictionRequest, Kind, ModelReply, Order, OrderHead, OrderReply, PushRequest, SavedState,
    Scope, SpeedRequest, VelocityCommand, decode, encode_order,
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
        let request = FrictionRequest::new(layout_hash, scope, mu_static, mu_kinetic);
        self.order_in(run_id, Order::Friction, &request, patience)
    }

    /// Puts the anchors of friction springs of `scope` under their stations. Returns the tick from
    /// which on they are there.
    ///
    /// # Errors
    /// As [`set_friction`](Self::set_friction).
    pub fn reset_anchors(
        &self,
        model: &ModelReply,
        scope: Scope,
        patience: Duration,
    ) -> Result<u64> {
        let ModelReply { layout_hash, run_id, .. } = *model;
        let request = AnchorsRequest::new(layout_hash, scope);
        self.order_in(run_id, Order::Anchors, &request, patience)
    }

    /// Sends one of pause, resume, step, run_until, reset, stop and arm. Returns the tick from
    /// which on it holds; for steps, the number of ticks after which the simulation pauses.
    ///
    /// # Errors
    /// `ErrorKind::Input` with field, value and range if the daemon refuses it,
    /// `ErrorKind::Bus` if no daemon answers within `patience`, or it is too busy.
    pub fn steer(&self, order: Order, request: &ControlRequest, patience: Duration) -> Result<u64> {
        self.order(order, request, patience)
    }

    /// Sets the simulated seconds per second of wall time; 0 for as many as the machine allows.
    /// Returns the first tick at that speed.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn set_speed(&self, speed: f64, patience: Duration) -> Result<u64> {
        self.order(Order::Speed, &SpeedRequest { speed }, patience)
    }

    /// Pushes a link. Returns the first tick of the push.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn push(&self, request: &PushRequest, patience: Duration) -> Result<u64> {
        self.order(Order::Push, request, patience)
    }

    /// Lets a constraint of the scenario act from now on, or not any more. Returns the tick.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn set_constraint(&self, name: &str, active: bool, patience: Duration) -> Result<u64> {
        let request = ConstraintRequest { name: name.into(), active: u8::from(active) };
        self.order(Order::Constraint, &request, patience)
    }

    /// Asks controllers that walk for a velocity: `velocity_command` of the states from the tick
    /// on that is returned.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn set_velocity(&self, velocity: &VelocityCommand, patience: Duration) -> Result<u64> {
        self.order(Order::Velocity, velocity, patience)
    }

    /// Injects a fault. Returns its first tick.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn fault(&self, request: &FaultRequest, patience: Duration) -> Result<u64> {
        self.order(Order::Fault, request, patience)
    }

    /// Clears faults. Returns the first tick without them.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn clear_faults(&self, request: &ClearFaultsRequest, patience: Duration) -> Result<u64> {
        self.order(Order::ClearFaults, request, patience)
    }

    /// The complete state, which [`restore`](Self::restore) takes.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn snapshot(&self, patience: Duration) -> Result<SavedState> {
        self.saved(&ControlRequest::default(), patience)
    }

    /// Pauses, and goes back by some ticks: the next run begins in the state of that tick, from the
    /// daemon's log, and stands paused. The tick.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot); `ErrorKind::Input` if the daemon has no log, or no such
    /// tick.
    pub fn step_back(&self, ticks: u64, patience: Duration) -> Result<u64> {
        self.steer(Order::Pause, &ControlRequest::default(), patience)?;
        let past = self.saved(&ControlRequest { number: ticks, rewind: 1 }, patience);
        let back = past.and_then(|past| self.restore(&past, patience));
        back.map_err(|e| e.within("paused, but not back"))
    }

    fn saved(&self, request: &ControlRequest, patience: Duration) -> Result<SavedState> {
        let (key, begin) = (self.keys.order(Order::Snapshot), Instant::now());
        let run_id = self.run_id(patience)?;
        let left = patience.saturating_sub(begin.elapsed());
        let bytes = self.send_order(run_id, Order::Snapshot, request, left)?;
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
        self.order(Order::Restore, saved, patience)
    }

    /// Sends an order for the current run.
    fn order<T: Serialize>(&self, order: Order, body: &T, patience: Duration) -> Result<u64> {
        let begin = Instant::now();
        // a stop means whichever run there is
        let run_id = if order == Order::Stop { 0 } else { self.run_id(patience)? };
        self.order_in(run_id, order, body, patience.saturating_sub(begin.elapsed()))
    }

    /// Sends an order for the run `run_id`; the tick from which on it holds.
    pub(crate) fn order_in<T: Serialize>(
        &self,
        run_id: u32,
        order: Order,
        body: &T,
        patience: Duration,
    ) -> Result<u64> {
        let bytes = self.send_order(run_id, order, body, patience)?;
        received::<OrderReply>(Kind::OrderReply, &bytes)?.tick()
    }

    /// Sends an order; the bytes of the answer.
    pub(crate) fn send_order<T: Serialize>(
        &self,
        run_id: u32,
        order: Order,
        body: &T,
        patience: Duration,
    ) -> Result<Vec<u8>> {
        let head = OrderHead::new(&self.robot, run_id, &self.asker);
        let mut payload = Vec::new();
        encode_order(order, &head, body, &mut payload)?;
        self.ask(self.keys.order(order), &payload, patience)
    }
}
