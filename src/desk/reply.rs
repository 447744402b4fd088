//! Answers to orders.

use crate::ingress::ArrivalCounters;
use hardstand_protocol::{JoinReply, Order, OrderReply, Refusal, Rejection, SavedState};

/// What an order led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It holds from a tick on, or was refused.
    Order(OrderReply),
    /// The state that was asked for.
    Saved(SavedState),
    /// What a controller got that wanted to join.
    Joined(JoinReply),
}

impl Reply {
    /// The tick from which on it holds, if it was accepted.
    #[must_use]
    pub const fn accepted(&self) -> Option<u64> {
        match self {
            Self::Order(r) if r.verdict == 0 => Some(r.tick),
            Self::Saved(saved) => Some(saved.tick),
            Self::Joined(j) if j.verdict == 0 => Some(j.first_tick),
            Self::Order(_) | Self::Joined(_) => None,
        }
    }
}

/// Why an order has to be sent again later.
#[must_use]
pub fn busy(why: &str) -> Refusal {
    Refusal { reason: Rejection::QueueFull, text: format!("busy: {why}") }
}

/// The answer to an order that was refused, which is counted.
#[must_use]
pub fn refused(order: Order, refusal: Refusal, counters: &ArrivalCounters) -> Reply {
    counters.count(refusal.reason);
    match order {
        Order::Join => Reply::Joined(JoinReply::from(refusal)),
        _ => Reply::Order(OrderReply::from(refusal)),
    }
}
