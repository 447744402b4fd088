//! Several robots in one daemon: one clock, one bus, a log each.

use std::ffi::OsStr;
use std::time::Duration;

use hardstand_client::{Client, ErrorKind};
use hardstand_protocol::Authority;
use rustix::process::Signal;

use super::lockstep::joined;
use crate::common::logs::hardstand;
use crate::common::process::{Log, Observer, Process, Scene, digest, serial, wait_for};

const ROBOTS: &str = "robots=[{name=\"left\", initial={position_m=[0.0, 0.5, 0.0]}}, \
    {name=\"right\", initial={position_m=[0.0, -0.5, 0.0]}}]";
const NAMES: [&str; 2] = ["left", "right"];

fn daemon(scene: &Scene, more: &[&str]) -> Process {
    scene.daemon(&[&["--set", ROBOTS, "--set", "ros2.mode=off"][..], more].concat())
}

fn stand(scene: &Scene, robot: &str) -> Process {
    let name = format!("controller-{robot}");
    let args = ["controller", "stand", "--connect", &scene.endpoint, "--robot", robot];
    scene.hardstand(&name, &args)
}

fn log(scene: &Scene, robot: &str) -> Log {
    Log::read(&scene.path(&format!("run-{robot}.mcap")))
}

fn replays(scene: &Scene, robot: &str) {
    let file = scene.path(&format!("run-{robot}.mcap")).display().to_string();
    scene.hardstand("replay", &["replay", &file]).ends_with(0);
}

/// Two runs in lockstep whose controllers come in different orders.
#[test]
fn robots_in_lockstep_have_the_same_run_whoever_comes_first() {
    let digests: Vec<Vec<String>> = [[0, 1], [1, 0]]
        .map(|order| {
            let scene = Scene::in_memory();
            let lockstep = ["--mode", "lockstep", "--pace", "free", "--duration", "2"];
            let mut daemon = daemon(&scene, &lockstep);
            let controllers = order.map(|k| {
                let args = ["--robot", NAMES[k]];
                joined(&scene, &format!("legs-{}", NAMES[k]), &[], &args)
            });
            let said = daemon.ends_with(0);
            drop(controllers);
            for name in NAMES {
                let log = log(&scene, name);
                assert_eq!(log.ticks.len(), 2000, "{name}");
                log.assert_no_tick_is_missing();
                assert!(log.states.last().unwrap().truth_base_position_m[2] > 0.25, "{name} fell");
                replays(&scene, name);
            }
            said.lines().filter(|l| l.starts_with("digest")).map(String::from).collect()
        })
        .into();
    assert_eq!(digests[0].len(), 2);
    assert_eq!(digests[0], digests[1]);
    assert_ne!(digests[0][0], digests[0][1], "they stand in different places");
}

/// A controller that hangs holds up all robots in lockstep, and loses none of them.
#[test]
fn the_clock_of_all_stands_while_one_waits() {
    let scene = Scene::in_memory();
    let mut daemon = daemon(&scene, &["--mode", "lockstep", "--pace", "free"]);
    let controllers =
        NAMES.map(|name| joined(&scene, &format!("legs-{name}"), &[], &["--robot", name]));
    let observers = NAMES.map(|name| Observer::of_robot(&scene, name));
    observers[1].until("500 ticks", |s| s.tick >= 500);
    controllers[0].signal(Signal::STOP);
    let tick = wait_for("no more ticks", || {
        let tick = observers[1].status().tick;
        std::thread::sleep(Duration::from_millis(1500));
        (observers[1].status().tick == tick).then_some(tick)
    });
    controllers[0].signal(Signal::CONT);
    observers[1].until("more ticks", |s| s.tick > tick + 500);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let ticks = NAMES.map(|name| log(&scene, name).ticks.len());
    assert!(ticks[0].abs_diff(ticks[1]) <= 1, "{ticks:?}");
}

/// In real time a robot whose controller dies falls; the other goes on.
#[test]
fn a_robot_that_loses_its_controller_is_none_of_the_others() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = daemon(&scene, &[]);
    let mut controllers = NAMES.map(|name| stand(&scene, name));
    let observers = NAMES.map(|name| Observer::of_robot(&scene, name));
    for observer in &observers {
        observer.until("it stands", |s| s.tick >= 500 && s.authority == Authority::Fresh.code());
    }
    controllers[0].kill();
    let fallen = observers[0].until("it lies", |s| s.truth_base_position_m[2] < 0.15);
    let stands = observers[1].until("as far", |s| s.tick >= fallen.tick);
    assert!(stands.truth_base_position_m[2] > 0.25);
    // an order to one of them
    scene.ctl(&["stop", "--robot", "right"], 0);
    observers[1].until("it is stopped", |s| s.authority == Authority::Stopped.code());
    let status = observers[0].status();
    assert_ne!(status.authority, Authority::Stopped.code());
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    for name in NAMES {
        replays(&scene, name);
    }
}

/// What one cannot open ends all before the first tick, and names the reason.
#[test]
fn a_robot_that_cannot_start_ends_all() {
    let scene = Scene::in_memory();
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let taken = format!("robots.1.udp.listen=\"{}\"", port.local_addr().unwrap());
    let said = daemon(&scene, &["--set", &taken]).ends_with(5);
    assert!(said.contains("127.0.0.1"), "{said}");
    assert_eq!(digest_lines(&said), 0);
}

fn digest_lines(said: &str) -> usize {
    said.lines().filter(|line| line.starts_with("digest")).count()
}

