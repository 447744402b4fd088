//! The way in of every order: its key, and what it names.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crossbeam_channel::Sender;
use serde::Serialize;

use crate::ingress::{AcceptedOrder, ArrivalCounters, OrderLimits, check_head};
use hardstand_error::Result;
use hardstand_protocol::{Order, OrderHead, Refusal, encode_order};

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

    pub(super) fn counters(&self) -> &ArrivalCounters {
        &self.counters
    }

    /// Checks the first part of an order; the rest is its body.
    pub(super) fn check<'a>(
        &self,
        order: Order,
        bytes: &'a [u8],
    ) -> std::result::Result<(OrderHead, &'a [u8]), Refusal> {
        let run_id = self.run_id.load(Ordering::Relaxed);
        check_head(order, bytes, &OrderLimits { robot: &self.robot, run_id })
    }

    /// The bytes of an order of this process for the current run.
    pub(super) fn encode<T: Serialize>(
        &self,
        order: Order,
        asker: &str,
        body: &T,
    ) -> Result<Vec<u8>> {
        let head = OrderHead::new(&self.robot, self.run_id.load(Ordering::Relaxed), asker);
        let mut bytes = Vec::new();
        encode_order(order, &head, body, &mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn note_accepted(&self, order: Order, run_id: u32, tick: u64, asker: &str) {
        let accepted = AcceptedOrder { run_id, tick, order, asker: asker.into() };
        let _no_room = self.accepted.try_send(accepted).is_err();
    }
}
