//! The emergency stop: at any speed, in any mode, in a pause, beside a flood of other orders, and
//! under a UDP peer and a master on a motor bus.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hardstand_client::Client;
use hardstand_client::session::open_client;
use hardstand_protocol::{
    Authority, ControlRequest, Kind, Order, OrderHead, OrderReply, Verdict, decode, encode_order,
};
use rustix::process::Signal;
use zenoh::Wait;
use zenoh::handlers::FifoChannelHandler;
use zenoh::query::Reply;

use super::buses::Held;
use super::peers::{Answering, free_udp};
use crate::common::process::{Log, Observer, PATIENCE, Process, Scene, serial};

const STOP: &str = "hardstand/quadruped/stop";

fn steer(client: &Client, order: Order) -> u64 {
    client.steer(order, &ControlRequest::default(), PATIENCE).unwrap()
}

/// Stops `n` times; each answer must come, and the next published state must show it. The times
/// from the orders to their answers, the longest last.
fn stop_again_and_again(observer: &Observer, n: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..n {
        let begin = Instant::now();
        let tick = steer(&observer.client, Order::Stop);
        times.push(begin.elapsed());
        let shown = observer.until("it is shown", |s| s.authority == 4);
        assert!(shown.tick >= tick, "shown at {}, stopped from {tick} on", shown.tick);
        steer(&observer.client, Order::Arm);
        observer.until("it is armed", |s| s.authority != 4);
    }
    times.sort();
    times
}

/// How long the answers to `n` queries of the status take, sorted, at the rate of the stops.
fn queried_again_and_again(observer: &Observer, n: usize) -> Vec<Duration> {
    let query = |_| {
        std::thread::sleep(Duration::from_millis(5));
        let begin = Instant::now();
        observer.status();
        begin.elapsed()
    };
    let mut times: Vec<Duration> = (0..n).map(query).collect();
    times.sort();
    times
}

fn show(what: &str, times: &[Duration]) {
    let at = |share: f64| times[(share * times.len() as f64) as usize];
    println!("{what}: p50 {:?}, p99 {:?}, p99.9 {:?}", at(0.5), at(0.99), at(0.999));
}

#[test]
fn a_stop_acts_at_every_speed_and_in_a_pause() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    for speed in [1.0, 0.0, 0.01, 0.001] {
        observer.client.set_speed(speed, PATIENCE).unwrap();
        let times = stop_again_and_again(&observer, 6);
        println!("speed {speed}: answered within {times:?}");
        // at 0.001 a tick takes a second, and each stop but the first is sent right after one: what
        // waited for the next tick would take all of it. One or two may meet a busy machine
        assert!(times[3] < Duration::from_millis(500), "speed {speed}: {times:?}");
    }
    steer(&observer.client, Order::Pause);
    let paused = observer.until("a pause", |s| s.phase == 3).tick;
    assert_eq!(steer(&observer.client, Order::Stop), paused);
    observer.until("it is shown in the pause", |s| s.phase == 3 && s.authority == 4);
    // only `arm` ends it
    observer.client.set_speed(1.0, PATIENCE).unwrap();
    steer(&observer.client, Order::Reset);
    steer(&observer.client, Order::Resume);
    let again = observer.until("the next run", |s| s.run_id == 2 && s.tick > 50);
    assert_eq!(again.authority, 4, "a reset has ended the stop");
    steer(&observer.client, Order::Arm);
    observer.until("it is armed", |s| s.authority != 4);
    daemon.signal(Signal::TERM);
    daemon.ends_well();
    scene.replays();
}

/// A daemon whose robot a master on a motor bus holds, while a UDP peer asks for the same joints.
struct WithPorts {
    daemon: Process,
    observer: Observer,
    held: Held,
    peer: Answering,
}

