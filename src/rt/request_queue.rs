//! Requests to the running loop, and its answers.
//!
//! The physics thread takes a request with `try_recv` and answers with `try_send`. All queues are
//! bounded, the request itself goes back with the answer, and the other side polls too, so nothing
//! blocks, allocates or frees memory. Events have a queue of their own, and so have requests to
//! join and leave: what waits for a tick must not hold up the request that lets the tick run.
//!
//! ```
//! use hardstand_protocol::{Event, Scope};
//! use hardstand::buffer_pool::Run;
//! use hardstand::rt::{Answer, Request};
//!
//! let (mut sender, receiver) = hardstand::rt::request_queue();
//! let ice = Event::Friction { scope: Scope::All, mu_static: 0.1, mu_kinetic: 0.05 };
//! let number = sender.send(Request::Event(ice)).map_err(|_full| "no room")?;
//! let (taken, request) = receiver.take_event().ok_or("it is there")?; // the loop, before tick 42
//! receiver.answer(Answer { number: taken, run: Run { id: 1, begin_ns: 0 }, tick: 42, acts: true,
//!     request });
//! let answer = sender.answer().ok_or("it is there")?;
//! assert_eq!((answer.number, answer.tick), (number, 42));
//! # Ok::<(), &str>(())
//! ```

use std::collections::VecDeque;

use crossbeam_channel::{Receiver, Sender, TrySendError};

use crate::buffer_pool::{Notifier, Run, touched_channel};
use crate::limits::ORDER_QUEUE;
use hardstand_protocol::{Event, Join};

use super::JoinAnswer;

/// Something that the loop shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
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
    /// Give a controller a lease; the result is written into the answer.
    Join(Box<(Join, JoinAnswer)>),
    /// The controller with this session leaves.
    Leave(u64),
    /// End of the emergency stop.
    Arm {
        /// Requests of the stop that the asker knew of.
        stops: u64,
        /// Set by the loop if another one has come since; the robot then stays stopped.
        void: bool,
    },
    /// Another wall time of a tick, ns; 0 for as fast as the machine allows.
    Speed(u64),
    /// Go on from another state, as the next run.
    StateReset(Box<StateReset>),
    /// Write the complete state into this list, which has room for it.
    Snapshot(Box<Vec<u64>>),
}

impl Request {
    /// Places of [`RequestSender::queues`] and of its like.
    const fn queue(&self) -> usize {
        match self {
            Self::Event(_) => 0,
            Self::Join(_) | Self::Leave(_) => 1,
            Self::Arm { .. }
            | Self::Pause
            | Self::Resume
            | Self::Step(_)
            | Self::RunUntil(_)
            | Self::Speed(_)
            | Self::StateReset(_)
            | Self::Snapshot(_) => 2,
        }
    }
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

/// Answer to a request that the loop has taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Number of the request.
    pub number: u64,
    /// The run from now on.
    pub run: Run,
    /// The tick before which it was taken; for steps, the number of ticks after which the loop will
    /// pause.
    pub tick: u64,
    /// False for a push or fault that finds no place: it is in the tick, and does nothing.
    pub acts: bool,
    /// The request itself, and what was written into it.
    pub request: Request,
}

/// The sending end. Requests are numbered from 0 on.
#[derive(Debug)]
pub struct RequestSender {
    /// Events, requests to join and leave, all others.
    queues: [Sender<(u64, Request)>; 3],
    sent: [Receiver<(u64, Request)>; 3],
    /// Numbers of what was sent to each queue, oldest first; the loop has taken the first ones.
    numbers: [VecDeque<u64>; 3],
    answers: Receiver<Answer>,
    next: u64,
    unanswered: usize,
    bell: Option<Notifier>,
}

/// The end of the loop.
#[derive(Debug)]
pub struct RequestReceiver {
    queues: [Receiver<(u64, Request)>; 3],
    answers: Sender<Answer>,
}

