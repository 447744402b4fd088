//! The chained digest of the state.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{State, WordBytes};

/// The words of the last good tick, and the digest chained over them.
///
/// A digest is XXH3 of the state's words (little-endian, in the order of the walk) with the digest
/// before as the seed. The words stay here until the next tick, so the digest is taken of the very
/// words that the plant goes back to when a tick fails.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    own: WordBytes,
    /// Bytes of `own` before the pushes, and before what follows them.
    ends: [usize; 2],
    /// The words of the plant with those of its owner in between.
    all: Vec<u8>,
}

impl Digest {
    /// Room for the words of `state`.
    pub(super) fn new(state: &mut State) -> Self {
        let (mut motion, mut pushes) = (0, 0);
        state.walk_motion(&mut |_, _, _| motion += 8);
        state.walk_pushes(&mut |_, _, _| pushes += 8);
        let words_max = state.words_max();
        let own = WordBytes::with_room(words_max);
        Self { all: Vec::with_capacity(words_max * 8), own, ends: [motion, motion + pushes] }
    }

    /// Takes the words of `state`.
    pub(super) fn take(&mut self, state: &mut State) {
        self.own.take(state);
    }

    /// The words of the plant that were taken last.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        self.own.words()
    }

    /// The digest after `previous` of the words that were taken last and of the owner's.
    pub(super) fn after(&mut self, previous: u64, owner: &OwnerWords<'_>) -> u64 {
        let Self { own, ends: [pushes, contacts], all } = self;
        let own = own.bytes();
        let parts = [
            &own[..*pushes],
            owner.before_pushes,
            &own[*pushes..*contacts],
            owner.after_pushes,
            &own[*contacts..],
        ];
        all.clear();
        for part in parts {
            all.extend_from_slice(part);
        }
        xxh3_64_with_seed(all, previous)
    }
}

/// Words of the owner of a plant that its digest covers, as little-endian bytes. A plant on its own
/// has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnerWords<'a> {
    /// Between motion and pushes.
    pub before_pushes: &'a [u8],
    /// Between pushes and contacts.
    pub after_pushes: &'a [u8],
}
