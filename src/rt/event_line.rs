//! Events that come from outside while the loop runs: on their way in, and the answer when.
//!
//! The physics thread takes an event with `try_recv` and tells with `try_send` at which tick it
//! will apply it. Both queues are bounded, events go by value, and the other side polls too, so
//! nothing blocks or allocates.
//!
//! ```
//! use hardstand::plant::{Event, Scope};
//!
//! let (mut outbox, inbox) = hardstand::rt::event_line();
//! let ice = Event::Friction { scope: Scope::All, mu_static: 0.1, mu_kinetic: 0.05 };
//! assert!(outbox.send(ice));
//! assert_eq!(inbox.take(42), Some(ice)); // the loop, before tick 42
//! assert_eq!(outbox.taken(), Some(42));
//! ```

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::limits::EVENT_QUEUE;
use crate::plant::Event;

/// Where events go in. Answers come in the order of the events.
#[derive(Debug)]
pub struct EventOutbox {
    events: Sender<Event>,
    sent: Receiver<Event>,
    ticks: Receiver<u64>,
    unanswered: usize,
}

/// Where the loop takes them out.
#[derive(Debug)]
pub struct EventInbox {
    events: Receiver<Event>,
    ticks: Sender<u64>,
}

/// Both ends of a line with room for [`EVENT_QUEUE`] events.
#[must_use]
pub fn event_line() -> (EventOutbox, EventInbox) {
    let (event_tx, event_rx) = bounded(EVENT_QUEUE);
    let (tick_tx, tick_rx) = bounded(EVENT_QUEUE);
    (
        EventOutbox { events: event_tx, sent: event_rx.clone(), ticks: tick_rx, unanswered: 0 },
        EventInbox { events: event_rx, ticks: tick_tx },
    )
}

impl EventOutbox {
    /// Sends an event; false if [`EVENT_QUEUE`] of them have not been answered yet.
    pub fn send(&mut self, event: Event) -> bool {
        // counted, so that the queue of answers cannot overflow and an answer get lost
        let sent = self.unanswered < EVENT_QUEUE && self.events.try_send(event).is_ok();
        self.unanswered += usize::from(sent);
        sent
    }

    /// The tick at whose start the oldest unanswered event applies, once the loop has taken it.
    pub fn taken(&mut self) -> Option<u64> {
        let tick = self.ticks.try_recv().ok()?;
        self.unanswered = self.unanswered.saturating_sub(1);
        Some(tick)
    }

    /// Takes the oldest event back that the loop has not taken; it will never apply. `None` if the
    /// loop has taken all.
    pub fn recall_oldest(&mut self) -> Option<Event> {
        let event = self.sent.try_recv().ok()?;
        self.unanswered = self.unanswered.saturating_sub(1);
        Some(event)
    }
}

impl EventInbox {
    /// The next event, oldest first, which the caller promises to apply at the start of `tick`.
    #[must_use]
    pub fn take(&self, tick: u64) -> Option<Event> {
        let event = self.events.try_recv().ok()?;
        // as many places as events: it fails only if nobody waits for the answer any more
        let _somebody_listens = self.ticks.try_send(tick).is_ok();
        Some(event)
    }
}
