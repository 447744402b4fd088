//! Orders beside what takes long, or comes without end.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hardstand_client::Client;
use hardstand_client::session::open_client;
use hardstand_protocol::{
    ControlRequest, Kind, Order, OrderHead, OrderReply, SavedState, VelocityCommand, decode,
    encode_order,
};
use rustix::process::Signal;
use serde::Serialize;
use zenoh::handlers::FifoChannelHandler;
use zenoh::qos::CongestionControl;
use zenoh::query::Reply;
use zenoh::{Session, Wait};

use crate::common::process::{Observer, PATIENCE, Process, Scene, serial};

fn key(order: Order) -> String {
    format!("hardstand/quadruped/{}", order.name())
}

fn message<T: Serialize>(order: Order, body: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_order(order, &OrderHead::new("quadruped", 1, "tester"), body, &mut bytes).unwrap();
    bytes
}

fn ask(session: &Session, order: Order, body: &ControlRequest) -> FifoChannelHandler<Reply> {
    let query = session.get(key(order)).payload(message(order, body));
    query.timeout(PATIENCE).wait().unwrap()
}

fn bytes_of(reply: Reply) -> Vec<u8> {
    reply.into_result().unwrap().payload().to_bytes().into_owned()
}

fn verdict(reply: Reply) -> OrderReply {
    decode(Kind::OrderReply, &bytes_of(reply)).unwrap()
}

fn steer(client: &Client, order: Order) -> hardstand::Result<u64> {
    client.steer(order, &ControlRequest::default(), PATIENCE)
}

/// A daemon whose robot moves without a controller.
fn running(scene: &Scene) -> (Process, Observer) {
    let daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(scene);
    observer.until("it runs", |s| s.tick >= 100);
    (daemon, observer)
}

