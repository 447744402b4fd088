//! What each way between a controller and the loop costs, in one run:
//!
//! ```text
//! cargo bench --bench ways
//! cargo bench --bench ways -- --rounds 50 --exchanges 2000 --seconds 30
//! ```
//!
//! - Lockstep at free pace: the time from one state to the next as the controller sees it. It holds
//!   the command's way to the loop, the tick, and the state's way back. The ways take turns, each with
//!   a daemon of its own, whose first exchanges are not counted.
//! - Real time at 1 kHz: the age of the commands in the ticks that they came into force, as the
//!   daemon counts it (`applied_age_ticks`).
//!
//! The peer of the shared memory reads and writes the file by system calls, which costs more than
//! to map it. `cargo test --benches` runs a moment of each.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout)]

use std::fs::{File, OpenOptions};
use std::net::UdpSocket;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hardstand_client::{Client, JoinedController};
use hardstand_port::packet::{PacketCommand, encode_command};
use hardstand_protocol::{JoinRequest, JointCommand, ModelReply, StatusReading};

const PATIENCE: Duration = Duration::from_secs(20);
const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];
const WARM_UP: usize = 300;
/// The peer of the shared memory looks for a state without a pause for so long, then with pauses.
const SPIN: Duration = Duration::from_micros(100);
const LOOK_AGAIN: Duration = Duration::from_micros(20);

#[derive(Clone, Copy, Debug)]
enum Way {
    Zenoh,
    Udp,
    SharedMemory,
}

const WAYS: [(&str, Way); 3] =
    [("zenoh, unix socket", Way::Zenoh), ("UDP", Way::Udp), ("shared memory", Way::SharedMemory)];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: usize| {
        let at = arguments.iter().position(|a| a == name);
        at.and_then(|i| arguments.get(i + 1)?.parse().ok()).unwrap_or(default)
    };
    // cargo passes --bench to benchmarks, but not when it runs them as tests
    let moment = !arguments.iter().any(|a| a == "--bench");
    let rounds = if moment { 1 } else { number("--rounds", 30) };
    let exchanges = if moment { 50 } else { number("--exchanges", 1000) };
    let seconds = if moment { 1 } else { number("--seconds", 20) };

    println!("load average {}", std::fs::read_to_string("/proc/loadavg").unwrap().trim());
    println!("lockstep, free pace: from state to state, µs; {rounds} rounds of {exchanges}");
    let mut times_ns = WAYS.map(|_| Vec::new());
    let mut quietest_ns = WAYS.map(|_| u64::MAX);
    let mut tick_ns = WAYS.map(|_| 0);
    for round in 0..rounds {
        for (n, (_, way)) in WAYS.into_iter().enumerate() {
            let mut run = Run::start(way, &LOCKSTEP);
            (0..WARM_UP).for_each(|_| run.controller.exchange());
            let timed = |_| {
                let begin = Instant::now();
                run.controller.exchange();
                begin.elapsed().as_nanos() as u64
            };
            let mut round_ns: Vec<u64> = (0..exchanges).map(timed).collect();
            round_ns.sort_unstable();
            quietest_ns[n] = quietest_ns[n].min(percentile(&round_ns, 0.99));
            times_ns[n].extend(round_ns);
            if round + 1 == rounds {
                tick_ns[n] = run.late_status().tick_cost_ns.p50;
            }
        }
    }
    println!("| way | p50 | p99 | p99.9 | p99 of the quietest round | of it a tick, p50 |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (n, (name, _)) in WAYS.into_iter().enumerate() {
        times_ns[n].sort_unstable();
        let all = [0.5, 0.99, 0.999].map(|share| percentile(&times_ns[n], share));
        let [p50, p99, p999] = all.map(us);
        let (quietest, tick) = (us(quietest_ns[n]), us(tick_ns[n]));
        println!("| {name} | {p50:.1} | {p99:.1} | {p999:.1} | {quietest:.1} | {tick:.1} |");
    }

    println!("\nreal time, 1 kHz: age of commands when they apply, ticks; {seconds} s each");
    println!("| way | p50 | p99 | p99.9 | commands |\n| --- | ---: | ---: | ---: | ---: |");
    for (name, way) in WAYS {
        let mut run = Run::start(way, &[]);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(seconds as u64) {
            run.controller.exchange();
        }
        let ages = run.late_status().applied_age_ticks;
        let commands: u64 = ages.counts.iter().sum();
        println!("| {name} | {} | {} | {} | {commands} |", ages.p50, ages.p99, ages.p99_9);
    }
}