/// Robots that stand side by side with shapes: the one that is pushed falls against the other.
#[test]
fn a_robot_falls_against_another_alike_each_time() {
    let push = "robots.1.events=[{at_s=0.5, kind=\"push\", link=\"trunk\", \
                force_n=[0.0, 150.0, 0.0], duration_s=0.3}]";
    let near = ROBOTS.replace("0.5, 0.0]", "0.24, 0.0]");
    let run = || {
        let scene = Scene::in_memory();
        let args = [
            "--set",
            &near,
            "--set",
            push,
            "--set",
            "ros2.mode=off",
            "--set",
            "record.ros2=false",
            "--mode",
            "lockstep",
            "--pace",
            "free",
            "--duration",
            "2",
        ];
        let mut daemon = scene.daemon(&args);
        let controllers =
            NAMES.map(|name| joined(&scene, &format!("legs-{name}"), &[], &["--robot", name]));
        let said = daemon.ends_with(0);
        drop(controllers);
        let log = log(&scene, "left");
        let touches = log.ticks.iter().filter(|t| t.events.iter().any(|e| e.name() == "touch"));
        let count = touches.count();
        let moved_m = log.states.last().unwrap().truth_base_position_m[1];
        (count, moved_m, digest(&said))
    };
    let (touches, moved_m, first) = run();
    assert!(touches > 20 && moved_m > 0.25, "{touches} ticks of contact, at y = {moved_m} m");
    assert_eq!(first, run().2);
}

/// One robot is paused: those who control the other hear that it is there, in lockstep and in real
/// time, and the pause is no missed deadline.
#[test]
fn controllers_of_a_robot_that_waits_for_another_stay() {
    let _one = serial();
    for more in [&["--mode", "lockstep", "--pace", "free"][..], &["--set", "sim.speed=0.1"]] {
        let scene = Scene::in_memory();
        let more = [more, &["--set", "realtime.overrun=stop"]].concat();
        let mut daemon = daemon(&scene, &more);
        let mut controllers = NAMES.map(|name| {
            joined(&scene, &format!("legs-{name}"), &[], &["--robot", name, "--patience", "1"])
        });
        let observers = NAMES.map(|name| Observer::of_robot(&scene, name));
        observers[1].until("30 ticks", |s| s.tick >= 30);
        scene.ctl(&["pause", "--robot", "left"], 0);
        std::thread::sleep(Duration::from_millis(2500));
        let before = observers[1].state().tick;
        scene.ctl(&["resume", "--robot", "left"], 0);
        observers[1].until("more ticks", |s| s.tick >= before + 30);
        assert!(!controllers.iter_mut().any(Process::has_ended));
        daemon.signal(Signal::TERM);
        daemon.ends_with(0);
    }
}

/// It is refused when the other robots could have begun already.
#[test]
fn a_run_that_is_refused_leaves_the_old_logs_of_all_robots() {
    let scene = Scene::in_memory();
    let briefly = ["--pace", "free", "--duration", "0.3"];
    daemon(&scene, &briefly).ends_with(0);
    let left = std::fs::read(scene.path("run-left.mcap")).unwrap();
    std::fs::write(scene.path("run-right.mcap"), "a file of somebody").unwrap();
    for _ in 0..3 {
        let said = daemon(&scene, &briefly).ends_with(2);
        assert!(said.contains("run-right.mcap"), "{said}");
        assert!(std::fs::read(scene.path("run-left.mcap")).unwrap() == left);
    }
}

/// The others end in the tick in which one fails, not in one that depends on who is faster.
#[test]
fn the_failure_of_one_robot_ends_all_in_the_same_tick() {
    let push = "robots.1.events=[{at_s=0.3, kind=\"push\", link=\"trunk\", \
                force_n=[0.0, 0.0, 1e6], duration_s=3.0}]";
    let run = || {
        let scene = Scene::in_memory();
        let args = ["--set", push, "--pace", "free", "--duration", "3"];
        let said = daemon(&scene, &args).ends_with(6);
        assert!(said.contains("another robot of the daemon ended before its time"), "{said}");
        let ticks = NAMES.map(|name| log(&scene, name).ticks.len());
        let digests: Vec<String> =
            said.lines().filter(|l| l.starts_with("digest")).map(String::from).collect();
        (ticks, digests)
    };
    let first = run();
    assert_eq!(first.0[0], first.0[1]);
    for _ in 0..10 {
        assert_eq!(run(), first);
    }
}

/// A name with `*` would be that of all robots, and one of them would answer.
#[test]
fn a_name_that_no_robot_can_have_is_refused() {
    let connect = ["--connect", "tcp/127.0.0.1:1"];
    for name in ["*", "a/b", "", "**"] {
        let robot = [&connect[..], &["--robot", name]].concat();
        let with = [&connect[..], &["--with", name]].concat();
        for words in [["status"].to_vec(), vec!["ctl", "pause"], vec!["controller", "stand"]] {
            refused(&[&words[..], &robot].concat(), name);
        }
        refused(&[&["view"][..], &robot].concat(), name);
        refused(&[&["view"][..], &with].concat(), name);
        let error = Client::connect(connect[1], name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    }
}

fn refused(words: &[&str], name: &str) {
    let (said, code) = hardstand(&words.iter().map(OsStr::new).collect::<Vec<_>>());
    let start = format!("hardstand: robot \"{name}\": a robot's name has 1 to 96 letters");
    assert!(code == 2 && said.starts_with(&start), "{words:?}: {code} {said}");
}
