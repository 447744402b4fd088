//! Lengths of frames, against published formulas and check values.

use hardstand_motors::buses::{BitRates, bit_time};
use hardstand_motors::{CanFrame, CanId, FD_LENGTHS};

/// SplitMix64.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        // few bits set or few clear, so that stuffing has something to do
        let pattern = self.next();
        (0..len)
            .map(|_| match pattern % 4 {
                0 => self.next() as u8,
                1 => 0,
                2 => 0xff,
                _ => (self.next() & self.next() & self.next()) as u8,
            })
            .collect()
    }
}

#[test]
fn the_worst_case_is_that_of_the_literature() {
    // Davis, Burns, Bril, Lukkien 2007: (55 + 10 n) and (80 + 10 n) bits
    for n in 0..=8 {
        let standard = CanFrame::classic(CanId::standard(1), &vec![0; n]).unwrap();
        let extended = CanFrame::classic(CanId::extended(1), &vec![0; n]).unwrap();
        assert_eq!(bit_time::worst_case(&standard).nominal, 55 + 10 * n as u32);
        assert_eq!(bit_time::worst_case(&extended).nominal, 80 + 10 * n as u32);
    }
}

#[test]
fn the_checksum_is_that_of_the_catalogue() {
    // CRC-15/CAN of "123456789", in the catalogue of CRC algorithms and in PyPI crccheck
    assert_eq!(bit_time::crc_15(b"123456789"), 0x059e);
}

/// The bits of a CAN frame one after the other, and stuffing by the rule's wording.
fn by_hand(frame: &CanFrame) -> u32 {
    let mut bits = vec![false];
    let push = |bits: &mut Vec<bool>, value: u32, count: u32| {
        bits.extend((0..count).rev().map(|n| value >> n & 1 != 0));
    };
    match frame.id {
        CanId::Standard(id) => {
            push(&mut bits, u32::from(id), 11);
            push(&mut bits, 0, 3);
        }
        CanId::Extended(id) => {
            push(&mut bits, id >> 18, 11);
            push(&mut bits, 3, 2);
            push(&mut bits, id & 0x3_ffff, 18);
            push(&mut bits, 0, 3);
        }
    }
    push(&mut bits, u32::from(frame.dlc()), 4);
    for byte in frame.data() {
        push(&mut bits, u32::from(*byte), 8);
    }
    // polynomial division with a bit string, x^15 first
    let mut rest = bits.clone();
    rest.extend([false; 15]);
    let divisor: Vec<bool> = (0..16).rev().map(|n| 0xc599 >> n & 1 != 0).collect();
    for n in 0..bits.len() {
        if rest[n] {
            for (k, d) in divisor.iter().enumerate() {
                rest[n + k] ^= d;
            }
        }
    }
    let checksum = rest[bits.len()..].to_vec();
    bits.extend(checksum);
    let mut wire: Vec<bool> = Vec::new();
    for bit in bits {
        wire.push(bit);
        let tail = wire.iter().rev().take_while(|b| **b == bit).count();
        if tail == 5 {
            wire.push(!bit);
        }
    }
    wire.len() as u32 + 13
}

#[test]
fn the_exact_length_counts_every_stuff_bit() {
    let mut numbers = Numbers(1);
    let mut stuffed = 0;
    for n in 0..4000 {
        let id = numbers.next() as u32 & if n % 3 == 0 { 0 } else { u32::MAX };
        let id = if n % 2 == 0 { CanId::standard(id) } else { CanId::extended(id) };
        let len = (numbers.next() % 9) as usize;
        let frame = CanFrame::classic(id, &numbers.bytes(len)).unwrap();
        let exact = bit_time::exact(&frame).nominal;
        assert_eq!(exact, by_hand(&frame), "{frame:?}");
        assert!(exact <= bit_time::worst_case(&frame).nominal, "{frame:?}");
        let plain = if id.is_extended() { 67 } else { 47 } + 8 * len as u32;
        assert!(exact >= plain);
        stuffed = stuffed.max(exact - plain);
    }
    assert!(stuffed >= 15, "no frame had many stuff bits: {stuffed}");
}

#[test]
fn can_fd_is_between_no_and_the_most_stuffing() {
    let mut numbers = Numbers(2);
    for n in 0..2000 {
        let id = if n % 2 == 0 { CanId::standard(n) } else { CanId::extended(n) };
        let len = FD_LENGTHS[n as usize % 16];
        let frame = CanFrame::fd(id, true, &numbers.bytes(len), 0).unwrap();
        let (exact, worst) = (bit_time::exact(&frame), bit_time::worst_case(&frame));
        // ISO 11898-1:2015: stuff count 4, CRC 17 or 21, fixed stuff bits 6 or 7, delimiter
        let checksum = if len <= 16 { 4 + 17 + 6 + 1 } else { 4 + 21 + 7 + 1 };
        let plain = 5 + 8 * len as u32 + checksum;
        assert!(exact.data >= plain && exact.data <= worst.data, "{frame:?} {exact:?} {worst:?}");
        let arbitration = if id.is_extended() { 36 } else { 17 };
        assert!(exact.nominal >= arbitration + 12 && exact.nominal <= worst.nominal);
    }
}

#[test]
fn load_is_the_share_of_time() {
    let frames = [CanFrame::eight(CanId::standard(1), [0; 8]); 2];
    let rates = BitRates { nominal_bps: 1_000_000, data_bps: 1_000_000 };
    // 2 frames of 135 bits, 1000 times a second
    assert!((rates.worst_load_percent(&frames, 1000.0) - 27.0).abs() < 1e-9);
}
