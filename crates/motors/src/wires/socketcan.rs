//! The structures `can_frame` and `canfd_frame` of a raw SocketCAN socket.

use super::Adapter;
use crate::{CanFrame, CanId};

/// Size of `struct can_frame`.
pub const SOCKETCAN_CLASSIC_BYTES: usize = 16;
/// Size of `struct canfd_frame`.
pub const SOCKETCAN_FD_BYTES: usize = 72;

const EXTENDED: u32 = 0x8000_0000;
const REMOTE: u32 = 0x4000_0000;
const ERROR: u32 = 0x2000_0000;
const BIT_RATE_SWITCH: u8 = 1;
const FD: u8 = 4;
/// Where the structure has the flags of CAN FD.
const FLAGS_AT: usize = 5;

/// A raw socket in the place of an adapter: one structure for each frame, in both directions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Socketcan;

impl Adapter for Socketcan {
    fn greet(&mut self, _to_program: &mut Vec<u8>) {}

    /// `bytes` is one structure, as a read gives it.
    fn feed(&mut self, bytes: &[u8], to_bus: &mut Vec<CanFrame>, _to_program: &mut Vec<u8>) {
        to_bus.extend(from_socketcan(bytes));
    }

    /// Appends a structure; [`first_socketcan`] takes them apart for one write each.
    fn deliver(&mut self, _time_ns: u64, frame: &CanFrame, to_program: &mut Vec<u8>) {
        let (bytes, len) = to_socketcan(frame);
        to_program.extend_from_slice(&bytes[..len]);
    }
}

/// The first of the structures that [`Socketcan`] has put together, and those behind it.
pub fn first_socketcan(structures: &[u8]) -> Option<(&[u8], &[u8])> {
    let fd = structures.get(FLAGS_AT)? & FD != 0;
    structures.split_at_checked(if fd { SOCKETCAN_FD_BYTES } else { SOCKETCAN_CLASSIC_BYTES })
}

/// The bytes that a raw socket takes and gives: 16, or 72 for CAN FD.
pub fn to_socketcan(frame: &CanFrame) -> ([u8; SOCKETCAN_FD_BYTES], usize) {
    let mut out = [0; SOCKETCAN_FD_BYTES];
    let kind = if frame.id.is_extended() { EXTENDED } else { 0 };
    let id = frame.id.raw() | kind | if frame.remote { REMOTE } else { 0 };
    out[..4].copy_from_slice(&id.to_ne_bytes());
    out[4] = frame.len() as u8;
    if frame.fd {
        out[FLAGS_AT] = FD | if frame.bit_rate_switch { BIT_RATE_SWITCH } else { 0 };
    }
    out[8..8 + frame.data().len()].copy_from_slice(frame.data());
    (out, if frame.fd { SOCKETCAN_FD_BYTES } else { SOCKETCAN_CLASSIC_BYTES })
}

/// A frame from a raw socket; `None` for error frames and for lengths that do not exist. CAN FD
/// with a length between two of its own is padded with zeros, as interfaces do.
pub fn from_socketcan(bytes: &[u8]) -> Option<CanFrame> {
    let fd = match bytes.len() {
        SOCKETCAN_CLASSIC_BYTES => false,
        SOCKETCAN_FD_BYTES => true,
        _ => return None,
    };
    let id = u32::from_ne_bytes(bytes[..4].try_into().ok()?);
    if id & ERROR != 0 {
        return None;
    }
    let kind = if id & EXTENDED != 0 { CanId::extended(id) } else { CanId::standard(id) };
    let len = usize::from(bytes[4]);
    let data = bytes[8..].get(..len)?;
    match (fd, id & REMOTE != 0) {
        (true, _) => CanFrame::fd(kind, bytes[FLAGS_AT] & BIT_RATE_SWITCH != 0, data, 0),
        (false, true) => CanFrame::request(kind, len),
        (false, false) => CanFrame::classic(kind, data),
    }
}
