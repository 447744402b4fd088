//! LCM's datagrams: a message that fits into one, behind its channel's name.

/// Begins a message in one datagram; "LC03" begins a part of a larger one.
const MAGIC: &[u8; 4] = b"LC02";
/// Magic and sequence number.
const HEAD_BYTES: usize = 8;
/// Longest name of a channel, without the zero that ends it.
const CHANNEL_BYTES_MAX: usize = 63;

/// Writes the datagram of a message.
pub(super) fn encode(sequence: u32, channel: &str, message: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&sequence.to_be_bytes());
    out.extend_from_slice(channel.as_bytes());
    out.push(0);
    out.extend_from_slice(message);
}

/// Channel and message of a datagram; `None` if it is none of LCM's, or a part of a larger message.
pub(super) fn decode(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let named = bytes.strip_prefix(MAGIC)?.get(HEAD_BYTES - MAGIC.len()..)?;
    let end = named.iter().take(CHANNEL_BYTES_MAX + 1).position(|&byte| byte == 0)?;
    let channel = std::str::from_utf8(&named[..end]).ok()?;
    Some((channel, &named[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn a_message_comes_out_as_it_went_in_and_other_bytes_do_not() {
        let mut bytes = Vec::new();
        encode(7, "leg_control_data", &[1, 2, 3], &mut bytes);
        assert_eq!(bytes[..8], *b"LC02\0\0\0\x07");
        assert_eq!(decode(&bytes), Some(("leg_control_data", &[1, 2, 3][..])));
        for end in 0..bytes.len() - 3 {
            assert_eq!(decode(&bytes[..end]), None, "{end} bytes");
        }
        bytes[3] = b'3';
        assert_eq!(decode(&bytes), None);
        let nameless = [&b"LC02\0\0\0\0"[..], &[b'x'; 64], &[0]].concat();
        assert_eq!(decode(&nameless), None);
    }
}
