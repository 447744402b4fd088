//! Puts snapshots on the bus: a thread that takes them from the physics thread, or, where that
//! waits for controllers, the physics thread itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde::Serialize;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::qos::{CongestionControl, Priority};

use crate::buffer_pool::Inbox;
use crate::config::BusSettings;
use crate::fault_point;
use crate::rt::{Clock, Direct, MonotonicClock};
use crate::simulation::Snapshot;
use hardstand_error::{Result, no_thread};
use hardstand_protocol::{Kind, Phase, encode};

use super::feed::Feed;
use super::panic_guard::PanicGuard;
use super::view::ViewPublisher;
use super::{Bus, Keys, bus_error};

/// Who publishes states and contacts.
#[derive(Debug)]
pub enum Publisher {
    /// A thread of its own, until the flag is set.
    Thread(JoinHandle<()>, Arc<AtomicBool>),
    /// The physics thread: no other one has to be woken for a state that a controller waits for.
    Loop(Direct),
}

pub(super) type Sink = zenoh::pubsub::Publisher<'static>;

impl Publisher {
    /// Declares the keys; with `direct` the physics thread publishes from now on, without it a
    /// thread does, from `inbox`. `period_ns` is the length of a tick. `feed` gets what it asks for
    /// of the snapshots, after they have been published.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](hardstand_error::ErrorKind::Bus) if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        keys: &Keys,
        settings: &BusSettings,
        period_ns: u64,
        (inbox, direct): (Inbox<Snapshot>, Option<Direct>),
        feed: Option<Feed>,
    ) -> Result<Self> {
        let mut work = Work {
            state: StateSinks::declare(bus, &keys.state)?,
            due_state: StateSinks::declare(bus, &keys.due_state)?,
            contacts: declare(bus, &keys.contacts, Kind::Contacts, Priority::InteractiveHigh)?,
            drives: declare(bus, &keys.drives, Kind::Drives, Priority::InteractiveHigh)?,
            sensors: declare(bus, &keys.sensors, Kind::Sensors, Priority::InteractiveHigh)?,
            bodies: declare(bus, &keys.bodies, Kind::Bodies, Priority::InteractiveHigh)?,
            had_bodies: false,
            view: ViewPublisher::start(bus, keys)?,
            every: [settings.state_every_ticks, settings.contacts_every_ticks],
            feed,
            buffer: Vec::new(),
            panic_guard: bus.panic_guard.clone(),
        };
        if let Some(direct) = direct {
            direct.set(Some(Box::new(move |snapshot| work.take(snapshot))));
            return Ok(Self::Loop(direct));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("publisher".into())
            .spawn(move || work.run(&inbox, period_ns, &seen))
            .map_err(|e| no_thread("publisher", &e))?;
        Ok(Self::Thread(thread, stop))
    }

    /// Publishes what is still in the queue, and nothing after it.
    pub fn finish(self) {
        match self {
            Self::Thread(thread, stop) => {
                stop.store(true, Ordering::Release);
                let _life_tells_of_a_panic = thread.join().is_ok();
            }
            Self::Loop(direct) => direct.set(None),
        }
    }
}

pub(super) fn declare(bus: &Bus, key: &str, kind: Kind, priority: Priority) -> Result<Sink> {
    declare_as(bus, key, kind, priority, true)
}

/// `express` sends each message at once, and not together with those behind it.
fn declare_as(bus: &Bus, key: &str, kind: Kind, priority: Priority, express: bool) -> Result<Sink> {
    bus.session
        .declare_publisher(key.to_string())
        .encoding(Encoding::APPLICATION_OCTET_STREAM.with_schema(kind.schema()))
        .congestion_control(CongestionControl::Drop)
        .priority(priority)
        .express(express)
        .wait()
        .map_err(|e| bus_error(key, e))
}

/// A key of states.
struct StateSinks {
    alone: Sink,
    /// For a state with another one right behind it: dozens that come in one tick, after a delay
    /// that ends, would fill zenoh's queue if each was sent alone.
    followed: Sink,
}