fn ends(mut daemon: Process) {
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// A search that takes a second, since the log is not where it was: only a further search is busy.
#[test]
fn other_orders_do_not_wait_for_the_search_for_an_earlier_state() {
    let _one = serial();
    let scene = Scene::new();
    let (mut daemon, observer) = running(&scene);
    let session = open_client(&scene.endpoint).unwrap();
    std::fs::rename(scene.log(), scene.path("elsewhere")).unwrap();
    let back = ControlRequest { number: 10, rewind: 1 };
    let first = ask(&session, Order::Snapshot, &back);
    // the loop answers a snapshot in a tick or two, and then the search begins
    observer.status();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let second = ask(&session, Order::Snapshot, &back);
    let (mut answered, mut missing) = (0, None);
    while missing.is_none() {
        steer(&observer.client, [Order::Pause, Order::Resume][answered % 2]).unwrap();
        answered += 1;
        missing = first.try_recv().unwrap();
    }
    println!("{answered} orders beside the search");
    // two may have come before it
    assert!(answered > 5, "{answered} orders were answered beside the search");
    let missing = verdict(missing.unwrap());
    assert_eq!(missing.verdict, 1, "{missing:?}");
    let busy = verdict(second.recv().unwrap());
    assert_eq!(busy.verdict, 2, "{busy:?}");
    assert!(busy.reason.contains("earlier state"), "{busy:?}");
    daemon.signal(Signal::TERM);
    let said = daemon.ends_with(3);
    assert!(said.contains("removed or renamed"), "{said}");
}

#[test]
fn earlier_states_are_found_one_after_the_other() {
    let _one = serial();
    let scene = Scene::new();
    let (daemon, observer) = running(&scene);
    let session = open_client(&scene.endpoint).unwrap();
    let now = steer(&observer.client, Order::Pause).unwrap();
    for number in 1..=3 {
        let back = ask(&session, Order::Snapshot, &ControlRequest { number, rewind: 1 });
        let found = bytes_of(back.recv().unwrap());
        let found: SavedState = decode(Kind::SavedState, &found).unwrap();
        assert_eq!((found.run_id, found.tick), (1, now - number));
    }
    ends(daemon);
}

/// The orders' thread stands still for 3 s: what waited for it has no effect so much later.
#[test]
fn an_order_that_was_not_taken_in_time_has_no_effect() {
    let _one = serial();
    let scene = Scene::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    let args = scene.run_args(&["--set", "sim.start=now"]);
    command.args(args).env("HARDSTAND_FAULT_POINT", "orders:2:stall");
    let daemon = Process::start(scene.dir.path(), "daemon", command);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    let session = open_client(&scene.endpoint).unwrap();
    // once each: a client would ask again meanwhile
    let once = |order| verdict(ask(&session, order, &ControlRequest::default()).recv().unwrap());
    let (paused, late) = (once(Order::Pause), once(Order::Resume));
    assert_eq!((paused.verdict, late.verdict), (0, 2), "{late:?}");
    assert!(late.reason.contains("the simulation takes no more orders now"), "{late:?}");
    let refused = |s: &hardstand_protocol::StatusReading| s.counter("orders_rejected_queue_full");
    let status = observer.status_until("it is counted", |s| refused(s) == 1);
    assert_eq!((status.phase, status.tick), (3, paused.tick), "it has gone on all the same");
    ends(daemon);
}

fn ahead(vx_m_per_s: f64) -> VelocityCommand {
    VelocityCommand { vx_m_per_s, ..Default::default() }
}

fn put(session: &Session, velocity: VelocityCommand) {
    let put = session.put(key(Order::Velocity), message(Order::Velocity, &velocity));
    put.congestion_control(CongestionControl::Block).wait().unwrap();
}

/// As many as a session can send: other orders have their places, and the last velocity holds.
#[test]
fn a_stream_of_velocities_takes_no_place_of_other_orders() {
    let _one = serial();
    let scene = Scene::new();
    let (daemon, observer) = running(&scene);
    let end = Arc::<AtomicBool>::default();
    let (session, ended) = (open_client(&scene.endpoint).unwrap(), Arc::clone(&end));
    let stream = std::thread::spawn(move || {
        let mut sent = 0_u64;
        while !ended.load(Ordering::Relaxed) {
            sent += 1;
            put(&session, ahead(0.1 + (sent % 100) as f64 / 1000.0));
        }
        put(&session, ahead(0.5));
        sent + 1
    });
    observer.until("it streams", |s| s.velocity_command != VelocityCommand::STAND);
    let (orders, mut busy) = ([Order::Pause, Order::Resume, Order::Arm], 0);
    for order in orders.iter().cycle().take(90) {
        busy += u64::from(steer(&observer.client, *order).is_err());
    }
    end.store(true, Ordering::Relaxed);
    let sent = stream.join().unwrap();
    println!("{busy} of 90 orders were busy beside {sent} velocities");
    steer(&observer.client, Order::Resume).unwrap();
    observer.until("the last one", |s| s.velocity_command == ahead(0.5));
    // without it nearly all of them are; a machine that stalls may cost some
    assert!(busy <= 20, "{busy} of 90 orders were refused as busy beside {sent} velocities");
    let received = |s: &hardstand_protocol::StatusReading| s.counter("orders_received");
    observer.status_until("each one is counted", |s| received(s) == sent + 91);
    ends(daemon);
    scene.replays();
}

/// Of many puts only the newest counts, but that one acts before what its sender asks for next.
#[test]
fn the_newest_of_a_stream_acts_before_a_later_order() {
    let _one = serial();
    let scene = Scene::new();
    let (daemon, observer) = running(&scene);
    let session = open_client(&scene.endpoint).unwrap();
    let paused = steer(&observer.client, Order::Pause).unwrap();
    for round in 1..=20_u32 {
        let (newest, tick) = (ahead(f64::from(round)), paused + u64::from(round));
        (0..9).for_each(|n| put(&session, ahead(-f64::from(n))));
        put(&session, newest);
        let step = ask(&session, Order::Step, &ControlRequest { number: 1, rewind: 0 });
        assert_eq!(verdict(step.recv().unwrap()).tick, tick);
        let state = observer.until("the step", |s| s.tick == tick);
        assert_eq!(state.velocity_command, newest, "round {round}");
    }
    ends(daemon);
    scene.replays();
}