impl WithPorts {
    fn start(scene: &Scene) -> Self {
        let (address, held) = (free_udp(), Held::on(&scene.path("all")));
        let sets = [
            "sim.start=now".into(),
            format!("udp.listen={address}"),
            format!("buses=[{}]", held.bus),
        ];
        let daemon = scene.daemon(&sets.each_ref().map(|set| ["--set", set]).concat());
        let observer = Observer::of(scene);
        observer.status_until("the bus has joined", |s| s.counter("bus_all_commands") > 100);
        let peer = Answering::start(address, observer.model.hold());
        observer.status_until("the peer asks", |s| s.counter("udp_joins_refused") > 0);
        Self { daemon, observer, held, peer }
    }

    fn finish(mut self) {
        let sent = (self.held.finish(), self.peer.finish());
        println!("{} frames and {} packets beside the stops", sent.0, sent.1);
        self.daemon.signal(Signal::TERM);
        self.daemon.ends_with(0);
    }
}

/// In a stop neither of them moves the robot, and afterwards one of them has it again.
#[test]
fn a_stop_acts_under_a_udp_peer_and_a_motor_bus() {
    let _one = serial();
    let scene = Scene::in_memory();
    let run = WithPorts::start(&scene);
    println!("answered within {:?}", stop_again_and_again(&run.observer, 20)[19]);
    run.observer.until("it is commanded again", |s| Authority::is_command(s.authority));
    let stopped = steer(&run.observer.client, Order::Stop);
    let shown = run.observer.until("200 ticks", |s| s.tick >= stopped + 200);
    assert_eq!(shown.authority, 4);
    run.finish();
    let log = Log::read(&scene.log());
    let after = log.ticks.iter().filter(|t| t.tick >= stopped);
    let obeyed = after.flat_map(|t| &t.candidates).filter(|c| c.verdict == Verdict::Accepted);
    assert_eq!(obeyed.count(), 0, "commands acted after the stop");
    scene.replays();
}

/// More at once than wait for their answers: none gets that of an earlier stop.
#[test]
fn of_many_stops_at_once_each_gets_its_own_answer() {
    let _one = serial();
    let scene = Scene::new();
    // ticks of milliseconds, one after another: the loop looks between them
    let sets = ["--set", "sim.start=now", "--set", "sim.micro_steps=1000", "--pace", "free"];
    let mut daemon = scene.daemon(&sets);
    let observer = Observer::of(&scene);
    steer(&observer.client, Order::Stop);
    let armed = steer(&observer.client, Order::Arm);
    let ask = || {
        let session = open_client(&scene.endpoint).unwrap();
        let mut bytes = Vec::new();
        let head = OrderHead::new("quadruped", 1, "crowd");
        encode_order(Order::Stop, &head, &ControlRequest::default(), &mut bytes).unwrap();
        let get = |_| session.get(STOP).payload(bytes.clone()).timeout(PATIENCE).wait().unwrap();
        let asked: Vec<_> = (0..1000).map(get).collect();
        let answer = |replies: FifoChannelHandler<Reply>| {
            let reply = replies.recv().unwrap().into_result().unwrap();
            let reply: OrderReply = decode(Kind::OrderReply, &reply.payload().to_bytes()).unwrap();
            reply.tick().unwrap()
        };
        asked.into_iter().map(answer).min().unwrap()
    };
    let first = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|a| a.join().unwrap()).min().unwrap()
    });
    assert!(first >= armed, "a stop sent after tick {armed} is said to act from {first} on");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
