//! Proof of life of a session that has not joined.

use hardstand_physics::plant::Word;
use hardstand_protocol::{Rejection, Verdict};

use super::WatchdogSpec;

/// The session that claims the implicit lease, and the commands that it has sent in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Session; 0 for none.
    pub session: u64,
    /// Sequence number of its last command.
    pub seq: u64,
    /// Number of its commands in a row.
    pub count: u64,
    /// Tick of its last command.
    pub tick: u64,
}

impl Claim {
    /// Counts a command. The first session keeps its place until it falls silent, so that two of
    /// them cannot keep each other out. [`Verdict::Accepted`] ends the claim: life is proved.
    pub(super) fn count(
        &mut self,
        spec: &WatchdogSpec,
        tick: u64,
        session: u64,
        seq: u64,
    ) -> Verdict {
        let silent = tick.saturating_sub(self.tick) > spec.hold_ticks;
        if self.session == 0 || silent {
            (self.session, self.count) = (session, 0);
        } else if session != self.session {
            return Verdict::Rejected(Rejection::NotOwner);
        } else if seq <= self.seq {
            return Verdict::Rejected(Rejection::Sequence);
        }
        (self.seq, self.tick) = (seq, tick);
        self.count += 1;
        if self.count < spec.proof_commands {
            return Verdict::Proving;
        }
        *self = Self { tick, ..Self::default() };
        Verdict::Accepted
    }

    /// Visits every word.
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        visit("watchdog.candidate", 0, Word::U64(&mut self.session));
        visit("watchdog.candidate_seq", 0, Word::U64(&mut self.seq));
        visit("watchdog.candidate_count", 0, Word::U64(&mut self.count));
        visit("watchdog.candidate_tick", 0, Word::U64(&mut self.tick));
    }
}
