//! Sessions for publishers without session numbers: each publisher has one, and gets a new one
//! after it has lost the robot.

use hardstand_protocol::{Authority, public_session, random_number};

/// Publishers with a session; the least recently used one that does not own the robot is dropped.
const PUBLISHERS_MAX: usize = 16;

/// A publisher: the topic's number, and the publisher's id if its messages have one.
pub(super) type Publisher = (usize, Option<[u8; 16]>);

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
}

impl Session {
    fn new(publisher: Publisher) -> Self {
        Self { publisher, number: random_number(), seq: 0, owned: false }
    }

    fn owns(&self, now: &Owner) -> bool {
        public_session(self.number) == now.session
    }
}

/// The sessions of all publishers, the most recently used one first.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions(Vec<Session>);

impl Sessions {
    /// True if one of these publishers owns the robot.
    pub(super) fn is_ours(&self, now: &Owner) -> bool {
        in_force(now) && self.0.iter().any(|s| s.owns(now))
    }

    /// True if another session owns the robot.
    pub(super) fn is_taken(&self, publisher: Publisher, now: &Owner) -> bool {
        let ours = self.0.iter().find(|s| s.publisher == publisher);
        in_force(now) && !ours.is_some_and(|s| s.owns(now))
    }

    /// Session and sequence number of the publisher's next command.
    pub(super) fn next(&mut self, publisher: Publisher, now: &Owner) -> (u64, u64) {
        let found = self.0.iter().position(|s| s.publisher == publisher);
        let mut session = match found {
            Some(i) => self.0.remove(i),
            None => Session::new(publisher),
        };
        let ours = session.owns(now);
        if session.owned && !(ours && in_force(now)) {
            session = Session::new(publisher);
        } else {
            session.owned |= ours && now.running;
        }
        session.seq += 1;
        let numbers = (session.number, session.seq);
        self.0.insert(0, session);
        if self.0.len() > PUBLISHERS_MAX
            && let Some(last) = self.0.iter().rposition(|s| !s.owns(now))
        {
            self.0.remove(last);
        }
        numbers
    }
}

/// True if the commands of the owner are in force.
fn in_force(now: &Owner) -> bool {
    [Authority::Fresh, Authority::Held].map(Authority::code).contains(&now.authority)
}
