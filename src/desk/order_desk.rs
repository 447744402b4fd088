//! Orders on their way in: check, hand-over, and the answer when the loop has taken them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{MutexGuard, PoisonError};

use crate::buffer_pool::Run;
use crate::ingress::{Present, check_control};
use crate::limits::{FAULTS_MAX, PUSHES_MAX};
use crate::rt::{Answer, Request};
use hardstand_protocol::{
    JoinReply, Order, OrderHead, OrderReply, Refusal, Rejection, SavedState, decode_order,
};

use super::order_memory::Pending;
use super::request_validator::CheckedOrder;
use super::waiters::Waiters;
use super::{
    OrderGate, OrderMemory, PastSearch, Reply, RequestValidator, SharedOrders, busy, refused,
};

/// An order that the loop has not taken so long after it arrived is taken back, ns.
const TAKEN_WITHIN_NS: u64 = 500_000_000;

/// An order as it arrives; `W` is who waits for the answer.
#[derive(Debug)]
pub struct Incoming<W> {
    /// Which one, from its key.
    pub order: Order,
    /// All of its bytes.
    pub payload: Vec<u8>,
    /// Who waits; `None` if the order was put, or is from a sender that wants no answer.
    pub waiter: Option<W>,
    /// When it arrived, ns.
    pub since_ns: u64,
}

/// Takes orders in and answers them. Each order has its effect once, however often it comes.
#[derive(Debug)]
pub struct OrderDesk<W> {
    orders: SharedOrders,
    request_validator: RequestValidator,
    gate: OrderGate,
    waiters: Waiters<W>,
    search: Option<Search>,
}

impl<W> OrderDesk<W> {
    /// A desk that hands to `orders` what `gate` and `request_validator` accept.
    #[must_use]
    pub const fn new(
        orders: SharedOrders,
        request_validator: RequestValidator,
        gate: OrderGate,
    ) -> Self {
        Self { orders, request_validator, gate, waiters: Waiters::new(), search: None }
    }

