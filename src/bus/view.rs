//! Views: what a viewer shows, at most 60 times a second of wall time, and only while one watches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::qos::Priority;
use zenoh::query::{Query, Queryable};

use crate::rt::{Clock as _, MonotonicClock};
use crate::simulation::Snapshot;
use hardstand_error::Result;
use hardstand_protocol::limits::{TOUCHES_IN_VIEW_MAX, VIEWS_PER_S_MAX};
use hardstand_protocol::{
    BodyReading, ContactsReading, JointCommand, Kind, OwnerReading, Phase, PoseDescription,
    StateReading, TouchReading, encode,
};

use super::publisher::{Sink, declare};
use super::{Bus, Keys, bus_error};

/// Least time between two views, ns.
const EVERY_NS: u64 = 1_000_000_000 / VIEWS_PER_S_MAX;

/// Queries that wait for a view at most; more get no answer.
const WAITING_MAX: usize = 16;

/// Publishes views, and answers queries for one: while a robot stands still with the last, else
/// with the next.
pub(super) struct ViewPublisher {
    sink: Sink,
    watched: Arc<AtomicBool>,
    desk: Arc<Desk>,
    key: String,
    clock: MonotonicClock,
    due_ns: u64,
    /// Phase, run id and tick of the last view.
    shown: (u8, u32, u64),
    buffer: Vec<u8>,
    _queryable: Queryable<()>,
}

/// Where queries wait.
#[derive(Default)]
struct Desk {
    /// There are some.
    asked: AtomicBool,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    /// The view of a robot that stands still; empty while it runs.
    standing: Vec<u8>,
    waiting: Vec<Query>,
}

impl Desk {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_in(&self, query: Query, key: &str, encoding: &Encoding) {
        let mut inside = self.inside();
        if !inside.standing.is_empty() {
            let view = inside.standing.clone();
            drop(inside);
            return reply(&query, key, encoding, &view);
        }
        if inside.waiting.len() < WAITING_MAX {
            inside.waiting.push(query);
            self.asked.store(true, Ordering::Release);
        }
    }
}

fn reply(query: &Query, key: &str, encoding: &Encoding, view: &[u8]) {
    let _peer_may_be_gone = query.reply(key, view).encoding(encoding.clone()).wait().is_ok();
}

/// As [`ViewReading`](hardstand_protocol::ViewReading), borrowed.
#[derive(Serialize)]
struct View<'a> {
    state: &'a StateReading,
    contacts: &'a ContactsReading,
    references: &'a [JointCommand],
    surfaces: &'a [PoseDescription],
    owners: &'a [OwnerReading],
    bodies: &'a [BodyReading],
    points: &'a [TouchReading],
}

impl ViewPublisher {
    /// Declares the key.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus) if it cannot be declared.
    pub(super) fn start(bus: &Bus, keys: &Keys) -> Result<Self> {
        let sink = declare(bus, &keys.view, Kind::View, Priority::DataLow)?;
        let watched = Arc::<AtomicBool>::default();
        let seen = Arc::clone(&watched);
        sink.matching_listener()
            .callback(move |status| seen.store(status.matching(), Ordering::Relaxed))
            .background()
            .wait()
            .map_err(|e| bus_error(&keys.view, e))?;
        let (desk, key) = (Arc::<Desk>::default(), keys.view.clone());
        let (asked, own, encoding) = (Arc::clone(&desk), key.clone(), sink.encoding().clone());
        let panic_guard = bus.panic_guard.clone();
        let queryable = bus
            .session
            .declare_queryable(key.clone())
            .callback(move |query| panic_guard.guard(|| asked.take_in(query, &own, &encoding)))
            .wait()
            .map_err(|e| bus_error(&keys.view, e))?;
        Ok(Self {
            sink,
            watched,
            desk,
            key,
            clock: MonotonicClock::default(),
            due_ns: 0,
            shown: (u8::MAX, 0, 0),
            buffer: Vec::new(),
            _queryable: queryable,
        })
    }

    /// Publishes `s`, if one watches and it is time. What follows a change of phase, or a step of a
    /// paused robot, is always shown, for nothing may come after it.
    pub(super) fn take(&mut self, s: &Snapshot) {
        let (watched, now) = (self.watched.load(Ordering::Relaxed), self.clock.now_ns());
        let is = (s.state.phase, s.state.run_id, s.state.tick);
        let stands = s.state.phase != Phase::Running.code();
        let changed = stands && is != self.shown || is.0 != self.shown.0;
        let asked = self.desk.asked.load(Ordering::Acquire);
        if s.again || !asked && !changed && (!watched || now < self.due_ns) {
            return;
        }
        (self.shown, self.due_ns) = (is, now + EVERY_NS);
        let Snapshot { state, contacts, references, surfaces, owners, .. } = s;
        let (bodies, points) = (&s.bodies.bodies[..], &s.bodies.points[..]);
        let points = &points[..points.len().min(TOUCHES_IN_VIEW_MAX)];
        let view = View { state, contacts, references, surfaces, owners, bodies, points };
        if encode(Kind::View, &view, &mut self.buffer).is_err() {
            return;
        }
        self.answer(stands);
        if watched {
            // refused: the link is gone, and so is the viewer
            let _put = self.sink.put(self.buffer.as_slice()).wait().is_ok();
        }
    }

    /// Answers who waits, and keeps the view of a robot that stands still.
    fn answer(&self, stands: bool) {
        let waiting = {
            let mut inside = self.desk.inside();
            inside.standing.clear();
            if stands {
                inside.standing.extend_from_slice(&self.buffer);
            }
            self.desk.asked.store(false, Ordering::Release);
            std::mem::take(&mut inside.waiting)
        };
        let encoding = self.sink.encoding();
        waiting.iter().for_each(|query| reply(query, &self.key, encoding, &self.buffer));
    }
}
