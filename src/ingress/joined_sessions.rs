//! Who may speak for which controller: the secret sessions of those that have joined.
//!
//! The loop, the log and everything published know a controller by the number of its name. Only a
//! command with the secret session of the controller that has joined gets that number.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hardstand_protocol::{Rejection, public_session};

/// A controller that has not announced its connection is taken for gone after this silence, ns.
const SILENT_NS: u64 = 2_000_000_000;
/// Announced connections that are remembered. A stranger cannot fill the memory with more.
const ALIVE_MAX: usize = 1000;

/// The sessions of the controllers that have joined, shared by the threads that check commands and
/// requests.
#[derive(Clone, Debug, Default)]
pub struct JoinedSessions {
    table: Arc<Mutex<Table>>,
    time: Time,
}

/// Since some moment.
#[derive(Clone, Debug)]
enum Time {
    Wall(Instant),
    Simulated(Arc<AtomicU64>),
}

impl Default for Time {
    fn default() -> Self {
        Self::Wall(Instant::now())
    }
}

impl Time {
    fn now_ns(&self) -> u64 {
        match self {
            Self::Wall(begin) => begin.elapsed().as_nanos() as u64,
            Self::Simulated(now_ns) => now_ns.load(Ordering::Relaxed),
        }
    }
}

#[derive(Debug, Default)]
struct Table {
    joined: Vec<Joined>,
    /// Public numbers of sessions whose connection is announced and there.
    alive: BTreeSet<u64>,
}

#[derive(Debug)]
struct Joined {
    /// Number of the controller's name.
    controller: u64,
    /// Its secret.
    session: u64,
    connection: Connection,
    heard_ns: u64,
    rejected: RejectedCommands,
}

/// The connection of a controller that has joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    /// It has not been announced: silence counts.
    Silent,
    /// It is announced, so its end will be noticed.
    There,
    Gone,
}

/// Commands of one controller that were rejected at arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RejectedCommands {
    /// How many.
    pub count: u64,
    /// Why the last one was, and the tick of the state that it answered.
    pub last: Option<(Rejection, u64)>,
}

impl JoinedSessions {
    /// Sessions for a simulation of the daemon, whose time is `now_ns`.
    #[must_use]
    pub fn timed_by(now_ns: Arc<AtomicU64>) -> Self {
        Self { table: Arc::default(), time: Time::Simulated(now_ns) }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number by which the loop knows the sender of a command with this secret: that of the
    /// controller that has joined with it, or else the public number of the session.
    #[must_use]
    pub fn number(&self, session: u64) -> u64 {
        let mut table = self.table();
        match table.joined.iter_mut().find(|j| j.session == session) {
            Some(joined) => {
                joined.heard_ns = self.time.now_ns();
                joined.controller
            }
            None => {
                drop(table);
                public_session(session)
            }
        }
    }

    /// A command with this secret was rejected at arrival.
    pub fn note_rejected(&self, session: u64, reason: Rejection, answers_tick: u64) {
        let mut table = self.table();
        if let Some(joined) = table.joined.iter_mut().find(|j| j.session == session) {
            joined.rejected.count += 1;
            joined.rejected.last = Some((reason, answers_tick));
        }
    }

    /// The commands of a controller that were rejected at arrival since it joined.
    #[must_use]
    pub fn rejected(&self, controller: u64) -> RejectedCommands {
        let table = self.table();
        let joined = table.joined.iter().find(|j| j.controller == controller);
        joined.map(|j| j.rejected).unwrap_or_default()
    }

    /// True if `session` may join as `controller`: no session has, it has itself, or the one that
    /// has is gone.
    #[must_use]
    pub fn may_join(&self, controller: u64, session: u64) -> bool {
        let table = self.table();
        let gone = |j: &Joined| match j.connection {
            Connection::Silent => self.time.now_ns().saturating_sub(j.heard_ns) > SILENT_NS,
            Connection::There => false,
            Connection::Gone => true,
        };
        let holder = table.joined.iter().find(|j| j.controller == controller);
        holder.is_none_or(|j| j.session == session || gone(j))
    }

    /// A controller has joined with this secret; what it had before is void.
    pub fn enter(&self, controller: u64, session: u64) {
        let mut table = self.table();
        table.joined.retain(|j| j.controller != controller && j.session != session);
        // where no more could be remembered, it may have been announced: the name stays its own
        let full = table.alive.len() >= ALIVE_MAX;
        let announced = full || table.alive.contains(&public_session(session));
        let connection = if announced { Connection::There } else { Connection::Silent };
        table.joined.push(Joined {
            controller,
            session,
            connection,
            heard_ns: self.time.now_ns(),
            rejected: RejectedCommands::default(),
        });
    }

    /// The controller that has joined with this secret.
    #[must_use]
    pub fn controller(&self, session: u64) -> Option<u64> {
        self.table().joined.iter().find(|j| j.session == session).map(|j| j.controller)
    }

    /// This controller has left.
    pub fn leave(&self, controller: u64) {
        self.table().joined.retain(|j| j.controller != controller);
    }

    /// Another run has begun: every controller has to join again.
    pub fn clear(&self) {
        self.table().joined.clear();
    }

    /// A connection was announced with this public number of a session, or has gone.
    pub fn note_connection(&self, public: u64, there: bool) {
        let mut table = self.table();
        if !there {
            table.alive.remove(&public);
        } else if table.alive.len() < ALIVE_MAX {
            table.alive.insert(public);
        }
        let connection = if there { Connection::There } else { Connection::Gone };
        let own = |j: &&mut Joined| public_session(j.session) == public;
        table.joined.iter_mut().filter(own).for_each(|j| j.connection = connection);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::JoinedSessions;
    use hardstand_protocol::public_session;

    #[test]
    fn published_numbers_prove_nothing() {
        let sessions = JoinedSessions::default();
        sessions.enter(5, 77);
        assert_eq!(sessions.number(77), 5);
        assert_ne!(sessions.number(5), 5, "the number of the name is published");
        assert_ne!(sessions.number(public_session(77)), 5);
        assert_eq!(sessions.controller(public_session(77)), None);
        assert!(!sessions.may_join(5, public_session(77)));
        assert!(sessions.may_join(5, 77), "it may join again itself");
        assert!(sessions.may_join(6, 78));
    }

    #[test]
    fn a_name_is_free_again_when_its_announced_connection_has_gone() {
        let sessions = JoinedSessions::default();
        sessions.note_connection(public_session(77), true);
        sessions.enter(5, 77);
        assert!(!sessions.may_join(5, 78));
        sessions.note_connection(public_session(99), false);
        assert!(!sessions.may_join(5, 78));
        sessions.note_connection(public_session(77), false);
        assert!(sessions.may_join(5, 78));
        sessions.enter(5, 78);
        assert_ne!(sessions.number(77), 5, "what the controller had before is void");
    }

    #[test]
    fn announcements_of_strangers_free_no_name() {
        let time_ns = Arc::new(AtomicU64::new(0));
        let sessions = JoinedSessions::timed_by(Arc::clone(&time_ns));
        (0..2000).for_each(|stranger| sessions.note_connection(stranger, true));
        sessions.note_connection(public_session(77), true);
        sessions.enter(5, 77);
        time_ns.store(3_000_000_000, Ordering::Relaxed);
        assert!(!sessions.may_join(5, 78), "it is announced, so it may be silent");
        sessions.note_connection(public_session(77), false);
        assert!(sessions.may_join(5, 78));
    }
}
