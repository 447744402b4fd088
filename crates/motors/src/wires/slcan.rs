//! slcan: LAWICEL's ASCII protocol with the CAN FD letters of CANable 2.0, as python-can speaks it.
//!
//! Commands end in `\r`; answers are `\r`, or `\x07` for an error. `S0`..`S9` bit rate, `O` and `L`
//! open (`L` listens only), `C` close, `t`/`T` frame, `r`/`R` remote frame, `d`/`D` and `b`/`B`
//! CAN FD without and with bit rate switch (upper case: 29-bit identifier), `V` version, `N` serial
//! number, `F` status flags.

use super::Adapter;
use super::hex::{self, Lines};
use crate::{CanFrame, CanId, FD_LENGTHS};

const OK: u8 = b'\r';
const ERROR: u8 = 0x07;
/// Bit rates of `S0` to `S9`.
const BIT_RATES: [u32; 10] =
    [10_000, 20_000, 50_000, 100_000, 125_000, 250_000, 500_000, 750_000, 1_000_000, 83_300];

/// The adapter's state.
#[derive(Debug)]
pub struct Slcan {
    lines: Lines,
    open: bool,
    listen_only: bool,
    /// Bit rate that the program has set, in bit/s.
    pub bit_rate_bps: Option<u32>,
    /// Status flags of `F`: bit 2 error warning, 5 error passive, 7 bus error.
    pub status: u8,
}

impl Default for Slcan {
    fn default() -> Self {
        let lines = Lines::new(b"\r", 160);
        Self { lines, open: false, listen_only: false, bit_rate_bps: None, status: 0 }
    }
}

impl Slcan {
    fn line(&mut self, line: &[u8], to_bus: &mut Vec<CanFrame>, out: &mut Vec<u8>) {
        match line {
            [] => out.push(OK),
            b"O" | b"L" if !self.open => {
                (self.open, self.listen_only) = (true, line == b"L");
                out.push(OK);
            }
            b"C" => {
                self.open = false;
                out.push(OK);
            }
            [b'S', digit @ b'0'..=b'9'] if !self.open => {
                self.bit_rate_bps = Some(BIT_RATES[usize::from(digit - b'0')]);
                out.push(OK);
            }
            [b's', ..] | b"Y2" | b"Y5" if !self.open => out.push(OK),
            [b'Z', b'0' | b'1'] => out.push(OK),
            b"V" => out.extend_from_slice(b"V1013\r"),
            b"N" => out.extend_from_slice(b"NHRDS\r"),
            b"F" if self.open => {
                out.push(b'F');
                hex::push_byte(out, self.status);
                out.push(OK);
            }
            [b't' | b'T' | b'r' | b'R' | b'd' | b'D' | b'b' | b'B', ..] => {
                match parse(line).filter(|_| self.open && !self.listen_only) {
                    Some(frame) => {
                        let sent = if frame.id.is_extended() { b'Z' } else { b'z' };
                        to_bus.push(frame);
                        out.extend_from_slice(&[sent, OK]);
                    }
                    None => out.push(ERROR),
                }
            }
            _ => out.push(ERROR),
        }
    }
}

impl Adapter for Slcan {
    fn greet(&mut self, _to_program: &mut Vec<u8>) {}

    fn feed(&mut self, bytes: &[u8], to_bus: &mut Vec<CanFrame>, to_program: &mut Vec<u8>) {
        for byte in bytes {
            match self.lines.push(*byte) {
                Some(Some(line)) => self.line(&line, to_bus, to_program),
                Some(None) => to_program.push(ERROR),
                None => {}
            }
        }
    }

    fn deliver(&mut self, _time_ns: u64, frame: &CanFrame, out: &mut Vec<u8>) {
        if !self.open {
            return;
        }
        let letter = match (frame.remote, frame.fd, frame.bit_rate_switch) {
            (true, ..) => b'r',
            (_, false, _) => b't',
            (_, true, false) => b'd',
            (_, true, true) => b'b',
        };
        if frame.id.is_extended() {
            out.push(letter.to_ascii_uppercase());
            hex::push_number(out, frame.id.raw(), 8);
        } else {
            out.push(letter);
            hex::push_number(out, frame.id.raw(), 3);
        }
        hex::push_number(out, u32::from(frame.dlc()), 1);
        for byte in frame.data() {
            hex::push_byte(out, *byte);
        }
        out.push(OK);
    }
}

fn parse(line: &[u8]) -> Option<CanFrame> {
    let (kind, rest) = line.split_first()?;
    let extended = kind.is_ascii_uppercase();
    let (id, rest) = rest.split_at_checked(if extended { 8 } else { 3 })?;
    let (dlc, rest) = rest.split_at_checked(1)?;
    let raw = hex::number(id)?;
    if raw > if extended { 0x1fff_ffff } else { 0x7ff } {
        return None;
    }
    let id = if extended { CanId::extended(raw) } else { CanId::standard(raw) };
    let dlc = hex::number(dlc)? as usize;
    let (data, len) = hex::bytes(rest)?;
    match kind.to_ascii_lowercase() {
        b'r' => (dlc <= 8).then(|| CanFrame::request(id, dlc)).flatten(),
        b't' => (dlc == len).then(|| CanFrame::classic(id, &data[..len])).flatten(),
        kind => {
            let full = FD_LENGTHS[dlc] == len;
            full.then(|| CanFrame::fd(id, kind == b'b', &data[..len], 0)).flatten()
        }
    }
}
