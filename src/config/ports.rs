//! The sections `udp` and `shared_memory` of a scenario.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::section::Section;

/// Ports with packets of fixed offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketPorts {
    /// Where UDP listens; `None`: nowhere.
    pub udp: Option<SocketAddr>,
    /// The file of the shared memory, and how long its thread looks for an answer without a pause,
    /// µs; `None`: none.
    pub shared_memory: Option<(PathBuf, u64)>,
}

/// Reads the sections.
pub(super) fn packet_ports(root: &Section<'_>) -> PacketPorts {
    PacketPorts { udp: udp(root), shared_memory: shared_memory(root) }
}

fn udp(root: &Section<'_>) -> Option<SocketAddr> {
    let s = root.section("udp");
    let text = s.text("listen");
    let address = text.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback());
    if address.is_none() && !text.is_empty() {
        let rule = "\"\" or an address of this machine, as \"127.0.0.1:7450\": a datagram proves \
                    nothing about its sender, and anyone who reaches the port can command the \
                    robot";
        s.mistake("listen", rule);
    }
    s.finish();
    address
}

fn shared_memory(root: &Section<'_>) -> Option<(PathBuf, u64)> {
    let s = root.section("shared_memory");
    let (path, spin_us) = (s.text("path"), s.count("spin_us", 0, 10_000));
    if !path.is_empty() && !path.starts_with('/') {
        s.mistake("path", "\"\" or an absolute path, as \"/dev/shm/robot\"");
    }
    s.finish();
    (!path.is_empty()).then(|| (path.into(), spin_us))
}
