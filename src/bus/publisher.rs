//! The publisher's thread: takes snapshots from the physics thread and puts them on the bus.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use zenoh::Wait;
use zenoh::bytes::Encoding;
use zenoh::qos::{CongestionControl, Priority};

use crate::config::BusSettings;
use crate::error::{Error, ErrorKind, Result};
use crate::fault_point;
use crate::handover::{Inbox, Sleeper};
use crate::message::{Kind, StatusReading, encode};
use crate::plant::Snapshot;
use crate::rt::{Clock, MonotonicClock, Phase};

use super::feed::Feed;
use super::life::Life;
use super::{Bus, Keys, bus_error};

/// What the publisher has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublisherStats {
    /// States put.
    pub states: u64,
    /// Contacts put.
    pub contacts: u64,
    /// Puts that zenoh refused.
    pub failed: u64,
}

/// The thread that publishes states and contacts.
#[derive(Debug)]
pub struct Publisher {
    thread: JoinHandle<PublisherStats>,
    stop: Arc<AtomicBool>,
}

type Sink = zenoh::pubsub::Publisher<'static>;

impl Publisher {
    /// Declares the keys and starts the thread. `period_ns` is the length of a tick; `published` is
    /// woken when a snapshot has come; without it the thread looks itself. `feed` gets what it asks
    /// for of the snapshots, after they have been published.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        keys: &Keys,
        settings: &BusSettings,
        period_ns: u64,
        (inbox, published): (Inbox<Snapshot>, Option<Sleeper>),
        feed: Option<Feed>,
    ) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut work = Work {
            state: declare(bus, &keys.state, Kind::State, Priority::RealTime)?,
            contacts: declare(bus, &keys.contacts, Kind::Contacts, Priority::InteractiveHigh)?,
            every: [settings.state_every_ticks, settings.contacts_every_ticks],
            period_ns,
            inbox,
            published,
            feed,
            buffer: Vec::new(),
            stats: PublisherStats::default(),
            life: bus.life.clone(),
        };
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("publisher".into())
            .spawn(move || work.run(&seen))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("publisher thread: {e}")))?;
        Ok(Self { thread, stop })
    }

    /// Publishes what is still in the queue and ends the thread.
    #[must_use]
    pub fn finish(self) -> PublisherStats {
        self.stop.store(true, Ordering::Release);
        self.thread.join().unwrap_or_default()
    }
}

fn declare(bus: &Bus, key: &str, kind: Kind, priority: Priority) -> Result<Sink> {
    bus.session
        .declare_publisher(key.to_string())
        .encoding(Encoding::APPLICATION_OCTET_STREAM.with_schema(kind.schema()))
        .congestion_control(CongestionControl::Drop)
        .priority(priority)
        .express(true)
        .wait()
        .map_err(|e| bus_error(key, e))
}

/// Puts one status on the bus.
///
/// # Errors
/// [`ErrorKind::Bus`].
pub(super) fn put_status(bus: &Bus, keys: &Keys, status: &StatusReading) -> Result<()> {
    let mut buffer = Vec::new();
    encode(Kind::Status, status, &mut buffer)?;
    bus.session
        .put(keys.status.clone(), buffer)
        .encoding(Encoding::APPLICATION_OCTET_STREAM.with_schema(Kind::Status.schema()))
        .congestion_control(CongestionControl::Drop)
        .wait()
        .map_err(|e| bus_error(&keys.status, e))
}

struct Work {
    state: Sink,
    contacts: Sink,
    every: [u64; 2],
    period_ns: u64,
    inbox: Inbox<Snapshot>,
    published: Option<Sleeper>,
    feed: Option<Feed>,
    buffer: Vec<u8>,
    stats: PublisherStats,
    life: Life,
}

/// The publisher looks again after this when a snapshot is due, ns. Short, because a controller
/// waits for it; not zero, because the core is shared.
const LOOK_AGAIN_NS: u64 = 20_000;
/// Longest sleep of a publisher that is woken.
const LOOK_TO_END: Duration = Duration::from_millis(20);
/// It starts to look this long before a snapshot is due, ns.
const LOOK_EARLY_NS: u64 = 60_000;

impl Work {
    /// Polls: a parked receiver would make the physics thread wake it by a system call.
    fn run(&mut self, stop: &AtomicBool) -> PublisherStats {
        let clock = MonotonicClock::default();
        loop {
            let last_round = stop.load(Ordering::Acquire);
            let mut found = false;
            while let Some(snapshot) = self.inbox.take() {
                let life = self.life.clone();
                life.guard(|| {
                    self.publish(&snapshot);
                    if let Some(feed) = self.feed.as_mut().filter(|_| !snapshot.again) {
                        feed.offer(&snapshot);
                    }
                });
                self.inbox.give_back(snapshot);
                found = true;
            }
            if last_round || self.life.is_over() {
                return self.stats;
            }
            if let Some(published) = &self.published {
                published.sleep(LOOK_TO_END);
                continue;
            }
            let ahead = self.period_ns.saturating_sub(LOOK_EARLY_NS).min(100_000_000);
            let pause_ns = if found { ahead.max(LOOK_AGAIN_NS) } else { LOOK_AGAIN_NS };
            clock.sleep_until(clock.now_ns() + pause_ns);
        }
    }

    fn publish(&mut self, s: &Snapshot) {
        fault_point::visit("publisher");
        // a wait, a pause and a fault are told at any tick
        let (tick, standing) = (s.state.tick, s.state.phase != Phase::Running.code());
        let due = |every: u64| standing || tick.is_multiple_of(every);
        if s.asked || due(self.every[0]) {
            let ok = put(&self.state, Kind::State, &s.state, &mut self.buffer);
            self.stats.states += u64::from(ok);
            self.stats.failed += u64::from(!ok);
        }
        if !s.again && due(self.every[1]) {
            let ok = put(&self.contacts, Kind::Contacts, &s.contacts, &mut self.buffer);
            self.stats.contacts += u64::from(ok);
            self.stats.failed += u64::from(!ok);
        }
    }
}

fn put<T: Serialize>(sink: &Sink, kind: Kind, value: &T, buffer: &mut Vec<u8>) -> bool {
    encode(kind, value, buffer).is_ok() && sink.put(buffer.as_slice()).wait().is_ok()
}
