//! From bytes to a command: claimed, then checked.

use serde::{Deserialize, Serialize};

use hardstand_protocol::{Command, JointCommand, Rejection, check_joints};

use super::{HEADER_BYTES, Kind, VERSION};

/// A command as somebody outside claims it. Only [`check_command`] makes a [`Command`] of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimedCommand {
    /// Layout hash of the robot that is meant.
    pub layout_hash: u64,
    /// Run number of the state that is answered.
    pub run_id: u32,
    /// Controller's session.
    pub session: u64,
    /// Sequence number.
    pub seq: u64,
    /// Tick of the state that is answered.
    pub answers_tick: u64,
    /// Tick at which it applies: that and the agreed offset, or 0 from who has not joined.
    pub applies_tick: u64,
    /// One set-point per joint of the session.
    pub joints: Vec<JointCommand>,
}

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

const FIXED_BYTES: usize = HEADER_BYTES + 8 + 4 + 8 + 8 + 8 + 8 + 8;
const JOINT_BYTES: usize = 40;

/// Decodes the bytes of a command for a robot with `joints` joints: for all or some of them.
///
/// # Errors
/// [`Rejection::Size`] or [`Rejection::Version`].
pub fn decode_command(bytes: &[u8], joints: usize) -> Result<ClaimedCommand, Rejection> {
    if bytes.len() < HEADER_BYTES {
        return Err(Rejection::Size);
    }
    if bytes[..HEADER_BYTES] != [b'H', b'S', VERSION, Kind::Command as u8] {
        return Err(Rejection::Version);
    }
    let set_points = bytes.len().saturating_sub(FIXED_BYTES);
    let whole = bytes.len() >= FIXED_BYTES && set_points.is_multiple_of(JOINT_BYTES);
    if !whole || set_points > JOINT_BYTES * joints {
        return Err(Rejection::Size);
    }
    super::decode::<ClaimedCommand>(Kind::Command, bytes).map_err(|_undecodable| Rejection::Size)
}

/// Checks a claimed command and copies it into `out`.
///
/// # Errors
/// The first [`Rejection`] that applies, in the order layout, run_id, size, session, finite, range.
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

/// A session number that no other controller has: random, from the system.
#[must_use]
pub fn new_session() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // RandomState is seeded by the system's random numbers
    let number = std::collections::hash_map::RandomState::new().build_hasher().finish();
    number.max(1)
}

/// Encodes a command; the counterpart of [`decode_command`].
///
/// # Errors
/// As [`encode`](super::encode).
pub fn encode_command(claim: &ClaimedCommand, out: &mut Vec<u8>) -> crate::Result<()> {
    super::encode(Kind::Command, claim, out)
}

const _: () = assert!(FIXED_BYTES == 56);
