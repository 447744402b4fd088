//! A command as a controller sends it.

use hardstand_error::Result;
use serde::{Deserialize, Serialize};

use crate::{HEADER_BYTES, JointCommand, Kind, Rejection};

/// A command as it arrives. The daemon checks it and makes a [`Command`](crate::Command) of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimedCommand {
    /// Layout hash of the robot that is meant.
    pub layout_hash: u64,
    /// Run number of the state that is answered.
    pub run_id: u32,
    /// The controller's session: its secret number.
    pub session: u64,
    /// Sequence number.
    pub seq: u64,
    /// Tick of the state that is answered.
    pub answers_tick: u64,
    /// Tick at which it applies: that and the agreed offset, or 0 without having joined.
    pub applies_tick: u64,
    /// One set-point per joint of the session.
    pub joints: Vec<JointCommand>,
}

const FIXED_BYTES: usize = HEADER_BYTES + 8 + 4 + 8 + 8 + 8 + 8 + 8;
const JOINT_BYTES: usize = 40;

/// Decodes the bytes of a command for a robot with `joints` joints: for all or some of them.
///
/// # Errors
/// [`Rejection::Size`] or [`Rejection::Version`].
pub fn decode_command(
    bytes: &[u8],
    joints: usize,
) -> std::result::Result<ClaimedCommand, Rejection> {
    if bytes.len() < HEADER_BYTES {
        return Err(Rejection::Size);
    }
    if bytes[..HEADER_BYTES] != Kind::Command.header() {
        return Err(Rejection::Version);
    }
    // before anything is decoded; what is not whole does not decode
    if bytes.len() > FIXED_BYTES + JOINT_BYTES * joints {
        return Err(Rejection::Size);
    }
    crate::decode::<ClaimedCommand>(Kind::Command, bytes).map_err(|_undecodable| Rejection::Size)
}

/// Encodes a command; the counterpart of [`decode_command`].
///
/// # Errors
/// As [`encode`](crate::encode).
pub fn encode_command(claim: &ClaimedCommand, out: &mut Vec<u8>) -> Result<()> {
    crate::encode(Kind::Command, claim, out)
}

const _: () = assert!(FIXED_BYTES == 56);
