//! Views: what a viewer shows, at most 60 times a second of wall time, and only while one watches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use zenoh::Wait;
use zenoh::qos::Priority;
use zenoh::query::Queryable;

use crate::rt::{Clock as _, MonotonicClock, Phase};
use crate::simulation::Snapshot;
use hardstand_error::Result;
use hardstand_protocol::limits::VIEWS_PER_S_MAX;
use hardstand_protocol::{
    ContactsReading, JointCommand, Kind, OwnerReading, PoseDescription, StateReading, encode,
};

use super::publisher::{Sink, declare};
use super::services::answer;
use super::{Bus, Keys, bus_error};

/// Least time between two views, ns.
const EVERY_NS: u64 = 1_000_000_000 / VIEWS_PER_S_MAX;

/// Publishes views, and keeps the last one of a robot that stands still for those who come later.
pub(super) struct ViewPublisher {
    sink: Sink,
    watched: Arc<AtomicBool>,
    last: Arc<Mutex<Vec<u8>>>,
    clock: MonotonicClock,
    due_ns: u64,
    /// Phase, run id and tick of the last view.
    shown: (u8, u32, u64),
    buffer: Vec<u8>,
    _queryable: Queryable<()>,
}

/// As [`ViewReading`](hardstand_protocol::ViewReading), borrowed.
#[derive(Serialize)]
struct View<'a> {
    state: &'a StateReading,
    contacts: &'a ContactsReading,
    references: &'a [JointCommand],
    surfaces: &'a [PoseDescription],
    owners: &'a [OwnerReading],
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
        let last = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&last);
        let encoding = sink.encoding().clone();
        let queryable = answer(bus, &keys.view, encoding, move || {
            kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
        })?;
        Ok(Self {
            sink,
            watched,
            last,
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
        if s.again || !changed && (!watched || now < self.due_ns) {
            return;
        }
        (self.shown, self.due_ns) = (is, now + EVERY_NS);
        let Snapshot { state, contacts, references, surfaces, owners, .. } = s;
        let view = View { state, contacts, references, surfaces, owners };
        if encode(Kind::View, &view, &mut self.buffer).is_err() {
            return;
        }
        if stands {
            self.last.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.buffer);
        }
        if watched {
            // refused: the link is gone, and so is the viewer
            let _put = self.sink.put(self.buffer.as_slice()).wait().is_ok();
        }
    }
}
