//! The bytes of a log, taken apart without the reader that is tested.

use std::ops::Range;

use hardstand_protocol::{Kind, VERSION};

/// A record of the file.
pub struct RawRecord {
    pub opcode: u8,
    pub bytes: Range<usize>,
}

/// A link of the chain.
#[derive(Clone, Debug)]
pub struct RawLink {
    /// Its chunk.
    pub bytes: Range<usize>,
    pub tick: u64,
    pub follows: u64,
    pub value: u64,
    pub end: u8,
}

const CHUNK: u8 = 0x06;
pub const METADATA: u8 = 0x0C;
pub const DATA_END: u8 = 0x0F;
/// A record's opcode and length, and a chunk's fields before its records.
const CHUNK_HEAD: usize = 9 + 40;
/// A message's head, its fields, and the envelope with the head of the payload.
const LINK_HEAD: usize = 9 + 22 + 8 + 4;
const LINK_BYTES: usize = 29;

/// All records up to the end of the data, by their lengths.
pub fn records(bytes: &[u8]) -> Vec<RawRecord> {
    let (mut found, mut at) = (Vec::new(), 8);
    while at + 9 <= bytes.len() {
        let length = u64_at(bytes, at + 1) as usize;
        let end = at + 9 + length;
        found.push(RawRecord { opcode: bytes[at], bytes: at..end });
        if bytes[at] == DATA_END {
            break;
        }
        at = end;
    }
    found
}

/// All links, as docs/protocol.md describes them.
pub fn links(bytes: &[u8]) -> Vec<RawLink> {
    let of = |record: RawRecord| {
        let body = record.bytes.start + CHUNK_HEAD;
        let payload = body + LINK_HEAD;
        let is_link = record.opcode == CHUNK
            && record.bytes.len() == CHUNK_HEAD + LINK_HEAD + LINK_BYTES
            && bytes[payload - 4..payload] == [b'H', b'S', VERSION, Kind::LogLink.code()];
        is_link.then(|| RawLink {
            tick: u64_at(bytes, payload + 4),
            follows: u64_at(bytes, payload + 12),
            value: u64_at(bytes, payload + 20),
            end: bytes[payload + 28],
            bytes: record.bytes,
        })
    };
    records(bytes).into_iter().filter_map(of).collect()
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Makes the checksum of the data section right again.
pub fn mend_data_crc(bytes: &mut [u8]) {
    let end = records(bytes).pop().unwrap().bytes;
    let crc = crc32fast::hash(&bytes[..end.start]);
    bytes[end.start + 9..end.end].copy_from_slice(&crc.to_le_bytes());
}

/// Pseudo-random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}
