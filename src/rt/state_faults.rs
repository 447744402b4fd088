//! Faults of the states on their way to the controllers: the other direction of the link.
//!
//! The effect on a state depends on the fault's seed and the state's tick only. A log holds the
//! commands that were applied, so a replay needs this module no more than that of the commands.

use crate::limits::LINK_HELD_MAX;
use crate::simulation::InjectedFaults;
use hardstand_protocol::{FaultKind, StateReading};

use super::delay_line::{DelayLine, Kinds, Lot};

/// Counts of the effects on states since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Lost, also because too many were delayed.
    pub dropped: u64,
    /// Delayed by a tick or more.
    pub delayed: u64,
}

/// The faulty link between the plant and the controllers.
#[derive(Debug)]
pub struct StateFaults {
    #[allow(clippy::vec_box, reason = "a state is moved from list to list")]
    line: DelayLine<Box<StateReading>>,
    #[allow(clippy::vec_box, reason = "the same")]
    free: Vec<Box<StateReading>>,
    /// The newest state has not come in its own tick.
    withholds: bool,
    counts: StateCounts,
}

impl StateFaults {
    /// A link for states like this one.
    #[must_use]
    pub fn new(like: &StateReading) -> Self {
        Self {
            line: DelayLine::new(Kinds::STATES, LINK_HELD_MAX),
            free: (0..LINK_HELD_MAX).map(|_| Box::new(like.clone())).collect(),
            withholds: false,
            counts: StateCounts::default(),
        }
    }

    /// Counts since the start.
    #[must_use]
    pub const fn counts(&self) -> &StateCounts {
        &self.counts
    }

    /// True if the newest state has not come in its own tick.
    #[must_use]
    pub const fn withholds(&self) -> bool {
        self.withholds
    }

    /// The tick in which the state of `tick` comes under the faults that acted in the tick before;
    /// `None` if it is lost. One that comes later is kept, as `fill` fills it.
    pub fn pass(
        &mut self,
        faults: &InjectedFaults,
        tick: u64,
        fill: impl FnOnce(&mut StateReading),
    ) -> Option<u64> {
        let at = self.arrival(faults, tick).filter(|at| *at <= tick || !self.free.is_empty());
        self.withholds = at != Some(tick);
        match at {
            None => self.counts.dropped += 1,
            Some(at) if at > tick => {
                self.counts.delayed += 1;
                if let Some(mut state) = self.free.pop() {
                    fill(&mut state);
                    self.line.hold(state, at);
                }
            }
            Some(_) => {}
        }
        at
    }

    fn arrival(&mut self, faults: &InjectedFaults, tick: u64) -> Option<u64> {
        if self.line.is_empty() && !faults.any(FaultKind::is_of_states) {
            return Some(tick);
        }
        let lot = Lot { stream: 0, number: tick };
        (!self.line.loses(lot, faults)).then(|| self.line.due(lot, faults, tick))
    }

    /// The next delayed state that comes by `tick`, the oldest first. They come before the state of
    /// the tick itself.
    pub fn take_late(&mut self, tick: u64) -> Option<Box<StateReading>> {
        self.line.take_due(tick)
    }

    /// True if [`take_late`](Self::take_late) would give a state.
    #[must_use]
    pub fn has_late(&self, tick: u64) -> bool {
        self.line.has_due(tick)
    }

    /// Takes back a state that has come.
    pub fn give_back(&mut self, state: Box<StateReading>) {
        self.free.push(state);
    }

    /// Drops the delayed states, when the run is over.
    pub fn clear(&mut self) {
        self.free.extend(self.line.clear());
        self.withholds = false;
    }
}
