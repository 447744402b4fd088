//! Orders on their way in: request, check, hand-over, and the answer when.
//!
//! A query, or another thread of this process, only puts a request into a queue. A thread of its
//! own checks the request, hands the order to the loop and answers once the loop has taken it:
//! within a period, or before the first tick while the robot waits for a controller. An earlier
//! state is looked for in the log by yet another thread, so that no order waits for that.

use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, never, select};
use serde::Serialize;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::query::{Query, Queryable};

use crate::buffer_pool::EmergencyStop;
use crate::desk::{
    self, OrderDesk, OrderGate, PastSearch, Reply, RequestValidator, SharedOrders, busy, refused,
};
use crate::fault_point;
use crate::limits::ORDER_QUEUE;
use crate::rt::{Clock as _, MonotonicClock};
use hardstand_error::{Error, Result, no_thread};
use hardstand_protocol::{
    Kind, OrderReply, Refusal, Rejection, SavedState, VelocityCommand, encode,
};

use super::stop_service::StopService;
use super::stream_slot::StreamSlot;
use super::{Bus, Keys, Listening, Order, PanicGuard};

/// Time between two looks for an answer of the loop.
const LOOK_AGAIN: Duration = Duration::from_micros(200);
/// An answer of this thread comes before this.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// Longest wait for a request.
const IDLE: Duration = Duration::from_millis(50);

/// Whether one of a stream of orders was taken.
type Streamed = std::result::Result<(), Refusal>;

/// The service behind the keys of [`Order`].
#[derive(Debug)]
pub struct OrderService {
    port: OrderPort,
    queryables: Vec<Queryable<()>>,
    stream: Listening,
    stop_service: StopService,
    thread: JoinHandle<()>,
    end: Sender<()>,
}

impl OrderService {
    /// Declares the keys and starts the thread; what `request_validator` accepts goes to `shared`,
    /// the emergency stop to `emergency_stop`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](hardstand_error::ErrorKind::Bus) if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        keys: &Keys,
        shared: SharedOrders,
        emergency_stop: EmergencyStop,
        request_validator: RequestValidator,
        gate: OrderGate,
    ) -> Result<Self> {
        let panic_guard = bus.panic_guard.clone();
        let (end, ended) = bounded(0);
        let (requests_out, requests) = bounded(ORDER_QUEUE);
        let stop_service =
            StopService::start(bus, keys, &emergency_stop, &gate, !request_validator.shows_log())?;
        let stream = StreamSlot::new();
        let port = OrderPort {
            requests: requests_out,
            stream: stream.clone(),
            gate: gate.clone(),
            emergency_stop,
        };
        let declare = |order| listen(bus, keys.order(order), order, port.clone());
        let queued = Order::ALL.into_iter().filter(|order| *order != Order::Stop);
        let mut queryables = queued.map(declare).collect::<Result<Vec<_>>>()?;
        // the key of version 4: its messages are refused with the version that is expected
        queryables.push(listen(bus, &keys.clear_before_v5(), Order::ClearFaults, port.clone())?);
        let listening = listen_to_stream(bus, keys, port.clone())?;
        let (searches, found) = start_searches(panic_guard.clone())?;
        let inputs = Inputs { requests, stream, ended, searches, found };
        let mut desk = OrderDesk::new(shared, request_validator, gate);
        let thread = std::thread::Builder::new()
            .name("orders".into())
            .spawn(move || panic_guard.guard(|| run(&mut desk, &inputs)))
            .map_err(|e| no_thread("orders", &e))?;
        Ok(Self { port, queryables, stream: listening, stop_service, thread, end })
    }

    /// Where others in this process ask.
    #[must_use]
    pub fn port(&self) -> OrderPort {
        self.port.clone()
    }

    /// Ends the service. Requests that still wait get no answer, and no search is waited for.
    pub fn finish(self) {
        drop((self.end, self.queryables, self.stream));
        self.stop_service.finish();
        let _ended = self.thread.join().is_ok();
    }
}

type Incoming = desk::Incoming<Waiter>;

/// Who waits for an answer.
#[derive(Debug)]
enum Waiter {
    /// A query, and the key of the answer.
    Query(Query, String),
    /// A thread of this process.
    Thread(Sender<Reply>),
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
        }
    }
}