    fn orders(&self) -> MutexGuard<'_, OrderMemory> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the loop has no order that it has not answered.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.orders().is_empty()
    }

    /// True if the loop has an order of a stream. The next one can wait, and so give way to a newer
    /// one.
    #[must_use]
    pub fn streams(&self) -> bool {
        self.orders().streams()
    }

    /// Takes an order in; one that is refused, or that has been answered before, is answered now.
    pub fn take_in(
        &mut self,
        now_ns: u64,
        incoming: Incoming<W>,
        answer: &mut impl FnMut(W, Reply),
    ) {
        let (order, handed) = (incoming.order, self.hand_over(now_ns, &incoming));
        let waiter = incoming.waiter;
        match handed {
            Ok(HandedOver::Waits(number)) => {
                if let Some(waiter) = waiter {
                    self.waiters.add(number, waiter);
                }
            }
            Ok(HandedOver::Answered(reply)) => {
                if let Some(waiter) = waiter {
                    answer(waiter, *reply);
                }
            }
            Err(refusal) => {
                let reply = refused(order, refusal, self.gate.counters());
                if let Some(waiter) = waiter {
                    answer(waiter, reply);
                }
            }
        }
    }

    fn hand_over(&mut self, now_ns: u64, incoming: &Incoming<W>) -> Result<HandedOver, Refusal> {
        let Incoming { order, ref payload, since_ns, .. } = *incoming;
        let streamed = incoming.waiter.is_none();
        let hash = hash_of(order, payload);
        // the same order again: its answer was lost, or is on its way. Before all checks, since
        // another run may have begun with it
        if let Ok((OrderHead { nonce, .. }, _)) = decode_order(order, payload) {
            if let Some(pending) = self.orders().pending(nonce) {
                must_be_equal(nonce, pending.hash, hash)?;
                pending.streamed &= streamed;
                return Ok(HandedOver::Waits(pending.number));
            }
            if let Some((reply, of)) = self.orders().answered(nonce) {
                must_be_equal(nonce, of, hash)?;
                return Ok(HandedOver::Answered(Box::new(reply)));
            }
            if let Some(Search { pending, .. }) = &self.search
                && pending.head.nonce == nonce
            {
                must_be_equal(nonce, pending.hash, hash)?;
                return Ok(HandedOver::Waits(pending.number));
            }
        }
        if now_ns.saturating_sub(since_ns) > TAKEN_WITHIN_NS {
            return Err(too_late());
        }
        let (head, body) = self.gate.check(order, payload)?;
        let back = back_of(order, body);
        if back.is_some() && (self.search.is_some() || self.orders().goes_back()) {
            return Err(busy("an earlier state is being looked for already, and only one can be"));
        }
        let CheckedOrder { request, session } = self.request_validator.request(order, body)?;
        let begins_file =
            self.request_validator.is_recorded() && matches!(request, Request::StateReset(_));
        if begins_file && !self.orders().may_begin_run(now_ns) {
            return Err(busy("each run is a file of the log, and only 10 may begin in a second"));
        }
        let pending = Pending { number: 0, order, head, hash, back, session, since_ns, streamed };
        let sent = self.orders().send(request, pending);
        let number =
            sent.map_err(|_request| busy("more orders are waiting already than one tick takes"))?;
        Ok(HandedOver::Waits(number))
    }

    /// Passes on what the loop has answered, and takes back what it has not taken in time.
    pub fn look(&mut self, now_ns: u64, answer: &mut impl FnMut(W, Reply)) {
        while let Some((pending, taken)) = { self.orders().next_answer() } {
            if let Some(ticks) = pending.back {
                self.go_back(pending, &taken, ticks, answer);
                continue;
            }
            let run = taken.run;
            let reply = self.reply(&pending, taken);
            self.finish(pending, &reply, run, answer);
        }
        self.recall_late(now_ns, answer);
    }

    /// Prepares the search for an earlier state: the order is answered when that is found.
    fn go_back(
        &mut self,
        pending: Pending,
        taken: &Answer,
        ticks: u64,
        answer: &mut impl FnMut(W, Reply),
    ) {
        let Answer { run, tick, .. } = *taken;
        let digest = match &taken.request {
            Request::Snapshot(words) => words.last().copied().unwrap_or_default(),
            _ => 0,
        };
        match self.request_validator.past_search(Present { run_id: run.id, tick, digest }, ticks) {
            Ok(search) => self.search = Some(Search { pending, run, next: Some(search) }),
            Err(refusal) => {
                let reply = refused(pending.order, refusal, self.gate.counters());
                self.finish(pending, &reply, run, answer);
            }
        }
    }

    /// A search that has to begin now. Its end is to be told to [`found`](Self::found).
    #[must_use]
    pub fn next_search(&mut self) -> Option<PastSearch> {
        self.search.as_mut()?.next.take()
    }

    /// Answers the order for an earlier state.
    pub fn found(&mut self, found: Result<SavedState, Refusal>, answer: &mut impl FnMut(W, Reply)) {
        let Some(Search { pending, run, .. }) = self.search.take() else { return };
        let reply = match found {
            Ok(saved) => Reply::Saved(self.request_validator.found(saved)),
            Err(refusal) => refused(pending.order, refusal, self.gate.counters()),
        };
        self.finish(pending, &reply, run, answer);
    }

    fn reply(&self, pending: &Pending, taken: Answer) -> Reply {
        let counters = self.gate.counters();
        match taken {
            Answer { request: Request::Snapshot(words), run, tick, .. } => {
                Reply::Saved(self.request_validator.saved(*words, run.id, tick))
            }
            Answer { request: Request::Join(joined), run, .. } => {
                let (join, answer) = *joined;
                let session = pending.session;
                let joined = self.request_validator.joined(&join, session, answer, run.id);
                Reply::Joined(joined.unwrap_or_else(|refusal| {
                    counters.count(refusal.reason);
                    JoinReply::from(refusal)
                }))
            }
            Answer { request: Request::Leave(session), tick, .. } => {
                self.request_validator.left(session);
                Reply::Order(OrderReply::accepted(tick))
            }
            Answer { request: Request::StateReset(_), tick, .. } => {
                self.request_validator.all_left();
                Reply::Order(OrderReply::accepted(tick))
            }
            Answer { request: Request::Arm { void: true, .. }, .. } => {
                let text = "another emergency stop has come since this order was sent".into();
                let refusal = Refusal { reason: Rejection::Stopped, text };
                refused(pending.order, refusal, counters)
            }
            Answer { acts: false, .. } => {
                let text = format!(
                    "as many act already as can, {PUSHES_MAX} pushes and {FAULTS_MAX} faults; end \
                     one of them (hardstand ctl clear)"
                );
                refused(pending.order, busy(&text), counters)
            }
            Answer { tick, .. } => Reply::Order(OrderReply::accepted(tick)),
        }
    }

    /// Answers, and remembers the answer for the case that it gets lost.
    fn finish(
        &mut self,
        pending: Pending,
        reply: &Reply,
        run: Run,
        answer: &mut impl FnMut(W, Reply),
    ) {
        let Pending { number, order, head, hash, streamed, .. } = pending;
        // what streams is in the tick's events
        if let Some(tick) = reply.accepted().filter(|_| !streamed) {
            self.gate.note_accepted(order, run, tick, &head.asker);
        }
        self.answer_all(number, reply, answer);
        // a state is asked for again instead: it is large, and nothing has changed
        if order != Order::Snapshot {
            self.orders().remember(head, hash, reply.clone());
        }
    }

    fn answer_all(&mut self, number: u64, reply: &Reply, answer: &mut impl FnMut(W, Reply)) {
        for waiter in self.waiters.take(number) {
            answer(waiter, reply.clone());
        }
    }

    /// An answer is true: an order that the loop does not take in time is taken back before its
    /// asker is refused. One that the loop has just taken cannot be: its answer is on its way.
    fn recall_late(&mut self, now_ns: u64, answer: &mut impl FnMut(W, Reply)) {
        let before_ns = now_ns.saturating_sub(TAKEN_WITHIN_NS);
        while let Some(Pending { number, order, .. }) = { self.orders().recall(before_ns) } {
            let reply = refused(order, too_late(), self.gate.counters());
            self.answer_all(number, &reply, answer);
        }
    }
}

