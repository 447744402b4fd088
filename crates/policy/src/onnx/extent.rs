//! Counts the parts of a model before it is decoded.
//!
//! An empty message takes 2 bytes in a file and more than 100 in memory, so a file could ask for
//! many times its size. What is damaged is left to the decoder, which reports it.

/// Most fields of the model, its graph, its nodes and their attributes together.
const FIELDS_MAX: usize = 1 << 20;

/// The fields of a message that are messages with many parts themselves.
struct Nested(&'static [(u64, Nested)]);

const LEAF: Nested = Nested(&[]);
const ATTRIBUTE: Nested = Nested(&[(5, LEAF)]);
const NODE: Nested = Nested(&[(5, ATTRIBUTE)]);
const TYPE: Nested = Nested(&[(1, Nested(&[(2, Nested(&[(1, LEAF)]))]))]);
const VALUE: Nested = Nested(&[(2, TYPE)]);
const GRAPH: Nested = Nested(&[(1, NODE), (5, LEAF), (11, VALUE), (12, VALUE)]);
const MODEL: Nested = Nested(&[(7, GRAPH), (14, LEAF)]);

pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    let mut left = FIELDS_MAX;
    count(bytes, &MODEL, &mut left).ok_or_else(|| format!("it has more than {FIELDS_MAX} parts"))
}

/// None: there are more fields than `left`.
fn count(mut bytes: &[u8], message: &Nested, left: &mut usize) -> Option<()> {
    while !bytes.is_empty() {
        *left = left.checked_sub(1)?;
        let Some((field, rest)) = field(bytes) else { return Some(()) };
        if let Some((_, nested)) = message.0.iter().find(|(number, _)| *number == field.number) {
            count(field.content, nested, left)?;
        }
        bytes = rest;
    }
    Some(())
}

struct Field<'a> {
    number: u64,
    /// Empty if it is a number.
    content: &'a [u8],
}

/// The first field and what follows; None if it is damaged.
fn field(bytes: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let (key, rest) = varint(bytes)?;
    let number = key >> 3;
    match key & 7 {
        0 => Some((Field { number, content: &[] }, varint(rest)?.1)),
        1 => Some((Field { number, content: &[] }, rest.get(8..)?)),
        2 => {
            let (length, rest) = varint(rest)?;
            let (content, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some((Field { number, content }, rest))
        }
        5 => Some((Field { number, content: &[] }, rest.get(4..)?)),
        _ => None,
    }
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (i, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7F) << (7 * i).min(63);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[i + 1..]));
        }
    }
    None
}
