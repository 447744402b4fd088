//! Commands on their way to the loop: the newest win, and no session crowds out another.
//!
//! Each session that has a lease has a queue of its own. So has each other session, for as long as
//! commands of it wait; a session that finds all of these taken is refused. A full queue drops its
//! own oldest command. The loop takes from the owners' queues in turn, then from the others.
//!
//! Neither end blocks the loop: it uses atomic numbers, `try_send` and `try_recv`. Boxes are
//! recycled, so nothing is allocated after start-up.
//!
//! ```
//! use hardstand::buffer_pool::{Sent, command_queue};
//! use hardstand_protocol::Command;
//!
//! let (sender, mut receiver) = command_queue(Command::default);
//! receiver.set_owner(0, 7);
//! for session in [11, 7] {
//!     assert_eq!(sender.send(&Command { session, ..Command::default() }), Sent::Queued);
//! }
//! let first = receiver.take().ok_or("there are two")?;
//! assert_eq!(first.session, 7, "the owner comes first");
//! receiver.give_back(first);
//! # Ok::<(), &str>(())
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use crate::limits::{CANDIDATES_MAX, EARLY_MAX, LEASES_MAX, LINK_HELD_MAX, OTHER_SESSIONS_MAX};
use hardstand_protocol::Command;

use super::Notifier;

/// Queues of owners: one for each lease, and one for the implicit lease.
pub const OWNERS: usize = LEASES_MAX + 1;
const QUEUES: usize = OWNERS + OTHER_SESSIONS_MAX;
/// Commands that wait for one owner: on a busy machine they come in bursts.
const OWNER_DEPTH: usize = 64;
/// Commands that wait for any other session.
const OTHER_DEPTH: usize = 4;
/// Commands that the loop holds at a time.
const HELD: usize = CANDIDATES_MAX + EARLY_MAX + LINK_HELD_MAX;
const OWNER_BITS: u64 = (1 << OWNERS) - 1;

// a bit for each queue
const _: () = assert!(QUEUES <= 64);

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It waits for the loop.
    Queued,
    /// It waits, and an older command of its session was dropped for it.
    Replaced,
    /// It was dropped: too many sessions send commands.
    Refused,
}

/// The sending end, for any number of threads.
#[derive(Clone, Debug)]
pub struct CommandSender {
    shared: Arc<Shared>,
    notifier: Option<Notifier>,
}

/// The end of the loop.
#[derive(Debug)]
pub struct CommandReceiver {
    shared: Arc<Shared>,
    /// Queues in which commands may wait, a bit each.
    waiting: u64,
    /// The queue from which the search for the next command begins: owners, others.
    turns: [u32; 2],
}

/// Both ends of a queue: a sender takes the oldest command out of a full one.
type Queue = (Sender<Box<Command>>, Receiver<Box<Command>>);

#[derive(Debug)]
struct Shared {
    queues: Vec<Queue>,
    /// Sessions of the owners' queues; 0 for none.
    owners: [AtomicU64; OWNERS],
    /// Sessions of the other queues that are not empty. The loop never takes this lock.
    others: Mutex<[u64; OTHER_SESSIONS_MAX]>,
    /// Queues to which something was sent since the loop looked, a bit each.
    sent: AtomicU64,
    free: Queue,
}

/// Both ends; `make` makes an empty command with room for the joints of the robot.
pub fn command_queue(make: impl Fn() -> Command) -> (CommandSender, CommandReceiver) {
    let depth = |queue| if queue < OWNERS { OWNER_DEPTH } else { OTHER_DEPTH };
    let queues: Vec<_> = (0..QUEUES).map(|queue| bounded(depth(queue))).collect();
    let boxes = (0..QUEUES).map(depth).sum::<usize>() + HELD;
    let free = bounded(boxes);
    for _ in 0..boxes {
        // there is room for all of them
        let _sent = free.0.try_send(Box::new(make())).is_ok();
    }
    let shared = Arc::new(Shared {
        queues,
        owners: [const { AtomicU64::new(0) }; OWNERS],
        others: Mutex::new([0; OTHER_SESSIONS_MAX]),
        sent: AtomicU64::new(0),
        free,
    });
    let sender = CommandSender { shared: Arc::clone(&shared), notifier: None };
    (sender, CommandReceiver { shared, waiting: 0, turns: [0, OWNERS as u32] })
}

