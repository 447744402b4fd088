//! A claimed command: checked.

use hardstand_protocol::{ClaimedCommand, Command, Rejection, check_joints};

/// What is allowed in a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommandLimits {
    /// Layout hash of the robot.
    pub layout_hash: u64,
    /// Current run.
    pub run_id: u32,
    /// Joints of the robot.
    pub joints: usize,
    /// Largest stiffness, N·m/rad or N/m.
    pub kp_max: f64,
    /// Largest damping, N·m·s/rad or N·s/m.
    pub kd_max: f64,
}

/// Checks a claimed command and copies it into `out`.
///
/// # Errors
/// The first [`Rejection`] that applies, in the order layout, run id, size, session, finite, range.
pub fn check_command(
    claim: &ClaimedCommand,
    limits: &CommandLimits,
    out: &mut Command,
) -> Result<(), Rejection> {
    if claim.layout_hash != limits.layout_hash {
        return Err(Rejection::Layout);
    }
    if claim.run_id != limits.run_id {
        return Err(Rejection::RunId);
    }
    if claim.joints.len() > limits.joints {
        return Err(Rejection::Size);
    }
    if claim.session == 0 {
        return Err(Rejection::Session);
    }
    check_joints(&claim.joints, [limits.kp_max, limits.kd_max])?;
    (out.run_id, out.session) = (claim.run_id, claim.session);
    (out.seq, out.answers_tick) = (claim.seq, claim.answers_tick);
    out.applies_tick = claim.applies_tick;
    out.joints.clone_from(&claim.joints);
    Ok(())
}
