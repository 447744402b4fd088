//! Raw Ethernet on a network interface: one frame at a time, from its header on.

use std::io::{Error, ErrorKind, Result};
use std::num::NonZeroU32;
use std::os::fd::AsRawFd as _;

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};

/// Kind of interface in its link address: Ethernet, and what behaves like it.
const ETHERNET: u16 = 1;
/// Bytes of the length before each frame that waits to be written.
const LENGTH_BYTES: usize = 2;

/// A socket on the interface of a bus. Only a privileged process may open one.
pub(super) type Cable = OwnedFd;

/// A socket that takes frames of one EtherType from an interface, and nothing else.
///
/// # Errors
/// Those of the system, and what is wrong with the interface.
pub(super) fn open(interface: &str, ether_type: u16) -> Result<Cable> {
    let all = nix::ifaddrs::getifaddrs()?.filter(|found| found.interface_name == interface);
    let addresses = all.filter_map(|found| found.address);
    let address = addresses.filter_map(|address| address.as_link_addr().copied()).next();
    let Some(address) = address else {
        let text = "there is none with this name; `ip link` lists those of this network namespace";
        return Err(Error::new(ErrorKind::NotFound, text));
    };
    if address.hatype() != ETHERNET {
        let text = "it is not Ethernet; take one, or one end of a veth pair";
        return Err(Error::new(ErrorKind::InvalidInput, text));
    }
    let protocol = NonZeroU32::new(ether_type.to_be().into()).map(Protocol::from_raw);
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket =
        socket_with(AddressFamily::PACKET, SocketType::RAW, flags, protocol).map_err(|e| {
            let text =
                "raw Ethernet needs CAP_NET_RAW: run as root, or give the program that right";
            if e == Errno::PERM { Error::new(ErrorKind::PermissionDenied, text) } else { e.into() }
        })?;
    nix::sys::socket::bind(socket.as_raw_fd(), &address)?;
    // what came from other interfaces before
    while rustix::io::read(&socket, &mut [0; 1]).is_ok() {}
    Ok(socket)
}

/// Appends a frame to `out`, with its length.
pub(super) fn append(out: &mut Vec<u8>, frame: &[u8]) {
    out.extend((frame.len() as u16).to_le_bytes());
    out.extend(frame);
}

/// Sends the frames that [`append`] has put together. The number of bytes that were not taken.
pub(super) fn write(socket: BorrowedFd<'_>, mut bytes: &[u8]) -> usize {
    let mut lost = 0;
    while let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (frame, next) = rest.split_at(length);
        lost += length - rustix::io::write(socket, frame).unwrap_or(0).min(length);
        bytes = next;
    }
    lost
}
