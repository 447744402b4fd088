//! The checksum of Unitree's messages: CRC-32/MPEG-2 of all words but the last, the highest byte of
//! each word first. Source: `crc32_core` in unitree_ros2's `motor_crc.cpp`.
//!
//! The checksum is over the C struct, in which every motor begins at a multiple of four bytes. CDR
//! does not align the first motor: its first byte follows the byte before it. That is the only
//! difference.

use crc::{CRC_32_MPEG_2, Crc, Table};

use super::hg::{HgLowCmd, HgLowState};
use super::messages::{LowCmd, LowState};
use crate::ros2::cdr::CDR_HEADER_BYTES;
use crate::ros2::messages::Message;

const MPEG_2: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_MPEG_2);

/// A message with a checksum.
pub trait Checked: Message {
    /// Byte offset of the first motor after the header.
    const FIRST_MOTOR: usize;
}

impl Checked for LowCmd {
    const FIRST_MOTOR: usize = 22;
}

impl Checked for LowState {
    const FIRST_MOTOR: usize = 77;
}

impl Checked for HgLowCmd {
    const FIRST_MOTOR: usize = 2;
}

impl Checked for HgLowState {
    const FIRST_MOTOR: usize = 70;
}

/// Writes the checksum into the last word of a message of little-endian CDR.
pub fn set_crc<T: Checked>(message: &mut [u8]) {
    let body = message.get_mut(CDR_HEADER_BYTES..).unwrap_or_default();
    if let Some((words, crc)) = body.split_last_chunk_mut::<4>() {
        *crc = sum(words, T::FIRST_MOTOR).to_le_bytes();
    }
}

/// True if the last word of a message of little-endian CDR is the checksum of the others.
#[must_use]
pub fn has_its_crc<T: Checked>(message: &[u8]) -> bool {
    let body = message.get(CDR_HEADER_BYTES..).unwrap_or_default();
    let parts = body.split_last_chunk::<4>();
    parts.is_some_and(|(words, crc)| sum(words, T::FIRST_MOTOR) == u32::from_le_bytes(*crc))
}

fn sum(body: &[u8], first_motor: usize) -> u32 {
    let (head, motors) = body.split_at(first_motor.min(body.len()));
    let (mode, _) = motors.split_at(1.min(motors.len()));
    let rest = body.get((first_motor + 1).next_multiple_of(4)..).unwrap_or_default();
    let mut digest = MPEG_2.digest();
    for part in [head, mode, rest] {
        for word in part.chunks(4) {
            let byte = |i: usize| word.get(i).copied().unwrap_or_default();
            digest.update(&[byte(3), byte(2), byte(1), byte(0)]);
        }
    }
    digest.finalize()
}