/// Of sorted times.
fn percentile(sorted: &[u64], share: f64) -> u64 {
    sorted[(share * (sorted.len() - 1) as f64) as usize]
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// A daemon and its controller.
struct Run {
    controller: Box<dyn Exchange>,
    client: Client,
    daemon: Child,
    dir: PathBuf,
}

/// A controller that holds the robot.
trait Exchange {
    /// Waits for a state and answers it.
    fn exchange(&mut self);
}

impl Run {
    fn start(way: Way, more: &[&str]) -> Self {
        let dir = std::env::temp_dir().join(format!("hardstand-ways-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let endpoint = format!("unixsock-stream/{}", dir.join("z.sock").display());
        let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let memory = dir.join("robot");
        let root = env!("CARGO_MANIFEST_DIR");
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
        command
            .args(["run", &format!("{root}/config/quadruped.toml"), "--set", "ros2.mode=\"off\""])
            .args(["--set", &format!("bus.listen=[{endpoint:?}]")])
            .args(more)
            .stdout(Stdio::null());
        match way {
            Way::Zenoh => &mut command,
            Way::Udp => command.args(["--set", &format!("udp.listen={address}")]),
            Way::SharedMemory => {
                let path = format!("shared_memory.path={}", memory.display());
                command.args(["--set", &path])
            }
        };
        let daemon = command.spawn().unwrap();
        let client = Client::connect(&endpoint, "quadruped").unwrap();
        let model = client.model(PATIENCE).unwrap();
        let controller: Box<dyn Exchange> = match way {
            Way::Zenoh => Box::new(Zenoh::of(&endpoint, &model)),
            Way::Udp => Box::new(Udp::of(&address, &model)),
            Way::SharedMemory => Box::new(Memory::of(&memory, &model)),
        };
        Self { controller, client, daemon, dir }
    }

    /// The status is made once a second.
    fn late_status(&self) -> StatusReading {
        std::thread::sleep(Duration::from_millis(1200));
        self.client.status(PATIENCE).unwrap()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _gone = self.daemon.kill().is_ok();
        let _buried = self.daemon.wait().is_ok();
        let _left_over = std::fs::remove_dir_all(&self.dir).is_ok();
    }
}

struct Zenoh {
    controller: JoinedController,
    joints: Vec<JointCommand>,
}

impl Zenoh {
    fn of(endpoint: &str, model: &ModelReply) -> Self {
        let client = Client::connect(endpoint, "quadruped").unwrap();
        let request = JoinRequest::new(model, "bench");
        Self { controller: client.join(request, PATIENCE).unwrap(), joints: model.hold() }
    }
}

impl Exchange for Zenoh {
    fn exchange(&mut self) {
        let state = self.controller.next_state(PATIENCE).unwrap().expect("a state");
        self.controller.answer(&state, &self.joints).unwrap();
    }
}

/// Packets of commands that answer packets of states.
struct Answers {
    command: PacketCommand,
    bytes: Vec<u8>,
}

impl Answers {
    fn of(model: &ModelReply) -> Self {
        let command = PacketCommand {
            run_id: model.run_id,
            layout_hash: model.layout_hash,
            sequence: 0,
            tick: 0,
            joints: model.hold(),
        };
        Self { command, bytes: Vec::new() }
    }

    fn answer(&mut self, state: &[u8]) -> &[u8] {
        self.command.tick = u64::from_le_bytes(state[32..40].try_into().unwrap());
        self.command.sequence += 1;
        encode_command(&self.command, &mut self.bytes);
        &self.bytes
    }
}

struct Udp {
    socket: UdpSocket,
    answers: Answers,
    state: Vec<u8>,
}

impl Udp {
    fn of(address: &str, model: &ModelReply) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(address).unwrap();
        let mut hello = Answers::of(model);
        hello.command.joints.clear();
        socket.send(hello.answer(&[0; 40])).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { socket, answers: Answers::of(model), state: vec![0; 16384] }
    }
}

impl Exchange for Udp {
    fn exchange(&mut self) {
        self.socket.recv(&mut self.state).unwrap();
        self.socket.send(self.answers.answer(&self.state)).unwrap();
    }
}

struct Memory {
    file: File,
    /// Offsets of the packets.
    places: [u64; 2],
    state: Vec<u8>,
    answers: Answers,
    seen: u64,
    counter: u64,
}

impl Memory {
    fn of(path: &Path, model: &ModelReply) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let [state, size, command] = [1, 2, 3].map(|n| word(&file, n));
        let counter = word(&file, 16);
        let (places, state) = ([state, command], vec![0; size as usize]);
        Self { file, places, state, answers: Answers::of(model), seen: 0, counter }
    }
}

impl Exchange for Memory {
    fn exchange(&mut self) {
        let begin = Instant::now();
        loop {
            let counter = word(&self.file, 8);
            if counter != self.seen && counter.is_multiple_of(2) {
                self.file.read_exact_at(&mut self.state, self.places[0]).unwrap();
                if word(&self.file, 8) == counter {
                    self.seen = counter;
                    break;
                }
            }
            let waited = begin.elapsed();
            assert!(waited < PATIENCE, "no state");
            if waited > SPIN {
                std::thread::sleep(LOOK_AGAIN);
            }
        }
        let packet = self.answers.answer(&self.state);
        let set = |n: u64| self.file.write_all_at(&n.to_le_bytes(), 8 * 16).unwrap();
        set(self.counter + 1);
        self.file.write_all_at(packet, self.places[1]).unwrap();
        self.counter += 2;
        set(self.counter);
    }
}

fn word(file: &File, n: u64) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, 8 * n).unwrap();
    u64::from_le_bytes(bytes)
}
