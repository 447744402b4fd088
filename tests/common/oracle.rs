//! A second opinion on commands: written from the description of the bytes, slow and without any of
//! the crate's decoders.

#[path = "dice.rs"]
mod dice;

pub use dice::Dice;

use hardstand::message::CommandLimits;
use hardstand::plant::Rejection;

fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    (0..width).fold(0, |sum, i| sum + (u64::from(bytes[at + i]) << (8 * i)))
}

/// The bits of all set-points in order, or the reason of the refusal.
pub fn judge(bytes: &[u8], limits: &CommandLimits) -> Result<Vec<u64>, Rejection> {
    let size = 48 + 40 * limits.joints;
    if bytes.len() < 4 {
        return Err(Rejection::Size);
    }
    if bytes[0] != 0x48 || bytes[1] != 0x53 || bytes[2] != 3 || bytes[3] != 3 {
        return Err(Rejection::Version);
    }
    if bytes.len() != size || number(bytes, 40, 8) != limits.joints as u64 {
        return Err(Rejection::Size);
    }
    if number(bytes, 4, 8) != limits.layout_hash {
        return Err(Rejection::Layout);
    }
    if number(bytes, 12, 4) != u64::from(limits.epoch) {
        return Err(Rejection::Epoch);
    }
    if number(bytes, 16, 8) == 0 {
        return Err(Rejection::Session);
    }
    let bits: Vec<u64> = (0..5 * limits.joints).map(|i| number(bytes, 48 + 8 * i, 8)).collect();
    if bits.iter().any(|b| b & 0x7ff0_0000_0000_0000 == 0x7ff0_0000_0000_0000) {
        return Err(Rejection::NotFinite);
    }
    for (i, &b) in bits.iter().enumerate() {
        // the bits of positive numbers are in the order of the numbers
        let (negative, size) = (b >> 63 == 1, b & !(1 << 63));
        let largest = match i % 5 {
            2 => limits.kp_max,
            3 => limits.kd_max,
            _ => 1e6,
        };
        let gain = matches!(i % 5, 2 | 3);
        if size > largest.to_bits() || (gain && negative && size != 0) {
            return Err(Rejection::OutOfRange);
        }
    }
    Ok(bits)
}

const SPECIAL: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -0.0,
    f64::MIN_POSITIVE / 8.0,
    1e308,
    -1e308,
    1e6,
    -1e6,
    1_000_000.000_000_000_1,
    500.0,
    500.000_000_000_000_1,
    20.0,
    -1e-300,
];

/// A good command with up to three changes, most of them where they matter.
pub fn mutate(good: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut b = good.to_vec();
    for _ in 0..dice.roll(4) {
        if b.is_empty() {
            break;
        }
        let len = b.len() as u64;
        match dice.roll(9) {
            0 => b[dice.roll(len) as usize] ^= 1 << dice.roll(8),
            1 => b[dice.roll(len.min(48)) as usize] = dice.roll(256) as u8,
            2..=4 => {
                let value = SPECIAL[dice.roll(SPECIAL.len() as u64) as usize];
                let at = 48 + 8 * dice.roll(10) as usize;
                write(&mut b, at, &value.to_le_bytes());
            }
            5 => b.truncate(dice.roll(len + 1) as usize),
            6 => b.extend(std::iter::repeat_n(0x40, 1 + dice.roll(80) as usize)),
            7 => {
                // a count, a session or a tick at the ends of its range
                let at = [16, 24, 32, 40][dice.roll(4) as usize];
                let value = [0, 1, 2, 3, u64::MAX, 1 << 40][dice.roll(6) as usize];
                write(&mut b, at, &value.to_le_bytes());
            }
            _ => {
                let at = 48 + dice.roll(10) as usize * 8;
                write(&mut b, at, &dice.roll(u64::MAX).to_le_bytes());
            }
        }
    }
    b
}

fn write(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}
