//! Links that break again and again: a router that is killed, clients that come and go. Long ones are
//! run on demand; docs/promises.md has the commands and what came out.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use hardstand::limits::SESSIONS_MAX;
use rustix::process::Signal;

use crate::process::{Log, Observer, Process, Scene, serial};

/// Resident memory, KiB, open files and threads of a process.
fn held(process: &Process) -> (i64, usize, usize) {
    let pid = process.pid();
    let count = |what: &str| std::fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
    (process.resident_kib(), count("fd"), count("task"))
}

/// Ends the daemon; no tick may be missing, and the log must replay.
fn ends_whole(scene: &Scene, mut daemon: Process) {
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    scene.replays();
}

/// LN-2: controllers come, command and are killed; nothing of them stays.
fn clients_come_and_go(cycles: usize) {
    let scene = Scene::new();
    let daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    let visit = |n: usize| {
        let mut controller = scene.controller(&format!("controller{}", n % 2));
        observer.until("it commands", |s| s.authority == 1);
        controller.kill();
        observer.until("it is lost", |s| s.authority != 1 && s.authority != 2);
    };
    // what is made once and kept, is made now
    (0..SESSIONS_MAX).for_each(visit);
    let before = held(&daemon);
    (0..cycles).for_each(visit);
    // the end of a link takes a moment
    let after = crate::process::wait_for("the last link to go", || {
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

/// LN-4: a real router between daemon and controller is killed and started again; commands flow again
/// without anybody's help, and the physics does not notice.
#[test]
#[ignore = "needs zenohd: cargo install zenohd --version 1.10.2 --locked, HARDSTAND_ZENOHD=its path"]
fn a_router_that_is_killed_again_and_again_costs_commands_only() {
    let _one = serial();
    let Some(program) = std::env::var_os("HARDSTAND_ZENOHD").map(PathBuf::from) else {
        eprintln!("SKIPPED: HARDSTAND_ZENOHD does not name a zenohd");
        return;
    };
    let scene = Scene::new();
    let endpoint = Scene::tcp().endpoint;
    let router = |n: usize| {
        let mut command = Command::new(&program);
        command.args(["--listen", &endpoint, "--no-multicast-scouting"]);
        Process::start(scene.dir.path(), &format!("router{n}"), command)
    };
    let mut running = router(0);
    let connect = format!("bus.connect=[{endpoint:?}]");
    let daemon = scene.daemon(&["--set", &connect, "--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    // this one reaches the robot through the router alone
    let through = ["controller", "stand", "--connect", &endpoint, "--patience", "600"];
    let _controller = scene.hardstand("controller", &through);
    for kill in 1..=20 {
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

/// LC-2: ten minutes at 1 kHz under a controller, with a log: nothing grows.
#[test]
#[ignore = "ten minutes"]
fn ten_minutes_of_traffic_leave_nothing_behind() {
    let _one = serial();
    let scene = Scene::new();
    let daemon = scene.daemon(&["--set", "record.segment_mib=16"]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    observer.until("a minute", |s| s.tick >= 60_000);
    let mut looks = vec![held(&daemon)];
    for minute in 2..=10 {
        observer.until("a minute more", |s| s.tick >= minute * 60_000);
        looks.push(held(&daemon));
        eprintln!("minute {minute}: {:?} (KiB, files, threads)", looks.last().unwrap());
    }
    let (first, last) = (looks[0], looks[looks.len() - 1]);
    let slope = (last.0 as f64 - first.0 as f64) / (looks.len() - 1) as f64;
    // the index of a file comes and goes with the file: some 500 KiB
    assert!(slope < 64.0, "{slope:.1} KiB a minute: {looks:?}");
    assert_eq!((last.1, last.2), (first.1, first.2), "files, threads: {looks:?}");
    daemon.signal(Signal::TERM);
    drop(daemon);
}
