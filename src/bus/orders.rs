//! Orders on their way in: request, check, hand-over, and the answer when.
//!
//! A query, or another thread of this process, only puts a request into a queue. A thread of its
//! own checks the request, hands the order to the loop and answers once the loop has taken it:
//! within a period, or before the first tick while the robot waits for a controller.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde::Serialize;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::query::{Query, Queryable};

use crate::buffer_pool::EmergencyStop;
use crate::fault_point;
use crate::ingress::{ArrivalCounters, Present, check_control};
use crate::limits::ORDER_QUEUE;
use crate::rt::{Answer, JoinAnswer, Request, RequestSender};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{
    Join, JoinReply, Kind, OrderHead, OrderReply, Refusal, Rejection, SavedState, encode,
};

use super::order_gate::OrderGate;
use super::request_validator::RequestValidator;
use super::stop_service::StopService;
use super::{Bus, Keys, Listening, Order};

/// An order that the loop has not taken after this is taken back.
const TAKEN_WITHIN: Duration = Duration::from_millis(500);
/// Time between two looks for an answer of the loop.
const LOOK_AGAIN: Duration = Duration::from_micros(200);
/// An answer of this thread comes before this.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// Answers that are remembered for orders that come again.
const ANSWERS_KEPT: usize = 256;
/// Time between two looks whether to end.
const IDLE: Duration = Duration::from_millis(50);

/// The way of orders to the loop, which outlives a service that has died.
pub type SharedOutbox = Arc<Mutex<RequestSender>>;

/// The service behind the keys of [`Order`].
#[derive(Debug)]
pub struct OrderService {
    port: OrderPort,
    queryables: Vec<Queryable<()>>,
    stream: Listening,
    stop_service: StopService,
    thread: JoinHandle<()>,
    end: Arc<AtomicBool>,
}

impl OrderService {
    /// Declares the keys and starts the thread; what `request_validator` accepts goes to `outbox`,
    /// the emergency stop to `emergency_stop`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        keys: &Keys,
        outbox: SharedOutbox,
        emergency_stop: EmergencyStop,
        request_validator: RequestValidator,
        gate: OrderGate,
    ) -> Result<Self> {
        let panic_guard = bus.panic_guard.clone();
        let end = Arc::new(AtomicBool::new(false));
        let (requests_out, requests) = bounded(ORDER_QUEUE);
        let stop_service =
            StopService::start(bus, keys, &emergency_stop, &gate, !request_validator.shows_log())?;
        let port = OrderPort { requests: requests_out, gate: gate.clone(), emergency_stop };
        let declare = |order| listen(bus, keys.order(order), order, port.clone());
        let queued = Order::ALL.into_iter().filter(|order| *order != Order::Stop);
        let mut queryables = queued.map(declare).collect::<Result<Vec<_>>>()?;
        // the key of version 4: its messages are refused with the version that is expected
        queryables.push(listen(bus, &keys.clear_before_v5(), Order::ClearFaults, port.clone())?);
        let stream = listen_to_stream(bus, keys, port.clone())?;
        let mut ingress = RequestIngress {
            requests,
            outbox,
            request_validator,
            gate,
            waiting: VecDeque::new(),
            answered: VecDeque::new(),
        };
        let seen = Arc::clone(&end);
        let thread = std::thread::Builder::new()
            .name("orders".into())
            .spawn(move || panic_guard.guard(|| ingress.run(&seen)))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("orders thread: {e}")))?;
        Ok(Self { port, queryables, stream, stop_service, thread, end })
    }

    /// Where others in this process ask.
    #[must_use]
    pub fn port(&self) -> OrderPort {
        self.port.clone()
    }

    /// Ends the service. Requests that still wait get no answer.
    pub fn finish(self) {
        self.end.store(true, Ordering::Relaxed);
        drop((self.queryables, self.stream));
        self.stop_service.finish();
        let _ended = self.thread.join().is_ok();
    }
}

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
    const fn accepted(&self) -> Option<u64> {
        match self {
            Self::Order(r) if r.verdict == 0 => Some(r.tick),
            Self::Saved(saved) => Some(saved.tick),
            Self::Joined(j) if j.verdict == 0 => Some(j.first_tick),
            Self::Order(_) | Self::Joined(_) => None,
        }
    }
}

/// What is asked, and who waits for the answer.
#[derive(Debug)]
struct Incoming {
    order: Order,
    payload: Vec<u8>,
    waiter: Waiter,
}

#[derive(Debug)]
enum Waiter {
    /// A query, and the key of the answer.
    Query(Query, String),
    /// A thread of this process.
    Thread(Sender<Reply>),
    /// The order was put, or told.
    None,
}

