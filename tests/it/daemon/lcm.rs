//! LCM: a program with LCM's own library and structures that its lcm-gen compiled, in a network of
//! the test's own.

use std::process::Command;

use rustix::process::Signal;

use crate::common::namespace::Namespace;
use crate::common::process::{Log, Observer, Process, Scene, repository, serial};

/// A Python with LCM, or a word why the test is left out.
fn python() -> Option<String> {
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let tried = Command::new(&python).args(["-c", "import lcm"]).output();
    if tried.is_ok_and(|tried| tried.status.success()) {
        return Some(python);
    }
    eprintln!("SKIPPED: {python} cannot import lcm; .ci/run installs it");
    None
}

/// A network with multicast on its loopback interface.
fn network(scene: &Scene) -> Option<Namespace> {
    if Command::new("ip").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no ip (Debian package iproute2)");
        return None;
    }
    let network = Namespace::new(scene, "network", 'n')?;
    network
        .shell("ip link set lo up; ip link set lo multicast on; ip route add 224.0.0.0/4 dev lo");
    Some(network)
}

fn daemon(scene: &Scene, network: &Namespace, more: &[&str]) -> Process {
    let mut command = network.command(env!("CARGO_BIN_EXE_hardstand"));
    let fixed = ["--set", "lcm.group=239.255.76.67:7667", "--set", "ros2.mode=off"];
    command.args(scene.run_args(&fixed)).args(more);
    Process::start(scene.dir.path(), "daemon", command)
}

#[test]
fn a_program_of_lcm_stands_the_robot_and_hears_its_sensors() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (Some(python), Some(network)) = (python(), network(&scene)) else { return };
    let mut daemon = daemon(&scene, &network, &[]);
    let observer = Observer::of(&scene);
    scene.ctl(&["cmd-vel", "0.3", "0.12"], 0);
    let mut command = network.command(&python);
    command.arg("-B").arg(repository("examples/ports/lcm_hold.py")).arg("4");
    let said = Process::start(scene.dir.path(), "peer", command).ends_with(0);
    println!("{said}");
    let numbers = |label: &str| -> Vec<f64> {
        let line = said.lines().find_map(|line| line.strip_prefix(label)).expect(label);
        line.split_whitespace().map(|word| word.parse().unwrap()).collect()
    };
    let heard = numbers("heard");
    assert!(heard.iter().all(|&count| count > 100.0), "{heard:?}");
    let weight_n: f64 = numbers("feet").iter().sum();
    assert!((120.0..165.0).contains(&weight_n), "the feet carry {weight_n} N");
    assert!(numbers("up")[0] > 0.99);
    assert_eq!(numbers("stick"), [0.2, 0.3]); // 0.12 m/s of 0.6 at the stick's end

    let status = observer.status();
    assert!(status.counter("lcm_commands") > 1000, "{}", status.counter("lcm_commands"));
    assert_eq!(status.counter("lcm_other_structure"), 0);
    let names: Vec<&str> = status.controllers.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["lcm"]);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let log = Log::read(&scene.log());
    let height_m = log.states.last().unwrap().truth_base_position_m[2];
    assert!((0.15..0.4).contains(&height_m), "the base is {height_m} m high");
    scene.replays();
}

/// 500 states a second, for the first second; some before it begins.
#[test]
fn states_that_the_link_loses_are_not_heard_over_lcm() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (Some(python), Some(network)) = (python(), network(&scene)) else { return };
    let events = "events=[{at_s=1.0, kind=\"state_drop\", probability=1}]";
    let mut daemon = daemon(&scene, &network, &["--set", events]);
    let observer = Observer::of(&scene);
    let mut command = network.command(&python);
    command.arg("-B").arg(repository("examples/ports/lcm_hold.py")).arg("4");
    let said = Process::start(scene.dir.path(), "peer", command).ends_with(0);
    let heard = said.lines().find_map(|line| line.strip_prefix("heard ")).expect("a count");
    let states: u64 = heard.split_whitespace().next().unwrap().parse().unwrap();
    assert!((100..600).contains(&states), "{states} states");
    let status = observer.status_until("states are lost", |s| s.counter("states_dropped") > 0);
    assert_eq!(status.counter("lcm_other_structure"), 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// BUS-1, as in `port_faults`.
#[test]
fn the_port_is_restarted_after_a_panic_of_its_thread() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut command = network.command(env!("CARGO_BIN_EXE_hardstand"));
    let fixed = ["--set", "lcm.group=239.255.76.67:7667", "--set", "ros2.mode=off"];
    command.args(scene.run_args(&fixed)).env("HARDSTAND_FAULT_POINT", "lcm:1000:panics=2");
    let mut daemon = Process::start(scene.dir.path(), "daemon", command);
    // the second panic shows that the first restart worked
    Observer::of(&scene).status_until("two restarts", |s| s.counter("lcm_restarts") >= 2);
    daemon.signal(Signal::TERM);
    let out = daemon.ends_with(0);
    assert!(out.contains("fault point lcm"), "{out}");
}

