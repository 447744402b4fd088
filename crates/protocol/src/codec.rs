//! From values to bytes and back.

use bincode::config::{Configuration, Fixint, Limit, LittleEndian};
use hardstand_error::{Error, ErrorKind, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits::MESSAGE_BYTES_MAX;
use crate::{Kind, Order, OrderHead};

/// Version of the protocol: changes when the layout of any payload changes.
pub const VERSION: u8 = 7;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 4;

/// Without the limit a forged length would make the decoder ask for terabytes and abort.
type Wire = Configuration<LittleEndian, Fixint, Limit<DECODE_BYTES_MAX>>;
/// Keyframes are larger than bus messages, but bounded too.
const DECODE_BYTES_MAX: usize = 4 << 20;
const WIRE: Wire = bincode::config::standard()
    .with_little_endian()
    .with_fixed_int_encoding()
    .with_limit::<DECODE_BYTES_MAX>();

/// Encodes a message into `out`, which is cleared first. It does not allocate once `out` is large
/// enough.
///
/// # Errors
/// [`ErrorKind::Internal`] if the value cannot be encoded; none of this crate's payloads do that.
pub fn encode<T: Serialize>(kind: Kind, value: &T, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    out.extend_from_slice(&kind.header());
    bincode::serde::encode_into_std_write(value, out, WIRE)
        .map_err(|e| Error::new(ErrorKind::Internal, format!("encoding {}: {e}", kind.schema())))?;
    Ok(())
}

/// Decodes a message of the given kind, all of it.
///
/// # Errors
/// [`ErrorKind::Log`] if header, size or contents are wrong. Nothing large is allocated before the
/// lengths are checked.
pub fn decode<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T> {
    decode_body(kind, strip_header(kind, bytes)?)
}

/// Encodes an order into `out`, which is cleared first.
///
/// # Errors
/// As [`encode`].
pub fn encode_order<T: Serialize>(
    order: Order,
    head: &OrderHead,
    body: &T,
    out: &mut Vec<u8>,
) -> Result<()> {
    encode(order.kind(), &(head, body), out)
}

/// The head of an order, and the bytes of its body, for [`decode_body`].
///
/// # Errors
/// [`ErrorKind::Log`] if the header is wrong or the message ends within the head.
pub fn decode_order(order: Order, bytes: &[u8]) -> Result<(OrderHead, &[u8])> {
    let kind = order.kind();
    let body = strip_header(kind, bytes)?;
    let (head, used) = bincode::serde::decode_from_slice(body, WIRE)
        .map_err(|e| wrong(kind, &format!("the head does not decode ({e})")))?;
    Ok((head, body.get(used..).unwrap_or_default()))
}

/// Decodes the body of an order of the given kind, all of it.
///
/// # Errors
/// [`ErrorKind::Log`] if size or contents are wrong.
pub fn decode_body<T: DeserializeOwned>(kind: Kind, body: &[u8]) -> Result<T> {
    let (value, used) = bincode::serde::decode_from_slice(body, WIRE)
        .map_err(|e| wrong(kind, &format!("does not decode ({e})")))?;
    if used != body.len() {
        return Err(wrong(kind, &format!("has {} bytes after its end", body.len() - used)));
    }
    Ok(value)
}

fn strip_header(kind: Kind, bytes: &[u8]) -> Result<&[u8]> {
    bytes.strip_prefix(&kind.header()).ok_or_else(|| {
        if let Some(version) = other_version(bytes) {
            return wrong(kind, &format!("{version}; this build reads version {VERSION}"));
        }
        let got = bytes.get(..HEADER_BYTES).unwrap_or(bytes);
        wrong(kind, &format!("header is {got:02x?}; expected {:02x?}", kind.header()))
    })
}

fn wrong(kind: Kind, what: &str) -> Error {
    Error::new(ErrorKind::Log, format!("{}: {what}", kind.schema()))
}

/// Names the protocol version of a message, if it is another one than [`VERSION`].
#[must_use]
pub fn other_version(bytes: &[u8]) -> Option<String> {
    match bytes {
        [b'H', b'S', version, ..] if *version != VERSION => {
            Some(format!("the message has protocol version {version}"))
        }
        _ => None,
    }
}

const _: () = assert!(MESSAGE_BYTES_MAX <= DECODE_BYTES_MAX);
