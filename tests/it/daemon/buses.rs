//! Motor buses: the daemon is the drives, and a master on a pseudo-terminal drives the robot.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hardstand_protocol::{Authority, FaultRequest, StateReading, StatusReading};
use rustix::fs::OFlags;
use rustix::process::Signal;

use super::attacks::kept;
use crate::common::process::{
    Dice, Log, Observer, PATIENCE, Process, Scene, repository, serial, wait_for,
};

pub(super) const LEGS: [&str; 4] = ["FL", "FR", "RL", "RR"];
const PARTS: [&str; 3] = ["hip", "thigh", "calf"];
/// What the shipped quadruped holds, by part.
const POSTURE: [f64; 3] = [0.0, 0.8, -1.5];
/// The calves' drives turn the other way, twice as far, from another zero.
const CALF: (f64, f64) = (-2.0, -1.0);
/// The run begins when both buses hold their joints.
const BOTH: [&str; 2] = ["--set", "control.controllers=[\"bus.front\", \"bus.rear\"]"];

/// A drive in the test: id, position that holds, as the drive counts.
struct Motor {
    id: u8,
    hold_rad: f64,
}

fn motors(legs: &[&str]) -> Vec<Motor> {
    let of = |n: u8| {
        let part = usize::from(n % 3);
        let q = POSTURE[part];
        Motor { id: n + 1, hold_rad: if part == 2 { CALF.0 * (q - CALF.1) } else { q } }
    };
    (0..3 * legs.len() as u8).map(of).collect()
}

/// `[[buses]]` with mini cheetah's motors for these legs, as a value of `--set`.
pub(super) fn bus(name: &str, port: &Path, legs: &[&str], more: &str) -> String {
    let joints =
        legs.iter().flat_map(|leg| PARTS.map(|part| (format!("{leg}_{part}_joint"), part)));
    let drive = |(n, (joint, part)): (usize, (String, &str))| {
        let gear = if part == "calf" {
            format!(", gear = {}, sign = -1, offset_rad = {:?}", -CALF.0, CALF.1)
        } else {
            String::new()
        };
        let id = n + 1;
        format!("{{ motor = \"mini-cheetah\", id = {id}, joint = \"{joint}\"{gear}{more} }}")
    };
    let drives: Vec<String> = joints.enumerate().map(drive).collect();
    let (port, drives) = (port.display(), drives.join(", "));
    format!("{{ name = \"{name}\", wire = \"slcan\", port = \"{port}\", drives = [{drives}] }}")
}

/// A master of MIT mode over slcan, written from the frames in makers' documents.
struct Master {
    port: File,
    answers: Vec<u8>,
    /// The newest position of each motor, as it counts.
    q: Vec<f64>,
    /// Frames sent, and their answers.
    sent: usize,
    heard: usize,
}

impl Master {
    fn open(port: &Path) -> Self {
        use std::os::unix::fs::OpenOptionsExt as _;
        wait_for("the pseudo-terminal", || port.exists().then_some(()));
        let mut options = OpenOptions::new();
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        let port = options.read(true).write(true).custom_flags(flags as i32).open(port).unwrap();
        let mut master = Self { port, answers: Vec::new(), q: Vec::new(), sent: 0, heard: 0 };
        master.write(b"S8\rO\r");
        master
    }

