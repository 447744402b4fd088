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
//! let number = outbox.send(ice).ok_or("no room")?;
//! assert_eq!(inbox.take(42), Some(ice)); // the loop, before tick 42
//! assert_eq!(outbox.taken(), Some((number, 42)));
//! # Ok::<(), &str>(())
//! ```

use crossbeam_channel::{Receiver, Sender};

use crate::handover::touched_channel;
use crate::limits::EVENT_QUEUE;
use crate::plant::{Event, Scope};

/// An event with its number.
type Numbered = (u64, Event);

/// Where events go in. They are numbered from 0 on.
#[derive(Debug)]
pub struct EventOutbox {
    events: Sender<Numbered>,
    sent: Receiver<Numbered>,
    ticks: Receiver<(u64, u64)>,
    next: u64,
    unanswered: usize,
}

/// Where the loop takes them out.
#[derive(Debug)]
pub struct EventInbox {
    events: Receiver<Numbered>,
    ticks: Sender<(u64, u64)>,
}

/// Both ends of a line with room for [`EVENT_QUEUE`] events.
#[must_use]
pub fn event_line() -> (EventOutbox, EventInbox) {
    let nothing = Event::Friction { scope: Scope::All, mu_static: 0.0, mu_kinetic: 0.0 };
    let (event_tx, event_rx) = touched_channel(EVENT_QUEUE, (0, nothing));
    let (tick_tx, tick_rx) = touched_channel(EVENT_QUEUE, (0, 0));
    let (sent, next, unanswered) = (event_rx.clone(), 0, 0);
    (
        EventOutbox { events: event_tx, sent, ticks: tick_rx, next, unanswered },
        EventInbox { events: event_rx, ticks: tick_tx },
    )
}

impl EventOutbox {
    /// Sends an event; its number, or `None` if [`EVENT_QUEUE`] of them are unanswered.
    pub fn send(&mut self, event: Event) -> Option<u64> {
        // counted, so that the queue of answers cannot overflow and an answer get lost
        if self.unanswered >= EVENT_QUEUE || self.events.try_send((self.next, event)).is_err() {
            return None;
        }
        self.unanswered += 1;
        self.next += 1;
        Some(self.next - 1)
    }

    /// The next event that the loop has taken: its number and the tick at whose start it applies.
    pub fn taken(&mut self) -> Option<(u64, u64)> {
        let answer = self.ticks.try_recv().ok()?;
        self.unanswered = self.unanswered.saturating_sub(1);
        Some(answer)
    }

    /// Takes the oldest event back that the loop has not taken: it will never apply. Its number, or
    /// `None` if the loop has taken all.
    pub fn recall_oldest(&mut self) -> Option<u64> {
        let (number, _) = self.sent.try_recv().ok()?;
        self.unanswered = self.unanswered.saturating_sub(1);
        Some(number)
    }
}

impl EventInbox {
    /// The next event, oldest first, which the caller promises to apply at the start of `tick`.
    #[must_use]
    pub fn take(&self, tick: u64) -> Option<Event> {
        let (number, event) = self.events.try_recv().ok()?;
        // as many places as events: it fails only if nobody waits for the answer any more
        let _somebody_listens = self.ticks.try_send((number, tick)).is_ok();
        Some(event)
    }
}
