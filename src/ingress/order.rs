//! What the checks of all requests have in common.

use std::fmt::Display;

use serde::de::DeserializeOwned;

use crate::limits::NAME_BYTES_MAX;
use hardstand_protocol::Rejection;

use hardstand_protocol::{HEADER_BYTES, Kind, Refusal, VERSION, decode, other_version};

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
    let header = kind.header();
    match bytes.get(..HEADER_BYTES) {
        None => return Err(wrong_size()),
        Some(got) if got != header => {
            let text = match other_version(bytes) {
                Some(version) => format!("{version}; it must be {VERSION}"),
                None => format!("the header is {got:02x?}; it must be {header:02x?}"),
            };
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
pub(super) fn check_run_id(got: u32, expected: u32) -> std::result::Result<(), Refusal> {
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
