//! An age ladder of its own, walked along a log: every tick's authority must follow from the
//! commands that were accepted up to it.

use std::collections::{BTreeMap, BTreeSet};

use hardstand::limits::REVOKED_SESSIONS;
use hardstand_protocol::LogTick;
use hardstand_protocol::{Authority, Verdict};

/// Where the walk is.
pub struct Ladder {
    hold_ticks: u64,
    damped_ticks: u64,
    proof_commands: u64,
    owner: u64,
    answered: u64,
    before: Authority,
    damped_for: u64,
    proofs: BTreeMap<u64, u64>,
    next: u64,
    /// Sessions that have lost it, in order.
    lost: Vec<u64>,
    /// Sessions that have had the robot.
    pub sessions: BTreeSet<u64>,
    /// So often the robot was released after its time of damping.
    pub releases: usize,
}

impl Ladder {
    pub fn new(hold_ticks: u64, damped_ticks: u64, proof_commands: u64) -> Self {
        Self {
            hold_ticks,
            damped_ticks,
            proof_commands,
            owner: 0,
            answered: 0,
            before: Authority::Zero,
            damped_for: 0,
            proofs: BTreeMap::new(),
            next: 0,
            lost: Vec::new(),
            sessions: BTreeSet::new(),
            releases: 0,
        }
    }

    /// The next tick of the log, none left out.
    pub fn climb(&mut self, t: &LogTick) {
        let n = self.next;
        assert_eq!(t.tick, n, "a tick is missing");
        self.next += 1;
        let mut fresh = false;
        for o in &t.candidates {
            match o.verdict {
                Verdict::Accepted => {
                    if o.session != self.owner {
                        assert!(!fresh, "tick {n} mixes two sessions");
                        self.take_over(o.session);
                    }
                    self.answered = o.answers_tick.max(self.answered);
                    fresh = true;
                }
                Verdict::Proving => *self.proofs.entry(o.session).or_default() += 1,
                Verdict::Rejected(_) => {}
            }
        }
        let age = n.saturating_sub(self.answered);
        let expected = match self.owner {
            0 => Authority::Zero,
            _ if fresh => Authority::Fresh,
            _ if age <= self.hold_ticks => Authority::Held,
            _ if age <= self.hold_ticks + self.damped_ticks => Authority::Damped,
            _ => Authority::Zero,
        };
        assert_eq!(t.authority, expected, "tick {n}, age {age}");
        if expected == Authority::Zero && self.before == Authority::Damped {
            assert_eq!(self.damped_for, self.damped_ticks, "tick {n}");
            self.releases += 1;
        }
        self.damped_for = if expected == Authority::Damped { self.damped_for + 1 } else { 0 };
        self.before = expected;
    }

    fn take_over(&mut self, session: u64) {
        let n = self.next - 1;
        if self.owner != 0 {
            self.lost.push(self.owner);
        }
        let remembered = self.lost.iter().rev().take(REVOKED_SESSIONS);
        assert!(!remembered.into_iter().any(|&s| s == session), "tick {n}: a lost session is back");
        self.sessions.insert(session);
        let late = n - self.answered > self.hold_ticks;
        assert!(self.owner == 0 || late, "tick {n}: taken from its owner");
        let proofs = self.proofs.get(&session).copied().unwrap_or(0);
        assert!(proofs + 1 >= self.proof_commands, "tick {n}: {proofs} proofs before");
        (self.owner, self.answered) = (session, 0);
    }
}
