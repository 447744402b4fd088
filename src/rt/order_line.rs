//! What the loop is told from outside while it runs: on its way in, and the answer when.
//!
//! The physics thread takes an order with `try_recv` and answers with `try_send`. All queues are
//! bounded, the order itself goes back with the answer, and the other side polls too, so nothing
//! blocks, allocates or frees memory. Events have a queue of their own: those that wait for a tick
//! must not keep the order waiting that lets it run.
//!
//! ```
//! use hardstand_protocol::{Event, Scope};
//! use hardstand::rt::{Answer, Order};
//!
//! let (mut outbox, inbox) = hardstand::rt::order_line();
//! let ice = Event::Friction { scope: Scope::All, mu_static: 0.1, mu_kinetic: 0.05 };
//! let number = outbox.send(Order::Event(ice)).map_err(|_full| "no room")?;
//! let (taken, order) = inbox.take_event().ok_or("it is there")?; // the loop, before tick 42
//! inbox.answer(Answer { number: taken, run_id: 1, tick: 42, order });
//! let answer = outbox.answer().ok_or("it is there")?;
//! assert_eq!((answer.number, answer.tick), (number, 42));
//! # Ok::<(), &str>(())
//! ```

use crossbeam_channel::{Receiver, Sender, TrySendError};

use crate::buffer_pool::{Notifier, touched_channel};
use crate::limits::ORDER_QUEUE;
use hardstand_protocol::{Event, Join};

use super::JoinAnswer;

/// Something that the loop is told to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Apply an event at the start of the next tick.
    Event(Event),
    /// Run no further tick.
    Pause,
    /// Run on.
    Resume,
    /// Run so many ticks, then pause.
    Step(u64),
    /// Run until so many ticks are done, then pause.
    RunUntil(u64),
    /// Let a controller in; what comes of it is written into the answer.
    Join(Box<(Join, JoinAnswer)>),
    /// The controller with this session leaves.
    Leave(u64),
    /// Emergency stop.
    Stop,
    /// End of the emergency stop.
    Arm,
    /// Another wall time of a tick, ns; 0 for as fast as the machine allows.
    Speed(u64),
    /// Go on from another state, as the next run.
    StateReset(Box<StateReset>),
    /// Write the complete state into this list, which has room for it.
    Snapshot(Box<Vec<u64>>),
}

/// Another state to go on from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateReset {
    /// The state as words, checked by another plant of the same scenario.
    pub words: Vec<u64>,
    /// Published time becomes `tick × period` again, even if that is a step back; otherwise it goes
    /// on from where it is.
    pub rewind: bool,
    /// Begin as at the start: if the scenario says so, wait for a controller.
    pub afresh: bool,
}

/// What the loop says to an order that it has taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Number of the order.
    pub number: u64,
    /// Run number from now on.
    pub run_id: u32,
    /// The tick before which it was taken; for steps, the number of ticks after which the loop will
    /// pause.
    pub tick: u64,
    /// The order itself, and what was written into it.
    pub order: Order,
}

/// Where orders go in. They are numbered from 0 on.
#[derive(Debug)]
pub struct OrderOutbox {
    events: Sender<(u64, Order)>,
    orders: Sender<(u64, Order)>,
    sent: [Receiver<(u64, Order)>; 2],
    answers: Receiver<Answer>,
    next: u64,
    unanswered: usize,
    bell: Option<Notifier>,
}

/// Where the loop takes them out.
#[derive(Debug)]
pub struct OrderInbox {
    events: Receiver<(u64, Order)>,
    orders: Receiver<(u64, Order)>,
    answers: Sender<Answer>,
}

/// Both ends of a line with room for [`ORDER_QUEUE`] orders.
#[must_use]
pub fn order_line() -> (OrderOutbox, OrderInbox) {
    let (events, event_rx) = touched_channel(ORDER_QUEUE, &(0, Order::Pause));
    let (orders, order_rx) = touched_channel(ORDER_QUEUE, &(0, Order::Pause));
    let nothing = Answer { number: 0, run_id: 0, tick: 0, order: Order::Pause };
    let (answer_tx, answer_rx) = touched_channel(ORDER_QUEUE, &nothing);
    let sent = [event_rx.clone(), order_rx.clone()];
    (
        OrderOutbox {
            events,
            orders,
            sent,
            answers: answer_rx,
            next: 0,
            unanswered: 0,
            bell: None,
        },
        OrderInbox { events: event_rx, orders: order_rx, answers: answer_tx },
    )
}

impl OrderOutbox {
    /// The same, and rings `bell` whenever it has sent something.
    #[must_use]
    pub fn ringing(self, bell: Notifier) -> Self {
        Self { bell: Some(bell), ..self }
    }

    /// Sends an order; its number.
    ///
    /// # Errors
    /// The order, if [`ORDER_QUEUE`] of them are unanswered.
    pub fn send(&mut self, order: Order) -> Result<u64, Order> {
        // counted, so that the queue of answers cannot overflow and an answer get lost
        if self.unanswered >= ORDER_QUEUE {
            return Err(order);
        }
        let queue = if matches!(order, Order::Event(_)) { &self.events } else { &self.orders };
        match queue.try_send((self.next, order)) {
            Ok(()) => {
                self.unanswered += 1;
                self.next += 1;
                if let Some(bell) = &self.bell {
                    bell.ring();
                }
                Ok(self.next - 1)
            }
            Err(TrySendError::Full((_, order)) | TrySendError::Disconnected((_, order))) => {
                Err(order)
            }
        }
    }

    /// The next answer of the loop.
    pub fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.unanswered = self.unanswered.saturating_sub(1);
        Some(answer)
    }

    /// Takes the oldest event back that the loop has not taken, or else the oldest other order:
    /// nothing will come of it. Its number, or `None` if the loop has taken all.
    pub fn recall_oldest(&mut self) -> Option<u64> {
        let (number, _) = self.sent.iter().find_map(|queue| queue.try_recv().ok())?;
        self.unanswered = self.unanswered.saturating_sub(1);
        Some(number)
    }
}

impl OrderInbox {
    /// The next event, oldest first, with its number. The caller owes an [`answer`](Self::answer).
    #[must_use]
    pub fn take_event(&self) -> Option<(u64, Order)> {
        self.events.try_recv().ok()
    }

    /// The next order that is no event, likewise.
    #[must_use]
    pub fn take(&self) -> Option<(u64, Order)> {
        self.orders.try_recv().ok()
    }

    /// Answers, and gives the order back.
    pub fn answer(&self, answer: Answer) {
        // as many places as orders: it fails only if nobody waits for the answer any more
        let _somebody_listens = self.answers.try_send(answer).is_ok();
    }
}
