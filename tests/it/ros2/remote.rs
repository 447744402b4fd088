//! `hardstand remote`: keys of a terminal and events of a game controller are the sticks and keys
//! that a controller on DDS or `rmw_zenoh` sees.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use hardstand::ros2::messages::{Joy, Message};
use hardstand::ros2::unitree::{KEYS, LowState, WirelessController, joy_of, remote_of, resting};
use rustix::process::Signal;
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, tcgetattr};

use super::native_dds::{LOW_STATE, Peer, begin_with, domain};
use super::peer::{self, Type, Way};
use crate::common::process::{Observer, Process, Scene, serial, wait_for};

const REMOTE: (&str, &str) =
    ("rt/wirelesscontroller", "unitree_go::msg::dds_::WirelessController_");

fn bits(names: &[&str]) -> u16 {
    names.iter().map(|name| 1 << KEYS.iter().position(|key| key == name).unwrap()).sum()
}

#[test]
fn every_key_and_stick_goes_through_a_message_and_back() {
    for (bit, name) in KEYS.iter().enumerate() {
        let remote = WirelessController { lx: 0.5, ly: -0.25, rx: -1.0, ry: 0.75, keys: 1 << bit };
        assert_eq!(remote_of(&joy_of(&remote)), remote, "{name}");
    }
    assert_eq!(remote_of(&resting()), WirelessController::default());
    assert_eq!(remote_of(&Joy::default()), WirelessController::default());
    let wild = Joy { axes: vec![f32::NAN, 7.0], buttons: vec![-1; 40], ..Default::default() };
    let remote = remote_of(&wild);
    let pressed = bits(&["A", "B", "X", "Y", "L1", "R1", "select", "start", "F1", "F2"]);
    assert_eq!((remote.lx, remote.ly, remote.keys), (0.0, 1.0, pressed));
}

/// Both ends of a pseudo-terminal.
fn terminal() -> (OwnedFd, OwnedFd) {
    let own = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::grantpt(&own).unwrap();
    rustix::pty::unlockpt(&own).unwrap();
    let name = rustix::pty::ptsname(&own, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let theirs = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).unwrap();
    (own, theirs)
}

/// What a controller sees, without what it sees again and again.
#[derive(Default)]
struct Seen(Vec<u16>);

impl Seen {
    fn take(&mut self, keys: u16) {
        if self.0.last() != Some(&keys) {
            self.0.push(keys);
        }
    }

    fn ends_with(&self, keys: &[u16]) -> bool {
        self.0.ends_with(keys)
    }
}

