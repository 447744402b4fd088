//! A CAN interface of Linux: one structure of SocketCAN for each frame.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsFd as _;

use hardstand_motors::wires::{SOCKETCAN_FD_BYTES, first_socketcan};
use rustix::fd::BorrowedFd;
use socketcan::{CanFdSocket, Socket as _};

use crate::config::{Motor, MotorBus};

use super::ethernet::Cable;
use super::link::{self, Link};

/// The system's number for interfaces of CAN.
const CAN: u16 = 280;

/// A socket that takes and gives the frames of an interface, those of CAN FD too. Any user may open
/// one.
///
/// # Errors
/// Those of the system, and what is wrong with the interface.
pub(super) fn open(interface: &str, bus: &MotorBus) -> Result<Cable> {
    if let Some((kind, text)) = mistake(interface, bus, link::find(interface)?.as_ref()) {
        return Err(Error::new(kind, text));
    }
    let socket = CanFdSocket::open(interface)?;
    socket.set_nonblocking(true)?;
    // the crate's own socket has no way to give its descriptor up
    socket.as_fd().try_clone_to_owned()
}

/// What keeps the drives of `bus` from this interface, and what to do.
fn mistake(interface: &str, bus: &MotorBus, link: Option<&Link>) -> Option<(ErrorKind, String)> {
    let Some(link) = link else {
        let text = format!(
            "there is none with this name; `ip link` lists those of this network namespace; a \
             virtual one: {}",
            make(interface)
        );
        return Some((ErrorKind::NotFound, text));
    };
    if link.kind != CAN {
        let (kind, make) = (link.kind, make("can0"));
        let text = format!(
            "it is no CAN interface: its kind is {kind}, that of CAN is {CAN}; take one, or a \
             virtual one: {make}"
        );
        return Some((ErrorKind::InvalidInput, text));
    }
    let up = up(interface, bus, link);
    if needs_fd(bus) && (link.mtu as usize) < SOCKETCAN_FD_BYTES {
        let (mtu, state) = (link.mtu, if link.is_up { "up" } else { "down" });
        let text = format!(
            "it is {state} with an MTU of {mtu}, which is CAN without FD; a moteus needs \
             {SOCKETCAN_FD_BYTES}: `sudo ip link set {interface} down && {up}`"
        );
        return Some((ErrorKind::InvalidInput, text));
    }
    (!link.is_up).then(|| (ErrorKind::NetworkDown, format!("it is down: `{up}`")))
}

/// The command that makes a virtual bus.
fn make(interface: &str) -> String {
    format!(
        "`sudo ip link add {interface} mtu {SOCKETCAN_FD_BYTES} type vcan && \
         sudo ip link set {interface} up`"
    )
}

/// The command that sets the interface up for this bus.
fn up(interface: &str, bus: &MotorBus, link: &Link) -> String {
    let set = format!("sudo ip link set {interface} up");
    match (link.driver.as_str(), needs_fd(bus)) {
        // an adapter has a bit rate
        ("can", false) => format!("{set} type can bitrate {}", bus.bit_rate_bps),
        ("can", true) => {
            let (slow, fast) = (bus.bit_rate_bps, bus.data_bit_rate_bps);
            format!("{set} type can bitrate {slow} dbitrate {fast} fd on")
        }
        (_, false) => set,
        (_, true) => format!("{set} mtu {SOCKETCAN_FD_BYTES}"),
    }
}

/// A moteus speaks CAN FD, and no other drive of a CAN bus does.
fn needs_fd(bus: &MotorBus) -> bool {
    bus.drives.iter().any(|drive| matches!(drive.motor, Motor::Moteus(_)))
}

/// Sends the frames of these structures. The number of bytes that were not taken.
pub(super) fn write(socket: BorrowedFd<'_>, mut bytes: &[u8]) -> usize {
    let mut lost = 0;
    while let Some((structure, rest)) = first_socketcan(bytes) {
        lost += structure.len() - rustix::io::write(socket, structure).unwrap_or(0);
        bytes = rest;
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::{CAN, Link, mistake};
    use crate::config::{BusDrive, BusPort, BusWire, Motor, MotorBus};
    use hardstand_motors::drives::MoteusConfig;

    fn bus(motor: Motor) -> MotorBus {
        MotorBus {
            name: "all".into(),
            wire: BusWire::Socketcan,
            port: BusPort::Interface("can0".into()),
            bit_rate_bps: 500_000,
            data_bit_rate_bps: 4_000_000,
            answer_ns: 0,
            every_ticks: 1,
            seed: 1,
            drives: vec![BusDrive {
                motor,
                id: 1,
                joint: 0,
                ratio: 1.0,
                offset_rad: 0.0,
                watchdog_ns: None,
            }],
        }
    }

    /// What is said about an interface; `None` if nothing is wrong.
    fn said(moteus: bool, driver: &str, is_up: bool, mtu: u32) -> Option<String> {
        let motor = if moteus { Motor::Moteus(MoteusConfig::default()) } else { Motor::ODrive };
        let link = Link { kind: CAN, is_up, mtu, driver: driver.into() };
        mistake("can0", &bus(motor), Some(&link)).map(|(_, text)| text)
    }

    #[test]
    fn what_is_wrong_with_an_interface_comes_with_the_command_that_mends_it() {
        assert_eq!(said(false, "vcan", true, 16), None);
        assert_eq!(said(true, "can", true, 72), None);
        // CAN XL takes CAN FD, too
        assert_eq!(said(true, "vcan", true, 2060), None);
        let down = |text: &str| Some(format!("it is down: `sudo ip link set can0 up{text}`"));
        assert_eq!(said(false, "vcan", false, 16), down(""));
        assert_eq!(said(true, "vxcan", false, 72), down(" mtu 72"));
        assert_eq!(said(false, "can", false, 16), down(" type can bitrate 500000"));
        let both = " type can bitrate 500000 dbitrate 4000000 fd on";
        assert_eq!(said(true, "can", false, 72), down(both));
        let no_fd = |state: &str, text: &str| {
            Some(format!(
                "it is {state} with an MTU of 16, which is CAN without FD; a moteus needs 72: \
                 `sudo ip link set can0 down && sudo ip link set can0 up{text}`"
            ))
        };
        assert_eq!(said(true, "vcan", true, 16), no_fd("up", " mtu 72"));
        assert_eq!(said(true, "can", false, 16), no_fd("down", both));
    }
}