impl CommandSender {
    /// The same, and rings `notifier` after each command.
    #[must_use]
    pub fn ringing(self, notifier: Notifier) -> Self {
        Self { notifier: Some(notifier), ..self }
    }

    /// Sends a copy of a command to the loop.
    pub fn send(&self, command: &Command) -> Sent {
        let owner = |o: &AtomicU64| o.load(Ordering::Relaxed) == command.session;
        let sent = match self.shared.owners.iter().position(owner) {
            Some(queue) => self.put(queue, command),
            None => {
                let mut others = self.others();
                match self.queue_of(&*others, command.session) {
                    Some(place) => {
                        others[place] = command.session;
                        self.put(OWNERS + place, command)
                    }
                    None => Sent::Refused,
                }
            }
        };
        if let (Some(notifier), true) = (&self.notifier, sent != Sent::Refused) {
            notifier.ring();
        }
        sent
    }

    /// Commands that the loop has not taken yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.queues.iter().map(|(_, receiver)| receiver.len()).sum()
    }

    fn others(&self) -> MutexGuard<'_, [u64; OTHER_SESSIONS_MAX]> {
        self.shared.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue in which commands of `session` wait, or else one that is empty.
    fn queue_of(&self, others: &[u64], session: u64) -> Option<usize> {
        let is_empty = |place: usize| self.shared.queues[OWNERS + place].1.is_empty();
        let own = |&place: &usize| others[place] == session && !is_empty(place);
        (0..OTHER_SESSIONS_MAX)
            .find(own)
            .or_else(|| (0..OTHER_SESSIONS_MAX).find(|&place| is_empty(place)))
    }

    fn put(&self, queue: usize, command: &Command) -> Sent {
        let (sender, receiver) = &self.shared.queues[queue];
        let (mut item, mut sent) = match self.shared.free.1.try_recv() {
            Ok(free) => (free, Sent::Queued),
            // the loop holds all the others
            Err(_none) => match receiver.try_recv() {
                Ok(oldest) => (oldest, Sent::Replaced),
                Err(_none) => return Sent::Refused,
            },
        };
        item.copy_from(command);
        while let Err(TrySendError::Full(back)) = sender.try_send(item) {
            item = back;
            if let Ok(oldest) = receiver.try_recv() {
                self.shared.give_back(oldest);
                sent = Sent::Replaced;
            }
        }
        self.shared.sent.fetch_or(1 << queue, Ordering::Release);
        sent
    }
}

impl CommandReceiver {
    /// The session whose commands use an owner's queue from now on; 0 for none.
    pub fn set_owner(&self, queue: usize, session: u64) {
        let owner = &self.shared.owners[queue];
        if owner.load(Ordering::Relaxed) != session {
            owner.store(session, Ordering::Relaxed);
        }
    }

    /// The next command, oldest of its session first; `None` if there is none now.
    #[must_use]
    pub fn take(&mut self) -> Option<Box<Command>> {
        if self.shared.sent.load(Ordering::Relaxed) != 0 {
            self.waiting |= self.shared.sent.swap(0, Ordering::Acquire);
        }
        while let Some(queue) = self.next_queue() {
            if let Ok(command) = self.shared.queues[queue].1.try_recv() {
                return Some(command);
            }
            self.waiting &= !(1 << queue);
        }
        None
    }

    fn next_queue(&mut self) -> Option<usize> {
        let owners = self.waiting & OWNER_BITS;
        let (part, turn) = match owners {
            0 => (self.waiting, &mut self.turns[1]),
            owners => (owners, &mut self.turns[0]),
        };
        let later = part & (u64::MAX << *turn);
        let queue = if later == 0 { part } else { later }.trailing_zeros();
        (queue < u64::BITS).then(|| {
            *turn = (queue + 1) % u64::BITS;
            queue as usize
        })
    }