    /// Writes all of it, however slow the daemon is.
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        wait_for("room in the port", || {
            let written = self.port.write(rest).unwrap_or(0);
            rest = &rest[written..];
            rest.is_empty().then_some(())
        });
    }

    fn send(&mut self, id: u8, data: [u8; 8]) {
        self.sent += 1;
        let data: String = data.iter().map(|byte| format!("{byte:02X}")).collect();
        self.write(format!("t{id:03X}8{data}\r").as_bytes());
    }

    fn enable(&mut self, id: u8) {
        self.send(id, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc]);
    }

    fn command(&mut self, id: u8, q_rad: f64, kp: f64, kd: f64) {
        let raw = |x: f64, from: f64, to: f64, bits: u32| {
            ((x - from) / (to - from) * f64::from((1_u32 << bits) - 1)).round() as u64
        };
        let bits = raw(q_rad, -12.5, 12.5, 16) << 48
            | raw(0.0, -65.0, 65.0, 12) << 36
            | raw(kp, 0.0, 500.0, 12) << 24
            | raw(kd, 0.0, 5.0, 12) << 12
            | raw(0.0, -18.0, 18.0, 12);
        self.send(id, bits.to_be_bytes());
    }

    /// Reads the answers that are there.
    fn listen(&mut self) {
        let mut buffer = [0; 4096];
        while let Ok(count) = self.port.read(&mut buffer) {
            assert!(count > 0, "the daemon has closed the port");
            self.answers.extend_from_slice(&buffer[..count]);
        }
        while let Some(end) = self.answers.iter().position(|byte| *byte == b'\r') {
            let line: Vec<u8> = self.answers.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line).into_owned();
            // t 000 6, then the id and six bytes
            let Some(data) = text.trim().split_once("t0006").map(|(_, data)| data) else {
                continue;
            };
            let number =
                |at: usize, len: usize| u32::from_str_radix(&data[at..at + len], 16).unwrap();
            let (id, q) = (number(0, 2) as usize, f64::from(number(2, 4)));
            self.q[id - 1] = q / 65535.0 * 25.0 - 12.5;
            self.heard += 1;
        }
    }

    /// Enables all motors, and waits until each has said where it is.
    fn begin(&mut self, motors: &[Motor]) {
        self.q = vec![f64::NAN; motors.len()];
        motors.iter().for_each(|motor| self.enable(motor.id));
        wait_for("an answer of each motor", || {
            motors.iter().for_each(|motor| self.command(motor.id, 0.0, 0.0, 0.0));
            std::thread::sleep(Duration::from_millis(5));
            self.listen();
            self.q.iter().all(|q| q.is_finite()).then_some(())
        });
    }

    /// Commands all motors at 200 Hz for `time`, to hold; from where they were, within a second.
    fn hold(&mut self, motors: &[Motor], time: Duration) {
        let (begin, start) = (Instant::now(), self.q.clone());
        while begin.elapsed() < time {
            let way = begin.elapsed().as_secs_f64().min(1.0);
            for (motor, start) in motors.iter().zip(&start) {
                // a gear of 2 makes four times the stiffness at the joint
                let share = if motor.id % 3 == 0 { 0.25 } else { 1.0 };
                let target = start + way * (motor.hold_rad - start);
                self.command(motor.id, target, 100.0 * share, 3.0 * share);
            }
            std::thread::sleep(Duration::from_millis(5));
            self.listen();
        }
    }
}

