//! Changes of friction on their way in: query, check, hand-over, and the answer when.
//!
//! zenoh's thread only puts the query into a queue. A thread of its own checks it, hands the event
//! to the loop and answers once the loop has told the tick: within a period, or before the first
//! tick while the robot waits for a controller.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::query::{Query, Queryable};

use crate::error::{Error, ErrorKind, Result};
use crate::fault_point;
use crate::limits::EVENT_QUEUE;
use crate::message::{
    ArrivalCounters, FrictionLimits, FrictionReply, Kind, Refusal, check_friction, encode,
};
use crate::plant::Rejection;
use crate::rt::EventOutbox;

use super::{Bus, Keys, bus_error};

/// An event that the loop has not taken after this is taken back.
const TAKEN_WITHIN: Duration = Duration::from_millis(500);
/// Time between two looks for an answer of the loop.
const LOOK_AGAIN: Duration = Duration::from_micros(200);
/// Time between two looks whether to end.
const IDLE: Duration = Duration::from_millis(50);

/// The way of events to the loop, which outlives a service that has died.
pub type SharedOutbox = Arc<Mutex<EventOutbox>>;

/// The service behind the key `friction`.
#[derive(Debug)]
pub struct FrictionService {
    queryable: Queryable<()>,
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl FrictionService {
    /// Declares the key and starts the thread; accepted events go to `outbox`, and `counters` tell
    /// what was received, and refused for a reason.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if the key cannot be declared.
    pub fn start(
        bus: &Bus,
        keys: &Keys,
        outbox: SharedOutbox,
        limits: FrictionLimits,
        counters: Arc<ArrivalCounters>,
    ) -> Result<Self> {
        let life = bus.life.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let (queries_out, queries) = bounded(EVENT_QUEUE);
        let (key, counted) = (keys.friction.clone(), Arc::clone(&counters));
        let watch = bus.life.clone();
        let queryable = bus
            .session
            .declare_queryable(keys.friction.clone())
            .callback(move |query| {
                watch.guard(|| {
                    counted.count_received();
                    if let Err(e) = queries_out.try_send(query) {
                        let full = busy("more requests are waiting already than can be kept");
                        answer(&e.into_inner(), &key, &refused(full, &counted));
                    }
                });
            })
            .wait()
            .map_err(|e| bus_error(&keys.friction, e))?;
        let mut desk = Desk {
            key: keys.friction.clone(),
            queries,
            outbox,
            limits,
            counters,
            waiting: VecDeque::new(),
        };
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("friction".into())
            .spawn(move || life.guard(|| desk.run(&seen)))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("friction thread: {e}")))?;
        Ok(Self { queryable, thread, stop })
    }

    /// Ends the service. Whoever still waits gets no answer.
    pub fn finish(self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.queryable);
        let _ended = self.thread.join().is_ok();
    }
}

/// A query whose event has been sent to the loop.
struct Waiting {
    number: u64,
    since: Instant,
    query: Query,
}

/// What the thread works with.
struct Desk {
    key: String,
    queries: Receiver<Query>,
    outbox: SharedOutbox,
    limits: FrictionLimits,
    counters: Arc<ArrivalCounters>,
    /// Queries whose events have been sent, oldest first.
    waiting: VecDeque<Waiting>,
}

impl Desk {
    fn run(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let patience = if self.waiting.is_empty() { IDLE } else { LOOK_AGAIN };
            match self.queries.recv_timeout(patience) {
                Ok(query) => self.take_in(query),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.answer_taken();
            self.recall_late();
        }
    }

    fn outbox(&self) -> MutexGuard<'_, EventOutbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_in(&mut self, query: Query) {
        fault_point::visit("friction");
        let bytes = query.payload().map(|p| p.to_bytes()).unwrap_or_default();
        let checked = check_friction(&bytes, &self.limits).and_then(|event| {
            let full = || busy("more changes are waiting already than one tick applies");
            self.outbox().send(event).ok_or_else(full)
        });
        drop(bytes);
        match checked {
            Ok(number) => {
                let since = Instant::now();
                self.waiting.push_back(Waiting { number, since, query });
            }
            Err(refusal) => answer(&query, &self.key, &refused(refusal, &self.counters)),
        }
    }

    fn answer_taken(&mut self) {
        while let Some((number, tick)) = { self.outbox().taken() } {
            self.answer_waiting(number, &FrictionReply::accepted(tick));
        }
    }

    /// An answer is true: an event that the loop does not take in time is taken back before its
    /// query is refused. One that the loop has just taken cannot be: its tick is on its way.
    fn recall_late(&mut self) {
        while self.waiting.front().is_some_and(|w| w.since.elapsed() > TAKEN_WITHIN)
            && let Some(number) = { self.outbox().recall_oldest() }
        {
            let late = busy("the simulation takes no more changes now; nothing has changed");
            let reply = refused(late, &self.counters);
            self.answer_waiting(number, &reply);
        }
    }

    fn answer_waiting(&mut self, number: u64, reply: &FrictionReply) {
        let place = self.waiting.iter().position(|w| w.number == number);
        if let Some(waiting) = place.and_then(|i| self.waiting.remove(i)) {
            answer(&waiting.query, &self.key, reply);
        }
    }
}

fn busy(why: &str) -> Refusal {
    Refusal { reason: Rejection::QueueFull, text: format!("busy: {why}") }
}

fn refused(refusal: Refusal, counters: &ArrivalCounters) -> FrictionReply {
    counters.count(refusal.reason);
    FrictionReply::refused(refusal)
}

fn answer(query: &Query, key: &str, reply: &FrictionReply) {
    let mut bytes = Vec::new();
    if encode(Kind::FrictionReply, reply, &mut bytes).is_ok() {
        let schema = Kind::FrictionReply.schema();
        let encoding = Encoding::APPLICATION_OCTET_STREAM.with_schema(schema);
        let _peer_may_be_gone = query.reply(key, bytes).encoding(encoding).wait().is_ok();
    }
}
