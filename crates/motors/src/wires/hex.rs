//! Hexadecimal text.

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

pub(super) fn push_byte(out: &mut Vec<u8>, byte: u8) {
    out.push(DIGITS[usize::from(byte >> 4)]);
    out.push(DIGITS[usize::from(byte & 0xf)]);
}

/// The lower `digits` digits of `value`.
pub(super) fn push_number(out: &mut Vec<u8>, value: u32, digits: u32) {
    for n in (0..digits).rev() {
        out.push(DIGITS[(value >> (4 * n) & 0xf) as usize]);
    }
}

/// A number of 1 to 8 digits.
pub(super) fn number(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 8 {
        return None;
    }
    text.iter().try_fold(0_u32, |value, c| Some(value << 4 | (*c as char).to_digit(16)?))
}

/// Bytes of two digits each, at most 64 of them.
pub(super) fn bytes(text: &[u8]) -> Option<([u8; 64], usize)> {
    let mut out = [0; 64];
    let len = text.len() / 2;
    if !text.len().is_multiple_of(2) || len > out.len() {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        *byte = number(pair)? as u8;
    }
    Some((out, len))
}

/// Splits a stream into lines at any of the bytes `ends`. A line above `max` bytes is dropped.
#[derive(Debug)]
pub(super) struct Lines {
    line: Vec<u8>,
    max: usize,
    ends: &'static [u8],
}

impl Lines {
    pub(super) fn new(ends: &'static [u8], max: usize) -> Self {
        Self { line: Vec::with_capacity(max), max, ends }
    }

    /// The line that `byte` ends; `Some(None)` if it was too long.
    pub(super) fn push(&mut self, byte: u8) -> Option<Option<Vec<u8>>> {
        if self.ends.contains(&byte) {
            let line = std::mem::take(&mut self.line);
            return Some((line.len() <= self.max).then_some(line));
        }
        if self.line.len() <= self.max {
            self.line.push(byte);
        }
        None
    }
}
