//! Well-formed messages with bad intent: floods, patterns of keys, other people's sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hardstand_client::JoinedController;
use hardstand_client::session::open_client;
use hardstand_protocol::{
    ClaimedCommand, ControlRequest, JoinRequest, JointCommand, LeaveRequest, LogTick, Order,
    OrderHead, OrderReply, StateReading, Verdict, controller_number, decode, encode_command,
    encode_order, random_number,
};
use rustix::process::Signal;
use serde::Serialize;
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

use crate::common::process::{Log, Observer, PATIENCE, Process, Scene, serial};

const CMD: &str = "hardstand/quadruped/cmd";

fn key(order: Order) -> String {
    format!("hardstand/quadruped/{}", order.name())
}

fn order(order: Order, run_id: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let head = OrderHead::new("quadruped", run_id, "intruder");
    encode_order(order, &head, &ControlRequest { number: 1, rewind: 0 }, &mut bytes).unwrap();
    bytes
}

/// The flood takes the controller's cores too.
const HELD_LONG: &str = "command.hold_ticks=500";

/// Threads that send commands of sessions of their own as fast as they can.
struct Flood {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Flood {
    /// `sessions` sessions on `links` connections.
    fn start(scene: &Scene, observer: &Observer, sessions: u64, links: usize) -> Self {
        let (stop, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        // one subscription for all: states for 55 would take the cores
        let newest = Arc::<AtomicU64>::default();
        let states = observer.client.control(&observer.model).unwrap();
        let (shown, ended) = (Arc::clone(&newest), Arc::clone(&stop));
        let follow = move || {
            while !ended.load(Ordering::Relaxed) {
                if let Some(state) = states.next_state(Duration::from_millis(10)).unwrap() {
                    shown.store(state.tick, Ordering::Relaxed);
                }
            }
        };
        let spawn = |link: usize| {
            let session = open_client(&scene.endpoint).unwrap();
            let (stop, sent, newest) = (Arc::clone(&stop), Arc::clone(&sent), Arc::clone(&newest));
            let mut claim = ClaimedCommand {
                layout_hash: observer.model.layout_hash,
                run_id: 1,
                joints: vec![JointCommand::default(); observer.model.joints.len()],
                ..Default::default()
            };
            std::thread::spawn(move || {
                let publisher = session.declare_publisher(CMD);
                let publisher =
                    publisher.congestion_control(CongestionControl::Block).wait().unwrap();
                let mut bytes = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    claim.answers_tick = newest.load(Ordering::Relaxed);
                    for n in 0..64 {
                        claim.session = 1000 + link as u64 + n % sessions;
                        claim.seq += 1;
                        encode_command(&claim, &mut bytes).unwrap();
                        publisher.put(bytes.as_slice()).wait().unwrap();
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        };
        let mut threads: Vec<_> = (0..links).map(spawn).collect();
        threads.push(std::thread::spawn(follow));
        Self { stop, sent, threads }
    }

    fn finish(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|t| t.join().unwrap());
        self.sent.load(Ordering::Relaxed)
    }
}

/// Commands of the owner from the tick `from` on: how many took effect, and how many it sent.
pub fn kept(log: &Log, owner: u64, from: u64) -> (u64, u64) {
    let of_owner = |t: &LogTick| -> Vec<(u64, Verdict)> {
        let own = t.candidates.iter().filter(|c| c.session == owner);
        own.map(|c| (c.seq, c.verdict)).collect()
    };
    let all: Vec<_> = log.ticks.iter().filter(|t| t.tick >= from).flat_map(of_owner).collect();
    let accepted = all.iter().filter(|(_, v)| *v == Verdict::Accepted).count() as u64;
    let seqs = all.iter().map(|(seq, _)| *seq);
    (accepted, seqs.clone().max().unwrap_or(0) + 1 - seqs.min().unwrap_or(1))
}

/// A flood costs the owner at most one command in 50, and never the robot.
fn flooded(sessions: u64, links: usize, set: &str) {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", set]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    let owned = observer.until("it stands", |s| s.tick >= 1000 && s.authority == 1);
    let flood = Flood::start(&scene, &observer, sessions, links);
    let from = observer.until("the flood", |s| s.tick >= owned.tick + 200).tick;
    let after = observer.until("two seconds", |s| s.tick >= from + 2000);
    let sent = flood.finish();
    daemon.signal(Signal::TERM);
    let out = daemon.ends_with(0);
    let log = Log::read(&scene.log());
    let (accepted, of_owner) = kept(&log, owned.command_session, from);
    let own = log.ticks.iter().filter(|t| t.tick >= from).flat_map(|t| {
        let of_owner = t.candidates.iter().filter(|c| c.session == owned.command_session);
        of_owner.map(|c| (t.tick, c.verdict))
    });
    let own: Vec<_> = own.collect();
    println!(
        "{sent} commands in the flood; the owner kept {accepted} of {of_owner}, refused: {:?}, \
         longest gap {:?} ticks",
        own.iter().find(|(_, verdict)| *verdict != Verdict::Accepted),
        own.windows(2).map(|pair| pair[1].0 - pair[0].0).max(),
    );
    assert_eq!(after.command_session, owned.command_session, "another session has the robot");
    let height = after.truth_base_position_m[2];
    assert!((height - owned.truth_base_position_m[2]).abs() < 0.02, "{height} m");
    assert!(accepted * 50 >= of_owner * 49, "{accepted} of {of_owner} commands: {out}");
    assert!(of_owner > 200, "{of_owner} commands: the owner hardly sent any");
    scene.replays();
}

#[test]
fn a_flood_from_one_session_costs_the_owner_one_command_in_fifty_at_most() {
    flooded(1, 1, HELD_LONG);
}

#[test]
#[ignore = "the flood needs the cores: cargo test --test it a_flood_from -- --ignored --nocapture"]
fn a_flood_from_four_sessions_costs_the_owner_one_command_in_fifty_at_most() {
    flooded(4, 2, HELD_LONG);
}

#[test]
#[ignore = "the flood needs the cores: cargo test --test it a_flood_from -- --ignored --nocapture"]
fn a_flood_from_sixty_sessions_costs_the_owner_one_command_in_fifty_at_most() {
    flooded(60, 4, HELD_LONG);
}

/// Each with its link, and with the time that a command is held by default.
#[test]
#[ignore = "the flood needs the cores: cargo test --test it a_flood_from -- --ignored --nocapture"]
fn a_flood_from_55_links_costs_the_owner_one_command_in_fifty_at_most() {
    flooded(1, 55, "bus.sessions_max=64");
}

/// Tools that look what there is change nothing, with a payload or without.
#[test]
fn queries_and_puts_of_patterns_change_nothing() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    let session = open_client(&scene.endpoint).unwrap();
    let patterns =
        ["**", "hardstand/**", "hardstand/*/*", "hardstand/quadruped/s$*", "hardstand/*/stop"];
    for pattern in patterns {
        for payload in [None, Some(order(Order::Stop, 0)), Some(order(Order::Pause, 1))] {
            let query = session.get(pattern).timeout(Duration::from_secs(2));
            let query = match &payload {
                Some(payload) => query.payload(payload.clone()),
                None => query,
            };
            let answers = query.wait().unwrap().iter().count();
            assert!(pattern.contains("stop") || answers > 0, "{pattern}: nobody answers");
        }
    }
    let mut bytes = Vec::new();
    let joints = vec![JointCommand::default(); observer.model.joints.len()];
    for seq in 1..50 {
        let claim = ClaimedCommand {
            layout_hash: observer.model.layout_hash,
            run_id: 1,
            session: 77,
            seq,
            answers_tick: observer.state().tick,
            applies_tick: 0,
            joints: joints.clone(),
        };
        encode_command(&claim, &mut bytes).unwrap();
        session.put("hardstand/*/cmd", bytes.as_slice()).wait().unwrap();
    }
    let tick = observer.state().tick;
    let status = observer.status_until("half a second", |s| s.tick >= tick + 500);
    let counts = ["orders_received", "commands_received"].map(|name| status.counter(name));
    assert_eq!(counts, [0, 0]);
    assert_eq!((status.run_id, status.phase, status.command_session), (1, 1, 0));
    // an order without a payload is refused, and says what is missing
    let query = session.get(key(Order::Pause)).timeout(PATIENCE).wait().unwrap();
    let sample = query.recv().unwrap().into_result().unwrap();
    let kind = hardstand_protocol::Kind::OrderReply;
    let reply: OrderReply = decode(kind, &sample.payload().to_bytes()).unwrap();
    assert!(reply.verdict == 1 && reply.reason.contains("robot, run_id, nonce"), "{reply:?}");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// The same order twice is executed once, and answered twice.
#[test]
fn an_order_that_comes_again_is_executed_once() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    let events = observer.client.events().unwrap();
    observer.client.steer(Order::Pause, &ControlRequest::default(), PATIENCE).unwrap();
    let paused = observer.until("a pause", |s| s.phase == 3).tick;
    let session = open_client(&scene.endpoint).unwrap();
    let step = order(Order::Step, 1);
    let replies: Vec<OrderReply> = (0..3)
        .map(|_| {
            let query = session.get(key(Order::Step)).payload(step.clone()).timeout(PATIENCE);
            let sample = query.wait().unwrap().recv().unwrap().into_result().unwrap();
            let kind = hardstand_protocol::Kind::OrderReply;
            decode(kind, &sample.payload().to_bytes()).unwrap()
        })
        .collect();
    assert!(replies.iter().all(|r| (r.verdict, r.tick) == (0, paused + 1)), "{replies:?}");
    observer.status_until("one step", |s| (s.phase, s.tick) == (3, paused + 1));
    let mut ordered = Vec::new();
    while let Some(event) = events.next(Duration::from_millis(300)).unwrap() {
        ordered.push((event.kind, event.asker, event.text));
    }
    let steps = ordered.iter().filter(|(_, asker, _)| asker == "intruder").count();
    assert_eq!(steps, 1, "the event names the asker, once: {ordered:?}");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// A controller that has joined and stands, in a thread of its own.
struct Stander {
    end: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

fn joined(scene: &Scene, name: &str) -> (JoinedController, Vec<JointCommand>) {
    let client = scene.client();
    let model = client.model(PATIENCE).unwrap();
    let hold = |q: f64| JointCommand { q, kp: 100.0, kd: 3.0, ..Default::default() };
    let joints = model.joints.iter().map(|j| hold(j.q_initial)).collect();
    (client.join(JoinRequest::new(&model, name), PATIENCE).unwrap(), joints)
}

impl Stander {
    fn start(scene: &Scene, name: &str) -> Self {
        let (mut controller, joints) = joined(scene, name);
        let end = Arc::<AtomicBool>::default();
        let seen = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                if let Some(state) = controller.next_state(Duration::from_millis(20)).unwrap() {
                    controller.answer(&state, &joints).unwrap();
                }
            }
        });
        Self { end, thread }
    }

    fn finish(self) {
        self.end.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// A daemon whose robot stands, and the state in which its controller owned it.
fn standing(scene: &Scene) -> (Process, Observer, Stander, StateReading) {
    let daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(scene);
    let stander = Stander::start(scene, "legs");
    let owned = observer.until("it stands", |s| s.tick >= 500 && s.authority == 1);
    (daemon, observer, stander, owned)
}

/// The bytes of the answer to an order.
fn asked(session: &Session, order: Order, head: &OrderHead, body: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_order(order, head, body, &mut bytes).unwrap();
    let query = session.get(key(order)).payload(bytes).timeout(PATIENCE).wait().unwrap();
    query.recv().unwrap().into_result().unwrap().payload().to_bytes().into_owned()
}

fn refusal<T: Serialize>(scene: &Scene, order: Order, body: &T) -> String {
    let session = open_client(&scene.endpoint).unwrap();
    let bytes = asked(&session, order, &OrderHead::new("quadruped", 1, "intruder"), body);
    if order == Order::Join {
        let kind = hardstand_protocol::Kind::JoinReply;
        let reply: hardstand_protocol::JoinReply = decode(kind, &bytes).unwrap();
        assert_eq!(reply.verdict, 1);
        return reply.reason;
    }
    let reply: OrderReply = decode(hardstand_protocol::Kind::OrderReply, &bytes).unwrap();
    assert_eq!(reply.verdict, 1);
    reply.reason
}

/// What is published of a controller neither ends its lease, nor takes it, nor speaks for it.
#[test]
fn published_numbers_of_a_session_prove_nothing() {
    let _one = serial();
    let scene = Scene::new();
    let (mut daemon, observer, stander, owned) = standing(&scene);
    let public = owned.command_session;
    assert_eq!(public, controller_number("legs"));
    let status = observer.status_until("it is shown", |s| !s.controllers.is_empty());
    assert_eq!(status.controllers[0].session, public);

    let text = refusal(&scene, Order::Leave, &LeaveRequest { session: public });
    assert!(text.contains("not that of a controller that has joined"), "{text}");
    for session in [public, random_number()] {
        let request = JoinRequest { session, ..JoinRequest::new(&observer.model, "legs") };
        let text = refusal(&scene, Order::Join, &request);
        assert!(text.contains("has joined in another session"), "{text}");
    }
    // commands with the published number, and the last sequence number there is
    let session = open_client(&scene.endpoint).unwrap();
    let mut bytes = Vec::new();
    for _ in 0..100 {
        let state = observer.state();
        let claim = ClaimedCommand {
            layout_hash: observer.model.layout_hash,
            run_id: 1,
            session: public,
            seq: u64::MAX,
            answers_tick: state.tick,
            applies_tick: state.tick,
            joints: vec![JointCommand::default(); observer.model.joints.len()],
        };
        encode_command(&claim, &mut bytes).unwrap();
        session.put(CMD, bytes.as_slice()).wait().unwrap();
    }
    let stands = |s: &StateReading| s.command_session == public && matches!(s.authority, 1 | 2);
    let tick = observer.state().tick;
    let after = observer.until("half a second", |s| {
        assert!(stands(s), "{s:?}");
        s.tick >= tick + 500
    });
    assert!((after.truth_base_position_m[2] - owned.truth_base_position_m[2]).abs() < 0.02);
    stander.finish();
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// An order that has the nonce of another one is not answered as if it had come before.
#[test]
fn an_order_with_the_nonce_of_another_one_is_refused() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 10);
    let session = open_client(&scene.endpoint).unwrap();
    let ask = |order: Order, asker: &str, number: u64| {
        let head = OrderHead { nonce: 77, ..OrderHead::new("quadruped", 1, asker) };
        let bytes = asked(&session, order, &head, &ControlRequest { number, rewind: 0 });
        decode::<OrderReply>(hardstand_protocol::Kind::OrderReply, &bytes).unwrap()
    };
    let paused = ask(Order::Pause, "first", 0);
    assert_eq!(paused.verdict, 0);
    for (order, asker, number) in
        [(Order::Resume, "first", 0), (Order::Pause, "second", 0), (Order::Pause, "first", 1)]
    {
        let reply = ask(order, asker, number);
        assert_eq!(reply.verdict, 1, "{order:?} of {asker}");
        assert!(reply.reason.contains("nonce is 77"), "{}", reply.reason);
    }
    let again = ask(Order::Pause, "first", 0);
    assert_eq!((again.verdict, again.tick), (0, paused.tick), "the same one again");
    assert_eq!(observer.until("it is paused", |s| s.phase == 3).phase, 3);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// A stop is not remembered: a client that sends one number with all of its stops must be able to.
#[test]
fn a_stop_acts_again_with_a_nonce_that_is_known() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    let session = open_client(&scene.endpoint).unwrap();
    let head = OrderHead { nonce: 77, ..OrderHead::new("quadruped", 1, "first") };
    for round in 0..2 {
        observer.until("it is free", |s| s.tick >= 10 && s.authority != 4);
        let bytes = asked(&session, Order::Stop, &head, &ControlRequest::default());
        let reply: OrderReply = decode(hardstand_protocol::Kind::OrderReply, &bytes).unwrap();
        assert_eq!(reply.verdict, 0, "round {round}: {}", reply.reason);
        observer.until("it is stopped", |s| s.authority == 4);
        observer.client.steer(Order::Arm, &ControlRequest::default(), PATIENCE).unwrap();
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// The token of a controller is public. The same number written otherwise is another token: its end
/// is not the controller's.
#[test]
fn a_token_that_is_written_otherwise_ends_no_lease() {
    let _one = serial();
    let scene = Scene::new();
    let (mut daemon, observer, stander, owned) = standing(&scene);
    // tokens of others are told to zenoh's clients
    let endpoints = format!("[{:?}]", scene.endpoint);
    let settings = [("mode", "\"client\"".into()), ("connect/endpoints", endpoints)];
    let session = hardstand_client::session::open(&settings.to_vec()).unwrap();
    let tokens = session.liveliness().declare_subscriber("hardstand/*/alive/*").history(true);
    let tokens = tokens.wait().unwrap();
    let found = tokens.recv_timeout(PATIENCE).unwrap();
    let token = found.expect("a token").key_expr().to_string();
    let (keys, number) = token.rsplit_once('/').unwrap();
    for written in [number.to_uppercase(), format!("+{number}"), format!("0{number}")] {
        let key = format!("{keys}/{written}");
        // the daemon answers after it has taken in both
        session.liveliness().declare_token(&key).wait().unwrap().undeclare().wait().unwrap();
        let request =
            JoinRequest { session: random_number(), ..JoinRequest::new(&observer.model, "legs") };
        let text = refusal(&scene, Order::Join, &request);
        assert!(text.contains("has joined in another session"), "{written}: {text}");
    }
    assert_eq!(observer.state().command_session, owned.command_session);
    stander.finish();
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