#[ignore = "a minute: cargo test --release --test it a_thousand_stops -- --ignored --nocapture"]
fn a_thousand_stops_are_measured() {
    let _one = serial();
    for (what, sets, speed) in [
        ("1 kHz", [].as_slice(), 1.0),
        ("1 kHz at speed 0.01", &[], 0.01),
        ("lockstep without a controller", &["--mode", "lockstep"], 1.0),
    ] {
        let scene = Scene::new();
        let mut daemon = scene.daemon(&[&["--set", "sim.start=now"], sets].concat());
        let observer = Observer::of(&scene);
        observer.client.set_speed(speed, PATIENCE).unwrap();
        // what the machine and the bus take, without the loop
        show("a query of the status", &queried_again_and_again(&observer, 1000));
        show(what, &stop_again_and_again(&observer, 1000));
        daemon.signal(Signal::TERM);
        daemon.ends_with(0);
    }
    let scene = Scene::in_memory();
    let run = WithPorts::start(&scene);
    show("a query of the status", &queried_again_and_again(&run.observer, 1000));
    let times = stop_again_and_again(&run.observer, 1000);
    show("1 kHz under a UDP peer and a motor bus", &times);
    run.finish();
}

#[test]
fn a_stop_is_never_refused_beside_a_flood_of_other_orders() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    let end = Arc::<AtomicBool>::default();
    let flood = |order: Order| {
        let (session, end) = (open_client(&scene.endpoint).unwrap(), Arc::clone(&end));
        std::thread::spawn(move || {
            let (key, mut bytes, mut sent) =
                (format!("hardstand/quadruped/{}", order.name()), Vec::new(), 0);
            while !end.load(Ordering::Relaxed) {
                let head = OrderHead::new("quadruped", 1, "flood");
                encode_order(order, &head, &ControlRequest::default(), &mut bytes).unwrap();
                // the answers are not waited for
                let _answers = session.get(&key).payload(bytes.clone()).wait().unwrap();
                sent += 1;
            }
            sent
        })
    };
    let floods = [Order::Resume, Order::Snapshot].map(flood);
    let begin = Instant::now();
    let mut stops = 0;
    let mut longest = Duration::ZERO;
    while stops < 140 {
        let sent = Instant::now();
        steer(&observer.client, Order::Stop);
        longest = longest.max(sent.elapsed());
        stops += 1;
    }
    let seconds = begin.elapsed().as_secs_f64();
    end.store(true, Ordering::Relaxed);
    let sent: u64 = floods.into_iter().map(|flood| flood.join().unwrap()).sum();
    println!(
        "{stops} stops beside {:.0} orders/s, answered within {longest:?}",
        sent as f64 / seconds
    );
    observer.until("it is stopped", |s| s.authority == 4);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let log = Log::read(&scene.log());
    assert!(log.ticks.iter().any(|t| t.events.contains(&hardstand_protocol::Event::Stop)));
}

/// At once, the drives would throw the robot.
#[test]
fn after_a_stop_the_example_rises_slowly() {
    let _one = serial();
    for words in [&["stand"][..], &["stand", "--join", "legs"], &["trot"]] {
        let scene = Scene::new();
        let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
        let observer = Observer::of(&scene);
        let words = [&["controller"], words, &["--connect", &scene.endpoint]].concat();
        let _controller = scene.hardstand("controller", &words);
        observer.until("it stands", |s| s.tick >= 800 && s.authority == 1);
        steer(&observer.client, Order::Stop);
        observer.until("it lies", |s| {
            s.truth_base_position_m[2] < 0.1 && s.joints.iter().all(|j| j.dq.abs() < 0.3)
        });
        let armed = steer(&observer.client, Order::Arm);
        observer.until("it stands again", |s| s.tick > armed + 2500);
        daemon.signal(Signal::TERM);
        daemon.ends_with(0);
        let log = Log::read(&scene.log());
        let after = || log.states.iter().filter(|s| s.tick > armed);
        let fastest = after().flat_map(|s| &s.joints).map(|j| j.dq.abs()).fold(0.0, f64::max);
        let height_m = log.states.last().unwrap().truth_base_position_m[2];
        println!("{words:?}: {fastest:.2} rad/s, {height_m:.3} m");
        // about 1.2 rad in a second
        assert!(fastest < 3.0, "{words:?}: {fastest} rad/s");
        assert!(height_m > 0.27, "{words:?}: {height_m} m");
    }
}
