//! Who commands the robot, and what happens when commands stop.
//!
//! ```text
//!            proof commands in a row                answered tick older than hold_ticks
//!  nobody ─────────────────────────► owner: full ─────────────────────────► damped ──► zero
//!    ▲                                  ▲    (its last command is held)        │         │
//!    └── the old session is revoked ────┴───── a new session proves life ──────┴─────────┘
//! ```
//!
//! The age of a command is counted in ticks from the state that it answers. Nothing here reads a
//! clock, so a replay takes the same decisions.

use hardstand_protocol::{Authority, Rejection, Verdict};

use crate::limits::REVOKED_SESSIONS;
use hardstand_physics::plant::{WatchdogSpec, Word};

/// The watchdog's memory: part of the plant's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watchdog {
    /// Session that owns the robot; 0 for nobody.
    pub owner: u64,
    /// Sequence number of the command in force.
    pub seq: u64,
    /// Tick that the command in force answers.
    pub answers_tick: u64,
    /// Session that is proving life; 0 for nobody.
    pub candidate: u64,
    /// Last sequence number of the candidate.
    pub candidate_seq: u64,
    /// Commands in a row that the candidate has sent.
    pub candidate_count: u64,
    /// Tick of the candidate's last command.
    pub candidate_tick: u64,
    /// Sessions that lost the robot, newest first.
    pub revoked: [u64; REVOKED_SESSIONS],
}

impl Watchdog {
    /// Age of the command in force at `tick`, in ticks; `None` before the first command.
    #[must_use]
    pub fn age_ticks(&self, tick: u64) -> Option<u64> {
        (self.owner != 0).then(|| tick.saturating_sub(self.answers_tick))
    }

    /// The rung of the ladder at `tick`, if no command was accepted in it.
    #[must_use]
    pub fn authority(&self, spec: &WatchdogSpec, tick: u64) -> Authority {
        match self.age_ticks(tick) {
            Some(age) if age <= spec.hold_ticks => Authority::Held,
            Some(age) if age <= spec.hold_ticks.saturating_add(spec.damped_ticks) => {
                Authority::Damped
            }
            _ => Authority::Zero,
        }
    }

    /// Judges a command that is offered at `tick`. [`Verdict::Accepted`] means that the caller puts
    /// it in force.
    pub fn offer(
        &mut self,
        spec: &WatchdogSpec,
        tick: u64,
        session: u64,
        seq: u64,
        answers_tick: u64,
    ) -> Verdict {
        if session == 0 {
            return Verdict::Rejected(Rejection::Session);
        }
        if answers_tick > tick {
            return Verdict::Rejected(Rejection::FutureTick);
        }
        if self.revoked.contains(&session) {
            return Verdict::Rejected(Rejection::Revoked);
        }
        let owned = self.authority(spec, tick) == Authority::Held;
        if !owned && session == self.owner {
            self.revoke_owner();
            return Verdict::Rejected(Rejection::Revoked);
        }
        if tick - answers_tick > spec.hold_ticks {
            return Verdict::Rejected(Rejection::Late);
        }
        if !owned {
            return self.prove(spec, tick, session, seq, answers_tick);
        }
        if session != self.owner {
            return Verdict::Rejected(Rejection::NotOwner);
        }
        if seq <= self.seq {
            return Verdict::Rejected(Rejection::Sequence);
        }
        // a newer command may answer an older state: the age is that of the newest state answered
        self.seq = seq;
        self.answers_tick = self.answers_tick.max(answers_tick);
        Verdict::Accepted
    }

    /// Counts a sign of life of a session that does not own the robot yet. The first candidate
    /// keeps its place until it falls silent, so that two of them cannot keep each other out.
    fn prove(
        &mut self,
        spec: &WatchdogSpec,
        tick: u64,
        session: u64,
        seq: u64,
        answers_tick: u64,
    ) -> Verdict {
        let silent = tick.saturating_sub(self.candidate_tick) > spec.hold_ticks;
        if self.candidate == 0 || silent {
            (self.candidate, self.candidate_count) = (session, 0);
        } else if session != self.candidate {
            return Verdict::Rejected(Rejection::NotOwner);
        } else if seq <= self.candidate_seq {
            return Verdict::Rejected(Rejection::Sequence);
        }
        self.candidate_seq = seq;
        self.candidate_tick = tick;
        self.candidate_count += 1;
        if self.candidate_count < spec.proof_commands {
            return Verdict::Proving;
        }
        self.revoke_owner();
        (self.owner, self.seq, self.answers_tick) = (session, seq, answers_tick);
        (self.candidate, self.candidate_seq, self.candidate_count) = (0, 0, 0);
        Verdict::Accepted
    }

    /// The owner's session is over: the last command stays only as an age.
    pub(super) fn revoke_owner(&mut self) {
        if self.owner == 0 || self.revoked.contains(&self.owner) {
            return;
        }
        self.revoked.rotate_right(1);
        self.revoked[0] = self.owner;
    }

    /// Visits every word.
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        let words = [
            ("watchdog.owner", &mut self.owner),
            ("watchdog.seq", &mut self.seq),
            ("watchdog.answers_tick", &mut self.answers_tick),
            ("watchdog.candidate", &mut self.candidate),
            ("watchdog.candidate_seq", &mut self.candidate_seq),
            ("watchdog.candidate_count", &mut self.candidate_count),
            ("watchdog.candidate_tick", &mut self.candidate_tick),
        ];
        for (name, word) in words {
            visit(name, 0, Word::U64(word));
        }
        for (i, session) in self.revoked.iter_mut().enumerate() {
            visit("watchdog.revoked", i, Word::U64(session));
        }
    }
}
