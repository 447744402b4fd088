//! What Linux says of a network interface, by rtnetlink: the files in `/sys` may be those of
//! another network namespace, and the list of addresses leaves out what has none, as CAN.

use std::io::{Error, ErrorKind, Result};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// Messages, with their header of 16 bytes: a question, its answer, an error.
const GET_LINK: u16 = 18;
const NEW_LINK: u16 = 16;
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
const HEADER_BYTES: usize = 16;
/// Length and kind of an attribute, before its value.
const ATTRIBUTE_BYTES: usize = 4;
/// Attributes of an interface, and those within what its driver says.
const NAME: u16 = 3;
const MTU: u16 = 4;
const DRIVER: u16 = 18;
const DRIVER_NAME: u16 = 1;
/// The other bits of an attribute's kind say how its value is packed.
const KIND: u16 = 0x3fff;
const IS_UP: u32 = 1;
/// The system's code for "no such device".
const NO_DEVICE: i32 = 19;

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    /// The system's number for its kind: 1 Ethernet, 280 CAN, 772 loopback.
    pub(super) kind: u16,
    pub(super) is_up: bool,
    /// The longest piece that it takes, bytes: of CAN a whole structure.
    pub(super) mtu: u32,
    /// "can" of an adapter, "vcan", "vxcan", "veth"; empty if the driver has no name.
    pub(super) driver: String,
}

/// The interface with this name in the network namespace of this process.
///
/// # Errors
/// Those of the system, and an answer that cannot be read.
pub(super) fn find(name: &str) -> Result<Option<Link>> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    rustix::io::write(&socket, &question(name))?;
    let mut buffer = vec![0; 32 * 1024];
    let count = rustix::io::read(&socket, &mut buffer)?;
    answer(&buffer[..count])
}

fn question(name: &str) -> Vec<u8> {
    let attribute = (ATTRIBUTE_BYTES + name.len() + 1) as u16;
    let length = 2 * HEADER_BYTES + usize::from(attribute).next_multiple_of(4);
    let mut out = Vec::with_capacity(length);
    out.extend((length as u32).to_ne_bytes());
    out.extend([GET_LINK, REQUEST].map(u16::to_ne_bytes).concat());
    // of a sequence, from whom; and an interface of any number and kind
    out.resize(2 * HEADER_BYTES, 0);
    out.extend([attribute, NAME].map(u16::to_ne_bytes).concat());
    out.extend(name.as_bytes());
    out.resize(length, 0);
    out
}

fn answer(message: &[u8]) -> Result<Option<Link>> {
    let unknown = || Error::new(ErrorKind::InvalidData, "an answer of rtnetlink that is none");
    let (header, body) = message.split_first_chunk::<HEADER_BYTES>().ok_or_else(unknown)?;
    let (kind, length) = (u16::from_ne_bytes([header[4], header[5]]), number(header));
    let body = body.get(..(length as usize).saturating_sub(HEADER_BYTES)).ok_or_else(unknown)?;
    if kind == ERROR && body.len() >= 4 {
        let code = (number(body) as i32).wrapping_neg();
        return if code == NO_DEVICE { Ok(None) } else { Err(Error::from_raw_os_error(code)) };
    }
    let (about, rest) = body.split_first_chunk::<HEADER_BYTES>().ok_or_else(unknown)?;
    if kind != NEW_LINK {
        return Err(unknown());
    }
    let mut link = Link {
        kind: u16::from_ne_bytes([about[2], about[3]]),
        is_up: number(&about[8..]) & IS_UP != 0,
        ..Link::default()
    };
    for (kind, value) in attributes(rest) {
        match kind {
            MTU => link.mtu = number(value),
            DRIVER => link.driver = driver(value),
            _ => {}
        }
    }
    Ok(Some(link))
}

fn driver(attribute: &[u8]) -> String {
    let name = attributes(attribute).find(|(kind, _)| *kind == DRIVER_NAME);
    let name = name.map(|(_, value)| String::from_utf8_lossy(value).into_owned());
    name.unwrap_or_default().trim_end_matches('\0').into()
}

/// The first four bytes; what is missing counts as 0.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |first| u32::from_ne_bytes(*first))
}

fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let ([a, b, c, d], behind) = rest.split_first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([*a, *b])).checked_sub(ATTRIBUTE_BYTES)?;
        let value = behind.get(..length)?;
        rest = behind.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((u16::from_ne_bytes([*c, *d]) & KIND, value))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{Link, answer, find};

    /// What a kernel 6.1 answers about a virtual CAN bus, without attributes that are not read.
    fn virtual_can() -> Vec<u8> {
        let mut message = vec![0; 4];
        message.extend([16, 0, 0, 0].map(u16::to_ne_bytes).concat());
        message.extend([0; 4]);
        message.extend([0, 280].map(u16::to_ne_bytes).concat());
        message.extend([7, 0x1_00c1, 0].map(u32::to_ne_bytes).concat());
        message.extend([9, 3].map(u16::to_ne_bytes).concat());
        message.extend(b"can0\0\0\0\0");
        message.extend([8, 4].map(u16::to_ne_bytes).concat());
        message.extend(72_u32.to_ne_bytes());
        message.extend([16, 0x8012, 9, 1].map(u16::to_ne_bytes).concat());
        message.extend(b"vcan\0\0\0\0");
        let length = message.len() as u32;
        message[..4].copy_from_slice(&length.to_ne_bytes());
        message
    }

    #[test]
    fn an_interface_has_a_kind_a_state_an_mtu_and_a_driver() {
        let link = answer(&virtual_can()).unwrap().unwrap();
        assert_eq!(link, Link { kind: 280, is_up: true, mtu: 72, driver: "vcan".into() });
    }

    #[test]
    fn what_the_kernel_never_sends_is_refused_or_passed_over() {
        let message = virtual_can();
        for length in 0..message.len() {
            assert!(answer(&message[..length]).is_err(), "{length} bytes");
        }
        for at in 0..message.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut broken = message.clone();
                broken[at] = byte;
                let _no_panic = answer(&broken).is_ok();
            }
        }
    }

    #[test]
    fn the_loopback_is_found_and_what_is_not_there_is_none() {
        let loopback = find("lo").unwrap().unwrap();
        assert_eq!((loopback.kind, loopback.driver.as_str()), (772, ""));
        assert!(loopback.mtu > 1000, "{loopback:?}");
        assert_eq!(find("can77").unwrap(), None);
    }
}