#[test]
fn noise_in_the_group_is_counted_and_moves_nothing() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut daemon = daemon(&scene, &network, &["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick > 10);
    let sender = "import socket, os, time\n\
                  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                  head = b'LC02' + bytes(4) + b'pd_plustau_targets\\0'\n\
                  for n in range(500):\n \
                    s.sendto(os.urandom(n), ('239.255.76.67', 7667))\n \
                    s.sendto(head + os.urandom(n), ('239.255.76.67', 7667))\n \
                    time.sleep(0.001)\n";
    let mut command = network.command("python3");
    command.args(["-c", sender]);
    Process::start(scene.dir.path(), "noise", command).ends_with(0);
    let status = observer.status_until("noise", |s| s.counter("lcm_other_structure") > 400);
    assert_eq!(status.counter("lcm_commands"), 0);
    assert!(status.controllers.is_empty());
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// Each is counted once: what was refused is not sent on for the states that follow.
#[test]
fn set_points_that_are_not_finite_start_no_simulation() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut daemon = daemon(&scene, &network, &[]);
    let observer = Observer::of(&scene);
    // behind the fingerprint that lcm-gen gives pd_tau_targets_lcmt: q, qd, tau, kp, kd, stamp
    let sender = "import socket, struct, time\n\
                  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                  head = b'LC02' + bytes(4) + b'pd_plustau_targets\\0'\n\
                  head += bytes.fromhex('c4c8ffcc6340dd17')\n\
                  rest = [0.0] * 24 + [100.0] * 12 + [3.0] * 12\n\
                  message = struct.pack('>60d3q', *[float('nan')] * 12, *rest, 0, 0, 0)\n\
                  for _ in range(3):\n \
                    s.sendto(head + message, ('239.255.76.67', 7667))\n \
                    time.sleep(0.05)\n";
    let mut command = network.command("python3");
    command.args(["-c", sender]);
    Process::start(scene.dir.path(), "sender", command).ends_with(0);
    let status = observer.status_until("they are counted", |s| {
        s.counter("rejected_not_finite") >= 3 && s.counter("lcm_targets") == 3
    });
    assert_eq!(status.counter("rejected_not_finite"), 3);
    assert_eq!(status.counter("lcm_commands"), 0);
    assert!(status.controllers.is_empty(), "{:?}", status.controllers);
    let waits = observer.state();
    assert_eq!((waits.phase, waits.tick), (0, 0), "{waits:?}");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn datagrams_to_other_addresses_do_not_arrive_and_lockstep_is_refused() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some(network) = network(&scene) else { return };
    let mut refused = daemon(&scene, &network, &["--mode", "lockstep", "--pace", "free"]);
    refused.ends_with(2);
    assert!(refused.err().contains("lcm.group needs control.mode"), "{}", refused.err());

    let mut running = daemon(&scene, &network, &["--set", "sim.start=now"]);
    Observer::of(&scene).until("it runs", |s| s.tick > 10);
    let table = std::fs::read_to_string(format!("/proc/{}/net/udp", running.pid())).unwrap();
    // the group's address, 239.255.76.67, in the order of its bytes
    assert!(table.contains("434CFFEF:1DF3"), "{table}");
    assert!(!table.contains("00000000:1DF3"), "{table}");
    running.signal(Signal::TERM);
    running.ends_with(0);
}
