//! Commands on their way in: bytes, claim, check, hand-over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::buffer_pool::{CommandSender, Sent};
use hardstand_protocol::{Command, Rejection};

use super::{ArrivalCounters, CommandLimits, JoinedSessions, check_command};
use hardstand_protocol::{ClaimedCommand, JointCommand, check_joints, decode_command};

/// Where commands arrive: the first of their two checks, and the hand-over to the physics thread.
#[derive(Debug)]
pub struct CommandIngress {
    outbox: CommandSender,
    limits: CommandLimits,
    run_id: Arc<AtomicU32>,
    joined: JoinedSessions,
    counters: Arc<ArrivalCounters>,
}

impl CommandIngress {
    /// Hands accepted commands to `outbox` and counts in `counters`. The current run is `run_id`,
    /// whatever `limits` say; `joined` knows the secrets of the controllers that have joined.
    #[must_use]
    pub const fn new(
        outbox: CommandSender,
        limits: CommandLimits,
        run_id: Arc<AtomicU32>,
        joined: JoinedSessions,
        counters: Arc<ArrivalCounters>,
    ) -> Self {
        Self { outbox, limits, run_id, joined, counters }
    }

    /// Takes in the bytes of one command. Whatever they are, this returns; a refusal is counted
    /// under its reason.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn take_in(&self, bytes: &[u8]) -> Result<(), Rejection> {
        self.counters.count_received();
        match decode_command(bytes, self.limits.joints) {
            Ok(claim) => self.judge(self.pass_on(&claim), &claim.joints),
            Err(reason) => self.judge(Err(reason), &[]),
        }
    }

    /// Takes in a command that came in other bytes; likewise.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn take_in_claim(&self, claim: &ClaimedCommand) -> Result<(), Rejection> {
        self.counters.count_received();
        self.judge(self.pass_on(claim), &claim.joints)
    }

    /// Counts a command of `session` as refused for a reason that its receiver has found.
    pub fn refuse(&self, session: u64, reason: Rejection, answers_tick: u64) {
        self.counters.count_received();
        self.counters.count(reason);
        self.joined.note_rejected(session, reason, answers_tick);
    }

    /// Checks set-points that become a part of later commands; likewise.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn check(&self, joints: &[JointCommand]) -> Result<(), Rejection> {
        self.judge(check_joints(joints, self.gains_max()), joints)
    }

    const fn gains_max(&self) -> [f64; 2] {
        [self.limits.kp_max, self.limits.kd_max]
    }

    fn judge(
        &self,
        result: Result<(), Rejection>,
        joints: &[JointCommand],
    ) -> Result<(), Rejection> {
        result.inspect_err(|&reason| {
            self.counters.count_refused(reason, joints, self.gains_max());
        })
    }

    fn pass_on(&self, claim: &ClaimedCommand) -> Result<(), Rejection> {
        let limits = CommandLimits { run_id: self.run_id.load(Ordering::Relaxed), ..self.limits };
        let mut checked = Command::default();
        check_command(claim, &limits, &mut checked).inspect_err(|&reason| {
            self.joined.note_rejected(claim.session, reason, claim.answers_tick);
        })?;
        checked.session = self.joined.number(claim.session);
        match self.outbox.send(&checked) {
            Sent::Queued => Ok(()),
            Sent::Replaced => {
                self.counters.count(Rejection::QueueFull);
                Ok(())
            }
            Sent::Refused => Err(Rejection::QueueFull),
        }
    }
}
