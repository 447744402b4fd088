//! Ports and sockets.

use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use libc::{EACCES, ENOSYS, EPERM};

use crate::child::{Parent, Sandbox};
use crate::outcome::{Attempt, attempt, call, check_refused};

const NO: &[i32] = &[EACCES];
const ABSENT: &[i32] = &[ENOSYS];

pub fn attempts() -> Vec<Attempt> {
    vec![
        attempt("listen on another port", NO, |_| TcpListener::bind("127.0.0.1:0").map(drop)),
        attempt("connect to another port", NO, |p| {
            TcpStream::connect(("127.0.0.1", p.other_port)).map(drop)
        }),
        attempt("connect by TCP Fast Open", ABSENT, |p| fast_open(p.other_port)),
        attempt("UDP", ABSENT, |_| UdpSocket::bind("127.0.0.1:0").map(drop)),
        socket("multipath TCP", libc::AF_INET, libc::SOCK_STREAM, 262),
        socket("packets", libc::AF_PACKET, libc::SOCK_DGRAM, -1),
        socket(
            "control of the network",
            libc::AF_NETLINK,
            libc::SOCK_RAW,
            libc::NETLINK_KOBJECT_UEVENT,
        ),
        attempt("unix datagrams", ABSENT, |_| UnixDatagram::unbound().map(drop)),
        attempt("a pair of unix datagrams", ABSENT, |_| UnixDatagram::pair().map(drop)),
        attempt("connect to a unix socket", ABSENT, |p| {
            UnixStream::connect(p.path("other/listener")).map(drop)
        }),
        attempt("connect to an abstract unix socket", &[ENOSYS, EPERM], |p| {
            let name = SocketAddr::from_abstract_name(p.abstract_name())?;
            UnixStream::connect_addr(&name).map(drop)
        }),
    ]
}

fn socket(name: &str, family: i32, kind: i32, protocol: i32) -> Attempt {
    attempt(name, ABSENT, move |_| {
        let arguments = [family.into(), kind.into(), protocol.into(), 0, 0];
        match call(libc::SYS_socket, arguments) {
            // whether this kernel has that family does not matter here
            Err(e) if e.raw_os_error() != Some(ENOSYS) => Ok(()),
            other => other.map(drop),
        }
    })
}

/// Sends the first data with the request to connect: no call of `connect` that could be refused.
fn fast_open(port: u16) -> io::Result<()> {
    let stream = i64::from(libc::SOCK_STREAM);
    let socket = call(libc::SYS_socket, [libc::AF_INET.into(), stream, 0, 0, 0])?;
    let to = libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([127, 0, 0, 1]) },
        sin_zero: [0; 8],
    };
    let message = libc::mmsghdr {
        msg_hdr: libc::msghdr {
            msg_name: std::ptr::from_ref(&to).cast_mut().cast(),
            msg_namelen: size_of_val(&to) as u32,
            msg_iov: std::ptr::null_mut(),
            msg_iovlen: 0,
            msg_control: std::ptr::null_mut(),
            msg_controllen: 0,
            msg_flags: 0,
        },
        msg_len: 0,
    };
    let messages = std::ptr::from_ref(&message) as i64;
    call(libc::SYS_sendmmsg, [socket, messages, 1, libc::MSG_FASTOPEN.into(), 0]).map(drop)
}

#[test]
fn only_the_configured_ports_and_no_other_socket_can_be_used() {
    check_refused("sockets", Sandbox::All, &attempts());
}

#[test]
fn with_unix_sockets_datagrams_and_abstract_names_stay_out_of_reach() {
    let seen = Parent::new().run("sockets", Sandbox::Wide);
    assert_eq!(seen.error("unix datagrams"), ENOSYS);
    assert_eq!(seen.error("a pair of unix datagrams"), ENOSYS);
    let scoped = !seen.not_applied.contains("Landlock 6");
    assert!(!scoped || seen.error("connect to an abstract unix socket") == EPERM);
    // the kernel's version decides; the report says so
    let other = seen.error("connect to a unix socket");
    let reported = seen.not_applied.contains("other unix sockets can be connected to");
    assert_eq!(other == 0, reported, "error {other}");
}
