//! A state as a sequence of words: for digests, snapshots, and the names of differences.

use std::fmt::Write as _;

/// One word of a state during a walk: read it or write it.
#[derive(Debug)]
pub enum Word<'a> {
    /// A number.
    F64(&'a mut f64),
    /// A count, flag or index.
    U64(&'a mut u64),
}

impl Word<'_> {
    /// The word's bits.
    #[must_use]
    pub fn bits(&self) -> u64 {
        match self {
            Self::F64(x) => x.to_bits(),
            Self::U64(x) => **x,
        }
    }

    /// Overwrites the word.
    pub fn set_bits(&mut self, bits: u64) {
        match self {
            Self::F64(x) => **x = f64::from_bits(bits),
            Self::U64(x) => **x = bits,
        }
    }
}

/// A state that visits all of its words in a fixed order. Digest, snapshot, restore and the naming
/// of differences all go through the walk, so none of them can forget a part of the state.
pub trait Walk {
    /// Visits every word with the name of its group and its index in the group.
    fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>));

    /// Number of words of a walk.
    fn word_count(&mut self) -> usize {
        let mut n = 0;
        self.walk(&mut |_, _, _| n += 1);
        n
    }

    /// Names of all words, in their order.
    fn word_names(&mut self) -> Vec<(&'static str, usize)> {
        let mut names = Vec::new();
        self.walk(&mut |group, index, _| names.push((group, index)));
        names
    }

    /// Appends all words to `out`.
    fn append_words(&mut self, out: &mut Vec<u64>) {
        self.walk(&mut |_, _, word| out.push(word.bits()));
    }

    /// Overwrites the words with those of a state of the same shape.
    fn overwrite(&mut self, mut words: impl Iterator<Item = u64>) {
        self.walk(&mut |_, _, mut word| word.set_bits(words.next().unwrap_or_default()));
    }

    /// The first word in which two snapshots of this state differ: its name and both values.
    fn first_difference(&mut self, a: &[u64], b: &[u64]) -> Option<String> {
        let mut found = None;
        let mut k = 0;
        self.walk(&mut |group, index, word| {
            if let (None, Some(&x), Some(&y)) = (&found, a.get(k), b.get(k))
                && x != y
            {
                let mut text = format!("{group}[{index}]: ");
                let _ = match word {
                    Word::F64(_) => write!(
                        text,
                        "{:e} and {:e} (bits {x:016x} and {y:016x})",
                        f64::from_bits(x),
                        f64::from_bits(y)
                    ),
                    Word::U64(_) => write!(text, "{x} and {y}"),
                };
                found = Some(text);
            }
            k += 1;
        });
        found
    }
}

/// The words of a state at some instant, little-endian.
#[derive(Clone, Debug, Default)]
pub struct WordBytes {
    bytes: Vec<u8>,
    /// Bytes that the words taken last have.
    used: usize,
}

impl WordBytes {
    /// Room for the words of `state`.
    #[must_use]
    pub fn new(state: &mut impl Walk) -> Self {
        let words = state.word_count();
        Self::with_room(words)
    }

    /// Room for so many words.
    #[must_use]
    pub(super) fn with_room(words: usize) -> Self {
        Self { bytes: vec![0; words * 8], used: 0 }
    }

    /// Takes the words of `state`, which has no more than there is room for.
    pub fn take(&mut self, state: &mut impl Walk) {
        let mut cells = self.bytes.chunks_exact_mut(8);
        state.walk(&mut |_, _, word| {
            if let Some(cell) = cells.next() {
                cell.copy_from_slice(&word.bits().to_le_bytes());
            }
        });
        let left = cells.len();
        self.used = self.bytes.len() - left * 8;
    }

    /// The words that were taken last.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let (cells, _) = self.bytes().as_chunks();
        cells.iter().map(|cell| u64::from_le_bytes(*cell))
    }

    /// Their bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}
