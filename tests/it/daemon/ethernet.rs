//! Motor buses on raw Ethernet: a master of others drives the robot over a virtual cable, in a
//! network of the test's own.

use std::path::Path;
use std::process::Command;

use hardstand_protocol::{FaultRequest, StateReading};
use rustix::process::Signal;

use super::buses::{LEGS, bus_of};
use crate::common::namespace::Namespace;
use crate::common::process::{Observer, PATIENCE, Process, Scene, repository, serial, wait_for};

/// The daemon's end of the cable, and the master's.
const OWN_END: &str = "ecat0";
const FAR_END: &str = "emaster0";

/// A network with a virtual cable in it; `None`, with the reason, where that is not allowed.
fn network(scene: &Scene) -> Option<Namespace> {
    if Command::new("ip").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no ip (Debian package iproute2)");
        return None;
    }
    let network = Namespace::new(scene, "network", 'n')?;
    let cable = format!("ip link add {OWN_END} type veth peer name {FAR_END}");
    let made = network.command("sh").args(["-ec", &cable]).output().unwrap();
    if !made.status.success() {
        eprintln!("SKIPPED: no virtual cable: {}", String::from_utf8_lossy(&made.stderr).trim());
        return None;
    }
    network.shell(&format!("ip link set {OWN_END} up; ip link set {FAR_END} up"));
    Some(network)
}

/// A daemon in the network.
fn daemon(scene: &Scene, network: &Namespace, bus: &str) -> Process {
    let buses = format!("buses=[{bus}]");
    let mut command = network.command(env!("CARGO_BIN_EXE_hardstand"));
    let fixed = ["--set", &buses, "--set", "ros2.mode=off"];
    command.args(scene.run_args(&fixed));
    Process::start(scene.dir.path(), "daemon", command)
}

/// A chain of CiA 402 drives on an interface.
fn chain(port: &str) -> String {
    bus_of("all", "ethercat", Path::new(port), &LEGS, "motor = \"cia402\"")
}

/// A master from `masters` on the far end; `None` without a Python that has its package.
fn master(scene: &Scene, network: &Namespace, script: &str, more: &str) -> Option<Process> {
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let script = repository(&format!("tests/it/daemon/masters/{script}"));
    // once the daemon answers, its ports are open
    Observer::of(scene);
    let mut command = network.command(&python);
    command.args(["-B", &script, FAR_END, more]);
    let mut master = Process::start(scene.dir.path(), "master", command);
    let said = wait_for("the first words of the master", || {
        let ended = master.has_ended();
        Some(master.out()).filter(|out| ended || out.contains('\n'))
    });
    if said.starts_with("SKIPPED: ") {
        eprintln!("{}", said.trim());
        return None;
    }
    Some(master)
}

fn assert_stands(state: &StateReading) {
    let height_m = state.truth_base_position_m[2];
    assert!((0.2..0.4).contains(&height_m), "the base is {height_m} m high");
    assert!(state.foot_contact.iter().all(|c| *c == 1), "{:?}", state.foot_contact);
}

#[test]
fn soem_stands_a_quadruped_over_ethercat() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut daemon = daemon(&scene, &network, &chain(OWN_END));
    let Some(mut master) = master(&scene, &network, "stand_ethercat.py", "6") else { return };
    // the socket was opened before
    assert!(daemon.out().contains("system calls limited"), "{}", daemon.out());
    let said = master.ends_with(0);
    println!("{said}");
    assert!(said.contains("EtherCAT: ok"), "{said}");
    let observer = Observer::of(&scene);
    assert_stands(&observer.state());
    let status = observer.status_until("frames", |s| s.counter("bus_all_frames") > 1000);
    assert_eq!(status.counter("bus_all_frames_lost"), 0);
    assert_eq!(status.counter("bus_all_frames_malformed"), 0);
    assert!(status.counter("bus_all_commands") > 1000);
    // without a master the watchdogs of the outputs expire
    observer.status_until("SAFEOP", |s| s.counter("bus_all_slaves_operational") == 0);
    observer.until("the motors are released", |s| s.joints.iter().all(|j| j.tau == 0.0));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// The other open master, in Rust.
