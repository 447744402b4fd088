//! Bits of a CAN frame on the wire, by ISO 11898-1: stuffing, checksums, spaces.

use crate::{CanFrame, CanId};

/// CRC delimiter, acknowledge and its delimiter, end of frame, intermission.
const TRAILER: u32 = 1 + 2 + 7 + 3;
/// Polynomial of the CRC-15.
const CRC_15: u16 = 0x4599;

/// Bit rates of a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitRates {
    /// Arbitration phase, and all of a CAN frame.
    pub nominal_bps: u32,
    /// Data phase of a CAN FD frame with bit rate switch.
    pub data_bps: u32,
}

impl BitRates {
    /// 1 Mbit/s, and 5 Mbit/s in the data phase, as moteus.
    pub const MOTEUS: Self = Self { nominal_bps: 1_000_000, data_bps: 5_000_000 };

    /// Time of `bits` at the nominal rate.
    pub fn nominal_ns(&self, bits: u32) -> u64 {
        nanoseconds(bits, self.nominal_bps)
    }

    /// Time from the start of a frame to the start of the next possible one.
    pub fn frame_ns(&self, bits: Bits, frame: &CanFrame) -> u64 {
        let data_bps = if frame.bit_rate_switch { self.data_bps } else { self.nominal_bps };
        nanoseconds(bits.nominal, self.nominal_bps) + nanoseconds(bits.data, data_bps)
    }

    /// Share of the bus in percent that frames need that are sent `rate_hz` times a second, with
    /// the most stuff bits that they can have.
    pub fn worst_load_percent(&self, frames: &[CanFrame], rate_hz: f64) -> f64 {
        let ns: u64 = frames.iter().map(|frame| self.frame_ns(worst_case(frame), frame)).sum();
        ns as f64 * 1e-9 * rate_hz * 100.0
    }
}

fn nanoseconds(bits: u32, bps: u32) -> u64 {
    (u64::from(bits) * 1_000_000_000).div_ceil(u64::from(bps.max(1)))
}

/// Bits on the wire, with intermission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// At the nominal rate.
    pub nominal: u32,
    /// At the rate of the data phase; CAN FD only.
    pub data: u32,
}

/// Counts bits and the stuff bits between them.
#[derive(Default)]
struct Stuffer {
    bits: u32,
    stuffed: u32,
    last: bool,
    run: u32,
    crc: u16,
}

impl Stuffer {
    fn push(&mut self, value: u32, count: u32) {
        for n in (0..count).rev() {
            self.bit(value >> n & 1 != 0);
        }
    }

    fn bit(&mut self, bit: bool) {
        let overflow = (self.crc >> 14 & 1 != 0) != bit;
        self.crc = self.crc << 1 & 0x7fff;
        if overflow {
            self.crc ^= CRC_15;
        }
        if self.run == 5 {
            // the complement, with which the next run begins
            self.stuffed += 1;
            (self.last, self.run) = (!self.last, 1);
        }
        self.run = if self.run > 0 && bit == self.last { self.run + 1 } else { 1 };
        self.last = bit;
        self.bits += 1;
    }

    fn count(&self) -> u32 {
        self.bits + self.stuffed
    }
}

/// The exact number of bits of a frame.
pub fn exact(frame: &CanFrame) -> Bits {
    let mut bits = Stuffer::default();
    bits.push(0, 1); // start of frame
    let remote = u32::from(frame.remote);
    match frame.id {
        CanId::Standard(id) => {
            bits.push(u32::from(id), 11);
            bits.push(remote << 1, 2); // RTR or RRS, IDE
        }
        CanId::Extended(id) => {
            bits.push(id >> 18, 11);
            bits.push(0b11, 2); // SRR, IDE
            bits.push(id & 0x3_ffff, 18);
            bits.push(remote, 1); // RTR or RRS
        }
    }
    if frame.fd { fd(frame, bits) } else { classic(frame, bits) }
}

fn classic(frame: &CanFrame, mut bits: Stuffer) -> Bits {
    bits.push(0, if frame.id.is_extended() { 2 } else { 1 }); // reserved
    bits.push(u32::from(frame.dlc()), 4);
    for byte in frame.data() {
        bits.push(u32::from(*byte), 8);
    }
    let crc = bits.crc;
    bits.push(u32::from(crc), 15);
    let last = u32::from(bits.run == 5); // also after the last bit of the checksum
    Bits { nominal: bits.count() + last + TRAILER, data: 0 }
}

fn fd(frame: &CanFrame, mut bits: Stuffer) -> Bits {
    bits.push(0b10, 2); // FDF, res
    bits.push(u32::from(frame.bit_rate_switch), 1);
    let nominal = bits.count();
    bits.push(0, 1); // error state indicator
    bits.push(u32::from(frame.dlc()), 4);
    for byte in frame.data() {
        bits.push(u32::from(*byte), 8);
    }
    let data = bits.count() - nominal + checksum_fd(frame.len());
    Bits { nominal: nominal + TRAILER - 1, data }
}

/// Stuff count, CRC-17 or CRC-21, their fixed stuff bits, CRC delimiter.
fn checksum_fd(len: usize) -> u32 {
    let bits: u32 = 4 + if len <= 16 { 17 } else { 21 };
    bits + bits.div_ceil(4) + 1
}

/// The most bits that a frame of this kind and length can have.
///
/// For CAN it is the formula of Davis, Burns, Bril and Lukkien (2007): of `g` bits besides the
/// data, 34 or 54 are subject to stuffing, and a stuff bit counts for the next run.
pub fn worst_case(frame: &CanFrame) -> Bits {
    let data = 8 * frame.data().len() as u32;
    if frame.fd {
        let arbitration = if frame.id.is_extended() { 36 } else { 17 };
        let dynamic = 5 + data;
        let stuffed = (arbitration + dynamic - 1) / 4;
        let first = (arbitration - 1) / 4;
        return Bits {
            nominal: arbitration + first + TRAILER - 1,
            data: dynamic + (stuffed - first) + checksum_fd(frame.len()),
        };
    }
    let g = if frame.id.is_extended() { 54 } else { 34 };
    Bits { nominal: g + data + TRAILER + (g + data - 1) / 4, data: 0 }
}

/// CRC-15 of CAN over whole bytes, for comparison with the published check value.
pub fn crc_15(bytes: &[u8]) -> u16 {
    let mut bits = Stuffer::default();
    for byte in bytes {
        bits.push(u32::from(*byte), 8);
    }
    bits.crc
}
