//! Sessions for publishers without session numbers: each publisher has one, and gets a new one
//! after it has lost the robot.

use std::time::{Duration, Instant};

use hardstand_protocol::{Authority, JointCommand, public_session, random_number};

/// Publishers with a session; the least recently used one that does not own the robot is dropped.
const PUBLISHERS_MAX: usize = 64;
/// Messages of a publisher that may be lost one after another.
const LOST_MAX: u64 = 1000;
/// A publisher that does not own the robot may go on with any number after this.
const SILENT: Duration = Duration::from_secs(1);

/// A publisher: the topic's number, and the publisher's id if its messages have one.
pub(super) type Publisher = (usize, Option<[u8; 16]>);

/// What a message says of its publisher. Anyone can say the same, so the number must continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Identifies the publisher.
    pub id: [u8; 16],
    /// Number of the message among those of its publisher.
    pub sequence: u64,
}

/// Owner of the robot in the newest state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) running: bool,
    pub(super) authority: u8,
    pub(super) session: u64,
}

#[derive(Clone, Debug)]
struct Session {
    publisher: Publisher,
    /// Secret, as that of any controller.
    number: u64,
    seq: u64,
    owned: bool,
    /// Number of the publisher's last message, and when it came.
    heard: Option<(u64, Instant)>,
    /// Its last command that was accepted.
    accepted: Vec<JointCommand>,
}

impl Session {
    fn new(publisher: Publisher) -> Self {
        Self {
            publisher,
            number: random_number(),
            seq: 0,
            owned: false,
            heard: None,
            accepted: Vec::new(),
        }
    }

    fn owns(&self, now: &Owner) -> bool {
        public_session(self.number) == now.session
    }

    /// True if its commands act.
    fn is_in_force(&self, now: &Owner) -> bool {
        self.owns(now) && now.is_in_force()
    }
}

/// The sessions of all publishers, the most recently used one first.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions(Vec<Session>);

impl Owner {
    fn is_in_force(&self) -> bool {
        Authority::is_command(self.authority)
    }
}

impl Sessions {
    /// True if one of these publishers owns the robot.
    pub(super) fn is_ours(&self, now: &Owner) -> bool {
        self.0.iter().any(|s| s.is_in_force(now))
    }

    /// True if another session owns the robot.
    pub(super) fn is_taken(&self, publisher: Publisher, now: &Owner) -> bool {
        let ours = self.0.iter().find(|s| s.publisher == publisher);
        now.is_in_force() && !ours.is_some_and(|s| s.owns(now))
    }

    /// True if the publisher commands the robot.
    pub(super) fn is_in_force(&self, publisher: Publisher, now: &Owner) -> bool {
        self.0.iter().any(|s| s.publisher == publisher && s.is_in_force(now))
    }

    /// Whether a message with this number continues those of the publisher; false if there are two
    /// senders under one id.
    pub(super) fn continues(&mut self, publisher: Publisher, sequence: u64, now: &Owner) -> bool {
        let at = Instant::now();
        let session = self.take(publisher);
        let continues = session.heard.is_none_or(|(last, when)| {
            let silent = at.duration_since(when) >= SILENT && !session.is_in_force(now);
            silent || (1..=LOST_MAX).contains(&sequence.wrapping_sub(last))
        });
        let heard = if continues { Some((sequence, at)) } else { session.heard };
        self.put(Session { heard, ..session }, now);
        continues
    }

    /// Session and sequence number of the publisher's next command.
    pub(super) fn next(&mut self, publisher: Publisher, now: &Owner) -> (u64, u64) {
        let mut session = self.take(publisher);
        if session.owned && !session.is_in_force(now) {
            session = Session { heard: session.heard, ..Session::new(publisher) };
        } else {
            session.owned |= session.owns(now) && now.running;
        }
        session.seq += 1;
        let numbers = (session.number, session.seq);
        self.put(session, now);
        numbers
    }

    /// Notes the publisher's command that was accepted.
    pub(super) fn keep(&mut self, publisher: Publisher, joints: Vec<JointCommand>) {
        if let Some(session) = self.0.iter_mut().find(|s| s.publisher == publisher) {
            session.accepted = joints;
        }
    }

    /// The publisher's last command that was accepted; empty without one, and for one that has lost
    /// the robot.
    pub(super) fn accepted(&self, publisher: Publisher, now: &Owner) -> Vec<JointCommand> {
        let keeps = |s: &&Session| !s.owned || s.is_in_force(now);
        let own = self.0.iter().find(|s| s.publisher == publisher).filter(keeps);
        own.map(|s| s.accepted.clone()).unwrap_or_default()
    }

    fn take(&mut self, publisher: Publisher) -> Session {
        match self.0.iter().position(|s| s.publisher == publisher) {
            Some(i) => self.0.remove(i),
            None => Session::new(publisher),
        }
    }

    fn put(&mut self, session: Session, now: &Owner) {
        self.0.insert(0, session);
        if self.0.len() > PUBLISHERS_MAX
            && let Some(last) = self.0.iter().rposition(|s| !s.owns(now))
        {
            self.0.remove(last);
        }
    }
}