#[test]
fn ethercrab_stands_a_quadruped_over_ethercat() {
    let Ok(program) = std::env::var("HARDSTAND_ETHERCRAB") else {
        eprintln!("SKIPPED: HARDSTAND_ETHERCRAB is not set; .ci/ethercrab builds the master");
        return;
    };
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut daemon = daemon(&scene, &network, &chain(OWN_END));
    let observer = Observer::of(&scene);
    let mut command = network.command(&program);
    command.args([FAR_END, "6"]);
    let said = Process::start(scene.dir.path(), "master", command).ends_with(0);
    println!("{said}");
    assert!(said.contains("EtherCAT: ok"), "{said}");
    assert_stands(&observer.state());
    let status = observer.status_until("frames", |s| s.counter("bus_all_frames") > 1000);
    assert_eq!(status.counter("bus_all_frames_malformed"), 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// What a cable loses on its way to a slave, those before it have heard.
#[test]
fn lost_frames_make_the_watchdogs_behind_the_break_expire() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut daemon = daemon(&scene, &network, &chain(OWN_END));
    let Some(mut master) = master(&scene, &network, "stand_ethercat.py", "60") else { return };
    let observer = Observer::of(&scene);
    observer.until("all motors hold", |s| {
        s.truth_base_position_m[2] > 0.2 && s.joints.iter().all(|j| j.tau != 0.0)
    });
    // the cable to the third leg, for longer than the watchdog's 500 ms
    let (kind, part, name) = ("bus_loss".into(), "joint".into(), "RL_hip_joint".into());
    let fault = FaultRequest { kind, part, name, values: vec![1.0], ticks: 1000 };
    observer.client.fault(&fault, PATIENCE).unwrap();
    observer.until("only the rear legs are released", |s| {
        let released = |n: usize| s.joints[n].tau == 0.0;
        (6..12).all(released) && !(0..6).any(released)
    });
    let said = master.ends_with(0);
    println!("{said}");
    assert!(said.contains("lost 6"), "{said}");
    for n in 0..12 {
        // OP; or SAFEOP with the error that the watchdog of the outputs expired
        let state = if n < 6 { "8 0x0 0x0" } else { "20 0x1b 0x7500" };
        assert!(said.contains(&format!("{n} {state}")), "{said}");
    }
    observer.status_until("lost frames", |s| s.counter("bus_all_frames_lost") > 50);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn the_makers_library_stands_a_quadruped_behind_a_master_board() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    // rotors that are strong enough for this robot, and patience for a slow machine
    let joints = LEGS.iter().flat_map(|leg| ["hip", "thigh", "calf"].map(|part| (leg, part)));
    let drives = joints.enumerate().map(|(n, (leg, part))| {
        format!(
            "{{ motor = \"udriver\", id = {n}, joint = \"{leg}_{part}_joint\", gear = 9, torque_nm_per_a = 0.5, \
             watchdog_ms = 500 }}"
        )
    });
    let drives: Vec<String> = drives.collect();
    let drives = drives.join(", ");
    let bus =
        format!("{{ name = \"all\", wire = \"odri\", port = \"{OWN_END}\", drives = [{drives}] }}");
    let mut daemon = daemon(&scene, &network, &bus);
    let Some(mut master) = master(&scene, &network, "stand_odri.py", "6") else { return };
    let said = master.ends_with(0);
    println!("{said}");
    assert!(said.contains("ODRI: ok"), "{said}");
    let observer = Observer::of(&scene);
    let status = observer.status_until("frames", |s| s.counter("bus_all_frames") > 1000);
    assert_eq!(status.counter("bus_all_frames_destroyed"), 0);
    assert_eq!(status.counter("bus_all_frames_lost"), 0);
    assert!(status.counter("bus_all_commands") > 1000);
    // the board gives a silent computer up
    observer.status_until("no session", |s| s.counter("bus_all_sessions_active") == 0);
    observer.until("the motors are released", |s| s.joints.iter().all(|j| j.tau == 0.0));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

#[test]
fn an_interface_that_is_none_is_refused_by_name() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    for (port, why) in [("eth77", "there is none with this name"), ("lo", "it is not Ethernet")] {
        let said = daemon(&scene, &network, &chain(port)).ends_with(5);
        assert!(said.contains(&format!("network interface {port} of a bus: {why}")), "{said}");
    }
}