/// A place to ask for orders.
#[derive(Clone, Debug)]
pub struct OrderPort {
    requests: Sender<Incoming>,
    stream: StreamSlot<Incoming>,
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
        self.put(order, payload, Waiter::Thread(answer));
        answers.recv_timeout(ANSWERED_WITHIN).unwrap_or_else(|_late| ended())
    }

    /// Asks for a velocity as one of a stream, without an answer.
    ///
    /// # Errors
    /// What is wrong with it; it is counted.
    pub fn stream(&self, asker: &str, velocity: &VelocityCommand) -> Streamed {
        let refused = |e: Error| Refusal { reason: Rejection::Size, text: e.to_string() };
        let payload = self.gate.encode(Order::Velocity, asker, velocity).map_err(refused)?;
        self.put_streamed(payload)
    }

    /// Only the newest of a stream counts: it replaces the one that waits, if nothing is wrong.
    fn put_streamed(&self, payload: Vec<u8>) -> Streamed {
        let counters = self.gate.counters();
        counters.count_received();
        match self.gate.check_velocity(&payload) {
            Ok(()) => {
                let (order, since_ns) = (Order::Velocity, MonotonicClock::default().now_ns());
                self.stream.put(Incoming { order, payload, waiter: None, since_ns });
                Ok(())
            }
            Err(refusal) => {
                counters.count(refusal.reason);
                Err(refusal)
            }
        }
    }

    fn put(&self, order: Order, payload: Vec<u8>, waiter: Waiter) {
        self.gate.counters().count_received();
        let since_ns = MonotonicClock::default().now_ns();
        let request = Incoming { order, payload, waiter: Some(waiter), since_ns };
        if let Err(e) = self.requests.try_send(request) {
            let full = busy("more requests are waiting already than can be kept");
            let Incoming { order, waiter, .. } = e.into_inner();
            let reply = refused(order, full, self.gate.counters());
            if let Some(waiter) = waiter {
                waiter.answer(reply);
            }
        }
    }
}

/// Puts what is asked under a key into the queue.
fn listen(bus: &Bus, key: &str, order: Order, port: OrderPort) -> Result<Queryable<()>> {
    let own = key.to_string();
    bus.answer_exactly(key, move |query| {
        let payload = query.payload().map(|p| p.to_bytes().into_owned()).unwrap_or_default();
        port.put(order, payload, Waiter::Query(query, own.clone()));
    })
}

/// Velocity commands may come as a stream: put, without an answer.
fn listen_to_stream(bus: &Bus, keys: &Keys, port: OrderPort) -> Result<Listening> {
    bus.listen(keys.order(Order::Velocity), move |bytes, _| {
        let _counted = port.put_streamed(bytes.to_vec()).is_ok();
    })
}

type Found = std::result::Result<SavedState, Refusal>;

/// Starts the thread that looks for earlier states, one at a time. It ends with its search after
/// the sender is gone.
fn start_searches(panic_guard: PanicGuard) -> Result<(Sender<PastSearch>, Receiver<Found>)> {
    let (searches_out, searches) = bounded::<PastSearch>(1);
    let (found_out, found) = bounded(1);
    let work = move || {
        for search in searches {
            fault_point::visit("past");
            if found_out.send(search.run()).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("past".into())
        .spawn(move || panic_guard.guard(work))
        .map_err(|e| no_thread("past", &e))?;
    Ok((searches_out, found))
}

/// What the orders' thread waits for.
struct Inputs {
    requests: Receiver<Incoming>,
    stream: StreamSlot<Incoming>,
    ended: Receiver<()>,
    searches: Sender<PastSearch>,
    found: Receiver<Found>,
}

fn run(desk: &mut OrderDesk<Waiter>, inputs: &Inputs) {
    let Inputs { requests, stream, ended, searches, found } = inputs;
    let (clock, later) = (MonotonicClock::default(), never());
    let answer = &mut |waiter: Waiter, reply| waiter.answer(reply);
    let take_in = |desk: &mut OrderDesk<Waiter>, request, answer: &mut _| {
        fault_point::visit("orders");
        desk.take_in(clock.now_ns(), request, answer);
    };
    loop {
        let patience = if desk.is_idle() { IDLE } else { LOOK_AGAIN };
        // the next of a stream waits until the loop has taken the one before
        let newest = if desk.streams() { &later } else { stream.newest() };
        select! {
            recv(requests) -> request => {
                let Ok(request) = request else { return };
                // what came before it acts before it
                if let Some(before) = stream.take_if(|s| s.since_ns <= request.since_ns) {
                    take_in(desk, before, answer);
                }
                take_in(desk, request, answer);
            }
            recv(newest) -> streamed => {
                let Ok(streamed) = streamed else { return };
                take_in(desk, streamed, answer);
            }
            recv(found) -> found => {
                let Ok(found) = found else { return }; // after a panic, which ends the session
                desk.found(found, answer);
            }
            recv(ended) -> _ => return,
            default(patience) => {}
        }
        desk.look(clock.now_ns(), answer);
        if let Some(search) = desk.next_search() {
            let _thread_is_there = searches.try_send(search).is_ok();
        }
    }
}

pub(super) fn send<T: Serialize>(query: &Query, key: &str, kind: Kind, reply: &T) {
    let mut bytes = Vec::new();
    if encode(kind, reply, &mut bytes).is_ok() {
        let encoding = Encoding::APPLICATION_OCTET_STREAM.with_schema(kind.schema());
        let _peer_may_be_gone = query.reply(key, bytes).encoding(encoding).wait().is_ok();
    }
}