    /// Returns a command to the senders.
    pub fn give_back(&self, item: Box<Command>) {
        self.shared.give_back(item);
    }
}

impl Shared {
    fn give_back(&self, item: Box<Command>) {
        // there is a place for each box
        let _sent = self.free.0.try_send(item).is_ok();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{CommandReceiver, OTHER_DEPTH, OWNER_DEPTH, Sent, command_queue};
    use crate::limits::OTHER_SESSIONS_MAX;
    use hardstand_protocol::Command;

    fn command(session: u64, seq: u64) -> Command {
        Command { session, seq, ..Command::default() }
    }

    fn taken(receiver: &mut CommandReceiver) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        while let Some(command) = receiver.take() {
            all.push((command.session, command.seq));
            receiver.give_back(command);
        }
        all
    }

    #[test]
    fn a_session_that_floods_drops_its_own_commands_only() {
        let (sender, mut receiver) = command_queue(Command::default);
        receiver.set_owner(0, 7);
        for seq in 0..100_000 {
            sender.send(&command(11, seq));
            if seq % 20_000 == 0 {
                assert_eq!(sender.send(&command(7, seq)), Sent::Queued);
                assert_ne!(sender.send(&command(12, seq)), Sent::Refused);
            }
        }
        let all = taken(&mut receiver);
        let of = |session| all.iter().filter(move |c| c.0 == session).map(|c| c.1);
        assert_eq!(of(7).collect::<Vec<_>>(), [0, 20_000, 40_000, 60_000, 80_000]);
        assert!(all[..5].iter().all(|c| c.0 == 7), "the owner comes first: {all:?}");
        assert_eq!(of(11).collect::<Vec<_>>(), [99_996, 99_997, 99_998, 99_999]);
        assert_eq!(of(12).count(), OTHER_DEPTH);
    }

    #[test]
    fn many_sessions_are_taken_in_turn_and_one_too_many_is_refused() {
        let (sender, mut receiver) = command_queue(Command::default);
        let sessions = OTHER_SESSIONS_MAX as u64;
        for seq in 0..3 {
            for session in 1..=sessions {
                assert_eq!(sender.send(&command(session, seq)), Sent::Queued);
            }
            assert_eq!(sender.send(&command(sessions + 1, seq)), Sent::Refused);
        }
        let all = taken(&mut receiver);
        let expected: Vec<_> = (0..3).flat_map(|q| (1..=sessions).map(move |s| (s, q))).collect();
        assert_eq!(all, expected);
        assert_eq!(sender.send(&command(sessions + 1, 3)), Sent::Queued, "queues are free again");
    }

    #[test]
    fn no_box_is_lost() {
        let (sender, mut receiver) = command_queue(Command::default);
        for round in 0..1000 {
            for n in 0..200 {
                sender.send(&command(1 + (round * 7 + n) % 90, n));
            }
            receiver.set_owner((round % 9) as usize, 1 + round % 90);
            taken(&mut receiver);
        }
        let mut held = Vec::new();
        for n in 0..OWNER_DEPTH as u64 {
            assert_eq!(sender.send(&command(3, n)), Sent::Queued);
            held.extend(receiver.take());
        }
        assert_eq!(held.len(), OWNER_DEPTH);
    }

    #[test]
    fn two_senders_of_one_session_and_the_loop_exchange_every_box() {
        let (sender, mut receiver) = command_queue(Command::default);
        receiver.set_owner(0, 5);
        let threads = [5, 5, 6].map(|session| {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for seq in 0..50_000 {
                    assert_ne!(sender.send(&command(session, seq)), Sent::Refused);
                }
            })
        });
        let mut count = 0;
        while threads.iter().any(|t| !t.is_finished()) {
            count += taken(&mut receiver).len();
        }
        threads.into_iter().for_each(|t| t.join().unwrap());
        count += taken(&mut receiver).len();
        assert!(count > 0 && count <= 150_000);
        assert_eq!(sender.send(&command(5, 0)), Sent::Queued);
    }
}
