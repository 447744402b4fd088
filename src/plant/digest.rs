//! The chained digest of the state.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A 64-bit digest chained from tick to tick: XXH3 of the state's words (little-endian, in the
/// order of [`State::walk`](super::State::walk)) with the previous digest as the seed.
#[derive(Clone, Debug)]
pub struct Digest {
    bytes: Vec<u8>,
}

impl Digest {
    /// Room for `words` words.
    #[must_use]
    pub fn new(words: usize) -> Self {
        Self { bytes: vec![0; words * 8] }
    }

    /// The digest after `previous` of the words that `fill` writes, which must not be more than
    /// there is room for.
    pub fn chain(&mut self, previous: u64, fill: impl FnOnce(&mut dyn FnMut(u64))) -> u64 {
        let mut cells = self.bytes.chunks_exact_mut(8);
        fill(&mut |word| {
            if let Some(cell) = cells.next() {
                cell.copy_from_slice(&word.to_le_bytes());
            }
        });
        xxh3_64_with_seed(&self.bytes, previous)
    }
}
