//! States that a controller may still have to answer: kept, so that they can be sent again.

use crate::simulation::{Lease, Leases};
use hardstand_protocol::StateReading;

/// As many as there can be answers on their way.
const STATES_MAX: usize = 64;

/// The last states whose answers apply at a later tick, and the last one that has come.
#[derive(Debug)]
pub(super) struct RecentStates {
    states: Vec<StateReading>,
    next: usize,
    /// What controllers have seen last.
    pub(super) shown: StateReading,
}

impl RecentStates {
    /// Allocates all memory; `like` is a state of the same plant.
    pub(super) fn new(like: &StateReading) -> Self {
        // a tick that no loop reaches
        let never = StateReading { tick: u64::MAX, ..like.clone() };
        Self { states: vec![never; STATES_MAX], next: 0, shown: like.clone() }
    }

    /// Keeps a state that has come at `tick`, if its answer applies at a later tick than its own;
    /// true if a controller answers it at all.
    pub(super) fn keep(&mut self, state: &StateReading, leases: &Leases, tick: u64) -> bool {
        let answers = |l: &&Lease| l.schedule.answers(state.tick);
        let mut answering = leases.places().iter().filter(answers).peekable();
        let asked = answering.peek().is_some();
        if answering.any(|l| l.schedule.offset > 0 || state.tick < tick) {
            self.states[self.next].copy_from(state);
            self.next = (self.next + 1) % STATES_MAX;
        }
        asked
    }

    /// The state of a tick of this run.
    pub(super) fn of(&self, run_id: u32, tick: u64) -> Option<&StateReading> {
        self.states.iter().find(|s| (s.run_id, s.tick) == (run_id, tick))
    }
}
