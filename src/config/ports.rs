//! The sections `udp` and `shared_memory` of a scenario.

use std::net::SocketAddr;
use std::path::PathBuf;

use hardstand_protocol::is_controller_name;

use super::section::Section;

/// Ports with packets of fixed offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketPorts {
    /// Where UDP listens; `None`: nowhere.
    pub udp: Option<SocketAddr>,
    /// Shared memory; `None`: none.
    pub shared_memory: Option<SharedMemorySettings>,
}

/// Shared memory with one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMemorySettings {
    /// The file.
    pub path: PathBuf,
    /// How long its thread looks for an answer without a pause, µs.
    pub spin_us: u64,
    /// Name under which the peer joins.
    pub controller: String,
    /// Ticks between two states that it answers.
    pub every_ticks: u64,
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

fn shared_memory(root: &Section<'_>) -> Option<SharedMemorySettings> {
    let s = root.section("shared_memory");
    let path = s.text("path");
    if !path.is_empty() && !path.starts_with('/') {
        s.mistake("path", "\"\" or an absolute path, as \"/dev/shm/robot\"");
    }
    let controller = s.text("controller");
    if !is_controller_name(controller) {
        s.mistake("controller", "1 to 64 letters, digits, \"-\", \"_\" or \".\"");
    }
    let settings = SharedMemorySettings {
        path: path.into(),
        spin_us: s.count("spin_us", 0, 10_000),
        controller: controller.into(),
        every_ticks: s.count("every_ticks", 1, 1_000_000),
    };
    s.finish();
    (!settings.path.as_os_str().is_empty()).then_some(settings)
}
