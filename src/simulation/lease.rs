//! One lease: the right of a session to command joints.
//!
//! A controller that joins gets the joints that it asks for, and no other controller has them. It
//! answers the states whose tick is on its [`CommandSchedule`]. An answer applies as many ticks
//! later as agreed: the latency of the real robot, as a number.
//!
//! ```text
//!  period 4, phase 0, offset 2
//!  state that is answered   0           4           8
//!  tick that it applies at        2           6          10
//! ```
//!
//! A session that commands without having joined has the implicit lease. It has no schedule: it
//! may answer any state, and its commands are ordered by their sequence numbers.

use hardstand_protocol::{Authority, CommandSchedule, Rejection};

use super::WatchdogSpec;

/// A lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// Number of the controller's name; 0 for a free place and for the implicit lease.
    pub controller: u64,
    /// Session of its commands; 0 for none.
    pub session: u64,
    /// When it answers.
    pub schedule: CommandSchedule,
    /// Lockstep waits for it.
    pub required: bool,
    /// The session is over: the joints hold its last command until others take them over.
    pub left: bool,
    /// No state before this tick may be answered any more.
    pub next: u64,
    /// Sequence number of the command in force under the implicit lease; otherwise 0.
    pub seq: u64,
    /// Tick from which the age of the command in force counts: the tick at which it was applied,
    /// under the implicit lease the tick that it answers.
    pub since: u64,
}

impl Lease {
    /// The implicit lease of `session`, with a command that answers `tick`.
    pub(super) fn implicit(session: u64, seq: u64, tick: u64) -> Self {
        Self { session, seq, since: tick, ..Self::default() }
    }

    /// True if no tick that needs the answer to the state `answered` can do without it.
    #[must_use]
    pub const fn owes(&self, answered: u64) -> bool {
        self.controller != 0 && self.required && !self.left && answered >= self.next
    }

    /// The rung of the ladder at `tick`, if no command was accepted in it. What is held counts from
    /// when the next command should have been there.
    #[must_use]
    pub fn authority(&self, spec: &WatchdogSpec, tick: u64) -> Authority {
        if self.is_free() {
            return Authority::Zero;
        }
        let held = spec.hold_ticks + self.schedule.period + self.schedule.offset;
        match tick.saturating_sub(self.since) {
            age if age <= held => Authority::Held,
            age if age <= held.saturating_add(spec.damped_ticks) => Authority::Damped,
            _ => Authority::Zero,
        }
    }

    /// Age of the newest answer when `tick` ticks are done; `None` before the first command.
    pub(super) fn answer_age_ticks(&self, tick: u64) -> Option<u64> {
        let answered = if self.controller == 0 { self.since.saturating_add(1) } else { self.next };
        (!self.is_free()).then(|| tick.saturating_sub(answered))
    }

    /// Why a command under this lease is refused at `tick` for the ticks that it names; `None` if
    /// it is not.
    pub(super) fn refusal(
        &self,
        spec: &WatchdogSpec,
        tick: u64,
        (answers_tick, applies_tick): (u64, u64),
    ) -> Option<Rejection> {
        if answers_tick > tick || applies_tick > tick {
            Some(Rejection::FutureTick)
        } else if !self.is_on_schedule(answers_tick, applies_tick) {
            Some(Rejection::OffGrid)
        } else if self.left || self.authority(spec, tick) != Authority::Held {
            Some(Rejection::Revoked)
        } else if answers_tick < self.next {
            Some(Rejection::Sequence)
        } else if tick - applies_tick > spec.hold_ticks {
            Some(Rejection::Late)
        } else {
            None
        }
    }

    fn is_on_schedule(&self, answers_tick: u64, applies_tick: u64) -> bool {
        let schedule = self.schedule;
        self.controller == 0
            || schedule.answers(answers_tick) && applies_tick == answers_tick + schedule.offset
    }

    pub(super) const fn is_free(&self) -> bool {
        self.controller == 0 && self.session == 0
    }
}

/// Why a controller cannot join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Another controller has this joint.
    Taken {
        /// The joint.
        joint: usize,
        /// Number of the other's name.
        controller: u64,
    },
    /// There are as many controllers as there may be, `LEASES_MAX`.
    Full,
    /// A session that has not joined commands the robot.
    Owned {
        /// The session.
        session: u64,
    },
}
