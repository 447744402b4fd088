//! Orders on their way in: query, check, hand-over, and the answer when.
//!
//! zenoh's thread only puts the query into a queue. A thread of its own checks it, hands the order
//! to the loop and answers once the loop has taken it: within a period, or before the first tick
//! while the robot waits for a controller.

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

use crate::error::{Error, ErrorKind, Result};
use crate::fault_point;
use crate::limits::ORDER_QUEUE;
use crate::message::{ArrivalCounters, Kind, OrderReply, Refusal, encode};
use crate::plant::Rejection;
use crate::rt::{Answer, Order, OrderOutbox};

use super::judge::Judge;
use super::life::Life;
use super::{Ask, Bus, Keys, bus_error};

/// An order that the loop has not taken after this is taken back.
const TAKEN_WITHIN: Duration = Duration::from_millis(500);
/// Time between two looks for an answer of the loop.
const LOOK_AGAIN: Duration = Duration::from_micros(200);
/// Time between two looks whether to end.
const IDLE: Duration = Duration::from_millis(50);

/// The way of orders to the loop, which outlives a service that has died.
pub type SharedOutbox = Arc<Mutex<OrderOutbox>>;

/// The service behind the keys of [`Ask`].
#[derive(Debug)]
pub struct OrderService {
    queryables: Vec<Queryable<()>>,
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl OrderService {
    /// Declares the keys and starts the thread; what `judge` accepts goes to `outbox`, and
    /// `counters` tell what was received, and refused for a reason.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        keys: &Keys,
        outbox: SharedOutbox,
        judge: Judge,
        counters: Arc<ArrivalCounters>,
    ) -> Result<Self> {
        let life = bus.life.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let (queries_out, queries) = bounded(ORDER_QUEUE);
        let declare = |ask| listen(bus, keys, ask, queries_out.clone(), Arc::clone(&counters));
        let queryables = Ask::ALL.into_iter().map(declare).collect::<Result<_>>()?;
        let (keys, waiting) = (keys.clone(), VecDeque::new());
        let mut desk = Desk { keys, queries, outbox, judge, counters, waiting };
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("orders".into())
            .spawn(move || life.guard(|| desk.run(&seen)))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("orders thread: {e}")))?;
        Ok(Self { queryables, thread, stop })
    }

    /// Ends the service. Whoever still waits gets no answer.
    pub fn finish(self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.queryables);
        let _ended = self.thread.join().is_ok();
    }
}

/// Puts what is asked under a key into the queue.
fn listen(
    bus: &Bus,
    keys: &Keys,
    ask: Ask,
    queries: Sender<(Ask, Query)>,
    counters: Arc<ArrivalCounters>,
) -> Result<Queryable<()>> {
    let key = keys.order(ask).to_string();
    let (own, watch): (_, Life) = (key.clone(), bus.life.clone());
    let callback = move |query| {
        watch.guard(|| {
            counters.count_received();
            if let Err(e) = queries.try_send((ask, query)) {
                let full = busy("more requests are waiting already than can be kept");
                let reply = refused(full, &counters);
                answer(&e.into_inner().1, &own, Kind::OrderReply, &reply);
            }
        });
    };
    let queryable = bus.session.declare_queryable(key.clone()).callback(callback);
    queryable.wait().map_err(|e| bus_error(&key, e))
}

/// A query whose order has been sent to the loop.
struct Waiting {
    number: u64,
    since: Instant,
    ask: Ask,
    query: Query,
}

/// What the thread works with.
struct Desk {
    keys: Keys,
    queries: Receiver<(Ask, Query)>,
    outbox: SharedOutbox,
    judge: Judge,
    counters: Arc<ArrivalCounters>,
    /// Queries whose orders have been sent, oldest first.
    waiting: VecDeque<Waiting>,
}

impl Desk {
    fn run(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let patience = if self.waiting.is_empty() { IDLE } else { LOOK_AGAIN };
            match self.queries.recv_timeout(patience) {
                Ok((ask, query)) => self.take_in(ask, query),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.answer_taken();
            self.recall_late();
        }
    }

    fn outbox(&self) -> MutexGuard<'_, OrderOutbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_in(&mut self, ask: Ask, query: Query) {
        fault_point::visit("orders");
        let bytes = query.payload().map(|p| p.to_bytes()).unwrap_or_default();
        let checked = self.judge.order(ask, &bytes).and_then(|order| {
            let full = |_order| busy("more orders are waiting already than one tick takes");
            self.outbox().send(order).map_err(full)
        });
        drop(bytes);
        match checked {
            Ok(number) => {
                let since = Instant::now();
                self.waiting.push_back(Waiting { number, since, ask, query });
            }
            Err(refusal) => {
                let reply = refused(refusal, &self.counters);
                answer(&query, self.keys.order(ask), Kind::OrderReply, &reply);
            }
        }
    }

    fn answer_taken(&mut self) {
        while let Some(taken) = { self.outbox().answer() } {
            let Some(waiting) = self.take_waiting(taken.number) else { continue };
            let key = self.keys.order(waiting.ask);
            match taken {
                Answer { order: Order::Snapshot(words), epoch, tick, .. } => {
                    let saved = self.judge.saved(*words, epoch, tick);
                    answer(&waiting.query, key, Kind::SavedState, &saved);
                }
                Answer { tick, .. } => {
                    let reply = OrderReply::accepted(tick);
                    answer(&waiting.query, key, Kind::OrderReply, &reply);
                }
            }
        }
    }

    /// An answer is true: an order that the loop does not take in time is taken back before its
    /// query is refused. One that the loop has just taken cannot be: its answer is on its way.
    fn recall_late(&mut self) {
        while self.waiting.front().is_some_and(|w| w.since.elapsed() > TAKEN_WITHIN)
            && let Some(number) = { self.outbox().recall_oldest() }
        {
            let late = busy("the simulation takes no more orders now; nothing has changed");
            let reply = refused(late, &self.counters);
            if let Some(waiting) = self.take_waiting(number) {
                let key = self.keys.order(waiting.ask);
                answer(&waiting.query, key, Kind::OrderReply, &reply);
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

fn refused(refusal: Refusal, counters: &ArrivalCounters) -> OrderReply {
    counters.count(refusal.reason);
    OrderReply::refused(refusal)
}

fn answer<T: Serialize>(query: &Query, key: &str, kind: Kind, reply: &T) {
    let mut bytes = Vec::new();
    if encode(kind, reply, &mut bytes).is_ok() {
        let encoding = Encoding::APPLICATION_OCTET_STREAM.with_schema(kind.schema());
        let _peer_may_be_gone = query.reply(key, bytes).encoding(encoding).wait().is_ok();
    }
}
