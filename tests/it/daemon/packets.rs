//! UDP and shared memory: the packets of `docs/port.md`, with peers that know only that page.

use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;

use hardstand::daemon::{Report, reports};
use hardstand_port::packet::{PacketCommand, decode_command, decode_state, encode_command};
use hardstand_protocol::{JoinRequest, JointCommand, ModelReply, StateReading, StatusReading};
use rustix::process::Signal;

use super::peers::free_udp;
use crate::common::process::{
    Dice, Log, Observer, PATIENCE, Process, Scene, digest, repository, serial,
};

const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];

fn daemon(scene: &Scene, set: &str, more: &[&str]) -> Process {
    scene.daemon(&[&["--set", set, "--set", "ros2.mode=off"][..], more].concat())
}

/// Every tick of a run in lockstep has its answer, and the robot stands.
fn assert_answered(scene: &Scene) {
    let log = Log::read(&scene.log());
    assert!(log.ticks.len() > 1000, "{} ticks", log.ticks.len());
    let answered = |s: &&StateReading| s.command_age_ticks == 0;
    let late = log.states.iter().filter(|s| s.tick > 0).find(|s| !answered(s));
    assert_eq!(late.map(|s| (s.tick, s.command_age_ticks)), None);
    let height_m = log.states.last().unwrap().truth_base_position_m[2];
    assert!((0.2..0.4).contains(&height_m), "the base is {height_m} m high");
    scene.replays();
}

#[test]
fn a_python_peer_stands_the_robot_over_udp_in_lockstep() {
    let _one = serial();
    let scene = Scene::in_memory();
    let address = free_udp().to_string();
    let listen = format!("udp.listen={address}");
    let mut daemon = daemon(&scene, &listen, &[&LOCKSTEP[..], &["--duration", "2"]].concat());
    let mut command = Command::new("python3");
    command.arg("-B").arg(repository("examples/ports/hold.py")).args([&address, "60"]);
    let mut peer = Process::start(scene.dir.path(), "peer", command);
    daemon.ends_with(0);
    peer.kill();
    assert_answered(&scene);
}

/// A peer has to know where to connect.
#[test]
fn the_start_names_the_ports_of_packets() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (address, memory) = (free_udp(), scene.path("robot"));
    let path = format!("shared_memory.path={}", memory.display());
    let more = ["--set", &path, "--duration", "0.05", "--set", "sim.start=now"];
    let said = daemon(&scene, &format!("udp.listen={address}"), &more).ends_well();
    let lines = format!("udp        {address}\nmemory     {}\n", memory.display());
    assert!(said.contains(&lines), "{said}");
    let report = scene.path("report");
    let more = [&more[2..], &["--report", report.to_str().unwrap()]].concat();
    let said = daemon(&scene, "udp.listen=127.0.0.1:0", &more).ends_well();
    let (_, address) = said.split_once("udp        ").expect(&said);
    let address: SocketAddr = address.lines().next().unwrap().parse().unwrap();
    assert_ne!(address.port(), 0);
    let report = std::fs::read_to_string(&report).unwrap();
    let Report::Ready(ready) = reports(&report).remove(0) else { panic!("{report}") };
    assert_eq!(ready.udp, Some(address));
}

#[test]
fn a_c_peer_stands_the_robot_over_shared_memory_in_lockstep() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (program, memory) = (scene.path("hold"), scene.path("robot"));
    let source = repository("examples/ports/hold.c");
    let built = Command::new("cc").args(["-O2", &source, "-o"]).arg(&program).status();
    if built.is_err() {
        println!("SKIPPED: no C compiler");
        return;
    }
    assert!(built.unwrap().success());
    let path = format!("shared_memory.path={}", memory.display());
    let mut daemon = daemon(&scene, &path, &LOCKSTEP);
    let observer = Observer::of(&scene);
    let mut command = Command::new(&program);
    command.arg(&memory).arg("5000");
    let said = Process::start(scene.dir.path(), "peer", command).ends_with(0);
    println!("{said}");
    let status = observer.status_until("counters", |s| s.counter("shared_memory_commands") > 0);
    assert_eq!(status.counter("shared_memory_packets_bad_crc"), 0);
    let names: Vec<&str> = status.controllers.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["shared_memory"]);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    assert_answered(&scene);
}

