//! The serial protocol of Damiao's own adapter from USB to CAN, as the maker's and other libraries
//! speak it. CAN only.
//!
//! A frame for the bus is 30 bytes: `55 AA 1E 03`, how often and at which interval it is sent (two
//! u32), the kind of the identifier (0 of 11 bits, 1 of 29), the identifier (u32), the kind of the
//! frame (0 data, 1 remote), its length, two bytes for acceptance filters, 8 bytes of data, a
//! checksum, which libraries leave at 0. One from the bus is 16: `AA 11`, its length with bit 6 for
//! an identifier of 29 bits and bit 7 for a remote frame, the identifier, 8 bytes of data, `55`.
//! All numbers are little-endian.

use super::Adapter;
use crate::{CanFrame, CanId};

const HEAD: [u8; 4] = [0x55, 0xaa, 0x1e, 0x03];
const TO_BUS_BYTES: usize = 30;
const RECEIVED: [u8; 2] = [0xaa, 0x11];
const TAIL: u8 = 0x55;

/// The adapter's state.
#[derive(Debug, Default)]
pub struct DamiaoUsb {
    /// The beginning of a frame.
    begun: Vec<u8>,
}

impl Adapter for DamiaoUsb {
    fn greet(&mut self, _to_program: &mut Vec<u8>) {}

    fn feed(&mut self, bytes: &[u8], to_bus: &mut Vec<CanFrame>, _to_program: &mut Vec<u8>) {
        for byte in bytes {
            self.begun.push(*byte);
            // what is no frame is passed over, to the next byte that can begin one
            while !HEAD.starts_with(&self.begun[..self.begun.len().min(HEAD.len())]) {
                self.begun.remove(0);
            }
            if let Ok(frame) = <[u8; TO_BUS_BYTES]>::try_from(self.begun.as_slice()) {
                to_bus.extend(parse(&frame));
                self.begun.clear();
            }
        }
    }

    fn deliver(&mut self, _time_ns: u64, frame: &CanFrame, out: &mut Vec<u8>) {
        if frame.fd {
            return;
        }
        let kind = u8::from(frame.id.is_extended()) << 6 | u8::from(frame.remote) << 7;
        let mut data = [0; 8];
        data.iter_mut().zip(frame.data()).for_each(|(to, from)| *to = *from);
        out.extend_from_slice(&RECEIVED);
        out.push(frame.dlc() | kind);
        out.extend_from_slice(&frame.id.raw().to_le_bytes());
        out.extend_from_slice(&data);
        out.push(TAIL);
    }
}

/// A frame with an identifier, a kind or a length that CAN has not is none.
fn parse(frame: &[u8; TO_BUS_BYTES]) -> Option<CanFrame> {
    let raw = u32::from_le_bytes([frame[13], frame[14], frame[15], frame[16]]);
    let id = match frame[12] {
        0 if raw <= 0x7ff => CanId::standard(raw),
        1 if raw <= 0x1fff_ffff => CanId::extended(raw),
        _ => return None,
    };
    let length = usize::from(frame[18]);
    match frame[17] {
        0 => CanFrame::classic(id, frame[21..29].get(..length)?),
        1 => (length <= 8).then(|| CanFrame::request(id, length)).flatten(),
        _ => None,
    }
}
