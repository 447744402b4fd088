//! Lockstep over zenoh compared with a bare ping-pong of the same payloads, alternating in one run:
//!
//! ```text
//! cargo bench --bench lockstep                      60 turns of 250 exchanges each
//! cargo bench --bench lockstep -- --turns 200 --exchanges 500
//! ```
//!
//! Lockstep is `hardstand run --mode lockstep --pace free` with the quadruped and no log, and a
//! controller in this process that answers every state. The ping-pong has a second process that
//! receives as many bytes as a command has and sends as many as a state has, and this process,
//! which does the reverse: zenoh with the daemon's settings and nothing else. All processes run all
//! the time, and the turns are short, because the speed of the machine varies. Each turn gives a
//! ratio; the result is the median. `cargo test --benches` runs a moment of each.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hardstand_client::{Client, JoinedController};
use hardstand_protocol::JointCommand;
use hardstand_protocol::{JoinRequest, JointDescription};
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

/// A state of the quadruped, and a command for all of its joints.
const STATE_BYTES: usize = 620;
const COMMAND_BYTES: usize = 536;
const PATIENCE: Duration = Duration::from_secs(20);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--pong") {
        return pong(&arguments[at + 1]);
    }
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|a| a == name);
        at.and_then(|i| arguments.get(i + 1)?.parse().ok()).unwrap_or(default)
    };
    // cargo passes --bench to benchmarks, but not when it runs them as tests
    let moment = !arguments.iter().any(|a| a == "--bench");
    let turns = if moment { 2 } else { number("--turns", 60) };
    let exchanges = if moment { 50 } else { number("--exchanges", 250) };
    let dir = std::env::temp_dir().join(format!("hardstand-lockstep-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let socket = |name: &str| format!("unixsock-stream/{}", dir.join(name).display());
    let tcp = || format!("tcp/127.0.0.1:{}", port());
    for (name, ends) in [("tcp", [tcp(), tcp()]), ("unix", [socket("a.sock"), socket("b.sock")])] {
        let (bare, mut ours) = (Bare::start(&ends[0]), Lockstep::start(&ends[1]));
        bare.exchange(exchanges);
        ours.exchange(exchanges);
        let mut seen = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..turns {
            let (a, b) = (bare.exchange(exchanges), ours.exchange(exchanges));
            for (list, value) in seen.iter_mut().zip([a, b, b / a]) {
                list.push(value);
            }
        }
        let [[_, bare, _], [_, ours, _], [low, ratio, high]] = seen.map(|list| quartiles(&list));
        println!("\n{name}: {turns} turns of {exchanges} exchanges");
        println!("ping-pong {bare:8.0} /s, lockstep {ours:8.0} /s (medians)");
        println!("ratio     {ratio:8.2}, half of the turns between {low:.2} and {high:.2}");
    }
    let _left_over = std::fs::remove_dir_all(&dir).is_ok();
}

fn quartiles(list: &[f64]) -> [f64; 3] {
    let mut list = list.to_vec();
    list.sort_by(f64::total_cmp);
    [1, 2, 3].map(|n| list[(list.len() - 1) * n / 4])
}

/// A free port of the loopback interface.
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

fn per_second(exchanges: u64, mut exchange: impl FnMut()) -> f64 {
    let begin = Instant::now();
    for _ in 0..exchanges {
        exchange();
    }
    exchanges as f64 / begin.elapsed().as_secs_f64()
}

/// A daemon in lockstep and a controller.
struct Lockstep {
    controller: JoinedController,
    joints: Vec<JointCommand>,
    _daemon: Running,
}

impl Lockstep {
    fn start(endpoint: &str) -> Self {
        let root = env!("CARGO_MANIFEST_DIR");
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
        command
            .args(["run", &format!("{root}/config/quadruped.toml")])
            .args(["--mode", "lockstep", "--pace", "free"])
            .args(["--set", &format!("bus.listen=[{endpoint:?}]")])
            .args(["--set", "ros2.mode=\"off\""])
            .stdout(Stdio::null());
        let daemon = Running(command.spawn().unwrap());
        let client = Client::connect(endpoint, "quadruped").unwrap();
        let model = client.model(PATIENCE).unwrap();
        let hold = |j: &JointDescription| JointCommand {
            q: j.q_initial,
            kp: 100.0,
            kd: 3.0,
            ..Default::default()
        };
        let request = JoinRequest::new(&model, "bench");
        let joints = model.joints.iter().map(hold).collect();
        let controller = client.join(request, PATIENCE).unwrap();
        Self { controller, joints, _daemon: daemon }
    }

    fn exchange(&mut self, exchanges: u64) -> f64 {
        per_second(exchanges, || {
            let state = self.controller.next_state(PATIENCE).unwrap().expect("a state");
            self.controller.answer(&state, &self.joints).unwrap();
        })
    }
}

/// The same exchange without a simulation.
struct Bare {
    wire: Wire,
    _pong: Running,
}

impl Bare {
    fn start(endpoint: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let pong = Running(command.args(["--pong", endpoint]).spawn().unwrap());
        let wire = Wire::open(endpoint, false, ["bench/command", "bench/state"]);
        // the other process may not be ready yet
        while wire.take(Duration::from_millis(50)).is_none() {
            wire.put(&[0; COMMAND_BYTES]);
        }
        while wire.take(Duration::from_millis(200)).is_some() {}
        Self { wire, _pong: pong }
    }

    fn exchange(&self, exchanges: u64) -> f64 {
        per_second(exchanges, || {
            self.wire.put(&[7; COMMAND_BYTES]);
            assert!(self.wire.take(PATIENCE).is_some(), "it does not answer");
        })
    }
}

/// The other process: listens, as a daemon does, and answers every message.
fn pong(endpoint: &str) {
    let wire = Wire::open(endpoint, true, ["bench/state", "bench/command"]);
    while wire.take(PATIENCE).is_some() {
        wire.put(&[7; STATE_BYTES]);
    }
}

/// A session with the settings of the daemon or of its clients, a key to publish and one to read.
struct Wire {
    publisher: Publisher<'static>,
    subscriber: Subscriber<FifoChannelHandler<Sample>>,
    _session: Session,
}

impl Wire {
    fn open(endpoint: &str, listens: bool, [put, hear]: [&'static str; 2]) -> Self {
        let session = open(endpoint, listens);
        let publisher = session
            .declare_publisher(put)
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::RealTime)
            .express(true);
        let subscriber = session.declare_subscriber(hear).with(FifoChannel::new(256));
        Self {
            publisher: publisher.wait().unwrap(),
            subscriber: subscriber.wait().unwrap(),
            _session: session,
        }
    }

    fn put(&self, bytes: &[u8]) {
        self.publisher.put(bytes).wait().unwrap();
    }

    fn take(&self, patience: Duration) -> Option<Sample> {
        self.subscriber.recv_timeout(patience).unwrap()
    }
}

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
