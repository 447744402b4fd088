//! A CAN interface of Linux: masters of others drive the robot over it, in a network of the test's
//! own. Where there is no virtual CAN these tests are left out; `.ci/socketcan` boots a kernel that
//! has it.

mod frames;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hardstand_protocol::StateReading;
use rustix::process::Signal;

use super::buses::{LEGS, bus_of};
use crate::common::namespace::Namespace;
use crate::common::process::{Observer, PATIENCE, Process, Scene, repository, serial};

const INTERFACES: [&str; 2] = ["can0", "can1"];
/// Simulated seconds in one: an emulated machine keeps up, too.
const SPEED: &str = "0.2";
/// Exit status of a script whose package is missing.
const SKIPPED: i32 = 77;
/// A joint's 100 N·m/rad and 3 N·m·s/rad, and patience for a slow machine.
const MOTEUS: &str = "motor = \"moteus\", kp_nm_per_rev = 628.3, kd_nm_s_per_rev = 18.8, \
                      torque_max_nm = 40.0, timeout_s = 5.0";

/// A network with two virtual CAN buses in it; `None`, with the reason, where that is not allowed.
fn network(scene: &Scene) -> Option<Namespace> {
    let [one, other] = INTERFACES;
    let add = |interface| format!("link add {interface} type vcan");
    let raise = |interface| format!("link set {interface} up mtu 72");
    network_with(scene, &[add(one), raise(one), add(other), raise(other)])
}

/// One with a virtual cable of CAN, whose ends are the two interfaces.
fn cable(scene: &Scene) -> Option<Namespace> {
    let [one, other] = INTERFACES;
    let add = format!("link add {one} type vxcan peer name {other}");
    let raise = |interface| format!("link set {interface} up");
    network_with(scene, &[add, raise(one), raise(other)])
}

/// One that these words of `ip` make. Without a shell: busybox's takes its own `ip`, which knows
/// less.
fn network_with(scene: &Scene, links: &[String]) -> Option<Namespace> {
    for program in ["ip", "canplayer", "candump"] {
        if Command::new(program).arg("-V").output().is_err() {
            eprintln!("SKIPPED: there is no {program} (Debian packages iproute2, can-utils)");
            return None;
        }
    }
    let network = Namespace::new(scene, "network", 'n')?;
    for words in links {
        let made = network.command("ip").args(words.split(' ')).output().unwrap();
        if !made.status.success() {
            let why = String::from_utf8_lossy(&made.stderr).into_owned();
            eprintln!(
                "SKIPPED: no virtual CAN (`modprobe vcan vxcan`): ip {words}: {}",
                why.trim()
            );
            return None;
        }
    }
    Some(network)
}

fn daemon(scene: &Scene, network: &Namespace, buses: &[String]) -> Process {
    let mut command = network.command(env!("CARGO_BIN_EXE_hardstand"));
    let (buses, speed) = (format!("buses=[{}]", buses.join(", ")), format!("sim.speed={SPEED}"));
    let mut more = vec!["--set", &buses, "--set", "ros2.mode=off", "--set", &speed];
    if buses.contains("\"rear\"") {
        more.extend(["--set", "control.controllers=[\"bus.front\", \"bus.rear\"]"]);
    }
    command.args(scene.run_args(&more));
    Process::start(scene.dir.path(), "daemon", command)
}

/// A bus with all joints.
fn all(interface: &str, motor: &str) -> String {
    bus_of("all", "socketcan", Path::new(interface), &LEGS, motor)
}

fn assert_stands(state: &StateReading) -> f64 {
    let height_m = state.truth_base_position_m[2];
    assert!((0.2..0.4).contains(&height_m), "the base is {height_m} m high");
    assert!(state.foot_contact.iter().all(|c| *c == 1), "{:?}", state.foot_contact);
    height_m
}

