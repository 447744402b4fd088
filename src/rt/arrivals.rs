//! In which tick each state comes to the controllers that answer it, and which answer a tick needs.
//!
//! ```text
//!  period 1, offset 0; state 5 comes 2 ticks later, state 8 is lost
//!  tick                   4    5    6     7     8    9
//!  states that come       4    –    6    5, 7   –    9
//!  answer that it needs   4    –    6     7     –    9
//! ```
//!
//! An answer applies as many ticks after its state has come as agreed. That to a state that a newer
//! one of the schedule has overtaken is void, as is that to a state that was lost: whether a
//! controller sends it does not change the run.

use std::collections::VecDeque;

use crate::limits::{LEASES_MAX, LINK_DELAY_TICKS_MAX};
use hardstand_protocol::{Command, CommandSchedule};

/// A state comes at most so many ticks later: by delay, jitter, burst and reordering.
const LATE_MAX: u64 = 4 * LINK_DELAY_TICKS_MAX as u64;
/// States of each controller that are lost or late, and that a tick to come may ask for: those
/// whose answers are on their way, of which there are at most 8, and those on their way themselves.
const DISTURBED_MAX: usize = LEASES_MAX * (LATE_MAX as usize + 10);

/// The ticks in which states come.
#[derive(Debug)]
pub struct Arrivals {
    /// States that are lost or late, oldest first, and the tick in which each comes. All others
    /// come in their own.
    disturbed: VecDeque<(u64, Option<u64>)>,
}

impl Default for Arrivals {
    fn default() -> Self {
        // memory that was written to makes no page fault in the loop
        let mut disturbed = VecDeque::from(vec![(0, None); DISTURBED_MAX]);
        disturbed.clear();
        Self { disturbed }
    }
}

impl Arrivals {
    /// Every state comes in its own tick.
    pub fn clear(&mut self) {
        self.disturbed.clear();
    }

    /// The state of `tick` comes `at` a later tick or never, to controllers with these schedules.
    pub fn note(&mut self, tick: u64, at: Option<u64>, schedules: &[CommandSchedule]) {
        let is_needed = |state: u64| {
            schedules.iter().any(|s| s.answers(state) && state + LATE_MAX + s.offset >= tick)
        };
        if self.disturbed.len() >= DISTURBED_MAX {
            self.disturbed.retain(|(state, _)| is_needed(*state));
        }
        if is_needed(tick) {
            self.disturbed.push_back((tick, at));
        }
    }

    /// The tick in which a state comes; `None` if it is lost.
    #[must_use]
    pub fn of(&self, state: u64) -> Option<u64> {
        match self.disturbed.binary_search_by_key(&state, |(tick, _)| *tick) {
            Ok(i) => self.disturbed[i].1,
            Err(_) => Some(state),
        }
    }

    /// The tick at which the answer of a controller that has joined applies: later than it says by
    /// as many ticks as its state came later.
    #[must_use]
    pub fn applies(&self, answer: &Command) -> u64 {
        let late = self.of(answer.answers_tick).map_or(0, |at| at - answer.answers_tick);
        answer.applies_tick.saturating_add(late)
    }

    /// The newest state of a schedule that comes at a tick.
    #[must_use]
    pub fn newest(&self, schedule: &CommandSchedule, at: u64) -> Option<u64> {
        let first = at.saturating_sub(LATE_MAX);
        let calm = self.disturbed.partition_point(|(tick, _)| *tick < first);
        if calm == self.disturbed.len() {
            return schedule.answers(at).then_some(at);
        }
        let mut states = (first..=at).rev().filter(|tick| schedule.answers(*tick));
        states.find(|tick| self.of(*tick) == Some(at))
    }

    /// The state whose answer a tick needs, if it needs one.
    #[must_use]
    pub fn wanted(&self, schedule: &CommandSchedule, tick: u64) -> Option<u64> {
        let newest = self.newest(schedule, tick.checked_sub(schedule.offset)?)?;
        (!self.is_void(schedule, newest, tick)).then_some(newest)
    }

    /// True if it is known at `tick` that no tick needs the answer to a state of a schedule: the
    /// state is lost, or overtaken.
    #[must_use]
    pub fn is_void(&self, schedule: &CommandSchedule, state: u64, tick: u64) -> bool {
        let Some(at) = self.of(state) else { return true };
        let mut newer = (state + 1..=at.min(tick)).filter(|tick| schedule.answers(*tick));
        newer.any(|tick| self.of(tick).is_some_and(|came| came <= at))
    }
}
