//! The orders that the loop has, and those that were answered.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::rt::{Answer, Request, RequestSender};
use hardstand_protocol::{Order, OrderHead};

use super::Reply;

/// Answers that are remembered for orders that come again, of all askers. One that asks often loses
/// its own oldest ones first.
const ANSWERS_KEPT: usize = 256;

/// Runs that may begin one after another, and the time until one more may, ns. Each run is a file
/// of the log.
const RUNS_AT_ONCE: u64 = 32;
const RUN_EVERY_NS: u64 = 100_000_000;

/// The way of orders to the loop, and what is known of them. It outlives a desk that has died with
/// the bus: an order that is sent again after that has its effect once.
pub type SharedOrders = Arc<Mutex<OrderMemory>>;

/// See [`SharedOrders`].
#[derive(Debug)]
pub struct OrderMemory {
    outbox: RequestSender,
    /// Orders that the loop has not answered, oldest first.
    pending: VecDeque<Pending>,
    /// Orders that were answered, oldest first.
    answered: VecDeque<Answered>,
    /// When all of [`RUNS_AT_ONCE`] may begin again, ns.
    rested_ns: u64,
}

/// An order that has been sent to the loop.
#[derive(Debug)]
pub(super) struct Pending {
    /// Number of the request.
    pub(super) number: u64,
    pub(super) order: Order,
    pub(super) head: OrderHead,
    /// Of all that it says.
    pub(super) hash: u64,
    /// A snapshot is wanted of so many ticks before.
    pub(super) back: Option<u64>,
    /// Secret session of a controller that joins; otherwise 0.
    pub(super) session: u64,
    /// When it arrived.
    pub(super) since_ns: u64,
    /// It is one of a stream, whose sender wants no answer.
    pub(super) streamed: bool,
}

/// An order that was answered.
#[derive(Debug)]
struct Answered {
    nonce: u64,
    hash: u64,
    asker: String,
    reply: Reply,
}

impl OrderMemory {
    /// Sends requests to `outbox`.
    #[must_use]
    pub const fn new(outbox: RequestSender) -> Self {
        Self { outbox, pending: VecDeque::new(), answered: VecDeque::new(), rested_ns: 0 }
    }

    /// The order with this nonce, if the loop has it.
    pub(super) fn pending(&mut self, nonce: u64) -> Option<&mut Pending> {
        self.pending.iter_mut().find(|p| p.head.nonce == nonce)
    }

    /// The answer to the order with this nonce, if it was answered, and the order's hash.
    pub(super) fn answered(&self, nonce: u64) -> Option<(Reply, u64)> {
        self.answered.iter().find(|a| a.nonce == nonce).map(|a| (a.reply.clone(), a.hash))
    }

