//! One direction of a faulty link: which messages are lost, and in which tick the others arrive.
//!
//! The effect on a message depends on the fault's seed and on the message's [`Lot`] only.

use crate::simulation::{InjectedFaults, chance, random};
use hardstand_protocol::FaultKind;

/// What decides on the effect on a message, beside the seed.
#[derive(Clone, Copy)]
pub(super) struct Lot {
    /// Messages of one stream are lost in a row.
    pub(super) stream: u64,
    /// Its place in the stream.
    pub(super) number: u64,
}

/// The faults of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    drop: FaultKind,
    delay: FaultKind,
    jitter: FaultKind,
    burst: FaultKind,
    reorder: FaultKind,
}

impl Kinds {
    /// Of commands.
    pub(super) const COMMANDS: Self = Self {
        drop: FaultKind::LinkDrop,
        delay: FaultKind::LinkDelay,
        jitter: FaultKind::LinkJitter,
        burst: FaultKind::LinkBurst,
        reorder: FaultKind::LinkReorder,
    };
    /// Of states.
    pub(super) const STATES: Self = Self {
        drop: FaultKind::StateDrop,
        delay: FaultKind::StateDelay,
        jitter: FaultKind::StateJitter,
        burst: FaultKind::StateBurst,
        reorder: FaultKind::StateReorder,
    };
}

/// A message on its way.
#[derive(Debug)]
struct Held<T> {
    /// The tick in which it arrives.
    due: u64,
    message: T,
}

/// The messages of a direction that are on their way.
#[derive(Debug)]
pub(super) struct DelayLine<T> {
    kinds: Kinds,
    /// In the order of their arrival.
    held: Vec<Held<T>>,
    /// The tick in which the last message arrives that may not be overtaken.
    last_due: u64,
}

impl<T> DelayLine<T> {
    /// With room for `count` messages.
    pub(super) fn new(kinds: Kinds, count: usize) -> Self {
        Self { kinds, held: Vec::with_capacity(count), last_due: 0 }
    }

    /// True if no message is on its way.
    pub(super) const fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// True if the message is lost. A burst of losses has consecutive numbers.
    pub(super) fn loses(&self, lot: Lot, faults: &InjectedFaults) -> bool {
        let kind = self.kinds.drop;
        faults.of(kind).any(|[probability, length, seed, _]| {
            let row = lot.number / (length as u64).max(1);
            chance(seed as u64, row, stream(lot, kind)) < probability
        })
    }

    /// The tick in which a message of `tick` arrives that is not lost.
    pub(super) fn due(&mut self, lot: Lot, faults: &InjectedFaults, tick: u64) -> u64 {
        let Kinds { delay, jitter, burst, reorder, .. } = self.kinds;
        let mut due = tick;
        for [ticks, ..] in faults.of(delay) {
            due += ticks as u64;
        }
        for [ticks, seed, ..] in faults.of(jitter) {
            due += drawn(seed, lot, jitter) % (ticks as u64 + 1);
        }
        for [ticks, ..] in faults.of(burst) {
            due = due.next_multiple_of((ticks as u64).max(1));
        }
        due = due.max(self.last_due);
        self.last_due = due;
        for [probability, ticks, seed, _] in faults.of(reorder) {
            if happens(probability, seed, lot, reorder) {
                due += ticks as u64;
            }
        }
        due
    }

    /// Keeps a message behind all that arrive no later.
    pub(super) fn hold(&mut self, message: T, due: u64) {
        let place = self.held.partition_point(|h| h.due <= due);
        self.held.insert(place, Held { due, message });
    }

    /// The next message that arrives by `tick`.
    pub(super) fn take_due(&mut self, tick: u64) -> Option<T> {
        let first = self.held.first()?;
        (first.due <= tick).then(|| self.held.remove(0).message)
    }

    /// True if a message arrives by `tick`.
    pub(super) fn has_due(&self, tick: u64) -> bool {
        self.held.first().is_some_and(|h| h.due <= tick)
    }

    /// Gives back the messages that are on their way: nothing arrives any more.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = T> + '_ {
        self.last_due = 0;
        self.held.drain(..).map(|h| h.message)
    }
}

/// True with this probability, decided by seed, stream and number.
pub(super) fn happens(probability: f64, seed: f64, lot: Lot, kind: FaultKind) -> bool {
    chance(seed as u64, lot.number, stream(lot, kind)) < probability
}

/// 64 bits, decided by seed, stream and number.
pub(super) fn drawn(seed: f64, lot: Lot, kind: FaultKind) -> u64 {
    random(seed as u64, lot.number, !stream(lot, kind))
}

/// Each stream and each kind of fault has draws of its own.
const fn stream(lot: Lot, kind: FaultKind) -> u64 {
    lot.stream ^ ((kind.code() as u64) << 56)
}
