//! Bytes that are no commands.

use std::time::{Duration, Instant};

use hardstand_client::session::open_client;
use hardstand_protocol::{Authority, JointCommand, Rejection, StateReading};
use hardstand_protocol::{ClaimedCommand, StatusReading, encode_command};
use rustix::process::Signal;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::{Session, Wait};

use crate::common::process::{Dice, Observer, Process, Scene, repository, serial};

fn claim(state: &StateReading, session: u64, seq: u64) -> ClaimedCommand {
    ClaimedCommand {
        layout_hash: state.layout_hash,
        run_id: state.run_id,
        session,
        seq,
        answers_tick: state.tick,
        applies_tick: 0,
        joints: vec![JointCommand { kp: 50.0, kd: 1.0, ..Default::default() }; state.joints.len()],
    }
}

fn bytes(claim: &ClaimedCommand) -> Vec<u8> {
    let mut out = Vec::new();
    encode_command(claim, &mut out).unwrap();
    out
}

fn put(session: &Session, payload: Vec<u8>) {
    session
        .put("hardstand/quadruped/cmd", payload)
        // nothing that is sent gets lost on the way: the test counts
        .congestion_control(CongestionControl::Block)
        .priority(Priority::RealTime)
        .express(true)
        .wait()
        .unwrap();
}

/// Every reason but those that need an owner or a full queue: a change of a good command.
fn table(state: &StateReading) -> Vec<(Rejection, Vec<u8>)> {
    use Rejection::{
        FutureTick, Layout, NotFinite, NotOwner, OutOfRange, RunId, Session, Size, Version,
    };
    let good = claim(state, 77, 1);
    let with = |change: &dyn Fn(&mut ClaimedCommand)| {
        let mut c = good.clone();
        change(&mut c);
        bytes(&c)
    };
    let joint = |change: &dyn Fn(&mut JointCommand)| with(&|c| change(&mut c.joints[7]));
    let header = |at: usize, value: u8| {
        let mut b = bytes(&good);
        b[at] = value;
        b
    };
    let longer = |n: usize| [bytes(&good), vec![0; n]].concat();
    vec![
        (Size, Vec::new()),
        (Size, b"HS".to_vec()),
        (Size, bytes(&good)[..bytes(&good).len() - 1].to_vec()),
        (Size, longer(1)),
        (Size, longer(60_000)),
        (Size, with(&|c| c.joints.truncate(11))),
        (Version, header(0, b'h')),
        (Version, header(2, 1)),
        (Version, header(3, 1)),
        (Layout, with(&|c| c.layout_hash ^= 1)),
        (RunId, with(&|c| c.run_id += 1)),
        (Session, with(&|c| c.session = 0)),
        (NotFinite, joint(&|j| j.q = f64::NAN)),
        (NotFinite, joint(&|j| j.dq = f64::INFINITY)),
        (NotFinite, joint(&|j| j.tau_ff = f64::NEG_INFINITY)),
        (NotFinite, joint(&|j| j.kp = f64::NAN)),
        (OutOfRange, joint(&|j| j.kp = -1.0)),
        (OutOfRange, joint(&|j| j.kp = 1e12)),
        (OutOfRange, joint(&|j| j.kd = 1e9)),
        (OutOfRange, joint(&|j| j.q = 1e308)),
        (FutureTick, with(&|c| c.answers_tick = u64::MAX)),
        // another controller has the robot
        (NotOwner, bytes(&good)),
    ]
}

/// Received, and what became of it: accepted, proving, or refused for a reason.
fn accounted(s: &StatusReading) -> u64 {
    let refused = Rejection::ALL.map(|r| s.counter(&format!("rejected_{}", r.name())));
    s.counter("commands_accepted") + s.counter("commands_proving") + refused.iter().sum::<u64>()
}

