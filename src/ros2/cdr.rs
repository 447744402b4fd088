//! CDR, the encoding of ROS 2 messages: the encapsulation header `00 01 00 00` and XCDR1.
//!
//! Numbers are aligned to their own size, counted from the byte after the header. A string is a
//! `u32` length that includes the NUL, the bytes, and the NUL; a sequence is a `u32` count and its
//! elements; an array has no count. Source: OMG DDS-XTypes 1.3, 7.4.1 (`XCDR1`, `PLAIN_CDR`).

use std::fmt;

use crate::limits::{MESSAGE_BYTES_MAX, ROS_ELEMENTS_MAX};

/// Bytes of the header.
pub const CDR_HEADER_BYTES: usize = 4;
const LITTLE: [u8; CDR_HEADER_BYTES] = [0, 1, 0, 0];

/// Writes one message into a buffer that is reused: it allocates nothing once the buffer is large
/// enough.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Clears `out` and writes the header of little-endian CDR.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        out.clear();
        out.extend_from_slice(&LITTLE);
        Self { out }
    }

    /// The bytes of a number whose size is `N`.
    pub fn number<const N: usize>(&mut self, little_endian: [u8; N]) {
        let padding = (self.out.len() - CDR_HEADER_BYTES).wrapping_neg() % N;
        self.out.resize(self.out.len() + padding, 0);
        self.out.extend_from_slice(&little_endian);
    }

    /// The number of elements that follow.
    pub fn count(&mut self, count: usize) {
        // no sequence here has 4 billion elements
        self.number(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }

    /// A sequence of octets.
    pub fn octets(&mut self, octets: &[u8]) {
        self.count(octets.len());
        self.out.extend_from_slice(octets);
    }

    /// A string.
    pub fn text(&mut self, text: &str) {
        self.count(text.len() + 1);
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
    }
}

/// Why bytes are not a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CdrError {
    /// The header is not that of plain CDR.
    Header,
    /// More bytes than [`MESSAGE_BYTES_MAX`].
    TooLong,
    /// The message ends within a number or string.
    Truncated {
        /// Bytes of the next value.
        needed: usize,
        /// Bytes left in the message.
        left: usize,
    },
    /// A sequence claims more elements than the rest of the message can hold, or than are allowed.
    Count {
        /// Claimed number of elements.
        claimed: u32,
        /// Largest possible number of elements.
        possible: usize,
    },
    /// A string is not UTF-8, or does not end with NUL.
    Text,
    /// A boolean is neither 0 nor 1.
    Bool(u8),
    /// More follows the message than padding to a multiple of four bytes.
    Trailing(usize),
}

impl fmt::Display for CdrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("no header of plain CDR (00 00 or 00 01, then two bytes)"),
            Self::TooLong => write!(f, "longer than {MESSAGE_BYTES_MAX} bytes"),
            Self::Truncated { needed, left } => {
                write!(f, "ends early: {needed} bytes needed, {left} left")
            }
            Self::Count { claimed, possible } => {
                write!(f, "a sequence of {claimed} elements, where {possible} are possible")
            }
            Self::Text => f.write_str("a string that is not UTF-8 with a NUL at its end"),
            Self::Bool(byte) => write!(f, "a boolean is {byte}; it must be 0 or 1"),
            Self::Trailing(bytes) => write!(
                f,
                "{bytes} bytes follow the message, and only padding to a multiple of 4 may: it is \
                 of another type, or of another version of it"
            ),
        }
    }
}

impl std::error::Error for CdrError {}

/// Reads one message of either endianness. Allocates only after a check that the claimed length
/// fits into the remaining bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    big_endian: bool,
}

impl<'a> Reader<'a> {
    /// A reader of `bytes`.
    ///
    /// # Errors
    /// [`CdrError::Header`], [`CdrError::TooLong`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, CdrError> {
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(CdrError::TooLong);
        }
        let (header, body) = bytes.split_at_checked(CDR_HEADER_BYTES).ok_or(CdrError::Header)?;
        let big_endian = match header {
            [0, 0, ..] => true,
            [0, 1, ..] => false,
            _ => return Err(CdrError::Header),
        };
        Ok(Self { body, at: 0, big_endian })
    }

    /// The little-endian bytes of a number whose size is `N`.
    ///
    /// # Errors
    /// [`CdrError::Truncated`].
    pub fn number<const N: usize>(&mut self) -> Result<[u8; N], CdrError> {
        let begin = self.at.next_multiple_of(N);
        let rest = self.body.get(begin..).unwrap_or_default();
        let Some((bytes, _)) = rest.split_first_chunk::<N>() else {
            return Err(CdrError::Truncated { needed: N, left: rest.len() });
        };
        self.at = begin + N;
        let mut bytes = *bytes;
        if self.big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// The number of elements that follow, each of at least `bytes_min` bytes.
    ///
    /// # Errors
    /// [`CdrError::Count`] if the rest of the message is too short for them.
    pub fn count(&mut self, bytes_min: usize) -> Result<usize, CdrError> {
        let claimed = u32::from_le_bytes(self.number()?);
        let left = self.body.len() - self.at;
        let possible = (left / bytes_min.max(1)).min(ROS_ELEMENTS_MAX);
        match usize::try_from(claimed) {
            Ok(count) if count <= possible => Ok(count),
            _ => Err(CdrError::Count { claimed, possible }),
        }
    }

    /// A string, borrowed from the message.
    ///
    /// # Errors
    /// [`CdrError::Text`], [`CdrError::Truncated`].
    pub fn text(&mut self) -> Result<&'a str, CdrError> {
        let needed = u32::from_le_bytes(self.number()?) as usize;
        let rest = self.body.get(self.at..).unwrap_or_default();
        let Some(bytes) = rest.get(..needed) else {
            return Err(CdrError::Truncated { needed, left: rest.len() });
        };
        self.at += needed;
        // some encoders write an empty string without any bytes
        let text =
            if needed == 0 { bytes } else { bytes.strip_suffix(&[0]).ok_or(CdrError::Text)? };
        std::str::from_utf8(text).map_err(|_not_utf8| CdrError::Text)
    }

    /// True if no byte is left.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.at >= self.body.len()
    }

    /// Checks that the message ends here, but for padding: DDS pads a message to four bytes.
    ///
    /// # Errors
    /// [`CdrError::Trailing`].
    pub fn finish(&self) -> Result<(), CdrError> {
        let left = self.body.len().saturating_sub(self.at);
        let padding = self.at.next_multiple_of(4) - self.at;
        if left > padding { Err(CdrError::Trailing(left)) } else { Ok(()) }
    }
}
