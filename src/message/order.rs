//! Orders to a running daemon: what they have in common.

use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::limits::NAME_BYTES_MAX;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::Rejection;

use super::{HEADER_BYTES, Kind, VERSION, decode};

/// The answer to an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderReply {
    /// 0 accepted, 1 refused, 2 busy: the same order may be accepted later.
    pub verdict: u8,
    /// Accepted: it holds from the start of this tick on. For steps: the number of ticks after
    /// which the simulation pauses.
    pub tick: u64,
    /// Otherwise: what is wrong, with value and range.
    pub reason: String,
}

/// Why an order was refused: the reason that is counted, and words for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The counter.
    pub reason: Rejection,
    /// Field, value and range.
    pub text: String,
}

impl Refusal {
    /// Every reason that an order can be refused for.
    pub const REASONS: [Rejection; 8] = [
        Rejection::Size,
        Rejection::Version,
        Rejection::Layout,
        Rejection::RunId,
        Rejection::NotFinite,
        Rejection::OutOfRange,
        Rejection::NotOwner,
        Rejection::QueueFull,
    ];
}

impl OrderReply {
    /// Holds from `tick` on.
    #[must_use]
    pub const fn accepted(tick: u64) -> Self {
        Self { verdict: 0, tick, reason: String::new() }
    }

    /// Changes nothing.
    #[must_use]
    pub fn refused(refusal: Refusal) -> Self {
        let verdict = if refusal.reason == Rejection::QueueFull { 2 } else { 1 };
        Self { verdict, tick: 0, reason: refusal.text }
    }

    /// The tick from which on the order holds.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it was refused, [`ErrorKind::Bus`] if the daemon was busy.
    pub fn tick(self) -> Result<u64> {
        match self.verdict {
            0 => Ok(self.tick),
            1 => Err(Error::new(ErrorKind::Input, self.reason)),
            _ => Err(Error::new(ErrorKind::Bus, self.reason)),
        }
    }
}

/// What the bytes claim; `size` says how many there must be.
///
/// # Errors
/// [`Rejection::Size`] or [`Rejection::Version`], in the order size (of the header), version, size.
pub(super) fn claimed<T: DeserializeOwned>(
    kind: Kind,
    bytes: &[u8],
    size: impl Display,
) -> std::result::Result<T, Refusal> {
    let wrong_size = || {
        let text = format!("the request is {} bytes long; it must be {size}", bytes.len());
        Refusal { reason: Rejection::Size, text }
    };
    let header = [b'H', b'S', VERSION, kind as u8];
    match bytes.get(..HEADER_BYTES) {
        None => return Err(wrong_size()),
        Some(got) if got != header => {
            let text = format!("the header is {got:02x?}; it must be {header:02x?}");
            return Err(Refusal { reason: Rejection::Version, text });
        }
        Some(_) => {}
    }
    decode(kind, bytes).map_err(|_undecodable| wrong_size())
}

/// As much of a text from outside as fits a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(NAME_BYTES_MAX).collect()
}

/// # Errors
/// [`Rejection::Layout`].
pub(super) fn check_layout(got: u64, expected: u64) -> std::result::Result<(), Refusal> {
    if got == expected {
        return Ok(());
    }
    let text = format!("layout_hash is {got:016x}; it must be {expected:016x}, see model");
    Err(Refusal { reason: Rejection::Layout, text })
}

/// 0 is whichever run there is.
///
/// # Errors
/// [`Rejection::RunId`].
pub(super) fn check_epoch(got: u32, expected: u32) -> std::result::Result<(), Refusal> {
    if got == 0 || got == expected {
        return Ok(());
    }
    let text = format!("run_id is {got}; it must be {expected}, or 0 for whichever run there is");
    Err(Refusal { reason: Rejection::RunId, text })
}

/// # Errors
/// [`Rejection::NotFinite`] or [`Rejection::OutOfRange`]; `range` is in words.
pub(super) fn check_number(
    name: &str,
    value: f64,
    good: bool,
    range: impl Display,
) -> std::result::Result<(), Refusal> {
    if good {
        return Ok(());
    }
    let finite = value.is_finite();
    let reason = if finite { Rejection::OutOfRange } else { Rejection::NotFinite };
    Err(Refusal { reason, text: format!("{name} is {value}; it must be {range}") })
}
