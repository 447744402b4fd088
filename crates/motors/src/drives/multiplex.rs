//! mjbots' multiplex protocol: subframes that write and read registers.
//!
//! A subframe is a type byte (`0x00` write, `0x10` read, `0x20` reply; bits 2 and 3 are the number
//! type; bits 0 and 1 the count, or zero if a count follows), the first register, and values.

const WRITE: u8 = 0x00;
const READ: u8 = 0x10;
const REPLY: u8 = 0x20;
const WRITE_ERROR: u8 = 0x30;
const READ_ERROR: u8 = 0x31;
const NOP: u8 = 0x50;
/// A register number needs at most five bytes.
const VARUINT_BYTES: usize = 5;

/// A number on the wire. The most negative integer is "not a number".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    I8(i8),
    I16(i16),
    I32(i32),
    F32(f32),
}

/// Value of one bit in an `int8`, an `int16` and an `int32`.
pub(super) type Scale = [f32; 3];

impl Value {
    /// As the firmware rounds: towards zero, limited to ± the largest integer.
    pub(super) fn scaled(value: f64, scale: Scale, kind: u8) -> Self {
        let value = value as f32;
        let [i8s, i16s, i32s] = scale.map(|s| value / s);
        let finite = value.is_finite();
        match kind {
            0 => Self::I8(if finite { i8s.clamp(-127.0, 127.0) as i8 } else { i8::MIN }),
            1 => Self::I16(if finite { i16s.clamp(-32767.0, 32767.0) as i16 } else { i16::MIN }),
            2 if !finite => Self::I32(i32::MIN),
            2 => Self::I32((i32s as i32).max(-i32::MAX)),
            _ => Self::F32(value),
        }
    }

    /// An integer in the type that was asked for.
    pub(super) fn integer(value: i32, kind: u8) -> Self {
        match kind {
            0 => Self::I8(value as i8),
            1 => Self::I16(value as i16),
            2 => Self::I32(value),
            _ => Self::F32(value as f32),
        }
    }

    pub(super) fn physical(self, scale: Scale) -> f64 {
        let scaled = |raw: i32, nan: i32, scale: f32| {
            if raw == nan { f32::NAN } else { raw as f32 * scale }
        };
        f64::from(match self {
            Self::I8(raw) => scaled(raw.into(), i8::MIN.into(), scale[0]),
            Self::I16(raw) => scaled(raw.into(), i16::MIN.into(), scale[1]),
            Self::I32(raw) => scaled(raw, i32::MIN, scale[2]),
            Self::F32(value) => value,
        })
    }

    pub(super) fn as_i8(self) -> i8 {
        match self {
            Self::I8(raw) => raw,
            Self::I16(raw) => raw as i8,
            Self::I32(raw) => raw as i8,
            Self::F32(value) => value as i8,
        }
    }

    fn push(self, out: &mut Vec<u8>) {
        match self {
            Self::I8(raw) => out.extend(raw.to_le_bytes()),
            Self::I16(raw) => out.extend(raw.to_le_bytes()),
            Self::I32(raw) => out.extend(raw.to_le_bytes()),
            Self::F32(value) => out.extend(value.to_le_bytes()),
        }
    }
}

/// One register of a subframe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Access {
    Write(u32, Value),
    Read(u32, u8),
}

/// Calls `each` for every register of a frame, up to the first subframe that it cannot read.
pub(super) fn parse(mut data: &[u8], mut each: impl FnMut(Access)) {
    while let Some((kind, rest)) = data.split_first() {
        data = rest;
        let (base, number) = (kind & 0xf0, kind >> 2 & 3);
        if *kind == NOP {
            continue;
        }
        if base != WRITE && base != READ {
            return;
        }
        let count = match kind & 3 {
            0 => varuint(&mut data),
            short => Some(u32::from(short)),
        };
        let Some(count) = count else { return };
        if count == 0 {
            continue;
        }
        let Some(first) = varuint(&mut data) else { return };
        for n in 0..count.min(64) {
            let register = first.wrapping_add(n);
            if base == READ {
                each(Access::Read(register, number));
            } else if let Some(value) = take_value(&mut data, number) {
                each(Access::Write(register, value));
            } else {
                return;
            }
        }
    }
}

fn varuint(data: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for n in 0..VARUINT_BYTES {
        let (byte, rest) = data.split_first()?;
        *data = rest;
        value |= u32::from(byte & 0x7f) << (7 * n);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take_value(data: &mut &[u8], kind: u8) -> Option<Value> {
    Some(match kind {
        0 => Value::I8(i8::from_le_bytes(take(data)?)),
        1 => Value::I16(i16::from_le_bytes(take(data)?)),
        2 => Value::I32(i32::from_le_bytes(take(data)?)),
        _ => Value::F32(f32::from_le_bytes(take(data)?)),
    })
}

fn take<const N: usize>(data: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = data.split_first_chunk()?;
    *data = rest;
    Some(*bytes)
}

/// Collects answers; successive registers of one type share a subframe.
#[derive(Default)]
pub(super) struct Answer {
    bytes: Vec<u8>,
    run: Vec<Value>,
    first: u32,
    kind: u8,
}

impl Answer {
    pub(super) fn value(&mut self, register: u32, kind: u8, value: Value) {
        let follows = self.first.wrapping_add(self.run.len() as u32) == register;
        if !follows || kind != self.kind || self.run.is_empty() {
            self.flush();
            (self.first, self.kind) = (register, kind);
        }
        self.run.push(value);
    }

    pub(super) fn error(&mut self, write: bool, register: u32, code: u32) {
        self.flush();
        self.bytes.push(if write { WRITE_ERROR } else { READ_ERROR });
        push_varuint(&mut self.bytes, register);
        push_varuint(&mut self.bytes, code);
    }

    fn flush(&mut self) {
        let count = self.run.len();
        if count == 0 {
            return;
        }
        let short = if count <= 3 { count as u8 } else { 0 };
        self.bytes.push(REPLY | self.kind << 2 | short);
        if short == 0 {
            push_varuint(&mut self.bytes, count as u32);
        }
        push_varuint(&mut self.bytes, self.first);
        for value in self.run.drain(..) {
            value.push(&mut self.bytes);
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.bytes
    }
}

fn push_varuint(out: &mut Vec<u8>, mut value: u32) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
