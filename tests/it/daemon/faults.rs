//! Threads of the daemon that panic or hang, and a socket that is lost.

use std::process::Command;

use rustix::process::Signal;

use crate::common::process::{Log, Observer, Process, Scene, serial, wait_for};

/// A daemon in which the point `fault` (`NAME:N`, every Nth visit) panics.
fn daemon(scene: &Scene, fault: &str, more: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command.args(scene.run_args(more)).env("HARDSTAND_FAULT_POINT", fault);
    Process::start(scene.dir.path(), "daemon", command)
}

/// LN-7: a thread of the bus panics; it is back within a second or so, the controller goes on, and
/// no tick of physics is missing.
#[test]
fn a_panic_of_the_bus_restarts_the_bus_and_not_the_robot() {
    let _one = serial();
    // a publisher, a callback on zenoh's thread, and the status that the main thread publishes
    for (fault, what) in
        [("publisher:1500", "states"), ("command:1500", "commands"), ("status:3", "")]
    {
        let scene = Scene::new();
        let mut daemon = daemon(&scene, fault, &["--set", "sim.start=now"]);
        let observer = Observer::of(&scene);
        let _controller = scene.controller("controller");
        let restarted =
            |n: u64| observer.status_until("a restart", move |s| s.counter("io_restarts") >= n);
        let first = restarted(1);
        let state = observer
            .until("a command after the restart", |s| s.tick > first.tick && s.authority == 1);
        assert_eq!(state.failure, 0, "{what}");
        let again = restarted(2);
        assert!(again.counter("commands_received") > 0, "{again:?}");
        daemon.signal(Signal::TERM);
        let out = daemon.ends_with(0);
        assert!(
            out.contains(&format!("fault point {}", fault.split(':').next().unwrap())),
            "{out}"
        );
        let log = Log::read(&scene.log());
        log.assert_no_tick_is_missing();
        scene.replays();
    }
}

/// LN-7: what panics again and again is given up, in order.
#[test]
fn a_bus_that_panics_again_and_again_ends_the_run_in_order() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = daemon(&scene, "publisher:20", &["--set", "sim.start=now"]);
    let out = daemon.ends_with(70);
    assert!(out.contains("panicked 6 times within a minute"), "{out}");
    let log = Log::read(&scene.log());
    assert!(log.damage.is_none() && log.ticks.len() > 50, "{} ticks", log.ticks.len());
    scene.replays();
}

/// A socket that is deleted: the bus is opened again, and no tick of physics is missing.
#[test]
fn a_socket_that_is_deleted_comes_back() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let socket = scene.path("z.sock");
    wait_for("the socket", || socket.exists().then_some(()));
    Observer::of(&scene).until("it runs", |s| s.tick >= 100);
    std::fs::remove_file(&socket).unwrap();
    wait_for("the socket", || socket.exists().then_some(()));
    let status = Observer::of(&scene).status_until("the count", |s| s.counter("io_restarts") > 0);
    // the daemon's own questions are neither sessions nor failed handshakes
    assert_eq!((status.counter("io_restarts"), status.counter("handshakes_failed")), (1, 0));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    Log::read(&scene.log()).assert_no_tick_is_missing();
    scene.replays();
}

/// A bus that never answers, whose restarts do not help: the run ends in order.
#[test]
fn a_bus_that_never_answers_is_given_up() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = daemon(&scene, "watch:1", &["--set", "sim.start=now"]);
    let out = daemon.ends_with(70);
    assert!(out.contains("the bus did not answer, and 2 restarts did not help"), "{out}");
    let log = Log::read(&scene.log());
    assert!(log.damage.is_none() && log.ticks.len() > 20_000, "{} ticks", log.ticks.len());
    log.assert_no_tick_is_missing();
}

/// A bus whose threads hang, so that it cannot even be closed: the run ends in order.
#[test]
fn a_bus_that_hangs_ends_the_run_in_order() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = daemon(&scene, "command:1:hang", &["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    // each hangs one of the two threads on which zenoh receives
    let _controllers = ["a", "b", "c"].map(|name| scene.controller(name));
    let out = daemon.ends_with(70);
    // it depends on what hangs whether the bus can still be closed
    let ends = ["the bus does not answer and cannot be closed", "2 restarts did not help"];
    assert!(ends.iter().any(|end| out.contains(end)), "{out}");
    let log = Log::read(&scene.log());
    assert!(log.damage.is_none() && log.ticks.len() > 5000, "{} ticks", log.ticks.len());
    log.assert_no_tick_is_missing();
    scene.replays();
}

/// LC-4: a panic of the physics names the tick; the log is complete up to it; nothing is restarted.
#[test]
fn a_panic_of_the_physics_explains_itself() {
    let _one = serial();
    let scene = Scene::new();
    let out = daemon(&scene, "physics:501", &["--set", "sim.start=now"]).ends_with(70);
    assert!(out.contains("the physics thread panicked after tick 500"), "{out}");
    let log = Log::read(&scene.log());
    assert_eq!((log.ticks.len(), &log.damage), (500, &None));
    let digest = format!("{:016x}", log.ticks[499].digest);
    assert!(out.contains(&digest), "no digest {digest} in {out}");
    scene.replays();
}

/// A recorder that panics: in real time the robot goes on and the status tells; at free pace, where
/// the loop waits for the recorder, the run ends. What was recorded replays.
#[test]
fn a_panic_of_the_recorder_stops_no_robot_and_hangs_no_run() {
    let _one = serial();
    let scene = Scene::new();
    let mut live = daemon(&scene, "recorder:100", &["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    let told = observer.status_until("the failure", |s| s.counter("log_failed") == 1);
    observer.until("the robot goes on", |s| s.tick >= told.tick + 500);
    live.signal(Signal::TERM);
    let out = live.ends_with(3);
    assert!(out.contains("the recorder thread panicked"), "{out}");
    // the log breaks off there, and says so
    let out = scene.replay(&[]).ends_with(3);
    assert!(out.contains("identical  all") && out.contains("it breaks off"), "{out}");

    let scene = Scene::new();
    let more = ["--pace", "free", "--duration", "1000"];
    let out = daemon(&scene, "recorder:20", &more).ends_with(3);
    assert!(out.contains("the recorder thread panicked"), "{out}");
}

/// At its end the loop frees what it used, while the main thread no longer waits for a period: a bus
/// that had no time to answer was taken for one that hangs.
#[test]
fn a_run_of_a_moment_does_not_restart_its_bus() {
    let _one = serial();
    for _ in 0..10 {
        let scene = Scene::in_memory();
        let sets = ["--set", "sim.start=now", "--pace", "free", "--duration", "0.2"];
        let out = scene.daemon(&sets).ends_with(0);
        assert!(!out.contains("io_restarts"), "{out}");
    }
}
