//! The text protocol of mjbots' fdcanusb, which moteus speaks on its UART too, there with a CRC-8.
//!
//! `can send <id> <bytes> [flags]` is answered with `OK`; a frame from the bus is
//! `rcv <id> <bytes> <flags>`. Flags: `B`/`b` with or without bit rate switch, `F`/`f` CAN FD or
//! not, `E`/`e` extended or not, `R`/`r` remote or not, upper case for "with". A line that ends in
//! ` *XX` carries a CRC-8 of what precedes the star; once one has come, answers carry it as well.

use super::Adapter;
use super::hex::{self, Lines};
use crate::{CanFrame, CanId};

const PADDING: u8 = 0x50;
/// Polynomial of the CRC-8.
const CRC_POLYNOMIAL: u8 = 0x97;

/// The adapter's state.
#[derive(Debug)]
pub struct Fdcanusb {
    lines: Lines,
    on: bool,
    checksum: bool,
}

impl Default for Fdcanusb {
    fn default() -> Self {
        Self { lines: Lines::new(b"\r\n", 512), on: true, checksum: false }
    }
}

impl Fdcanusb {
    fn line(&mut self, line: &[u8], to_bus: &mut Vec<CanFrame>, out: &mut Vec<u8>) {
        let (text, sum) = split_checksum(line);
        match sum {
            Some(sum) if sum != crc8(&line[..line.len() - 3]) => {
                return self.say(b"ERR checksum mismatch", out);
            }
            Some(_) => self.checksum = true,
            None => {}
        }
        let words: Vec<&[u8]> =
            text.split(|c| *c == b' ').filter(|word| !word.is_empty()).collect();
        match words[..] {
            [] => {}
            [b"can", b"on"] => {
                self.on = true;
                self.say(b"OK", out);
            }
            [b"can", b"off"] => {
                self.on = false;
                self.say(b"OK", out);
            }
            [b"can", kind @ (b"send" | b"std" | b"ext"), id, ref rest @ ..] => {
                match send(kind, id, rest) {
                    Some(frame) if self.on => {
                        to_bus.push(frame);
                        self.say(b"OK", out);
                    }
                    Some(_) => self.say(b"ERR bus not open", out),
                    None => self.say(b"ERR malformed frame", out),
                }
            }
            _ => self.say(b"ERR unknown command", out),
        }
    }

    fn say(&self, text: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(text);
        if self.checksum {
            out.push(b' ');
            let sum = crc8(&out[begin..]);
            out.push(b'*');
            hex::push_byte(out, sum);
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl Adapter for Fdcanusb {
    fn greet(&mut self, _to_program: &mut Vec<u8>) {}

    fn feed(&mut self, bytes: &[u8], to_bus: &mut Vec<CanFrame>, to_program: &mut Vec<u8>) {
        for byte in bytes {
            match self.lines.push(*byte) {
                Some(Some(line)) => self.line(&line, to_bus, to_program),
                Some(None) => self.say(b"ERR line too long", to_program),
                None => {}
            }
        }
    }

    fn deliver(&mut self, _time_ns: u64, frame: &CanFrame, to_program: &mut Vec<u8>) {
        if !self.on {
            return;
        }
        let mut line = b"rcv ".to_vec();
        let digits = if frame.id.is_extended() { 8 } else { 3 };
        hex::push_number(&mut line, frame.id.raw(), digits);
        line.push(b' ');
        for byte in frame.data() {
            hex::push_byte(&mut line, *byte);
        }
        let flag = |set: bool, letter: u8| if set { letter } else { letter.to_ascii_lowercase() };
        for (set, letter) in [
            (frame.id.is_extended(), b'E'),
            (frame.bit_rate_switch, b'B'),
            (frame.fd, b'F'),
            (frame.remote, b'R'),
        ] {
            line.extend_from_slice(&[b' ', flag(set, letter)]);
        }
        self.say(&line, to_program);
    }
}

/// The text without its checksum, and the checksum.
fn split_checksum(line: &[u8]) -> (&[u8], Option<u8>) {
    if let [text @ .., b'*', high, low] = line
        && let Some(sum) = hex::number(&[*high, *low])
    {
        return (text, Some(sum as u8));
    }
    (line, None)
}

fn send(kind: &[u8], id: &[u8], rest: &[&[u8]]) -> Option<CanFrame> {
    let id = hex::number(id)?;
    let extended = kind == b"ext" || (kind == b"send" && id > 0x7ff);
    if id > 0x1fff_ffff || (!extended && id > 0x7ff) {
        return None;
    }
    let id = if extended { CanId::extended(id) } else { CanId::standard(id) };
    // flags follow the bytes; a frame without bytes has flags only
    let has_bytes = rest.first().is_some_and(|word| word.len().is_multiple_of(2));
    let (data, len) = hex::bytes(if has_bytes { rest[0] } else { &[] })?;
    let flags: Vec<u8> = rest[usize::from(has_bytes)..].concat();
    if flags.iter().any(|f| !b"BbFfRr".contains(f)) {
        return None;
    }
    let switch = flags.contains(&b'B');
    // without a flag, a frame is CAN FD: that is the adapter's setting for moteus
    if flags.contains(&b'f') || (flags.contains(&b'R') && !flags.contains(&b'F')) {
        if flags.contains(&b'R') {
            return CanFrame::request(id, len);
        }
        return CanFrame::classic(id, &data[..len]);
    }
    CanFrame::fd(id, switch || !flags.contains(&b'b'), &data[..len], PADDING)
}

fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ byte, |c, _| if c & 0x80 != 0 { c << 1 ^ CRC_POLYNOMIAL } else { c << 1 })
    })
}