/// IN-3, small: whatever strangers send, each piece is counted and the robot stands.
#[test]
fn malformed_commands_are_counted_by_reason_and_change_nothing() {
    let _one = serial();
    let scene = Scene::new();
    // a busy machine may keep the controller waiting for longer than the usual 50 ticks
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    let mut controller = scene.controller("controller");
    let start = observer.until("it stands", |s| s.tick >= 1000);
    let stranger = open_client(&scene.endpoint).unwrap();
    // the route of a new session takes a moment; only what arrives can be counted
    while observer.status().counter("rejected_size") == 0 {
        put(&stranger, Vec::new());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let before = observer.status();
    let count = |s: &StatusReading, r: Rejection| s.counter(&format!("rejected_{}", r.name()));

    let rounds = 5;
    let state = observer.state();
    let cases = table(&state);
    for _ in 0..rounds {
        // fresh ones, or the last case would be late
        for (_, payload) in table(&observer.state()) {
            put(&stranger, payload);
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let expected = |r: Rejection| rounds * cases.iter().filter(|(c, _)| *c == r).count() as u64;
    let gained = |s: &StatusReading, r: Rejection| count(s, r) - count(&before, r);
    let reasons = Rejection::ALL.into_iter().filter(|&r| expected(r) > 0);
    let status = observer.status_until("every case under its reason", |s| {
        reasons.clone().all(|r| gained(s, r) >= expected(r))
    });
    for r in reasons {
        assert_eq!(gained(&status, r), expected(r), "{r:?}: {status:#?}");
    }
    mutations(&stranger, &state, 4000);
    // too large for the bus: the link may refuse them, the daemon must not mind
    put(&stranger, vec![b'H'; 65_536]);
    put(&stranger, vec![b'H'; 1 << 20]);

    let end = observer.until("another second", |s| s.tick >= state.tick + 3000);
    controller.kill();
    observer.until("the robot is lost", |s| s.authority == 0 || s.authority == 3);
    let status = observer.status_until("everything is accounted for", |s| {
        s.counter("commands_received") > 6000 && accounted(s) == s.counter("commands_received")
    });
    assert_eq!(end.command_session, start.command_session, "{status:#?}");
    assert_eq!((Authority::is_command(end.authority), end.failure), (true, 0));
    let moved = |i: usize| end.truth_base_position_m[i] - start.truth_base_position_m[i];
    assert!((0..3).all(|i| moved(i).abs() < 0.01), "moved by {:?}", [moved(0), moved(1), moved(2)]);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// A good command of another session, damaged here and there.
fn mutations(stranger: &Session, state: &StateReading, count: u64) {
    let mut dice = Dice(0x5eed_0003);
    for n in 0..count {
        let mut b = bytes(&claim(state, 1 + dice.roll(3), n));
        for _ in 0..1 + dice.roll(4) {
            let at = dice.roll(b.len() as u64) as usize;
            b[at] ^= 1 << dice.roll(8);
        }
        if dice.roll(4) == 0 {
            b.truncate(dice.roll(b.len() as u64 + 1) as usize);
        }
        put(stranger, b);
    }
}

const STRANGERS: u64 = 4;
const PUTS_EACH: u64 = 250_000;
/// Of each stranger: 12,000 a second in all.
const PUTS_PER_MS: u64 = 3;

/// What no robot would accept from anybody, whoever owns it and whenever it comes.
fn malformed(state: &StateReading) -> Vec<Vec<u8>> {
    let timeless =
        |reason: &Rejection| !matches!(reason, Rejection::FutureTick | Rejection::NotOwner);
    let mut all = table(state);
    all.retain(|(reason, payload)| timeless(reason) && payload.len() < 2000);
    all.into_iter().map(|(_, payload)| payload).collect()
}

/// Sends them in turn, at a steady rate. Returns the seconds that it took.
fn flood(session: &Session, payloads: &[Vec<u8>]) -> f64 {
    let start = Instant::now();
    let mut payloads = payloads.iter().cycle();
    for ms in 0..PUTS_EACH.div_ceil(PUTS_PER_MS) {
        for payload in payloads.by_ref().take(PUTS_PER_MS as usize) {
            put(session, payload.clone());
        }
        std::thread::sleep(Duration::from_millis(ms + 1).saturating_sub(start.elapsed()));
    }
    start.elapsed().as_secs_f64()
}

/// A daemon with a controller that stands, and no log; what `meanwhile` did with it.
fn standing<T>(meanwhile: impl FnOnce(&Scene, &Observer, &Process) -> T) -> (T, StatusReading) {
    let scene = Scene::tcp();
    let listen = format!("bus.listen=[{:?}]", scene.endpoint);
    let scenario = repository("config/quadruped.toml");
    let mut daemon = scene.hardstand("daemon", &["run", &scenario, "--set", &listen]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    observer.until("it stands", |s| s.tick >= 2000);
    let out = meanwhile(&scene, &observer, &daemon);
    let status = observer.status();
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    (out, status)
}

/// IN-3: a million, while a controller works.
#[test]
#[ignore = "two minutes: cargo test --release --test it million -- --ignored --nocapture"]
fn a_million_malformed_commands_cost_nothing() {
    let _one = serial();
    let ((), quiet) = standing(|_, _, _| std::thread::sleep(Duration::from_secs(30)));
    let (rate, loaded) = standing(|scene, observer, daemon| {
        let payloads = malformed(&observer.state());
        let strangers: Vec<Session> =
            (0..STRANGERS).map(|_| open_client(&scene.endpoint).unwrap()).collect();
        // the first puts of a session may not find the way, and buffers grow once
        for payload in payloads.iter().cycle().take(20_000) {
            strangers.iter().for_each(|session| put(session, payload.clone()));
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_secs(3));
        let (before, at_first) = (observer.status(), observer.state());
        let resident = daemon.resident_kib();
        let seconds: Vec<f64> = std::thread::scope(|scope| {
            let payloads = &payloads;
            let start = |session| scope.spawn(move || flood(session, payloads));
            let floods: Vec<_> = strangers.iter().map(start).collect();
            floods.into_iter().map(|f| f.join().unwrap()).collect()
        });
        std::thread::sleep(Duration::from_secs(3));
        let (after, grown) = (observer.status(), daemon.resident_kib() - resident);
        let at_last = observer.state();
        let gained = |name: &str| after.counter(name) - before.counter(name);
        let arrival =
            ["size", "version", "layout", "run_id", "session", "not_finite", "out_of_range"];
        let refused: u64 = arrival.iter().map(|r| gained(&format!("rejected_{r}"))).sum();
        let sent = at_last.command_seq - at_first.command_seq;
        let (accepted, received) = (gained("commands_accepted"), gained("commands_received"));
        println!("{seconds:?} s; refused at arrival {refused}, memory {grown} KiB");
        println!(
            "the controller: {received} received in all, {accepted} accepted, {sent} numbered"
        );
        assert_eq!(refused, STRANGERS * PUTS_EACH.div_ceil(PUTS_PER_MS) * PUTS_PER_MS);
        assert_eq!(at_last.command_session, at_first.command_session, "it kept the robot");
        // the rest is the controller's; between status and state it sends a few more
        assert!(received - refused + 100 >= sent, "commands were lost on the way");
        assert!((accepted + 100) * 1000 >= sent * 999, "{accepted} of {sent} accepted");
        assert!(grown <= 1024, "memory grew by {grown} KiB");
        refused as f64 / seconds.iter().fold(0.0, |m: f64, s| m.max(*s))
    });
    println!("{rate:.0} puts a second");
    println!("wake-up p50, p99, p99.9, ns: {:?} quiet", quiet.wakeup_latency_ns);
    println!("wake-up p50, p99, p99.9, ns: {:?} loaded", loaded.wakeup_latency_ns);
    assert!(rate >= 10_000.0, "{rate} puts a second");
}