impl Waiter {
    fn answer(self, reply: Reply) {
        match (self, reply) {
            (Self::Query(query, key), Reply::Order(r)) => send(&query, &key, Kind::OrderReply, &r),
            (Self::Query(query, key), Reply::Saved(s)) => send(&query, &key, Kind::SavedState, &s),
            (Self::Query(query, key), Reply::Joined(j)) => send(&query, &key, Kind::JoinReply, &j),
            (Self::Thread(answers), reply) => {
                let _asker_may_be_gone = answers.try_send(reply).is_ok();
            }
            (Self::None, _) => {}
        }
    }
}

/// A place to ask for orders.
#[derive(Clone, Debug)]
pub struct OrderPort {
    requests: Sender<Incoming>,
    gate: OrderGate,
    emergency_stop: EmergencyStop,
}

impl OrderPort {
    /// Asks for an order in the name of `asker`, in the current run, and waits for the answer.
    #[must_use]
    pub fn ask<T: Serialize>(&self, order: Order, asker: &str, body: &T) -> Reply {
        let ended = || {
            let gone = busy("the service of orders has ended");
            Reply::Order(OrderReply::from(gone))
        };
        if order == Order::Stop {
            let number = self.emergency_stop.request();
            let taken = self.emergency_stop.wait_taken(number, ANSWERED_WITHIN);
            return taken.map_or_else(ended, |t| Reply::Order(OrderReply::accepted(t.tick)));
        }
        let Ok(payload) = self.gate.encode(order, asker, body) else { return ended() };
        let (answer, answers) = bounded(1);
        self.put(Incoming { order, payload, waiter: Waiter::Thread(answer) });
        answers.recv_timeout(ANSWERED_WITHIN).unwrap_or_else(|_late| ended())
    }

    /// The same without an answer.
    pub fn tell<T: Serialize>(&self, order: Order, asker: &str, body: &T) {
        if let Ok(payload) = self.gate.encode(order, asker, body) {
            self.put(Incoming { order, payload, waiter: Waiter::None });
        }
    }

    fn put(&self, request: Incoming) {
        self.gate.counters().count_received();
        if let Err(e) = self.requests.try_send(request) {
            let full = busy("more requests are waiting already than can be kept");
            let Incoming { order, waiter, .. } = e.into_inner();
            waiter.answer(refused(order, full, self.gate.counters()));
        }
    }
}

/// Puts what is asked under a key into the queue.
fn listen(bus: &Bus, key: &str, order: Order, port: OrderPort) -> Result<Queryable<()>> {
    let own = key.to_string();
    bus.answer_exactly(key, move |query| {
        let payload = query.payload().map(|p| p.to_bytes().into_owned()).unwrap_or_default();
        port.put(Incoming { order, payload, waiter: Waiter::Query(query, own.clone()) });
    })
}

/// Velocity commands may come as a stream: put, without an answer.
fn listen_to_stream(bus: &Bus, keys: &Keys, port: OrderPort) -> Result<Listening> {
    let order = Order::Velocity;
    bus.listen(keys.order(order), move |bytes, _| {
        port.put(Incoming { order, payload: bytes.to_vec(), waiter: Waiter::None });
    })
}

/// Whose order has been sent to the loop.
struct Waiting {
    number: u64,
    order: Order,
    head: OrderHead,
    /// A snapshot is wanted of so many ticks before.
    back: Option<u64>,
    since: Instant,
    waiters: Vec<Waiter>,
}

/// What the thread works with.
struct RequestIngress {
    requests: Receiver<Incoming>,
    outbox: SharedOutbox,
    request_validator: RequestValidator,
    gate: OrderGate,
    /// Those whose orders have been sent, oldest first.
    waiting: VecDeque<Waiting>,
    /// Nonces of orders that were answered, and their answers, oldest first.
    answered: VecDeque<(u64, Reply)>,
}

impl RequestIngress {
    fn run(&mut self, end: &AtomicBool) {
        while !end.load(Ordering::Relaxed) {
            let patience = if self.waiting.is_empty() { IDLE } else { LOOK_AGAIN };
            match self.requests.recv_timeout(patience) {
                Ok(request) => self.take_in(request),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.answer_taken();
            self.recall_late();
        }
    }

    fn outbox(&self) -> MutexGuard<'_, RequestSender> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_in(&mut self, request: Incoming) {
        fault_point::visit("orders");
        let Incoming { order, payload, waiter } = request;
        let (head, body) = match self.gate.check(order, &payload) {
            Ok(checked) => checked,
            Err(refusal) => return waiter.answer(refused(order, refusal, self.gate.counters())),
        };
        // the same order again: its answer was lost, or is on its way
        if let Some(waiting) = self.waiting.iter_mut().find(|w| w.head.nonce == head.nonce) {
            return waiting.waiters.push(waiter);
        }
        if let Some((_, reply)) = self.answered.iter().find(|(nonce, _)| *nonce == head.nonce) {
            return waiter.answer(reply.clone());
        }
        let back = back_of(order, body);
        let checked = self.request_validator.request(order, body).and_then(|request| {
            let full = |_request| busy("more orders are waiting already than one tick takes");
            self.outbox().send(request).map_err(full)
        });
        match checked {
            Ok(number) => {
                let (since, waiters) = (Instant::now(), vec![waiter]);
                self.waiting.push_back(Waiting { number, order, head, back, since, waiters });
            }
            Err(refusal) => waiter.answer(refused(order, refusal, self.gate.counters())),
        }
    }

