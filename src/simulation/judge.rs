//! Verdicts on commands.
//!
//! ```text
//!           proof commands in a row                answered tick older than hold_ticks
//!  free ─────────────────────────► session: full ─────────────────────────► damped ──► zero
//!    ▲                                  ▲    (its last command is held)        │         │
//!    └── the old session is revoked ────┴───── a new session proves life ──────┴─────────┘
//! ```
//!
//! This is the implicit lease. The lease of a controller that has joined climbs down the same
//! ladder; its session begins with the join, not with a proof of life.

use hardstand_protocol::{Authority, Command, Rejection, Verdict};

use super::{Lease, Leases, WatchdogSpec};

impl Leases {
    /// Judges a command for a robot with `joints` joints at `tick`, under the lease at `place` or
    /// under the implicit one. [`Verdict::Accepted`] means that the caller puts it in force.
    pub fn judge(
        &mut self,
        spec: &WatchdogSpec,
        tick: u64,
        command: &Command,
        (place, joints): (Option<usize>, usize),
    ) -> Verdict {
        let &Command { session, seq, answers_tick, applies_tick, .. } = command;
        let size = command.joints.len();
        match place {
            _ if self.stopped => Verdict::Rejected(Rejection::Stopped),
            Some(place) => self.judge_joined(spec, tick, place, (answers_tick, applies_tick), size),
            None if self.are_in_use(spec, tick) => Verdict::Rejected(Rejection::NotOwner),
            // it must not renew the age of another command
            None if size != joints => Verdict::Rejected(Rejection::Size),
            None => self.judge_implicit(spec, tick, session, seq, answers_tick),
        }
    }

    /// Judges a command with `joints` set-points for the lease at `place`, at `tick`, as
    /// [`judge`](Self::judge) does.
    pub fn judge_joined(
        &mut self,
        spec: &WatchdogSpec,
        tick: u64,
        place: usize,
        (answers_tick, applies_tick): (u64, u64),
        joints: usize,
    ) -> Verdict {
        if joints != self.joint_count(place) {
            return Verdict::Rejected(Rejection::Size);
        }
        let lease = &mut self.places[place];
        if let Some(reason) = lease.refusal(spec, tick, (answers_tick, applies_tick)) {
            return Verdict::Rejected(reason);
        }
        (lease.next, lease.since) = (answers_tick + 1, tick);
        Verdict::Accepted
    }

    /// Judges a command of a session that has not joined, at `tick`, as [`judge`](Self::judge)
    /// does. A session that does not have the implicit lease must prove life first.
    pub fn judge_implicit(
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
        let owns = session == self.implicit.session;
        let left = self.is_revoked(session);
        let claimed = Lease { left, ..Lease::implicit(session, seq, tick) };
        let lease = if owns { self.implicit } else { claimed };
        if let Some(reason) = lease.refusal(spec, tick, (answers_tick, answers_tick)) {
            if owns && reason == Rejection::Revoked {
                self.revoke_implicit();
            }
            return Verdict::Rejected(reason);
        }
        if owns {
            return self.renew(seq, answers_tick);
        }
        if !self.implicit.left && self.implicit.authority(spec, tick) == Authority::Held {
            return Verdict::Rejected(Rejection::NotOwner);
        }
        if answers_tick < self.implicit.since {
            return Verdict::Rejected(Rejection::Sequence); // from before the stop ended
        }
        let verdict = self.claim.count(spec, tick, session, seq);
        if verdict == Verdict::Accepted {
            self.revoke_implicit();
            self.implicit = Lease::implicit(session, seq, answers_tick);
        }
        verdict
    }

    /// A newer command may answer an older state: the age is that of the newest state answered.
    fn renew(&mut self, seq: u64, answers_tick: u64) -> Verdict {
        let lease = &mut self.implicit;
        if seq <= lease.seq {
            return Verdict::Rejected(Rejection::Sequence);
        }
        (lease.seq, lease.since) = (seq, lease.since.max(answers_tick));
        Verdict::Accepted
    }
}