    /// True if another run may begin now; then it counts.
    pub(super) fn may_begin_run(&mut self, now_ns: u64) -> bool {
        let rested_ns = self.rested_ns.max(now_ns) + RUN_EVERY_NS;
        let may = rested_ns <= now_ns + RUNS_AT_ONCE * RUN_EVERY_NS;
        if may {
            self.rested_ns = rested_ns;
        }
        may
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// True if the loop has an order of a stream.
    pub(super) fn streams(&self) -> bool {
        self.pending.iter().any(|p| p.streamed)
    }

    /// True if the loop is asked from where to go back in time.
    pub(super) fn goes_back(&self) -> bool {
        self.pending.iter().any(|p| p.back.is_some())
    }

    /// Sends a request; the number of `pending` becomes that of the request.
    ///
    /// # Errors
    /// The request, if there is no room.
    pub(super) fn send(&mut self, request: Request, pending: Pending) -> Result<u64, Request> {
        let number = self.outbox.send(request)?;
        self.pending.push_back(Pending { number, ..pending });
        Ok(number)
    }

    /// The next answer of the loop, with its order.
    pub(super) fn next_answer(&mut self) -> Option<(Pending, Answer)> {
        loop {
            let answer = self.outbox.answer()?;
            if let Some(pending) = self.take(answer.number) {
                return Some((pending, answer));
            }
        }
    }

    /// Takes an order back that has waited since before `before_ns` for the loop to take it.
    pub(super) fn recall(&mut self, before_ns: u64) -> Option<Pending> {
        if self.pending.front()?.since_ns >= before_ns {
            return None;
        }
        let of = |number: u64| self.pending.iter().find(|p| p.number == number);
        let late = |number| of(number).is_some_and(|p| p.since_ns < before_ns);
        let number = self.outbox.recall(late)?;
        self.take(number)
    }

    /// Remembers an answer for the case that it gets lost.
    pub(super) fn remember(&mut self, head: OrderHead, hash: u64, reply: Reply) {
        if self.answered.len() >= ANSWERS_KEPT
            && let Some(place) = self.least_missed()
        {
            self.answered.remove(place);
        }
        let OrderHead { nonce, asker, .. } = head;
        self.answered.push_back(Answered { nonce, hash, asker, reply });
    }

    /// The place of the oldest answer to an asker that has the most.
    fn least_missed(&self) -> Option<usize> {
        let mut counts = BTreeMap::<&str, usize>::new();
        self.answered.iter().for_each(|a| *counts.entry(&a.asker).or_default() += 1);
        let most = counts.values().copied().max()?;
        self.answered.iter().position(|a| counts.get(a.asker.as_str()) == Some(&most))
    }

    fn take(&mut self, number: u64) -> Option<Pending> {
        let place = self.pending.iter().position(|p| p.number == number)?;
        self.pending.remove(place)
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWERS_KEPT, OrderMemory, RUN_EVERY_NS, RUNS_AT_ONCE, Reply};
    use crate::rt::request_queue;
    use hardstand_protocol::{OrderHead, OrderReply};

    /// An asker that asks without end makes the desk forget its own answers, not those of others.
    #[test]
    fn answers_to_one_asker_are_not_forgotten_for_those_to_another() {
        let (sender, _receiver) = request_queue();
        let mut memory = OrderMemory::new(sender);
        let mut remember = |asker: &str, nonce| {
            let head = OrderHead { nonce, ..OrderHead::new("robot", 1, asker) };
            memory.remember(head, 0, Reply::Order(OrderReply::accepted(nonce)));
        };
        (1..=3).for_each(|nonce| remember("operator", nonce));
        (1000..9000).for_each(|nonce| remember("flood", nonce));
        assert_eq!(memory.answered.len(), ANSWERS_KEPT);
        let known = |nonce| memory.answered(nonce).is_some();
        assert!((1..=3).all(known), "an operator's answers were forgotten");
        assert!(known(8999) && !known(1000), "of one asker the newest are kept");
    }

    /// Where each asker has one answer, the oldest goes, whatever the names are.
    #[test]
    fn of_many_askers_the_oldest_answer_is_forgotten() {
        let (sender, _receiver) = request_queue();
        let mut memory = OrderMemory::new(sender);
        let last = 2 * ANSWERS_KEPT as u64;
        for nonce in 1..=last {
            let asker = format!("asker-{:x}", nonce.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let head = OrderHead { nonce, ..OrderHead::new("robot", 1, &asker) };
            memory.remember(head, 0, Reply::Order(OrderReply::accepted(nonce)));
        }
        let forgotten = last - ANSWERS_KEPT as u64;
        assert!((1..=forgotten).all(|nonce| memory.answered(nonce).is_none()));
        assert!((forgotten + 1..=last).all(|nonce| memory.answered(nonce).is_some()));
    }

    /// So many runs can begin at once, and one more in each [`RUN_EVERY_NS`].
    #[test]
    fn runs_begin_at_a_limited_rate() {
        let (sender, _receiver) = request_queue();
        let mut memory = OrderMemory::new(sender);
        let mut begun = |now_ns| (0..1000).filter(|_| memory.may_begin_run(now_ns)).count() as u64;
        assert_eq!(begun(7), RUNS_AT_ONCE);
        assert_eq!(begun(7 + RUN_EVERY_NS - 1), 0);
        assert_eq!(begun(7 + RUN_EVERY_NS), 1);
        assert_eq!(begun(7 + 6 * RUN_EVERY_NS), 5);
        assert_eq!(begun(1 << 60), RUNS_AT_ONCE);
    }
}
