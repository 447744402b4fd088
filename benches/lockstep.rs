//! Lockstep over zenoh against a bare ping-pong of the same payloads, taking turns in one run:
//!
//! ```text
//! cargo bench --bench lockstep                      5 rounds of 5000 exchanges each
//! cargo bench --bench lockstep -- --rounds 9 --exchanges 20000
//! ```
//!
//! Lockstep is `hardstand run --mode lockstep --pace free` with the quadruped and no log, and a
//! controller in this process that answers every state. The ping-pong is a process that puts as
//! many bytes as a state has and waits for as many as a command has, and this one, which puts them as
//! soon as the others have come: zenoh with the daemon's settings and nothing else. The ratios are
//! those of neighbours, and their median counts. `cargo test --benches` runs a moment of each.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hardstand::bus::Client;
use hardstand::message::JoinRequest;
use hardstand::plant::JointCommand;
use zenoh::handlers::FifoChannel;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::{Session, Wait};

/// A state of the quadruped, and a command for all of its joints.
const STATE_BYTES: usize = 596;
const COMMAND_BYTES: usize = 536;
const PATIENCE: Duration = Duration::from_secs(20);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--ping") {
        return ping(&arguments[at + 1], arguments[at + 2].parse().unwrap());
    }
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|a| a == name);
        at.and_then(|i| arguments.get(i + 1)?.parse().ok()).unwrap_or(default)
    };
    // cargo passes --bench to benchmarks, but not when it runs them as tests
    let moment = !arguments.iter().any(|a| a == "--bench");
    let rounds = if moment { 1 } else { number("--rounds", 5) };
    let exchanges = if moment { 200 } else { number("--exchanges", 5000) };
    let dir = std::env::temp_dir().join(format!("hardstand-lockstep-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let socket = format!("unixsock-stream/{}", dir.join("s.sock").display());
    for (name, endpoint) in [("tcp", format!("tcp/127.0.0.1:{}", port())), ("unix", socket)] {
        println!("\n{name}: {rounds} rounds of {exchanges} exchanges");
        let mut ratios = Vec::new();
        for _ in 0..rounds {
            let (bare, ours) = (ping_pong(&endpoint, exchanges), lockstep(&endpoint, exchanges));
            println!("ping-pong {bare:8.0} /s   lockstep {ours:8.0} /s   {:.2}", ours / bare);
            ratios.push(ours / bare);
        }
        ratios.sort_by(f64::total_cmp);
        println!("median {:.2}", ratios[ratios.len() / 2]);
    }
    let _left_over = std::fs::remove_dir_all(&dir).is_ok();
}

/// A port of the loopback that is free now.
fn port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.0.kill().is_ok();
        let _buried = self.0.wait().is_ok();
    }
}

/// Exchanges a second between a daemon in lockstep and a controller.
fn lockstep(endpoint: &str, exchanges: u64) -> f64 {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command
        .args(["run", &format!("{root}/config/quadruped.toml")])
        .args(["--mode", "lockstep", "--pace", "free"])
        .args(["--set", &format!("bus.listen=[{endpoint:?}]")])
        .args(["--set", "ros2.mode=\"off\""])
        .stdout(Stdio::null());
    let _daemon = Running(command.spawn().unwrap());
    let client = Client::connect(endpoint, "quadruped").unwrap();
    let model = client.model(PATIENCE).unwrap();
    let hold = |j: &hardstand::message::JointDescription| JointCommand {
        q: j.q_initial,
        kp: 100.0,
        kd: 3.0,
        ..Default::default()
    };
    let joints: Vec<JointCommand> = model.joints.iter().map(hold).collect();
    let request = JoinRequest {
        layout_hash: model.layout_hash,
        period_ticks: 1,
        controller: "bench".into(),
        units: "SI".into(),
        joints: model.joints.iter().map(|j| j.name.clone()).collect(),
        ..Default::default()
    };
    let mut controller = client.join(request, PATIENCE).unwrap();
    let mut begin = Instant::now();
    for exchange in 0..exchanges + exchanges / 10 {
        if exchange == exchanges / 10 {
            begin = Instant::now();
        }
        let state = controller.next_state(PATIENCE).unwrap().expect("a state");
        controller.answer(&state, &joints).unwrap();
    }
    exchanges as f64 / begin.elapsed().as_secs_f64()
}

/// Exchanges a second without anything to simulate.
fn ping_pong(endpoint: &str, exchanges: u64) -> f64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ping", endpoint, &exchanges.to_string()]).stdout(Stdio::piped());
    let mut ping = Running(command.spawn().unwrap());
    let session = open(endpoint, false);
    let pong = session
        .declare_publisher("bench/pong")
        .congestion_control(CongestionControl::Drop)
        .priority(Priority::RealTime)
        .express(true)
        .wait()
        .unwrap();
    let command = [7_u8; COMMAND_BYTES];
    let subscriber = session.declare_subscriber("bench/ping").with(FifoChannel::new(256));
    let subscriber = subscriber.wait().unwrap();
    let mut said = BufReader::new(ping.0.stdout.take().unwrap()).lines();
    let waited = std::thread::spawn(move || said.next().unwrap().unwrap());
    while !waited.is_finished() {
        if let Ok(Some(_state)) = subscriber.recv_timeout(Duration::from_millis(20)) {
            pong.put(command.as_slice()).wait().unwrap();
        }
    }
    waited.join().unwrap().parse().unwrap()
}

/// The other side: as a daemon it listens, and waits for an answer to everything that it puts.
fn ping(endpoint: &str, exchanges: u64) {
    let session = open(endpoint, true);
    let ping = session
        .declare_publisher("bench/ping")
        .congestion_control(CongestionControl::Drop)
        .priority(Priority::RealTime)
        .express(true)
        .wait()
        .unwrap();
    let subscriber = session.declare_subscriber("bench/pong").with(FifoChannel::new(256));
    let subscriber = subscriber.wait().unwrap();
    let state = [7_u8; STATE_BYTES];
    let mut begin = Instant::now();
    let (mut done, all) = (0, exchanges + exchanges / 10);
    while done < all {
        ping.put(state.as_slice()).wait().unwrap();
        // at first nobody is there
        if subscriber.recv_timeout(Duration::from_millis(50)).unwrap().is_some() {
            done += 1;
        }
        if done == exchanges / 10 {
            begin = Instant::now();
        }
    }
    println!("{}", exchanges as f64 / begin.elapsed().as_secs_f64());
}

/// A session with the settings of the daemon, or of its clients.
fn open(endpoint: &str, listens: bool) -> Session {
    let mut config = zenoh::Config::default();
    let ends = format!("[{endpoint:?}]");
    let (listen, connect) = if listens { (ends.as_str(), "[]") } else { ("[]", ends.as_str()) };
    for (key, value) in [
        ("mode", "\"peer\""),
        ("listen/endpoints", listen),
        ("connect/endpoints", connect),
        ("connect/timeout_ms", "-1"),
        ("connect/exit_on_failure", "false"),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
        ("transport/link/tx/queue/congestion_control/drop/wait_before_drop", "100"),
    ] {
        config.insert_json5(key, value).unwrap();
    }
    zenoh::open(config).wait().unwrap()
}
