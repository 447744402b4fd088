//! The structures `can_frame` and `canfd_frame` of a raw SocketCAN socket.

use crate::{CanFrame, CanId, FD_LENGTHS};

/// Size of `struct can_frame`.
pub const SOCKETCAN_CLASSIC_BYTES: usize = 16;
/// Size of `struct canfd_frame`.
pub const SOCKETCAN_FD_BYTES: usize = 72;

const EXTENDED: u32 = 0x8000_0000;
const REMOTE: u32 = 0x4000_0000;
const ERROR: u32 = 0x2000_0000;
const BIT_RATE_SWITCH: u8 = 1;
const FD: u8 = 4;

/// The bytes that a raw socket takes and gives: 16, or 72 for CAN FD.
pub fn to_socketcan(frame: &CanFrame) -> ([u8; SOCKETCAN_FD_BYTES], usize) {
    let mut out = [0; SOCKETCAN_FD_BYTES];
    let kind = if frame.id.is_extended() { EXTENDED } else { 0 };
    let id = frame.id.raw() | kind | if frame.remote { REMOTE } else { 0 };
    out[..4].copy_from_slice(&id.to_ne_bytes());
    out[4] = frame.len() as u8;
    if frame.fd {
        out[5] = FD | if frame.bit_rate_switch { BIT_RATE_SWITCH } else { 0 };
    }
    out[8..8 + frame.data().len()].copy_from_slice(frame.data());
    (out, if frame.fd { SOCKETCAN_FD_BYTES } else { SOCKETCAN_CLASSIC_BYTES })
}

/// A frame from a raw socket; `None` for error frames and for lengths that do not exist.
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
        (true, _) if !FD_LENGTHS.contains(&len) => None,
        (true, _) => CanFrame::fd(kind, bytes[5] & BIT_RATE_SWITCH != 0, data, 0),
        (false, true) => CanFrame::request(kind, len),
        (false, false) => CanFrame::classic(kind, data),
    }
}
