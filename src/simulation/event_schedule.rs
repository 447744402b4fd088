//! Events that a scenario has planned.

use crate::limits::{EVENTS_MAX, STOP_EVENTS};
use hardstand_protocol::Event;

/// Events by the tick at whose start they happen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventSchedule {
    events: Vec<(u64, Event)>,
    next: usize,
}

impl EventSchedule {
    /// A schedule; events of one tick keep their order.
    #[must_use]
    pub fn new(mut events: Vec<(u64, Event)>) -> Self {
        events.sort_by_key(|&(tick, _)| tick);
        Self { events, next: 0 }
    }

    /// Goes on from `tick`, as if its events and those after it had not happened yet.
    pub fn go_to(&mut self, tick: u64) {
        self.next = self.events.partition_point(|&(due, _)| due < tick);
    }

    /// Moves the events that are due at `tick` into `out`, as far as there is room beside an
    /// emergency stop and its end; the rest follows in the next ticks.
    pub fn take_due(&mut self, tick: u64, out: &mut Vec<Event>) {
        while let Some(&(due, event)) = self.events.get(self.next)
            && due <= tick
            && out.len() < EVENTS_MAX - STOP_EVENTS
        {
            out.push(event);
            self.next += 1;
        }
    }
}