#[test]
fn udp_in_real_time_counts_what_is_no_packet_and_has_one_peer() {
    let _one = serial();
    let scene = Scene::in_memory();
    let address = free_udp();
    let mut daemon = daemon(&scene, &format!("udp.listen={address}"), &[]);
    let observer = Observer::of(&scene);
    let connect = || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.connect(address).unwrap();
        socket
    };
    let (peer, stranger) = (connect(), connect());
    let hold = observer.model.hold();
    let (mut bytes, mut state) = (Vec::new(), [0; 8192]);
    let mut sequence = 0;
    let mut send = |socket: &UdpSocket, state: &[u8], joints: &[JointCommand], spoil: bool| {
        let word = |at: usize| u64::from_le_bytes(state[at..at + 8].try_into().unwrap());
        sequence += 1;
        let command = PacketCommand {
            run_id: u32::from_le_bytes(state[12..16].try_into().unwrap()),
            layout_hash: word(16),
            sequence,
            tick: word(32),
            joints: joints.to_vec(),
        };
        encode_command(&command, &mut bytes);
        bytes[40] ^= u8::from(spoil);
        socket.send(&bytes).unwrap();
        bytes.clone()
    };
    let mut last = send(&peer, &state, &[], false);
    for n in 0..2000 {
        let count = peer.recv(&mut state).unwrap();
        assert!(count > 264);
        last = send(&peer, &state, &hold, false);
        if n % 100 == 0 {
            send(&peer, &state, &hold, true);
            send(&stranger, &state, &hold, false);
            stranger.send(b"HSP1 and more").unwrap();
        }
    }
    // older than the last one, longer than any packet, longer than its own length, and noise
    let past = PacketCommand { sequence: 3, ..decode_command(&last).unwrap() };
    let mut bytes = Vec::new();
    encode_command(&past, &mut bytes);
    peer.send(&bytes).unwrap();
    peer.send(&[last.clone(), vec![0; 8]].concat()).unwrap();
    peer.send(&[last.clone(), vec![0; 9000]].concat()).unwrap();
    let mut dice = Dice(24);
    for _ in 0..500 {
        let mut noise = last.clone();
        let (from, count) = (dice.roll(40) as usize, dice.roll(9) as usize);
        noise[from..from + count].iter_mut().for_each(|byte| *byte = dice.roll(256) as u8);
        noise.truncate(dice.roll(600) as usize);
        peer.send(&noise).unwrap();
        if dice.roll(8) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    stranger.set_nonblocking(true).unwrap();
    assert!(stranger.recv(&mut state).is_err(), "the stranger gets no state");
    let now = Observer::of(&scene).state();
    assert!((0.2..0.4).contains(&now.truth_base_position_m[2]), "{now:?}");
    let counted = |s: &StatusReading| {
        s.counter("udp_packets_bad_crc") >= 19
            && s.counter("udp_packets_malformed") >= 450
            && s.counter("udp_packets_stale") == 1
            && s.counter("udp_packets_of_others") >= 38
    };
    let status = observer.status_until("what is no command is counted", counted);
    assert!(status.counter("udp_commands") > 1000, "{}", status.counter("udp_commands"));
    assert!(status.counter("commands_accepted") > 1000);
    println!("age of commands over UDP, ticks: {:?}", status.applied_age_ticks);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// An answer that depends on the state.
fn answer(model: &ModelReply, state: &StateReading) -> Vec<JointCommand> {
    let mut joints = model.hold();
    for (joint, measured) in joints.iter_mut().zip(&state.joints) {
        joint.q += 0.125 * (joint.q - measured.q);
    }
    joints
}

/// Digest of a run in lockstep of a peer that answers states over UDP, and the ticks that it saw.
fn over_udp(more: &[&str]) -> (String, Vec<u64>) {
    let (scene, address) = (Scene::in_memory(), free_udp());
    let mut daemon = daemon(&scene, &format!("udp.listen={address}"), more);
    let model = scene.client().model(PATIENCE).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    socket.connect(address).unwrap();
    let (mut bytes, mut packet, mut saw) = (Vec::new(), [0; 8192], Vec::new());
    let mut command = PacketCommand {
        run_id: 0,
        layout_hash: model.layout_hash,
        sequence: 0,
        tick: 0,
        joints: Vec::new(),
    };
    while !daemon.has_ended() {
        if let Ok(count) = socket.recv(&mut packet) {
            let state = decode_state(&packet[..count]).unwrap();
            (command.run_id, command.tick) = (state.run_id, state.tick);
            command.joints = answer(&model, &state);
            saw.push(state.tick);
        }
        command.sequence += 1;
        encode_command(&command, &mut bytes);
        let _it_may_have_ended = socket.send(&bytes).is_ok();
    }
    (digest(&daemon.ends_with(0)), saw)
}

/// The same of a controller of this name over zenoh.
fn over_zenoh(more: &[&str]) -> (String, Vec<u64>) {
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(more);
    let client = scene.client();
    let model = client.model(PATIENCE).unwrap();
    let mut controller = client.join(JoinRequest::new(&model, "udp"), PATIENCE).unwrap();
    let mut saw = Vec::new();
    while !daemon.has_ended() {
        let Ok(state) = controller.next_state(Duration::from_millis(100)) else { break };
        let Some(state) = state else { continue };
        controller.answer(&state, &answer(&model, &state)).unwrap();
        saw.push(state.tick);
    }
    (digest(&daemon.ends_with(0)), saw)
}

/// What the link does to states depends on their ticks, not on the way.
#[test]
fn states_over_udp_are_lost_and_late_as_over_zenoh() {
    let _one = serial();
    let faults = "events=[{at_s=0.2, kind=\"state_drop\", probability=0.3, length=2, seed=7}, \
                  {at_s=0.5, kind=\"state_reorder\", probability=0.2, delay_ticks=3, seed=3}, \
                  {at_s=0.7, kind=\"state_delay\", delay_ticks=30}]";
    let second = [&LOCKSTEP[..], &["--duration", "1"]].concat();
    let more = [&second[..], &["--set", faults]].concat();
    let ((zenoh, all), (udp, saw)) = (over_zenoh(&more), over_udp(&more));
    assert_eq!(udp, zenoh);
    assert_ne!(over_udp(&second).0, udp, "the link does something");
    let unknown = saw.iter().find(|tick| **tick < 990 && !all.contains(tick));
    assert_eq!(unknown, None, "what is lost is lost for all");
    let lost = (200..970).filter(|tick| !saw.contains(tick)).count();
    assert!((100..500).contains(&lost), "{lost}");
}

#[test]
fn a_port_beyond_this_machine_and_a_file_of_another_kind_are_refused() {
    let scene = Scene::new();
    let said = daemon(&scene, "udp.listen=0.0.0.0:7450", &[]).ends_with(2);
    assert!(said.contains("an address of this machine"), "{said}");
    let file = scene.path("mine");
    std::fs::write(&file, "mine").unwrap();
    let said = daemon(&scene, &format!("shared_memory.path={}", file.display()), &[]).ends_with(2);
    assert!(said.contains("no shared memory of a daemon"), "{said}");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}
