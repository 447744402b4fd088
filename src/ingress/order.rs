//! What the checks of all orders have in common: the head, and helpers for the bodies.

use std::fmt::Display;

use serde::de::DeserializeOwned;

use crate::buffer_pool::Run;
use crate::limits::NAME_BYTES_MAX;
use hardstand_protocol::Rejection;

use hardstand_protocol::{
    HEADER_BYTES, Kind, Order, OrderHead, Refusal, VERSION, decode_body, decode_order,
    is_controller_name, other_version,
};

/// An order that was accepted, for events and the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedOrder {
    /// The run in which it holds.
    pub run: Run,
    /// The tick from which on it holds.
    pub tick: u64,
    /// What was ordered.
    pub order: Order,
    /// Who ordered it, as the sender says.
    pub asker: String,
}

/// The robot and the run that an order must name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderLimits<'a> {
    /// The robot of the keys.
    pub robot: &'a str,
    /// Current run.
    pub run_id: u32,
}

/// Checks the first part of an order; the rest of the bytes is its body.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size (of the header), version, size (of the
/// head), robot, run id, nonce, asker.
pub fn check_head<'a>(
    order: Order,
    bytes: &'a [u8],
    limits: &OrderLimits<'_>,
) -> Result<(OrderHead, &'a [u8]), Refusal> {
    let wrong_size = || {
        let text = format!(
            "the order is {} bytes long; it must begin with a header, robot, run_id, nonce and \
             asker",
            bytes.len()
        );
        Refusal { reason: Rejection::Size, text }
    };
    let header = order.kind().header();
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
    let (head, body) = decode_order(order, bytes).map_err(|_undecodable| wrong_size())?;
    if head.robot != limits.robot {
        let (got, robot) = (shown(&head.robot), limits.robot);
        let text = format!("robot is {got:?}; it must be {robot:?}");
        return Err(Refusal { reason: Rejection::Layout, text });
    }
    check_run_id(order, head.run_id, limits.run_id)?;
    let refuse = |text| Err(Refusal { reason: Rejection::OutOfRange, text });
    if head.nonce == 0 {
        return refuse("nonce is 0; it must be a random number, another one for each order".into());
    }
    if !is_controller_name(&head.asker) {
        let (name, allowed) =
            (shown(&head.asker), "1 to 64 letters, digits, \"-\", \"_\" or \".\"");
        return refuse(format!("asker is {name:?}; it must be {allowed}"));
    }
    Ok((head, body))
}

/// What the bytes of a body claim; `size` says how many there must be.
///
/// # Errors
/// [`Rejection::Size`].
pub(super) fn claimed<T: DeserializeOwned>(
    kind: Kind,
    body: &[u8],
    size: impl Display,
) -> std::result::Result<T, Refusal> {
    decode_body(kind, body).map_err(|_undecodable| {
        let text = format!("the body is {} bytes long; it must be {size}", body.len());
        Refusal { reason: Rejection::Size, text }
    })
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

/// A stop may mean whichever run there is.
///
/// # Errors
/// [`Rejection::RunId`].
fn check_run_id(order: Order, got: u32, expected: u32) -> std::result::Result<(), Refusal> {
    if got == expected || (got == 0 && order == Order::Stop) {
        return Ok(());
    }
    let text = format!("run_id is {got}; it must be {expected}, the run that there is");
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
    if good { Ok(()) } else { Err(refused_number(name, value, range)) }
}

/// Why a number that is not in the range `range`, in words, is refused.
pub(super) fn refused_number(name: &str, value: f64, range: impl Display) -> Refusal {
    let finite = value.is_finite();
    let reason = if finite { Rejection::OutOfRange } else { Rejection::NotFinite };
    Refusal { reason, text: format!("{name} is {value}; it must be {range}") }
}
