//! The chained digest of the state.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::State;

/// A 64-bit digest chained from tick to tick: XXH3 of the state's words (little-endian, in the
/// order of [`State::walk`]) with the previous digest as the seed.
///
/// The words stay here until the next tick. So the digest is taken of the very words that the plant
/// goes back to when a tick ends in a fault.
#[derive(Clone, Debug)]
pub struct Digest {
    bytes: Vec<u8>,
}

impl Digest {
    /// Room for the words of `state`.
    #[must_use]
    pub fn new(state: &mut State) -> Self {
        Self { bytes: vec![0; state.word_count() * 8] }
    }

    /// Takes the words of `state`, which has as many as the one that this was made for.
    pub fn take(&mut self, state: &mut State) {
        let mut cells = self.bytes.chunks_exact_mut(8);
        state.walk(&mut |_, _, word| {
            if let Some(cell) = cells.next() {
                cell.copy_from_slice(&word.bits().to_le_bytes());
            }
        });
    }

    /// The words that were taken last.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let (cells, _) = self.bytes.as_chunks();
        cells.iter().map(|cell| u64::from_le_bytes(*cell))
    }

    /// The digest after `previous` of the words that were taken last.
    #[must_use]
    pub fn after(&self, previous: u64) -> u64 {
        xxh3_64_with_seed(&self.bytes, previous)
    }
}