    fn answer_taken(&mut self) {
        while let Some(taken) = { self.outbox().answer() } {
            let Some(waiting) = self.take_waiting(taken.number) else { continue };
            let run_id = taken.run_id;
            let reply = match taken {
                Answer { request: Request::Snapshot(words), run_id, tick, .. } => {
                    let digest = words.last().copied().unwrap_or_default();
                    let now = Present { run_id, tick, digest };
                    match waiting.back.map(|ticks| self.request_validator.past(now, ticks)) {
                        None => Reply::Saved(self.request_validator.saved(*words, run_id, tick)),
                        Some(Ok(saved)) => Reply::Saved(saved),
                        Some(Err(refusal)) => refused(waiting.order, refusal, self.gate.counters()),
                    }
                }
                Answer { request: Request::Join(joined), run_id, .. } => {
                    Reply::Joined(self.joined(*joined, run_id))
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
                    refused(waiting.order, refusal, self.gate.counters())
                }
                Answer { tick, .. } => Reply::Order(OrderReply::accepted(tick)),
            };
            self.finish(waiting, reply, run_id);
        }
    }

    /// Answers, and remembers the answer for the case that it gets lost.
    fn finish(&mut self, waiting: Waiting, reply: Reply, run_id: u32) {
        let Waiting { order, head, waiters, .. } = waiting;
        // what streams is in the tick's events
        let streamed = matches!(waiters.as_slice(), [Waiter::None]);
        if let Some(tick) = reply.accepted().filter(|_| !streamed) {
            self.gate.note_accepted(order, run_id, tick, &head.asker);
        }
        for waiter in waiters {
            waiter.answer(reply.clone());
        }
        // a state is asked for again instead: it is large, and nothing has changed
        if order != Order::Snapshot {
            if self.answered.len() >= ANSWERS_KEPT {
                self.answered.pop_front();
            }
            self.answered.push_back((head.nonce, reply));
        }
    }

    fn joined(&self, (join, answer): (Join, JoinAnswer), run_id: u32) -> JoinReply {
        self.request_validator.joined(&join, answer, run_id).unwrap_or_else(|refusal| {
            self.gate.counters().count(refusal.reason);
            JoinReply::from(refusal)
        })
    }

    /// An answer is true: an order that the loop does not take in time is taken back before its
    /// asker is refused. One that the loop has just taken cannot be: its answer is on its way.
    fn recall_late(&mut self) {
        while self.waiting.front().is_some_and(|w| w.since.elapsed() > TAKEN_WITHIN)
            && let Some(number) = { self.outbox().recall_oldest() }
        {
            let late = busy("the simulation takes no more orders now; nothing has changed");
            if let Some(Waiting { order, waiters, .. }) = self.take_waiting(number) {
                let reply = refused(order, late, self.gate.counters());
                waiters.into_iter().for_each(|waiter| waiter.answer(reply.clone()));
            }
        }
    }

    fn take_waiting(&mut self, number: u64) -> Option<Waiting> {
        let place = self.waiting.iter().position(|w| w.number == number)?;
        self.waiting.remove(place)
    }
}

/// How many ticks before now a snapshot is wanted of; `None` for now.
fn back_of(order: Order, body: &[u8]) -> Option<u64> {
    let control = (order == Order::Snapshot).then(|| check_control(body).ok()).flatten()?;
    (control.rewind == 1).then_some(control.number)
}

fn busy(why: &str) -> Refusal {
    Refusal { reason: Rejection::QueueFull, text: format!("busy: {why}") }
}

fn refused(order: Order, refusal: Refusal, counters: &ArrivalCounters) -> Reply {
    counters.count(refusal.reason);
    match order {
        Order::Join => Reply::Joined(JoinReply::from(refusal)),
        _ => Reply::Order(OrderReply::from(refusal)),
    }
}

pub(super) fn send<T: Serialize>(query: &Query, key: &str, kind: Kind, reply: &T) {
    let mut bytes = Vec::new();
    if encode(kind, reply, &mut bytes).is_ok() {
        let encoding = Encoding::APPLICATION_OCTET_STREAM.with_schema(kind.schema());
        let _peer_may_be_gone = query.reply(key, bytes).encoding(encoding).wait().is_ok();
    }
}
