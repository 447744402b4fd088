//! The way in of every order: its key, and what it names.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crossbeam_channel::Sender;
use serde::Serialize;

use crate::buffer_pool::{EmergencyStop, Run, StopTaken};
use crate::ingress::{AcceptedOrder, ArrivalCounters, OrderLimits, check_head, check_velocity};
use hardstand_error::Result;
use hardstand_protocol::{Order, OrderHead, OrderReply, Refusal, encode_order};

use super::request_validator::of_a_log;

/// Knows what every order must name, and passes on which were accepted.
#[derive(Clone, Debug)]
pub struct OrderGate {
    robot: Arc<str>,
    run_id: Arc<AtomicU32>,
    counters: Arc<ArrivalCounters>,
    accepted: Sender<AcceptedOrder>,
}

impl OrderGate {
    /// For orders to `robot` in the run `run_id`; those that are accepted go to `accepted`, as long
    /// as there is room.
    #[must_use]
    pub fn new(
        robot: &str,
        run_id: Arc<AtomicU32>,
        counters: Arc<ArrivalCounters>,
        accepted: Sender<AcceptedOrder>,
    ) -> Self {
        Self { robot: robot.into(), run_id, counters, accepted }
    }

    /// Counters of orders that arrived.
    #[must_use]
    pub fn counters(&self) -> &ArrivalCounters {
        &self.counters
    }

    /// Checks the first part of an order; the rest is its body.
    ///
    /// # Errors
    /// As [`check_head`].
    pub fn check<'a>(
        &self,
        order: Order,
        bytes: &'a [u8],
    ) -> std::result::Result<(OrderHead, &'a [u8]), Refusal> {
        let run_id = self.run_id.load(Ordering::Relaxed);
        check_head(order, bytes, &OrderLimits { robot: &self.robot, run_id })
    }

    /// Checks a velocity command of a stream, before it replaces the one that waits.
    ///
    /// # Errors
    /// As [`check`](Self::check), or what is wrong with the velocity.
    pub fn check_velocity(&self, bytes: &[u8]) -> std::result::Result<(), Refusal> {
        let (_, body) = self.check(Order::Velocity, bytes)?;
        check_velocity(body).map(|_event| ())
    }

    /// The bytes of an order of this process for the current run.
    ///
    /// # Errors
    /// As [`encode_order`].
    pub fn encode<T: Serialize>(&self, order: Order, asker: &str, body: &T) -> Result<Vec<u8>> {
        let head = OrderHead::new(&self.robot, self.run_id.load(Ordering::Relaxed), asker);
        let mut bytes = Vec::new();
        encode_order(order, &head, body, &mut bytes)?;
        Ok(bytes)
    }

    /// Requests the emergency stop that `bytes` ask for: the number of the request, and the asker.
    /// With `takes_orders` unset every stop is refused: a log is shown.
    ///
    /// # Errors
    /// Why not; it is counted.
    pub fn request_stop(
        &self,
        stop: &EmergencyStop,
        bytes: &[u8],
        takes_orders: bool,
    ) -> std::result::Result<(u64, String), Refusal> {
        self.counters.count_received();
        let checked = self.check(Order::Stop, bytes);
        let asked =
            checked.and_then(|(head, _)| if takes_orders { Ok(head) } else { Err(of_a_log()) });
        let head = asked.inspect_err(|refusal| self.counters.count(refusal.reason))?;
        Ok((stop.request(), head.asker))
    }

    /// The answer to a stop that the loop has taken.
    #[must_use]
    pub fn stop_taken(&self, taken: StopTaken, asker: &str) -> OrderReply {
        self.note_accepted(Order::Stop, taken.run, taken.tick, asker);
        OrderReply::accepted(taken.tick)
    }

    pub(super) fn note_accepted(&self, order: Order, run: Run, tick: u64, asker: &str) {
        let accepted = AcceptedOrder { run, tick, order, asker: asker.into() };
        let _no_room = self.accepted.try_send(accepted).is_err();
    }
}