impl StateSinks {
    fn declare(bus: &Bus, key: &str) -> Result<Self> {
        let sink = |express| declare_as(bus, key, Kind::State, Priority::RealTime, express);
        Ok(Self { alone: sink(true)?, followed: sink(false)? })
    }

    fn send(&self, followed: bool, bytes: &[u8]) {
        send(if followed { &self.followed } else { &self.alone }, bytes);
    }
}

struct Work {
    state: StateSinks,
    /// Of the states, those that a controller may have to answer.
    due_state: StateSinks,
    contacts: Sink,
    drives: Sink,
    sensors: Sink,
    bodies: Sink,
    /// The last message of `bodies` had some.
    had_bodies: bool,
    view: ViewPublisher,
    every: [u64; 2],
    feed: Option<Feed>,
    buffer: Vec<u8>,
    panic_guard: PanicGuard,
}

/// The publisher looks again after this when a snapshot is due, ns. Short, because a controller
/// waits for it; not zero, because the core is shared.
const LOOK_AGAIN_NS: u64 = 20_000;
/// It starts to look this long before a snapshot is due, ns.
const LOOK_EARLY_NS: u64 = 60_000;

impl Work {
    /// Polls: a parked receiver would make the physics thread wake it by a system call.
    fn run(&mut self, inbox: &Inbox<Snapshot>, period_ns: u64, stop: &AtomicBool) {
        let clock = MonotonicClock::default();
        loop {
            let last_round = stop.load(Ordering::Acquire);
            let mut found = false;
            while let Some(snapshot) = inbox.take() {
                self.take(&snapshot);
                inbox.give_back(snapshot);
                found = true;
            }
            if last_round || self.panic_guard.is_over() {
                return;
            }
            let ahead = period_ns.saturating_sub(LOOK_EARLY_NS).min(100_000_000);
            let pause_ns = if found { ahead.max(LOOK_AGAIN_NS) } else { LOOK_AGAIN_NS };
            clock.sleep_until(clock.now_ns() + pause_ns);
        }
    }

    /// Publishes a snapshot, and hands it to the feed.
    fn take(&mut self, snapshot: &Snapshot) {
        let panic_guard = self.panic_guard.clone();
        if panic_guard.is_over() {
            return; // the next session will send what is waited for again
        }
        panic_guard.guard(|| {
            self.publish(snapshot);
            if let Some(feed) = &mut self.feed {
                feed.put(snapshot);
            }
        });
    }

    fn publish(&mut self, s: &Snapshot) {
        fault_point::visit("publisher");
        // a wait, a pause and a plant failure are published at any tick
        let (tick, standing) = (s.state.tick, s.state.phase != Phase::Running.code());
        let due = |every: u64| standing || tick.is_multiple_of(every);
        if !s.withheld
            && (s.asked || due(self.every[0]))
            && encode(Kind::State, &s.state, &mut self.buffer).is_ok()
        {
            // first what is waited for: of two at once zenoh may drop the second
            if s.asked || s.open || standing {
                self.due_state.send(s.followed, &self.buffer);
            }
            self.state.send(s.followed, &self.buffer);
        }
        if !s.again && due(self.every[1]) {
            put(&self.contacts, Kind::Contacts, &s.contacts, &mut self.buffer);
            // once more when nothing touches any more
            if !s.bodies.is_empty() || self.had_bodies {
                put(&self.bodies, Kind::Bodies, &s.bodies, &mut self.buffer);
            }
            self.had_bodies = !s.bodies.is_empty();
        }
        if !s.again && due(self.every[0]) && !s.drives.joints.is_empty() {
            put(&self.drives, Kind::Drives, &s.drives, &mut self.buffer);
        }
        if !s.again && due(self.every[0]) && !s.sensors.is_empty() {
            put(&self.sensors, Kind::Sensors, &s.sensors, &mut self.buffer);
        }
        self.view.take(s);
    }
}

fn put<T: Serialize>(sink: &Sink, kind: Kind, value: &T, buffer: &mut Vec<u8>) {
    if encode(kind, value, buffer).is_ok() {
        send(sink, buffer);
    }
}

fn send(sink: &Sink, bytes: &[u8]) {
    // refused: the link is gone, and the next state is on its way
    let _put = sink.put(bytes).wait().is_ok();
}
