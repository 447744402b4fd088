//! Snapshots for a second thread behind the publisher's: what `ros2` takes its messages from.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::buffer_pool::{Inbox, Outbox, pool};
use crate::limits::LINK_HELD_MAX;
use crate::rt::PortState;
use crate::simulation::Snapshot;
use hardstand_protocol::{OwnerReading, Phase, StateReading};

use super::recent_snapshots::RecentSnapshots;

/// Snapshots that may wait in a feed.
const FEED_QUEUE: usize = 8;

/// What a source of commands must know of the newest state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// Run number.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Ticks done in the first state of this run.
    pub first_tick: u64,
    /// Simulated time, as published, ns.
    pub time_ns: u64,
    /// What the loop is doing, see [`Phase::code`].
    pub phase: u8,
    /// What the drives obey, as in the state.
    pub authority: u8,
    /// Session that owns the robot; 0 for none.
    pub command_session: u64,
}

impl Newest {
    /// Of this state, in a run whose first state has `first_tick`.
    #[must_use]
    pub const fn of(state: &StateReading, first_tick: u64) -> Self {
        Self {
            run_id: state.run_id,
            tick: state.tick,
            first_tick,
            time_ns: state.time_ns,
            phase: state.phase,
            authority: state.authority,
            command_session: state.command_session,
        }
    }
}

/// The newest state of all, in short; also when no reader wants snapshots.
#[derive(Clone, Debug, Default)]
pub struct SharedNewest(Arc<Mutex<Shown>>);

#[derive(Debug, Default)]
struct Shown {
    newest: Newest,
    owners: Vec<OwnerReading>,
}

impl SharedNewest {
    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Now.
    #[must_use]
    pub fn get(&self) -> Newest {
        self.shown().newest
    }

    /// The same for a source of commands, with who commands each joint.
    #[must_use]
    pub fn port_state(&self) -> PortState {
        let shown = self.shown();
        let Newest { run_id, tick, time_ns, phase, .. } = shown.newest;
        let state = StateReading { run_id, tick, time_ns, phase, ..StateReading::default() };
        PortState { state, owners: shown.owners.clone(), ..PortState::default() }
    }

    fn set(&self, s: &Snapshot) {
        let mut shown = self.shown();
        let same_run = shown.newest.run_id == s.state.run_id;
        let first_tick = if same_run { shown.newest.first_tick } else { s.state.tick };
        shown.newest = Newest::of(&s.state, first_tick);
        shown.owners.clone_from(&s.owners);
    }
}

/// A snapshot, and its number: the tick, or while the robot waits or is paused, how often it has
/// been published.
#[derive(Clone, Debug, Default)]
pub struct FeedItem {
    /// Number.
    pub number: u64,
    /// Snapshot.
    pub snapshot: Snapshot,
    /// Those that controllers see late, with it, or again, in their order.
    pub late: Vec<Snapshot>,
}

/// The publisher's end: takes every snapshot whose number is a multiple of what is wanted.
#[derive(Debug)]
pub struct Feed {
    outbox: Outbox<FeedItem>,
    every: Arc<AtomicU64>,
    newest: SharedNewest,
    waited: u64,
    recent: RecentSnapshots,
    /// See [`FeedItem::late`].
    late: Vec<Snapshot>,
}

/// The other end.
#[derive(Debug)]
pub struct FeedEnd {
    /// Snapshots.
    pub inbox: Inbox<FeedItem>,
    /// Ticks between two wanted snapshots; 0, as at first, for none.
    pub every: Arc<AtomicU64>,
    /// The newest state.
    pub newest: SharedNewest,
}

impl Feed {
    /// A feed and its other end.
    #[must_use]
    pub fn new() -> (Self, FeedEnd) {
        let (outbox, inbox) = pool(FEED_QUEUE, FeedItem::default);
        let (every, newest) = (Arc::new(AtomicU64::new(0)), SharedNewest::default());
        let end = FeedEnd { inbox, every: Arc::clone(&every), newest: newest.clone() };
        let recent = RecentSnapshots::default();
        (Self { outbox, every, newest, waited: 0, recent, late: Vec::new() }, end)
    }

    /// Leaves out a snapshot for which there is no room. One whose state comes late, or again, goes
    /// with the next one.
    pub(super) fn put(&mut self, s: &Snapshot) {
        if s.again {
            let kept = self.recent.of(s).filter(|_| self.late.len() < LINK_HELD_MAX);
            self.late.extend(kept.cloned());
            return;
        }
        self.newest.set(s);
        // a state that is shown again and again goes to those who come late, too
        let standing = s.state.phase != Phase::Running.code();
        self.waited += u64::from(standing);
        let number = if standing { self.waited } else { s.state.tick };
        let every = self.every.load(Ordering::Acquire);
        let is_due = every > 0 && number.is_multiple_of(every);
        if is_due {
            self.recent.keep(s);
        }
        if !is_due && self.late.is_empty() {
            return;
        }
        if let Some(mut free) = self.outbox.take_free() {
            free.number = number;
            free.snapshot.copy_from(s);
            free.late = mem::take(&mut self.late);
            self.outbox.send(free);
        }
    }
}
