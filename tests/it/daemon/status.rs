//! `hardstand status` of a living daemon, of a waiting one, and of none.

use std::time::{Duration, Instant};

use hardstand_protocol::Authority;
use hardstand_protocol::{AGE_EDGES_TICKS, LATENCY_EDGES_NS, StatusReading};
use rustix::process::Signal;
use serde_json::Value;

use crate::common::process;
use crate::common::process::{Observer, PATIENCE, Scene, serial};

fn status(scene: &Scene, more: &[&str]) -> String {
    let args = ["status", "--connect", &scene.endpoint];
    let args: Vec<&str> = args.iter().chain(more).copied().collect();
    scene.hardstand("status", &args).ends_with(0)
}

fn json(scene: &Scene) -> Value {
    serde_json::from_str(&status(scene, &["--json"])).unwrap()
}

fn sum(counts: &Value) -> u64 {
    counts.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum()
}

#[test]
fn the_status_shows_what_the_daemon_does() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);

    let waiting = json(&scene);
    assert_eq!(waiting["phase"], "waiting");
    assert_eq!(waiting["speed"], 1.0, "in the first second, too");
    assert_eq!((&waiting["command_session"], &waiting["tick"]), (&Value::Null, &0.into()));
    assert_eq!(sum(&waiting["wakeup_latency_ns"]["counts"]), 0, "ticks of waiting do not count");

    let _controller = scene.controller("controller");
    observer.status_until("1000 ticks under a controller", |s| s.tick > 1000);
    let shown = json(&scene);
    for (field, expected) in [("robot", "quadruped"), ("mode", "realtime"), ("phase", "running")] {
        assert_eq!(shown[field], expected);
    }
    assert!(["fresh", "held"].contains(&shown["authority"].as_str().unwrap()), "{shown:#}");
    assert_eq!(shown["period_ns"], 1_000_000);
    let owner = observer.state().command_session;
    assert_eq!(shown["command_session"], format!("{owner:016x}"));
    let (tick, counters) = (shown["tick"].as_u64().unwrap(), &shown["counters"]);
    let told = tick - counters["reports_dropped"].as_u64().unwrap();
    for name in ["wakeup_latency_ns", "tick_cost_ns"] {
        let d = &shown[name];
        assert_eq!(sum(&d["counts"]), told, "{name}: {d:#}");
        assert_eq!(d["edges"], serde_json::json!(LATENCY_EDGES_NS.as_slice()));
        assert!(d["p50"].as_u64() <= d["p99"].as_u64() && d["p99"].as_u64() <= d["max"].as_u64());
    }
    let ages = &shown["applied_age_ticks"];
    assert_eq!(ages["edges"], serde_json::json!(AGE_EDGES_TICKS.as_slice()));
    let applied = sum(&ages["counts"]);
    assert!(applied > 0 && applied <= counters["commands_accepted"].as_u64().unwrap(), "{ages:#}");
    assert!(ages["max"].as_u64().unwrap() <= 500, "{ages:#}");

    let text = status(&scene, &["--all"]);
    for word in ["daemon     quadruped: running", "wake-up ", "tick cost ", "ages ", "|#"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    assert!(text.contains(&format!("session {owner:016x}")), "{text}");
    assert!(text.contains(" 0  log_failed"), "{text}");
    assert!(!status(&scene, &[]).contains("log_failed"), "only --all shows what is 0");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// The status shows a pause and its end at once, and not with the next of those that come each
/// second; and the same as the state.
#[test]
fn the_status_after_a_pause_is_that_of_the_pause() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=5000"]);
    let observer = Observer::of(&scene);
    let controller = scene.controller("controller");
    observer.until("it runs", |s| s.phase == 1 && s.tick > 100);
    let begin = Instant::now();
    for _ in 0..3 {
        let tick = observer.status().tick;
        observer.status_until("the status of another second", |s| s.tick > tick);
    }
    let three_regular_s = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    for _ in 0..5 {
        scene.ctl(&["pause"], 0);
        let state = observer.until("it is paused", |s| s.phase == 3);
        let shown = observer.status_until("the status of the pause", |s| s.phase == 3);
        assert_eq!((shown.tick, shown.authority), (state.tick, state.authority));
        assert!(Authority::is_command(state.authority), "{}", state.authority);
        scene.ctl(&["resume"], 0);
        observer.status_until("the status of its end", |s| s.phase == 1);
    }
    // if each waited for its second, they would take more than three times as long as that
    let ratio = begin.elapsed().as_secs_f64() / three_regular_s;
    assert!(ratio < 1.5, "{ratio}");
    drop(controller);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn watching_goes_on_until_a_signal() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&["--set", "sim.start=now"]);
    let args = ["status", "--connect", &scene.endpoint, "--json", "--watch"];
    let mut watch = scene.hardstand("watch", &args);
    process::wait_for("three lines", || (watch.out().lines().count() >= 3).then_some(()));
    watch.signal(Signal::INT);
    let out = watch.ends_with(0);
    let ticks = out.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()["tick"].as_u64());
    let ticks: Vec<u64> = ticks.map(Option::unwrap).collect();
    assert!(ticks.is_sorted() && ticks.first() < ticks.last(), "{ticks:?}");
}

#[test]
fn nobody_answers_is_exit_5() {
    let _one = serial();
    let scene = Scene::new();
    let out =
        scene.hardstand("status", &["status", "--connect", &scene.endpoint, "--json"]).ends_with(5);
    assert!(out.contains("no daemon answers"), "{out}");
    let place = format!("there is no connection to {};", scene.endpoint);
    assert!(out.contains(&place), "{out}");
}

/// A daemon that is stopped takes queries and does not answer them.
#[test]
fn a_client_waits_no_longer_than_its_patience() {
    let _one = serial();
    let scene = Scene::new();
    let daemon = scene.daemon(&[]);
    let client = scene.client();
    client.model(Duration::from_secs(30)).unwrap();
    let ratio = |patience_ms: u64| {
        let (begin, patience) = (Instant::now(), Duration::from_millis(patience_ms));
        client.status(patience).unwrap_err();
        begin.elapsed().as_secs_f64() / patience.as_secs_f64()
    };
    daemon.signal(Signal::STOP);
    let ratios = [50, 200, 1500].map(ratio);
    daemon.signal(Signal::CONT);
    // before, each of them took a second at least: 20 times as long
    assert!(ratios.iter().all(|ratio| (1.0..5.0).contains(ratio)), "{ratios:?}");
}

/// The ages of the commands and the authority come to the status over the bus, too.
#[test]
fn a_lost_owner_is_shown_with_its_age() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&["--set", "command.damped_ticks=100"]);
    let observer = Observer::of(&scene);
    let mut controller = scene.controller("controller");
    observer.until("it is owned", |s| s.command_session != 0 && s.tick > 200);
    controller.kill();
    let gone = |s: &StatusReading| s.authority == Authority::Zero.code() && s.tick > 0;
    let status = observer.status_until("nobody drives the robot", gone);
    assert!(status.command_age_ticks > 150, "{status:?}");
    assert_ne!(status.command_session, 0, "the last owner stays named");
    assert!(
        observer.client.status(PATIENCE).unwrap().command_age_ticks >= status.command_age_ticks
    );
}
