//! How a payload lies in a message of the log's own channels.
//!
//! Readers of `cdr` channels expect a CDR message, so the payload is a sequence of octets in one:
//! four bytes of header (little-endian XCDR1), the number of octets as a `u32`, the octets.

/// Encoding of the log's own channels: rosbag2 opens no file that has two.
pub(crate) const ENCODING: &str = "cdr";
/// Language of their schema.
pub(crate) const SCHEMA_ENCODING: &str = "ros2msg";
/// Their schema: bytes, so that readers of other projects can skip them.
pub(crate) const SCHEMA: &[u8] =
    b"# docs/protocol.md of Hardstand says what the bytes are\nuint8[] payload\n";

const HEADER: [u8; 4] = [0, 1, 0, 0];
const ENVELOPE_BYTES: usize = HEADER.len() + size_of::<u32>();

/// Puts `payload` into `message`, which is cleared first.
pub(crate) fn wrap(payload: &[u8], message: &mut Vec<u8>) {
    // no payload has 4 GiB: the codec's limit is 4 MiB
    let octets = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    message.clear();
    message.extend_from_slice(&HEADER);
    message.extend_from_slice(&octets.to_le_bytes());
    message.extend_from_slice(payload);
}

/// The payload of a message; older logs have no envelope. Empty if there is none.
pub(crate) fn unwrap(message: &[u8]) -> &[u8] {
    if message.starts_with(b"HS") {
        return message;
    }
    message.get(ENVELOPE_BYTES..).unwrap_or_default()
}
