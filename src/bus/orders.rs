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

use crate::fault_point;
use crate::ingress::ArrivalCounters;
use crate::limits::ORDER_QUEUE;
use crate::rt::{Answer, JoinAnswer, Request, RequestSender};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{Join, Rejection};
use hardstand_protocol::{JoinReply, Kind, OrderReply, Refusal, SavedState, encode};

use super::panic_guard::PanicGuard;
use super::request_validator::RequestValidator;
use super::{Bus, Keys, Order, bus_error};

/// An order that the loop has not taken after this is taken back.
const TAKEN_WITHIN: Duration = Duration::from_millis(500);
/// Time between two looks for an answer of the loop.
const LOOK_AGAIN: Duration = Duration::from_micros(200);
/// An answer of this thread comes before this.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// Time between two looks whether to end.
const IDLE: Duration = Duration::from_millis(50);

/// The way of orders to the loop, which outlives a service that has died.
pub type SharedOutbox = Arc<Mutex<RequestSender>>;

/// The service behind the keys of [`Order`].
#[derive(Debug)]
pub struct OrderService {
    port: OrderPort,
    queryables: Vec<Queryable<()>>,
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl OrderService {
    /// Declares the keys and starts the thread; what `request_validator` accepts goes to `outbox`.
    /// `counters` count what was received, and what was refused for which reason.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        keys: &Keys,
        outbox: SharedOutbox,
        request_validator: RequestValidator,
        counters: Arc<ArrivalCounters>,
    ) -> Result<Self> {
        let panic_guard = bus.panic_guard.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let (requests_out, requests) = bounded(ORDER_QUEUE);
        let port = OrderPort { requests: requests_out, counters: Arc::clone(&counters) };
        let declare = |order| listen(bus, keys.order(order), order, port.clone());
        let mut queryables = Order::ALL.into_iter().map(declare).collect::<Result<Vec<_>>>()?;
        // the key of version 4: its messages are refused with the version that is expected
        queryables.push(listen(bus, &keys.clear_before_v5(), Order::ClearFaults, port.clone())?);
        let mut desk = RequestIngress {
            requests,
            outbox,
            request_validator,
            counters,
            waiting: VecDeque::new(),
        };
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("orders".into())
            .spawn(move || panic_guard.guard(|| desk.run(&seen)))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("orders thread: {e}")))?;
        Ok(Self { port, queryables, thread, stop })
    }

    /// Where others in this process ask.
    #[must_use]
    pub fn port(&self) -> OrderPort {
        self.port.clone()
    }

    /// Ends the service. Requests that still wait get no answer.
    pub fn finish(self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.queryables);
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

/// What is asked, and who waits for the answer.
#[derive(Debug)]
struct Incoming {
    order: Order,
    payload: Vec<u8>,
    asker: Asker,
}

#[derive(Debug)]
enum Asker {
    /// A query, and the key of the answer.
    Query(Query, String),
    /// A thread of this process.
    Thread(Sender<Reply>),
}

impl Asker {
    fn answer(self, reply: Reply) {
        match (self, reply) {
            (Self::Query(query, key), Reply::Order(r)) => send(&query, &key, Kind::OrderReply, &r),
            (Self::Query(query, key), Reply::Saved(s)) => send(&query, &key, Kind::SavedState, &s),
            (Self::Query(query, key), Reply::Joined(j)) => send(&query, &key, Kind::JoinReply, &j),
            (Self::Thread(answers), reply) => {
                let _asker_may_be_gone = answers.try_send(reply).is_ok();
            }
        }
    }
}

/// A place to ask for orders.
#[derive(Clone, Debug)]
pub struct OrderPort {
    requests: Sender<Incoming>,
    counters: Arc<ArrivalCounters>,
}

impl OrderPort {
    /// Asks with the payload that a query would have, and waits for the answer.
    #[must_use]
    pub fn ask(&self, order: Order, payload: Vec<u8>) -> Reply {
        let (answer, answers) = bounded(1);
        self.put(Incoming { order, payload, asker: Asker::Thread(answer) });
        let ended = |_late| {
            let gone = busy("the service of orders has ended");
            Reply::Order(OrderReply::from(gone))
        };
        answers.recv_timeout(ANSWERED_WITHIN).unwrap_or_else(ended)
    }

    fn put(&self, request: Incoming) {
        self.counters.count_received();
        if let Err(e) = self.requests.try_send(request) {
            let full = busy("more requests are waiting already than can be kept");
            let Incoming { order, asker, .. } = e.into_inner();
            asker.answer(refused(order, full, &self.counters));
        }
    }
}

/// Puts what is asked under a key into the queue.
fn listen(bus: &Bus, key: &str, order: Order, port: OrderPort) -> Result<Queryable<()>> {
    let (own, watch): (_, PanicGuard) = (key.to_string(), bus.panic_guard.clone());
    let callback = move |query: Query| {
        watch.guard(|| {
            let payload = query.payload().map(|p| p.to_bytes().into_owned()).unwrap_or_default();
            port.put(Incoming { order, payload, asker: Asker::Query(query, own.clone()) });
        });
    };
    let queryable = bus.session.declare_queryable(key.to_string()).callback(callback);
    queryable.wait().map_err(|e| bus_error(key, e))
}

/// Whose order has been sent to the loop.
struct Waiting {
    number: u64,
    order: Order,
    since: Instant,
    asker: Asker,
}

/// What the thread works with.
struct RequestIngress {
    requests: Receiver<Incoming>,
    outbox: SharedOutbox,
    request_validator: RequestValidator,
    counters: Arc<ArrivalCounters>,
    /// Those whose orders have been sent, oldest first.
    waiting: VecDeque<Waiting>,
}

impl RequestIngress {
    fn run(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
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
        let Incoming { order, payload, asker } = request;
        let checked = self.request_validator.request(order, &payload).and_then(|request| {
            let full = |_request| busy("more orders are waiting already than one tick takes");
            self.outbox().send(request).map_err(full)
        });
        match checked {
            Ok(number) => {
                self.waiting.push_back(Waiting { number, order, since: Instant::now(), asker });
            }
            Err(refusal) => asker.answer(refused(order, refusal, &self.counters)),
        }
    }

    fn answer_taken(&mut self) {
        while let Some(taken) = { self.outbox().answer() } {
            let Some(waiting) = self.take_waiting(taken.number) else { continue };
            waiting.asker.answer(match taken {
                Answer { request: Request::Snapshot(words), run_id, tick, .. } => {
                    Reply::Saved(self.request_validator.saved(*words, run_id, tick))
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
                Answer { tick, .. } => Reply::Order(OrderReply::accepted(tick)),
            });
        }
    }

    fn joined(&self, (join, answer): (Join, JoinAnswer), run_id: u32) -> JoinReply {
        self.request_validator.joined(&join, answer, run_id).unwrap_or_else(|refusal| {
            self.counters.count(refusal.reason);
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
            if let Some(waiting) = self.take_waiting(number) {
                waiting.asker.answer(refused(waiting.order, late, &self.counters));
            }
        }
    }

    fn take_waiting(&mut self, number: u64) -> Option<Waiting> {
        let place = self.waiting.iter().position(|w| w.number == number)?;
        self.waiting.remove(place)
    }
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

fn send<T: Serialize>(query: &Query, key: &str, kind: Kind, reply: &T) {
    let mut bytes = Vec::new();
    if encode(kind, reply, &mut bytes).is_ok() {
        let encoding = Encoding::APPLICATION_OCTET_STREAM.with_schema(kind.schema());
        let _peer_may_be_gone = query.reply(key, bytes).encoding(encoding).wait().is_ok();
    }
}
