//! DDS: where the participant listens, and what a datagram of a stranger costs.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, UdpSocket};

use rustix::process::Signal;

use super::rights::inodes;
use crate::common::namespace::{Namespace, networks};
use crate::common::process::{Observer, PATIENCE, Process, Scene, serial};

/// A domain with ports of its own: 9150, 9151 for the group, 9160, 9161 for one participant.
const DOMAIN: u16 = 7;
const GROUP_PORTS: [u16; 2] = [9150, 9151];
const OWN_PORTS: [u16; 2] = [9160, 9161];
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);

/// Arguments for a daemon on DDS.
fn dds(interface: &str) -> Vec<String> {
    let sets = [
        "ros2.mode=dds".into(),
        "sim.start=now".into(),
        format!("ros2.domain={DOMAIN}"),
        format!("ros2.interface={interface}"),
    ];
    sets.into_iter().flat_map(|set| ["--set".into(), set]).collect()
}

fn on_loopback(scene: &Scene) -> Process {
    let sets = dds("lo");
    scene.daemon(&sets.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Addresses to which the UDP sockets of a process are bound.
fn addresses(pid: u32) -> BTreeSet<Ipv4Addr> {
    let sockets = inodes(pid);
    let text = std::fs::read_to_string(format!("/proc/{pid}/net/udp")).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let hex = fields[1].split_once(':').unwrap().0;
        let address = u32::from_str_radix(hex, 16).unwrap().to_le_bytes();
        sockets.iter().any(|inode| inode == fields[9]).then(|| address.into())
    };
    text.lines().skip(1).filter_map(row).collect()
}

/// Whether the machine at the other end of the cable says that nothing listens there.
fn refuses(far: &Namespace, port: u16) -> bool {
    let line = format!("exec 3<>/dev/udp/10.77.0.1/{port}; echo x >&3; sleep 0.3; echo x >&3");
    let out = far.command("bash").args(["-ec", &line]).output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() || text.contains("refused"), "{text}");
    !out.status.success()
}

/// SEC-1.
#[test]
fn dds_listens_on_the_chosen_interface_only() {
    let _one = serial();
    let scene = Scene::new();
    let Some([near, far]) = networks(&scene) else { return };
    near.shell("ip link set lo up");
    let near0 = Ipv4Addr::new(10, 77, 0, 1);
    for (interface, address) in [("lo", Ipv4Addr::LOCALHOST), ("near0", near0)] {
        let mut command = near.command(env!("CARGO_BIN_EXE_hardstand"));
        command.args(scene.run_args(&[])).args(dds(interface));
        let mut daemon = Process::start(scene.dir.path(), interface, command);
        Observer::of(&scene).state();
        assert_eq!(addresses(daemon.pid()), [address, GROUP].into(), "{interface}");
        for port in GROUP_PORTS {
            assert!(refuses(&far, port), "{interface}: {port} is open to one that is not a group");
        }
        for port in OWN_PORTS {
            assert_eq!(refuses(&far, port), interface == "lo", "{interface}: {port}");
        }
        daemon.signal(Signal::TERM);
        daemon.ends_with(0);
    }
}

/// A loopback interface delivers to a group although its flags do not say so, and programs on
/// CycloneDDS look for others there in no other way.
#[test]
fn a_participant_on_loopback_is_found_by_its_group() {
    use rustix::net::{AddressFamily, SocketAddrV4, SocketType, bind, socket, sockopt};
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = on_loopback(&scene);
    let ear = socket(AddressFamily::INET, SocketType::DGRAM, None).unwrap();
    sockopt::set_socket_reuseaddr(&ear, true).unwrap();
    bind(&ear, &SocketAddrV4::new(GROUP, GROUP_PORTS[0])).unwrap();
    let ear = UdpSocket::from(ear);
    ear.join_multicast_v4(&GROUP, &Ipv4Addr::LOCALHOST).unwrap();
    ear.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut said = [0; 2048];
    let (length, from) = ear.recv_from(&mut said).expect("the daemon announces itself");
    assert!(said[..length].starts_with(b"RTPS") && from.ip() == Ipv4Addr::LOCALHOST, "{from}");
    // and both of its sockets have joined the group, beside this one
    let groups = std::fs::read_to_string(format!("/proc/{}/net/igmp", daemon.pid())).unwrap();
    let mut lines = groups.lines().skip_while(|line| !line.contains("\tlo ")).skip(1);
    let line =
        lines.by_ref().take_while(|l| l.starts_with("\t\t")).find(|l| l.contains("0100FFEF"));
    let users = line.and_then(|l| l.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0_u32);
    assert!(users >= 3, "{groups}");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// The first fragment of a sample that is said to have `size` bytes, from participant `number`, to
/// the reader of publications, which hears every participant.
fn fragment(number: u32, size: u32) -> Vec<u8> {
    const FRAGMENT_BYTES: u16 = 1000;
    let mut out = b"RTPS\x02\x04\x01\x12".to_vec();
    out.extend([&[7; 8][..], &number.to_le_bytes()].concat());
    // the kind DATAFRAG, little-endian, with its length
    out.extend([0x16, 1]);
    out.extend((32 + FRAGMENT_BYTES).to_le_bytes());
    // no flags; 28 bytes to the payload; reader and writer
    out.extend([0, 0, 28, 0, 0, 0, 3, 0xc7, 0, 0, 3, 0xc2]);
    // sequence number 1 (its upper half first), fragments from number 1 on: one
    out.extend([0u32, 1, 1].map(u32::to_le_bytes).concat());
    out.extend([1u16, FRAGMENT_BYTES].map(u16::to_le_bytes).concat());
    out.extend(size.to_le_bytes());
    out.resize(out.len() + usize::from(FRAGMENT_BYTES), 0);
    out
}

/// The most memory that a process ever had, KiB.
fn peak_kib(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn fragments_of_huge_samples_cost_no_memory() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = on_loopback(&scene);
    let observer = Observer::of(&scene);
    let before = observer.state();
    let before_kib = peak_kib(daemon.pid());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let one_huge = [fragment(0, u32::MAX)];
    let many_large = (1..200).map(|number| fragment(number, 1 << 20));
    for datagram in one_huge.into_iter().chain(many_large) {
        socket.send_to(&datagram, ("127.0.0.1", OWN_PORTS[0])).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    observer.until("it runs on", |s| s.tick > before.tick + 2000);
    let more_mib = (peak_kib(daemon.pid()) - before_kib) / 1024;
    assert!(more_mib < 64, "{more_mib} MiB more");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
