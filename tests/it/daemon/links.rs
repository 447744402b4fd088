//! Links that break again and again: a router that is killed, clients that come and go. Long ones
//! are run on demand; docs/promises.md has the commands and what came out.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use zenoh::Wait;

use crate::common::process;
use crate::common::process::{Log, Observer, Process, Scene, serial};

/// Resident memory, KiB, open files and threads of a process.
fn held(process: &Process) -> (i64, usize, usize) {
    let pid = process.pid();
    let count = |what: &str| std::fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
    (process.resident_kib(), count("fd"), count("task"))
}

/// The least of ten looks, once the log has a second file: the first stays open, because its lock is
/// that of the run. While the end of a file is written, it is open beside the next, with a thread.
fn held_at_rest(scene: &Scene, process: &Process) -> (i64, usize, usize) {
    let second = scene.log().with_extension("part2.mcap");
    process::wait_for("a second file", || second.exists().then_some(()));
    let look = |_| {
        std::thread::sleep(Duration::from_millis(100));
        held(process)
    };
    (0..10).map(look).min_by_key(|(_, files, threads)| (*files, *threads)).unwrap()
}

/// Ends the daemon; no tick may be missing, and the log must replay.
fn ends_whole(scene: &Scene, mut daemon: Process) {
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    scene.replays();
}

/// The index of a file is in memory until the file ends: some 80 KiB for each MiB.
const SMALL_FILES: &str = "record.segment_mib=4";

/// LN-2: controllers come, command and are killed; nothing of them stays.
fn clients_come_and_go(cycles: usize) {
    let scene = Scene::new();
    let daemon = scene.daemon(&["--set", "sim.start=now", "--set", SMALL_FILES]);
    let observer = Observer::of(&scene);
    let visit = |n: usize| {
        let mut controller = scene.controller(&format!("controller{}", n % 2));
        observer.until("it commands", |s| s.authority == 1);
        controller.kill();
        observer.until("it is lost", |s| s.authority != 1 && s.authority != 2);
    };
    // what is made once and kept, is made now
    (0..8).for_each(visit);
    let before = held_at_rest(&scene, &daemon);
    for n in 0..cycles {
        if n % 100 == 0 {
            eprintln!("{n}: {:?} (KiB, files, threads)", held(&daemon));
        }
        visit(n);
    }
    // the end of a link takes a moment
    let after = process::wait_for("the last link to go", || {
        Some(held(&daemon)).filter(|(_, files, _)| *files <= before.1)
    });
    assert!(after.0 <= before.0 + 2048, "resident memory: {} to {} KiB", before.0, after.0);
    // zenoh makes threads for blocking work when it has some, and keeps a few
    assert!(after.2 <= before.2 + 8, "threads: {} to {}", before.2, after.2);
    ends_whole(&scene, daemon);
}

#[test]
fn what_controllers_use_goes_with_them() {
    let _one = serial();
    clients_come_and_go(10);
}

#[test]
#[ignore = "a thousand processes: about ten minutes"]
fn what_a_thousand_controllers_use_goes_with_them() {
    let _one = serial();
    clients_come_and_go(1000);
}

/// The name of the variable that tells [`router_process`] where to listen.
const ROUTER_LISTENS: &str = "HARDSTAND_TEST_ROUTER";

/// Not a test: this process as a zenoh router, for those below.
#[test]
#[ignore = "a router for other tests"]
fn router_process() {
    let Ok(endpoint) = std::env::var(ROUTER_LISTENS) else { return };
    let mut config = zenoh::Config::default();
    let listen = format!("[{endpoint:?}]");
    for (key, value) in [("mode", "\"router\""), ("listen/endpoints", &listen)] {
        config.insert_json5(key, value).unwrap();
    }
    config.insert_json5("scouting/multicast/enabled", "false").unwrap();
    let _session = zenoh::open(config).wait().unwrap();
    loop {
        std::thread::park();
    }
}

/// A router that is not zenohd, but runs the same code.
fn own_router(endpoint: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "daemon::links::router_process"])
        .env(ROUTER_LISTENS, endpoint);
    command
}

/// LN-4: a router between daemon and controller is killed and started again; commands flow again
/// without anybody's help, and the physics does not notice.
fn a_router_is_killed(kills: usize, router: impl Fn(&str) -> Command) {
    let _one = serial();
    let scene = Scene::new();
    let endpoint = Scene::tcp().endpoint;
    let router =
        |n: usize| Process::start(scene.dir.path(), &format!("router{n}"), router(&endpoint));
    let mut running = router(0);
    let connect = format!("bus.connect=[{endpoint:?}]");
    let daemon = scene.daemon(&["--set", &connect, "--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    // this one reaches the robot through the router alone
    let through = ["controller", "stand", "--connect", &endpoint, "--patience", "600"];
    let _controller = scene.hardstand("controller", &through);
    for kill in 1..=kills {
        let up = observer.until("commands through the router", |s| s.authority == 1);
        std::thread::sleep(Duration::from_millis(200));
        running.kill();
        observer.until("they have stopped", |s| s.tick > up.tick && s.authority == 0);
        running = router(kill);
        let back = observer.state().tick;
        let again = observer.until("commands again", |s| s.authority == 1);
        let after_s = (again.tick - back) as f64 / 1000.0;
        eprintln!("kill {kill}: commands {after_s:.2} s after the router");
        assert!(after_s < 8.0, "zenoh tries again every 4 s at the latest");
    }
    ends_whole(&scene, daemon);
}

#[test]
fn a_router_that_is_killed_costs_commands_only() {
    a_router_is_killed(2, own_router);
}

#[test]
#[ignore = "needs zenohd: cargo install zenohd --version 1.10.2 --locked, HARDSTAND_ZENOHD=its path"]
fn a_zenohd_that_is_killed_twenty_times_costs_commands_only() {
    let Some(program) = std::env::var_os("HARDSTAND_ZENOHD").map(PathBuf::from) else {
        eprintln!("SKIPPED: HARDSTAND_ZENOHD does not name a zenohd");
        return;
    };
    a_router_is_killed(20, |endpoint| {
        let mut command = Command::new(&program);
        command.args(["--listen", endpoint, "--no-multicast-scouting"]);
        command
    });
}

/// LC-2: ten minutes at 1 kHz under a controller, with a log: nothing grows.
#[test]
#[ignore = "ten minutes"]
fn ten_minutes_of_traffic_leave_nothing_behind() {
    let _one = serial();
    let scene = Scene::new();
    let daemon = scene.daemon(&["--set", SMALL_FILES]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    let mut looks = Vec::new();
    for seconds in (10..=600).step_by(10) {
        observer.until("ten seconds more", |s| s.tick >= seconds * 1000);
        if seconds % 60 == 0 {
            looks.push(held_at_rest(&scene, &daemon));
            eprintln!("{seconds} s: {:?} (KiB, files, threads)", looks.last().unwrap());
        }
    }
    let (first, last) = (looks[0], looks[looks.len() - 1]);
    let slope = (last.0 as f64 - first.0 as f64) / (looks.len() - 1) as f64;
    // the index of a file comes and goes with the file
    assert!(slope < 64.0, "{slope:.1} KiB a minute: {looks:?}");
    assert_eq!((last.1, last.2), (first.1, first.2), "files, threads: {looks:?}");
    ends_whole(&scene, daemon);
}