/// A bus with all joints, and a thread that holds the robot over it until the end.
pub(super) struct Held {
    pub(super) bus: String,
    end: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Held {
    pub(super) fn on(port: &Path) -> Self {
        let (end, path) = (Arc::<AtomicBool>::default(), port.to_path_buf());
        let seen = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            let (mut master, motors) = (Master::open(&path), motors(&LEGS));
            master.begin(&motors);
            while !seen.load(Ordering::Relaxed) {
                master.hold(&motors, Duration::from_millis(100));
            }
            master.sent
        });
        Self { bus: bus("all", port, &LEGS, ""), end, thread }
    }

    /// Ends the thread. How many frames it has sent.
    pub(super) fn finish(self) -> usize {
        self.end.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

pub(super) fn daemon(scene: &Scene, buses: &[String], more: &[&str]) -> Process {
    let buses = format!("buses=[{}]", buses.join(", "));
    scene.daemon(&[&["--set", &buses, "--set", "ros2.mode=off"][..], more].concat())
}

fn counter(status: &StatusReading, name: &str) -> u64 {
    assert!(status.counters.iter().any(|c| c.name == name), "no counter {name}");
    status.counter(name)
}

fn assert_stands(state: &StateReading) {
    let height_m = state.truth_base_position_m[2];
    assert!((0.2..0.4).contains(&height_m), "the base is {height_m} m high");
    assert!(state.foot_contact.iter().all(|c| *c == 1), "{:?}", state.foot_contact);
}

#[test]
fn a_quadruped_stands_driven_over_two_buses_in_mit_mode() {
    let _one = serial();
    let scene = Scene::in_memory();
    let ports = [scene.path("front"), scene.path("rear")];
    let (front, rear) = LEGS.split_at(2);
    let buses = [bus("front", &ports[0], front, ""), bus("rear", &ports[1], rear, "")];
    let mut daemon = daemon(&scene, &buses, &BOTH);
    let mut masters = ports.each_ref().map(|port| Master::open(port));
    let observer = Observer::of(&scene);
    let motors = motors(front);
    let state = std::thread::scope(|scope| {
        for master in &mut masters {
            let motors = &motors;
            scope.spawn(move || {
                master.begin(motors);
                master.hold(motors, Duration::from_secs(4));
                for (motor, q) in motors.iter().zip(&master.q) {
                    let error = (q - motor.hold_rad).abs();
                    assert!(error < 0.3, "motor {} is {error} rad off", motor.id);
                }
            });
        }
        // while they hold it; a bus that is late for a tick leaves the command before it in force
        let fresh = Authority::Fresh.code();
        let state = observer.until("2 s of standing", |s| s.tick >= 2000 && s.authority == fresh);
        let load = |s: &StatusReading| counter(s, "bus_front_load_permille") > 0;
        observer.status_until("a second of the bus", load);
        state
    });
    assert_stands(&state);
    assert_eq!(state.authority, Authority::Fresh.code());
    let status = observer.status();
    let names: Vec<&str> = status.controllers.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["bus.front", "bus.rear"]);
    for name in ["bus_front_frames", "bus_rear_frames", "bus_rear_commands"] {
        assert!(counter(&status, name) > 0, "{name}");
    }
    for name in ["bus_front_frames_lost", "bus_front_bus_off", "bus_front_nodes_bus_off"] {
        assert_eq!(counter(&status, name), 0, "{name}");
    }
    for master in &masters {
        // what is still on its way at the end is not read
        let (sent, heard) = (master.sent, master.heard);
        assert!(heard > 600 && 10 * heard > 9 * sent, "{heard} answers to {sent} frames");
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let log = Log::read(&scene.log());
    let held: Vec<_> = log.states.iter().skip(1000).take(2000).collect();
    let fresh = held.iter().filter(|s| s.authority == Authority::Fresh.code()).count();
    assert!(2 * fresh > held.len(), "the buses answered {fresh} of {} ticks", held.len());
    assert!(log.states.iter().skip(3500).all(|s| s.truth_base_position_m[2] > 0.2), "it fell");
    scene.replays();
}

/// Runs a master that others wrote, from `masters`; false if its package is missing.
fn run_master(scene: &Scene, script: &str, ports: &[&Path]) -> bool {
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let script = repository(&format!("tests/it/daemon/masters/{script}"));
    // once the daemon answers, its ports are open
    Observer::of(scene);
    let mut command = Command::new(python);
    command.arg("-B").arg(&script).args(ports);
    let mut master = Process::start(scene.dir.path(), "master", command);
    let (status, out) = (master.wait(), master.out());
    print!("{out}");
    if status.code() == Some(77) && out.starts_with("SKIPPED: ") {
        return false;
    }
    assert!(status.success() && out.contains(": ok"), "{status}\n{out}{}", master.err());
    true
}

/// `[[buses]]` with drives of one kind for these legs.
pub(super) fn bus_of(name: &str, wire: &str, port: &Path, legs: &[&str], motor: &str) -> String {
    let all = bus(name, port, legs, "").replace("\"slcan\"", &format!("\"{wire}\""));
    let all = all.replace(", gear = 2, sign = -1, offset_rad = -1.0", "");
    all.replace("motor = \"mini-cheetah\"", motor)
}

#[test]
fn the_makers_moteus_master_stands_a_quadruped() {
    let _one = serial();
    let scene = Scene::in_memory();
    let port = scene.path("all");
    // a joint's 100 N·m/rad and 3 N·m·s/rad, and patience for a slow machine
    let moteus = "motor = \"moteus\", kp_nm_per_rev = 628.3, kd_nm_s_per_rev = 18.8, \
                  torque_max_nm = 40.0, timeout_s = 5.0";
    let mut daemon = daemon(&scene, &[bus_of("all", "fdcanusb", &port, &LEGS, moteus)], &[]);
    if run_master(&scene, "stand_moteus.py", &[&port]) {
        assert_stands(&Observer::of(&scene).state());
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// A master of Damiao's drives stands the robot over two buses with these adapters.
fn damiao_stands(wire: &str, script: &str) {
    let _one = serial();
    let scene = Scene::in_memory();
    let ports = [scene.path("front"), scene.path("rear")];
    let (front, rear) = LEGS.split_at(2);
    let damiao = "motor = \"damiao-4340\"";
    let buses = [
        bus_of("front", wire, &ports[0], front, damiao),
        bus_of("rear", wire, &ports[1], rear, damiao),
    ];
    let mut daemon = daemon(&scene, &buses, &BOTH);
    let stood = run_master(&scene, script, &[&ports[0], &ports[1]]);
    if stood {
        assert_stands(&Observer::of(&scene).state());
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    if stood {
        scene.replays();
    }
}

#[test]
fn an_independent_master_of_damiao_stands_a_quadruped_over_two_buses() {
    damiao_stands("slcan", "stand_damiao.py");
}

#[test]
fn a_master_of_damiaos_own_adapter_stands_a_quadruped_over_two_buses() {
    damiao_stands("damiao-usb", "stand_damiao_usb.py");
}

#[test]
fn a_master_of_go_m8010_stands_a_quadruped_over_one_serial_line() {
    let _one = serial();
    let scene = Scene::in_memory();
    let port = scene.path("all");
    let drives: Vec<String> = (0..12)
        .map(|n: usize| {
            let joint = format!("{}_{}_joint", LEGS[n / 3], PARTS[n % 3]);
            format!("{{ motor = \"go-m8010\", id = {n}, joint = \"{joint}\" }}")
        })
        .collect();
    let (at, drives) = (port.display(), drives.join(", "));
    let bus =
        format!("{{ name = \"all\", wire = \"rs485\", port = \"{at}\", drives = [{drives}] }}");
    let mut daemon = daemon(&scene, &[bus], &[]);
    if run_master(&scene, "stand_go_m8010.py", &[&port]) {
        assert_stands(&Observer::of(&scene).state());
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn an_independent_master_of_robstride_stands_a_quadruped_over_socketcand() {
    let _one = serial();
    let scene = Scene::in_memory();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let port = Path::new(&free);
    let robstride = "motor = \"robstride-02\"";
    let mut daemon = daemon(&scene, &[bus_of("all", "socketcand", port, &LEGS, robstride)], &[]);
    if run_master(&scene, "stand_robstride.py", &[port]) {
        assert_stands(&Observer::of(&scene).state());
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// Without a process of its own: the master is silent meanwhile, and watchdogs run.
fn inject(observer: &Observer, kind: &str, joint: &str) {
    let (kind, part, name) = (kind.into(), "joint".into(), joint.into());
    let fault = FaultRequest { kind, part, name, values: vec![1.0], ticks: 0 };
    observer.client.fault(&fault, PATIENCE).unwrap();
}

#[test]
fn faults_of_a_bus_reach_the_drives_and_their_counters() {
    let _one = serial();
    let scene = Scene::in_memory();
    let port = scene.path("all");
    let buses = [bus("all", &port, &LEGS, ", watchdog_ms = 500")];
    let mut daemon = daemon(&scene, &buses, &[]);
    let mut master = Master::open(&port);
    let observer = Observer::of(&scene);
    let motors = motors(&LEGS);
    master.begin(&motors);
    master.hold(&motors, Duration::from_millis(1500));
    // no command reaches the drive of the first thigh any more: its watchdog releases the motor
    inject(&observer, "bus_loss", "FL_thigh_joint");
    // and another one destroys what it sends
    inject(&observer, "bus_error", "RR_thigh_joint");
    master.hold(&motors, Duration::from_millis(1500));
    let state = Observer::of(&scene).state();
    let tau = |joint: usize| state.joints[joint].tau;
    assert_eq!(tau(1), 0.0, "FL_thigh_joint is released");
    assert!(tau(4).abs() > 0.05, "FR_thigh_joint holds: {} N·m", tau(4));
    let status = observer.status_until("counters", |s| s.counter("bus_all_bus_off") > 0);
    assert!(counter(&status, "bus_all_frames_lost") > 100);
    assert!(counter(&status, "bus_all_frames_destroyed") > 16);
    scene.ctl(&["clear"], 0);
    master.begin(&motors);
    master.hold(&motors, Duration::from_millis(1500));
    let state = Observer::of(&scene).state();
    assert!(state.joints[1].tau.abs() > 0.05, "it holds again: {}", state.joints[1].tau);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// Noise with words of each wire in it.
#[test]
fn random_bytes_of_a_master_harm_nothing() {
    let _one = serial();
    let scene = Scene::in_memory();
    let rs485 = "motor = \"go-m8010\"";
    let moteus = "motor = \"moteus\"";
    let cyber = "motor = \"cybergear\"";
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let ports = ["FL", "FR", "RL"].map(|leg| scene.path(leg));
    let buses = [
        bus_of("FL", "rs485", &ports[0], &["FL"], rs485),
        bus_of("FR", "fdcanusb", &ports[1], &["FR"], moteus),
        bus_of("RL", "slcan", &ports[2], &["RL"], cyber),
        bus_of("RR", "socketcand", Path::new(&tcp), &["RR"], "motor = \"odrive\""),
    ];
    let mut daemon = daemon(&scene, &buses, &["--set", "sim.start=\"now\""]);
    let observer = Observer::of(&scene);
    let memory_kib = daemon.resident_kib();
    let mut dice = Dice(26);
    let words: [&[u8]; 7] = [
        b"\ncan send 8001 0102\n",
        b"\rt00180102030405060708\r",
        b"\rT0000000380102030405060708\r",
        b"< open can0 >< rawmode >",
        b"< send 1 8 1 2 3 4 5 6 7 8 >",
        b"\xfe\xee\x01",
        b"tFFF9",
    ];
    let mut ends = ports.each_ref().map(|port| Master::open(port).port);
    let mut stream = TcpStream::connect(&tcp).unwrap();
    stream.set_nonblocking(true).unwrap();
    let mut unread = [0; 65536];
    for _ in 0..2000 {
        let noise: Vec<u8> = (0..dice.roll(300)).map(|_| dice.roll(256) as u8).collect();
        let word = words[dice.roll(words.len() as u64) as usize];
        let bytes = [&noise, word, &noise].concat();
        for end in &mut ends {
            let _when_there_is_room = end.write(&bytes).is_ok();
            let _some = end.read(&mut unread).is_ok();
        }
        let _when_there_is_room = stream.write(&bytes).is_ok();
        let _some = stream.read(&mut unread).is_ok();
    }
    let status = observer.status_until("frames in the noise", |s| s.counter("bus_FR_frames") > 0);
    counter(&status, "bus_FL_dropped");
    let grown_kib = daemon.resident_kib() - memory_kib;
    assert!(grown_kib < 32 * 1024, "{grown_kib} KiB more");
    assert!(observer.state().tick > 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn a_bus_in_lockstep_or_with_a_file_in_its_place_is_refused() {
    let scene = Scene::new();
    let port = scene.path("all");
    let buses = [bus("all", &port, &LEGS, "")];
    let said = daemon(&scene, &buses, &["--mode", "lockstep"]).ends_with(2);
    assert!(said.contains("control.mode \"realtime\""), "{said}");
    std::fs::write(&port, "mine").unwrap();
    let said = daemon(&scene, &buses, &[]).ends_with(2);
    assert!(said.contains("no symbolic link"), "{said}");
    assert_eq!(std::fs::read(&port).unwrap(), b"mine");
}

/// ADM-1 on a motor bus: a master that sends as fast as the port takes it, for joints that another
/// controller has, costs that one at most one command in 50.
#[test]
fn a_flood_on_a_bus_costs_the_owner_one_command_in_fifty_at_most() {
    let _one = serial();
    let scene = Scene::in_memory();
    let port = scene.path("all");
    // the flood takes the controller's cores too
    let hold = ["--set", "command.hold_ticks=500"];
    let mut daemon = daemon(&scene, &[bus("all", &port, &LEGS, "")], &hold);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    let owned = observer.until("it stands", |s| s.tick >= 1000 && s.authority == 1);
    let end = Arc::<AtomicBool>::default();
    let seen = Arc::clone(&end);
    let flood = std::thread::spawn(move || {
        let mut master = Master::open(&port);
        let motors = motors(&LEGS);
        master.begin(&motors);
        while !seen.load(Ordering::Relaxed) {
            motors.iter().for_each(|motor| master.command(motor.id, 0.0, 400.0, 4.0));
            master.listen();
        }
        master.sent
    });
    let from = observer.until("the flood", |s| s.tick >= owned.tick + 200).tick;
    let after = observer.until("two seconds", |s| s.tick >= from + 2000);
    end.store(true, Ordering::Relaxed);
    let sent = flood.join().unwrap();
    assert_eq!(after.command_session, owned.command_session, "the bus has the robot");
    let refused = observer.status().counter("bus_all_joins_refused");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let (accepted, of_owner) = kept(&Log::read(&scene.log()), owned.command_session, from);
    println!("{sent} frames, {refused} joins; the owner kept {accepted} of {of_owner}");
    assert!(sent > 1000 && refused > 0, "{sent} frames and {refused} joins are no flood");
    assert!(accepted * 50 >= of_owner * 49, "{accepted} of {of_owner} commands");
    assert!(of_owner > 200, "{of_owner} commands: the owner hardly sent any");
    assert_stands(&after);
    scene.replays();
}