#[test]
fn keys_of_a_terminal_are_sticks_and_keys_for_a_controller_on_dds() {
    let _one = serial();
    let (scene, mut daemon, observer) = begin_with("config/quadruped.toml", &["sim.start=now"]);
    let peer = Peer::hearing(&[LOW_STATE, REMOTE]);
    let (own, theirs) = terminal();
    let before = tcgetattr(&theirs).unwrap().local_modes;
    let domain = domain().to_string();
    let stdin = Stdio::from(theirs.try_clone().unwrap());
    let mut remote =
        scene.hardstand_with(stdin, "remote", &["remote", "--dds", "--domain", &domain]);
    wait_for("each key counts at once", || {
        let modes = tcgetattr(&theirs).unwrap().local_modes;
        (!modes.contains(LocalModes::ICANON)).then_some(())
    });
    let (mut last, mut seen) = (LowState::default(), Seen::default());
    let mut hear = |keys: &[u8], what: &str, expected: &dyn Fn(&LowState, &Seen) -> bool| {
        rustix::io::write(&own, keys).unwrap();
        wait_for(what, || {
            for bytes in peer.heard[0].try_iter() {
                last = LowState::decode(&bytes).unwrap();
                let bytes = &last.wireless_remote;
                seen.take(u16::from_le_bytes([bytes[2], bytes[3]]));
            }
            expected(&last, &seen).then_some(())
        });
    };
    let stick = |s: &LowState, at: usize| {
        f32::from_le_bytes(s.wireless_remote[at..at + 4].try_into().unwrap())
    };
    let near = |x: f32, y: f32| (x - y).abs() < 1e-5;
    let forward = |s: &LowState, _: &Seen| near(stick(s, 20), 0.3) && near(stick(s, 4), -0.1);
    hear(b"wwwa", "forward and to the left", &forward);
    let state = observer.until("the velocity", |s| s.velocity_command.vx_m_per_s > 0.29);
    assert!((state.velocity_command.vy_m_per_s - 0.1).abs() < 1e-5, "{state:?}");
    // L2 is down until A has been pressed; then start, and an arrow
    let (l2, a) = (bits(&["L2"]), bits(&["A"]));
    hear(b"2", "L2", &|_, seen| seen.ends_with(&[0, l2]));
    hear(b"A", "L2 and A, then none", &|_, seen| seen.ends_with(&[0, l2, l2 | a, 0]));
    let (start, up) = (bits(&["start"]), bits(&["up"]));
    hear(b"6\x1b[A", "start, then up", &|_, seen| {
        seen.ends_with(&[start, up, 0]) || seen.ends_with(&[start, 0, up, 0])
    });
    hear(b"i", "the stick without a velocity", &|s, _| near(stick(s, 12), 0.1));
    let own_topic = WirelessController::decode(&peer.heard[1].try_iter().last().unwrap()).unwrap();
    assert!(near(own_topic.ly, 0.3), "{own_topic:?}");
    rustix::io::write(&own, b"q").unwrap();
    remote.ends_with(0);
    assert_eq!(tcgetattr(&theirs).unwrap().local_modes, before, "the terminal is as before");
    observer.until("it stands", |s| s.velocity_command.values() == [0.0; 3]);
    assert_eq!(observer.status().counter("ros2_rejected_cdr"), 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// Half forward with a key that is down, and a stick that is nowhere.
fn remote_of_others() -> Vec<u8> {
    let keys = bits(&["A"]);
    let sticks = WirelessController { lx: f32::NAN, ly: 0.5, rx: 0.0, ry: -7.0, keys };
    let mut bytes = Vec::new();
    sticks.encode(&mut bytes);
    bytes
}

/// A program in the place of the remote control. What the daemon itself sends holds nothing.
#[test]
fn a_writer_of_unitrees_remote_control_is_heard_over_dds() {
    let _one = serial();
    let (scene, mut daemon, observer) = begin_with("config/quadruped.toml", &["sim.start=now"]);
    let peer = Peer::hearing(&[LOW_STATE, REMOTE]);
    let (writer, bytes) = (peer.writer(REMOTE), remote_of_others());
    let shown = || {
        let last = peer.heard[0].try_iter().last()?;
        let bytes = LowState::decode(&last).unwrap().wireless_remote;
        let float = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        Some((u16::from_le_bytes([bytes[2], bytes[3]]), [float(4), float(12), float(20)]))
    };
    wait_for("sticks and keys", || {
        writer.put(&bytes);
        std::thread::sleep(Duration::from_millis(20));
        (shown()? == (bits(&["A"]), [0.0, -1.0, 0.5])).then_some(())
    });
    observer.until("the velocity", |s| s.velocity_command.values() == [0.5, 0.0, 0.0]);
    // nobody sends any more but the daemon
    observer.until("it stands", |s| s.velocity_command.values() == [0.0; 3]);
    wait_for("all is let go", || (shown()? == (0, [0.0; 3])).then_some(()));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// A daemon with Unitree's topics on the bus of ROS 2.
fn daemon_with_unitree(scene: &Scene) -> Process {
    let sets = ["ros2.mode=rmw_zenoh", "unitree.enabled=true", "sim.start=now"];
    scene.daemon(&sets.map(|set| ["--set", set]).concat())
}

#[test]
fn a_writer_of_unitrees_remote_control_is_heard_over_rmw_zenoh() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = daemon_with_unitree(&scene);
    let observer = Observer::of(&scene);
    let node = peer::Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let hash = <WirelessController as Message>::HASH;
    let topic = Type { dds: REMOTE.1, hash };
    // so that the daemon sends, too
    let states = node.subscribe("wirelesscontroller", &topic);
    let bytes = remote_of_others();
    wait_for("the velocity", || {
        node.put("wirelesscontroller", &topic, &bytes);
        std::thread::sleep(Duration::from_millis(20));
        (observer.state().velocity_command.values() == [0.5, 0.0, 0.0]).then_some(())
    });
    wait_for("the daemon sends it, too", || states.try_recv().unwrap());
    observer.until("it stands", |s| s.velocity_command.values() == [0.0; 3]);
}

/// An event of the kernel's interface, `linux/joystick.h`.
fn event(kind: u8, number: u8, value: i16) -> [u8; 8] {
    let [low, high] = value.to_le_bytes();
    [1, 2, 3, 0, low, high, kind, number]
}

const STATE: Type = Type {
    dds: LOW_STATE.1,
    hash: "RIHS01_db5172cac933e3cfc0e705903343eb4eea42e65e224e9d726d3e672aec0caf0f",
};

#[test]
fn events_of_a_game_controller_are_sticks_and_keys_until_it_is_not_heard() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = daemon_with_unitree(&scene);
    let observer = Observer::of(&scene);
    let controller = peer::Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let states = controller.subscribe("lowstate", &STATE);
    let pipe = scene.path("js0");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
    let name = pipe.display().to_string();
    let connect = ["remote", "--connect", &scene.endpoint, "--gamepad"];
    let mut remote = scene.hardstand("remote", &[&connect[..], &[&name]].concat());
    let mut device = std::fs::File::options().write(true).open(&pipe).unwrap();
    let mut seen = Seen::default();
    let mut hear = |what: &str, expected: &dyn Fn(&Seen, f32) -> bool| {
        wait_for(what, || {
            let sample = states.recv_timeout(Duration::from_millis(100)).unwrap()?;
            let bytes = LowState::decode(&sample.payload().to_bytes()).unwrap().wireless_remote;
            seen.take(u16::from_le_bytes([bytes[2], bytes[3]]));
            let forward = f32::from_le_bytes(bytes[20..24].try_into().unwrap());
            expected(&seen, forward).then_some(())
        });
    };
    // what it is like at first: sticks in the middle but for what they shake, triggers let go
    for (number, value) in [(0, 300), (1, -300), (2, -32767), (3, 0), (4, 0), (5, -32767)] {
        device.write_all(&event(0x82, number, value)).unwrap();
    }
    hear("nothing", &|seen, forward| seen.0 == [0] && forward == 0.0);
    device.write_all(&event(2, 1, -16384)).unwrap();
    hear("half forward", &|_, forward| (forward - 0.5).abs() < 1e-3);
    observer.until("the velocity", |s| (s.velocity_command.vx_m_per_s - 0.5).abs() < 1e-3);
    // an event may come in parts, and one of no kind says nothing
    let [trigger, button, other] = [event(2, 2, 32767), event(1, 0, 1), event(7, 0, 1)];
    let bytes = [trigger, other, button].concat();
    device.write_all(&bytes[..11]).unwrap();
    let (l2, a) = (bits(&["L2"]), bits(&["A"]));
    hear("L2", &|seen, _| seen.ends_with(&[0, l2]));
    device.write_all(&bytes[11..]).unwrap();
    hear("L2 and A", &|seen, _| seen.ends_with(&[0, l2, l2 | a]));
    device.write_all(&event(2, 7, 32767)).unwrap();
    let down = bits(&["down"]);
    hear("and the cross", &|seen, _| seen.ends_with(&[l2 | a, l2 | a | down]));
    // one that ends without a word holds nothing for longer than a second
    remote.kill();
    hear("all is let go", &|seen, forward| seen.ends_with(&[l2 | a | down, 0]) && forward == 0.0);
    observer.until("it stands", |s| s.velocity_command.values() == [0.0; 3]);

    // neither a terminal nor a game controller
    let said = scene.hardstand("neither", &["remote", "--connect", &scene.endpoint]).ends_with(2);
    assert!(said.contains("--gamepad"), "{said}");
    let missing = ["remote", "--connect", &scene.endpoint, "--gamepad", "/none/js0"];
    let said = scene.hardstand("missing", &missing).ends_with(2);
    assert!(said.contains("/none/js0"), "{said}");
}
