//! socketcand: CAN over TCP, the protocol of python-can's interface `socketcand`. CAN only.
//!
//! `< hi >` at the start; `< open NAME >` and `< rawmode >` are answered with `< ok >`; then
//! `< send ID LEN B B … >` sends and `< frame ID SECONDS.MICROSECONDS HEX >` comes from the bus. An
//! identifier of three digits has 11 bits, one of eight has 29.

use super::Adapter;
use super::hex::{self, Lines};
use crate::{CanFrame, CanId};

/// The server's state for one connection.
#[derive(Debug)]
pub struct Socketcand {
    lines: Lines,
    open: bool,
    raw: bool,
}

impl Default for Socketcand {
    fn default() -> Self {
        Self { lines: Lines::new(b">", 256), open: false, raw: false }
    }
}

impl Socketcand {
    fn message(&mut self, text: &[u8], to_bus: &mut Vec<CanFrame>, out: &mut Vec<u8>) {
        let words: Vec<&[u8]> =
            text.split(|c| c.is_ascii_whitespace()).filter(|word| !word.is_empty()).collect();
        let answer: &[u8] = match words[..] {
            [b"<", b"open", _] => {
                self.open = true;
                b"< ok >"
            }
            [b"<", b"rawmode"] if self.open => {
                self.raw = true;
                b"< ok >"
            }
            [b"<", b"echo"] => b"< echo >",
            [b"<", b"send", id, len, ref data @ ..] if self.raw => match parse(id, len, data) {
                Some(frame) => {
                    to_bus.push(frame);
                    b""
                }
                None => b"< error malformed frame >",
            },
            _ => b"< error unknown command >",
        };
        out.extend_from_slice(answer);
    }
}

impl Adapter for Socketcand {
    fn greet(&mut self, to_program: &mut Vec<u8>) {
        to_program.extend_from_slice(b"< hi >");
    }

    fn feed(&mut self, bytes: &[u8], to_bus: &mut Vec<CanFrame>, to_program: &mut Vec<u8>) {
        for byte in bytes {
            match self.lines.push(*byte) {
                Some(Some(text)) => self.message(&text, to_bus, to_program),
                Some(None) => to_program.extend_from_slice(b"< error too long >"),
                None => {}
            }
        }
    }

    fn deliver(&mut self, time_ns: u64, frame: &CanFrame, out: &mut Vec<u8>) {
        if !self.raw || frame.fd || frame.remote {
            return;
        }
        out.extend_from_slice(b"< frame ");
        hex::push_number(out, frame.id.raw(), if frame.id.is_extended() { 8 } else { 3 });
        let micros = time_ns / 1000;
        out.extend_from_slice(
            format!(" {}.{:06} ", micros / 1_000_000, micros % 1_000_000).as_bytes(),
        );
        for byte in frame.data() {
            hex::push_byte(out, *byte);
        }
        out.extend_from_slice(b" >");
    }
}

fn parse(id: &[u8], len: &[u8], data: &[&[u8]]) -> Option<CanFrame> {
    let raw = hex::number(id)?;
    let id = match id.len() {
        3 if raw <= 0x7ff => CanId::standard(raw),
        8 if raw <= 0x1fff_ffff => CanId::extended(raw),
        _ => return None,
    };
    let len = hex::number(len)? as usize;
    let mut bytes = [0; 8];
    if len > 8 || data.len() != len || data.iter().any(|byte| byte.len() > 2) {
        return None;
    }
    for (byte, text) in bytes.iter_mut().zip(data) {
        *byte = hex::number(text)? as u8;
    }
    CanFrame::classic(id, &bytes[..len])
}