/// Both ends of a queue with room for [`ORDER_QUEUE`] requests.
#[must_use]
pub fn request_queue() -> (RequestSender, RequestReceiver) {
    let [events, leases, others] =
        [(); 3].map(|()| touched_channel(ORDER_QUEUE, &(0, Request::Pause)));
    let (run, request) = (Run::default(), Request::Pause);
    let nothing = Answer { number: 0, run, tick: 0, acts: true, request };
    let (answer_tx, answer_rx) = touched_channel(ORDER_QUEUE, &nothing);
    let queues = [events.0, leases.0, others.0];
    let taken = [events.1, leases.1, others.1];
    let sent = taken.clone();
    let numbers = [(); 3].map(|()| VecDeque::with_capacity(ORDER_QUEUE));
    let (next, unanswered, bell) = Default::default();
    (
        RequestSender { queues, sent, numbers, answers: answer_rx, next, unanswered, bell },
        RequestReceiver { queues: taken, answers: answer_tx },
    )
}

impl RequestSender {
    /// The same, and rings `bell` whenever it has sent something.
    #[must_use]
    pub fn ringing(self, bell: Notifier) -> Self {
        Self { bell: Some(bell), ..self }
    }

    /// Sends a request and returns its number.
    ///
    /// # Errors
    /// The request, if [`ORDER_QUEUE`] of them are unanswered.
    pub fn send(&mut self, request: Request) -> Result<u64, Request> {
        // counted, so that the queue of answers cannot overflow and an answer get lost
        if self.unanswered >= ORDER_QUEUE {
            return Err(request);
        }
        let queue = request.queue();
        match self.queues[queue].try_send((self.next, request)) {
            Ok(()) => {
                self.forget_taken(queue);
                self.numbers[queue].push_back(self.next);
                self.unanswered += 1;
                self.next += 1;
                if let Some(bell) = &self.bell {
                    bell.ring();
                }
                Ok(self.next - 1)
            }
            Err(TrySendError::Full((_, request)) | TrySendError::Disconnected((_, request))) => {
                Err(request)
            }
        }
    }

    /// The next answer of the loop.
    pub fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.unanswered = self.unanswered.saturating_sub(1);
        Some(answer)
    }

    /// Takes a request back that the loop has not taken, the oldest of its queue, if its number
    /// is `late`. It then has no effect. Its number, or `None` if there is none. If the loop takes
    /// that one meanwhile, it may be the one behind it.
    pub fn recall(&mut self, late: impl Fn(u64) -> bool) -> Option<u64> {
        for queue in 0..self.sent.len() {
            self.forget_taken(queue);
            if self.numbers[queue].front().is_some_and(|&number| late(number))
                && let Ok((number, _)) = self.sent[queue].try_recv()
            {
                self.unanswered = self.unanswered.saturating_sub(1);
                return Some(number);
            }
        }
        None
    }

    fn forget_taken(&mut self, queue: usize) {
        let (numbers, waiting) = (&mut self.numbers[queue], self.sent[queue].len());
        numbers.drain(..numbers.len().saturating_sub(waiting));
    }
}

impl RequestReceiver {
    /// The next event, oldest first, with its number. The caller owes an [`answer`](Self::answer).
    #[must_use]
    pub fn take_event(&self) -> Option<(u64, Request)> {
        self.queues[0].try_recv().ok()
    }

    /// The next request to join or leave, likewise.
    #[must_use]
    pub fn take_of_leases(&self) -> Option<(u64, Request)> {
        self.queues[1].try_recv().ok()
    }

    /// The next of the other requests, likewise: those for which a tick always has room.
    #[must_use]
    pub fn take(&self) -> Option<(u64, Request)> {
        self.queues[2].try_recv().ok()
    }

    /// Answers, and gives the request back.
    pub fn answer(&self, answer: Answer) {
        // as many places as requests: it fails only if the sender is gone
        let _sender_is_there = self.answers.try_send(answer).is_ok();
    }
}