/// An order for an earlier state, while that is searched for.
#[derive(Debug)]
struct Search {
    pending: Pending,
    /// The run in which it was asked for.
    run: Run,
    /// The search, until it begins.
    next: Option<PastSearch>,
}

/// Why an order that has waited too long is refused.
fn too_late() -> Refusal {
    busy("the simulation takes no more orders now; nothing has changed")
}

/// What became of an order that is not refused.
enum HandedOver {
    /// The loop has it as the request with this number.
    Waits(u64),
    Answered(Box<Reply>),
}

/// A hash of all that an order says.
fn hash_of(order: Order, payload: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (order as u8, payload).hash(&mut hasher);
    hasher.finish()
}

/// An order that has the nonce of another one is none that has come again.
fn must_be_equal(nonce: u64, first: u64, hash: u64) -> Result<(), Refusal> {
    if hash == first {
        return Ok(());
    }
    let text = format!(
        "nonce is {nonce}, which another order has had; it must be a random number, another one \
         for each order"
    );
    Err(Refusal { reason: Rejection::OutOfRange, text })
}

/// How many ticks before now a snapshot is wanted of; `None` for now.
fn back_of(order: Order, body: &[u8]) -> Option<u64> {
    let control = (order == Order::Snapshot).then(|| check_control(body).ok()).flatten()?;
    (control.rewind == 1).then_some(control.number)
}