/// The frames of a master, again and again.
fn play(scene: &Scene, network: &Namespace, frames: &frames::Frames) -> Process {
    let start = |name: &str, args: &[&str]| {
        let mut command = network.command("canplayer");
        command.args(args);
        Process::start(scene.dir.path(), name, command)
    };
    let file = |name: &str, frames: &[String]| {
        let path = scene.path(name);
        std::fs::write(&path, frames::file(INTERFACES[0], frames)).unwrap();
        path.display().to_string()
    };
    let [begin, hold] = [file("begin.log", &frames.begin), file("hold.log", &frames.hold)];
    if !frames.begin.is_empty() {
        start("begin", &["-I", &begin]).ends_with(0);
    }
    start("master", &["-l", "i", "-I", &hold])
}

fn stands(motor: &str, frames: &frames::Frames) {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut daemon = daemon(&scene, &network, &[all(INTERFACES[0], motor)]);
    let observer = Observer::of(&scene);
    let mut command = network.command("candump");
    command.args(["-L", INTERFACES[0]]);
    let mut dump = Process::start(scene.dir.path(), "dump", command);
    let _master = play(&scene, &network, frames);
    let state = observer.until("it stands for two seconds", |s| s.tick >= 2000);
    let height_m = assert_stands(&state);
    let status = observer.status_until("frames", |s| s.counter("bus_all_frames") > 1000);
    assert_eq!(status.counter("bus_all_bytes_lost"), 0);
    dump.signal(Signal::TERM);
    dump.wait();
    let heard = frames::answers(&dump.out(), frames);
    assert!(heard > 1000, "{heard} frames of drives");
    println!("{motor}: stands {height_m:.3} m high, {heard} frames of drives: ok");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

#[test]
fn mit_mode_stands_a_quadruped_over_a_can_interface() {
    stands("motor = \"mini-cheetah\"", &frames::mit());
}

#[test]
fn moteus_stands_a_quadruped_over_a_can_fd_interface() {
    stands(MOTEUS, &frames::moteus());
}

#[test]
fn odrive_stands_a_quadruped_over_a_can_interface() {
    stands("motor = \"odrive\"", &frames::odrive());
}

/// A master that others wrote, from `masters`, stands the robot over `buses`.
fn is_stood_by(script: &str, buses: impl Fn(&[&str; 2]) -> Vec<String>) {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let buses = buses(&INTERFACES);
    let own = &INTERFACES[..buses.len()];
    is_stood_there_by(script, (&scene, &network), &buses, own);
}

/// The same in a network that there is, where the master has interfaces of its own.
fn is_stood_there_by(
    script: &str,
    (scene, network): (&Scene, &Namespace),
    buses: &[String],
    own: &[&str],
) {
    let mut daemon = daemon(scene, network, buses);
    // once the daemon answers, its ports are open
    Observer::of(scene);
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut command = network.command(&python);
    command.arg("-B").arg(repository(&format!("tests/it/daemon/masters/{script}")));
    command.args(own).arg(SPEED);
    let mut master = Process::start(scene.dir.path(), "master", command);
    // the run is slow
    let until = Instant::now() + 5 * PATIENCE;
    while !master.has_ended() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    if !master.has_ended() {
        master.kill();
        panic!("{script} goes on: {}\n{}", master.out(), master.err());
    }
    let (status, out) = (master.wait(), master.out());
    print!("{out}");
    if status.code() == Some(SKIPPED) && out.starts_with("SKIPPED: ") {
        return;
    }
    assert!(status.success() && out.contains(": ok"), "{status}\n{out}{}", master.err());
    let observer = Observer::of(scene);
    let height_m = assert_stands(&observer.state());
    let names = if buses.len() == 1 { &["all"][..] } else { &["front", "rear"] };
    for name in names {
        let frames = format!("bus_{name}_frames");
        let status = observer.status_until("frames", |s| s.counter(&frames) > 200);
        assert_eq!(status.counter(&format!("bus_{name}_bytes_lost")), 0);
        println!("{script}: stands {height_m:.3} m high, {} frames: ok", status.counter(&frames));
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

#[test]
fn the_makers_moteus_master_stands_a_quadruped_over_a_can_fd_interface() {
    is_stood_by("stand_moteus.py", |[can0, _]| vec![all(can0, MOTEUS)]);
}

#[test]
fn an_independent_master_of_damiao_stands_a_quadruped_over_two_can_interfaces() {
    is_stood_by("stand_damiao.py", |interfaces| {
        let of = |n: usize, name: &str| {
            let (port, legs) = (Path::new(interfaces[n]), &LEGS[2 * n..2 * n + 2]);
            bus_of(name, "socketcan", port, legs, "motor = \"damiao-4340\"")
        };
        vec![of(0, "front"), of(1, "rear")]
    });
}

#[test]
fn an_independent_master_of_robstride_stands_a_quadruped_over_a_can_interface() {
    is_stood_by("stand_robstride.py", |[can0, _]| vec![all(can0, "motor = \"robstride-02\"")]);
}

#[test]
fn an_independent_master_of_the_mini_cheetah_stands_a_quadruped_over_a_cable_of_can() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = cable(&scene) else { return };
    let [can0, can1] = INTERFACES;
    let buses = [all(can0, "motor = \"mini-cheetah\"")];
    is_stood_there_by("stand_mini_cheetah.py", (&scene, &network), &buses, &[can1]);
}

#[test]
fn a_bus_goes_on_when_its_interface_comes_back_up() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut daemon = daemon(&scene, &network, &[all("can0", "motor = \"mini-cheetah\"")]);
    let observer = Observer::of(&scene);
    let frames = frames::mit();
    let mut master = play(&scene, &network, &frames);
    observer.status_until("frames", |s| s.counter("bus_all_frames") > 100);
    network.shell("ip link set can0 down");
    master.wait();
    let before = observer.status().counter("bus_all_frames");
    network.shell("ip link set can0 up");
    let _again = play(&scene, &network, &frames);
    observer.status_until("more frames", |s| s.counter("bus_all_frames") > before + 100);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

#[test]
fn an_interface_that_cannot_carry_the_drives_is_refused_with_the_command_that_mends_it() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let refusal = |motor: &str| {
        let said = daemon(&scene, &network, &[all("can0", motor)]).ends_with(5);
        let (_, said) = said.split_once("network interface can0 of a bus: ").unwrap();
        let (_, command) = said.split_once('`').unwrap();
        let (command, _) = command.split_once('`').unwrap();
        (said.to_string(), command.replace("sudo ", ""))
    };
    network.shell("ip link set can0 down; ip link set can0 mtu 16");
    let (said, command) = refusal("motor = \"moteus\"");
    assert!(said.starts_with("it is down with an MTU of 16"), "{said}");
    network.shell(&command);
    network.shell("ip link set can0 down");
    let (said, command) = refusal("motor = \"odrive\"");
    assert!(said.starts_with("it is down: "), "{said}");
    network.shell(&command);
    let mut daemon = daemon(&scene, &network, &[all("can0", "motor = \"moteus\"")]);
    Observer::of(&scene);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// The files in `/sys` are those of another network namespace than the daemon's.
#[test]
fn an_interface_is_looked_up_in_the_network_of_the_daemon() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = Namespace::new(&scene, "network", 'n') else { return };
    let cable =
        network.command("ip").args("link add can5 type veth peer name can6".split(' ')).output();
    if !cable.is_ok_and(|made| made.status.success()) {
        eprintln!("SKIPPED: no virtual cable (Debian package iproute2)");
        return;
    }
    for (port, why) in
        [("can5", "it is no CAN interface: its kind is 1"), ("eth0", "there is none")]
    {
        let said = daemon(&scene, &network, &[all(port, "motor = \"odrive\"")]).ends_with(5);
        assert!(said.contains(&format!("network interface {port} of a bus: {why}")), "{said}");
    }
}

#[test]
fn an_interface_that_is_no_can_is_refused_by_name() {
    for (port, why) in [("can77", "there is none with this name"), ("lo", "it is no CAN interface")]
    {
        let scene = Scene::in_memory();
        let buses = [all(port, "motor = \"mini-cheetah\"")];
        let said = super::buses::daemon(&scene, &buses, &[]).ends_with(5);
        assert!(said.contains(&format!("network interface {port} of a bus: {why}")), "{said}");
    }
}
