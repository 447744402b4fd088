//! `hardstand ctl` on a running daemon: time, state and pushes.

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

use super::lockstep::joined;
use crate::common::process;
use crate::common::process::{Log, Observer, Process, Scene, repository, serial, wait_for};
use crate::security::guarded::raw_session;
use hardstand_log::LogReader;
use hardstand_protocol::{EventReading, Kind, Phase, encode};
use zenoh::Wait as _;

fn paused(observer: &Observer) -> u64 {
    observer.until("a pause", |s| s.phase == Phase::Paused.code()).tick
}

/// Ends the daemon and replays its log, all files of it.
fn ends_and_replays(scene: &Scene, mut daemon: Process) -> String {
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays()
}

/// In a pause no state needs an answer, but states come.
#[test]
fn a_controller_that_has_joined_stays_in_a_pause() {
    let _one = serial();
    for mode in ["realtime", "lockstep"] {
        let scene = Scene::in_memory();
        let mut daemon = scene.daemon(&["--mode", mode]);
        let mut legs = joined(&scene, "legs", &[], &["--patience", "1"]);
        let observer = Observer::of(&scene);
        observer.until("it runs", |s| s.tick >= 50);
        scene.ctl(&["pause"], 0);
        let tick = paused(&observer);
        std::thread::sleep(Duration::from_millis(2500));
        scene.ctl(&["resume"], 0);
        observer.until("it goes on", |s| s.tick >= tick + 50);
        assert!(!legs.has_ended(), "{}", legs.err());
        // a daemon that is gone is another thing
        daemon.kill();
        assert_eq!(legs.wait().code(), Some(5), "{}", legs.err());
    }
}

/// A step back that is refused has paused the robot, and says so.
#[test]
fn a_step_back_without_a_log_says_what_it_has_done() {
    let scene = Scene::in_memory();
    let listen = format!("bus.listen=[{:?}]", scene.endpoint);
    let scenario = repository("config/quadruped.toml");
    let args = ["run", &scenario, "--set", &listen, "--set", "sim.start=now"];
    let mut daemon = scene.hardstand("daemon", &args);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 50);
    let said = scene.ctl(&["step", "-5"], 2);
    assert!(said.contains("paused, but not back: there is no log to go back in"), "{said}");
    paused(&observer);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// Without a name it would never be obeyed; the daemon prints a command that is.
#[test]
fn in_lockstep_the_example_controller_must_join() {
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&["--mode", "lockstep", "--pace", "free"]);
    let said = scene.controller("nameless").ends_with(2);
    assert!(said.contains("give this one a name with --join NAME"), "{said}");
    wait_for("a command", || daemon.out().contains(" --join legs").then_some(()));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn a_paused_robot_stands_still_and_steps_are_exact() {
    let _one = serial();
    let scene = Scene::new();
    let daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    observer.until("it runs", |s| s.tick > 100);
    let said = scene.ctl(&["pause"], 0);
    let tick = paused(&observer);
    assert_eq!(said.trim(), format!("paused after tick {tick}"));
    assert_eq!(scene.ctl(&["pause"], 0), said, "again is the same");
    assert_eq!(scene.ctl(&["step", "7"], 0).trim(), format!("paused after tick {}", tick + 7));
    let json = format!("{{\"order\":\"step\",\"tick\":{}}}", tick + 8);
    assert_eq!(scene.ctl(&["step", "--json"], 0).trim(), json);
    let until = (tick + 50).to_string();
    assert_eq!(scene.ctl(&["run-until", &until], 0).trim(), format!("paused after tick {until}"));
    // a change in the pause applies to the next tick
    let push = ["push", "--link", "trunk", "--force", "0", "30", "0", "--duration", "0.02"];
    let said = scene.ctl(&push, 0);
    assert!(said.contains(&format!("for 20 ticks from tick {until} on")), "{said}");
    observer.status_until("it is told", |s| (s.phase, s.tick) == (3, tick + 50));
    let text = scene.hardstand("status", &["status", "--connect", &scene.endpoint]).ends_with(0);
    assert!(text.contains("paused"), "{text}");
    scene.ctl(&["resume"], 0);
    observer.until("it goes on, obeying", |s| s.tick > tick + 200 && s.authority == 1);
    ends_and_replays(&scene, daemon);
    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    let pushed = log.ticks.iter().find(|t| !t.events.is_empty()).unwrap();
    assert_eq!(pushed.tick, tick + 50);
}

#[test]
fn a_reset_begins_the_next_run_in_a_file_of_its_own() {
    let _one = serial();
    let scene = Scene::new();
    let daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    let before = observer.until("it runs", |s| s.tick > 100 && s.authority == 1);
    scene.ctl(&["reset"], 0);
    let first = observer.until("the next run", |s| s.run_id == 2);
    assert!(first.time_ns > before.time_ns, "time goes on");
    // the controller was told by the state, and proves life as at the start
    let again = observer.until("it obeys again", |s| s.tick > 100 && s.authority == 1);
    assert_eq!(again.run_id, 2);
    assert_eq!(observer.client.model(process::PATIENCE).unwrap().run_id, 2);
    let status = observer.status_until("it is told", |s| s.run_id == 2 && s.tick > 100);
    assert!(status.counter("reports_dropped") < 50, "{status:?}");
    scene.ctl(&["reset", "--rewind"], 0);
    let third = observer.until("the run after", |s| s.run_id == 3 && s.tick > 50);
    assert_eq!(third.time_ns, third.tick * observer.model.period_ns, "time begins again");
    let said = ends_and_replays(&scene, daemon);
    let files: Vec<PathBuf> =
        ["run.mcap", "run.part2.mcap", "run.part3.mcap"].map(|f| scene.path(f)).into();
    for (file, run_id) in files.iter().zip(1..) {
        assert_eq!(LogReader::open(file).unwrap().info().run_id, run_id);
        let log = Log::read(file);
        log.assert_no_tick_is_missing();
        assert!(log.ticks.iter().all(|t| t.run_id == run_id));
    }
    assert!(said.contains("run.part3.mcap") || said.contains("3 files"), "{said}");
}

#[test]
fn a_saved_state_is_gone_on_from() {
    let _one = serial();
    let scene = Scene::new();
    // a pause is told whatever the rate of the states
    let rare = "bus.state_every_ticks=100";
    let daemon = scene.daemon(&["--set", "sim.start=now", "--set", rare]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick > 50);
    scene.ctl(&["pause"], 0);
    let tick = paused(&observer);
    let file = scene.path("state.bin");
    let name = file.to_str().unwrap();
    let said = scene.ctl(&["snapshot", name], 0);
    assert!(said.contains(&format!("state after tick {tick} saved")), "{said}");
    assert!(std::fs::metadata(&file).unwrap().len() < 20_000, "a few kB");
    scene.ctl(&["step", "40"], 0);
    let reached = observer.until("40 more", |s| s.tick == tick + 40 && s.phase == 3);
    // a daemon that is paused stays so
    let said = scene.ctl(&["restore", name], 0);
    assert!(said.contains(&format!("continues after tick {tick}, as the next run")), "{said}");
    scene.ctl(&["step", "40"], 0);
    let again =
        observer.until("40 again", |s| s.run_id == 2 && s.tick == tick + 40 && s.phase == 3);
    assert_eq!(again.digest, reached.digest);
    // what is no state, or not of this robot and scenario, changes nothing
    std::fs::write(scene.path("bad"), b"HS\x07\x0cgarbage").unwrap();
    let text = scene.ctl(&["restore", scene.path("bad").to_str().unwrap()], 2);
    assert!(text.contains("is not a saved state"), "{text}");
    let other = Scene::new();
    let icy = other.daemon(&["--set", "sim.start=now", "--set", "contact.mu_static=0.9"]);
    let text = other.ctl(&["restore", name], 2);
    assert!(text.contains("from another robot or scenario"), "{text}");
    drop(icy);
    observer.status_until("nothing has changed", |s| (s.run_id, s.tick) == (2, tick + 40));
    ends_and_replays(&scene, daemon);
}

/// What is waited for does not come any more: the next run has begun, the daemon is gone, or
/// somebody ends the wait.
#[test]
fn a_wait_for_a_pause_that_cannot_come_ends() {
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 50);
    let args = ["ctl", "run-until", "100000000", "--connect", &scene.endpoint];
    let waits = |name: &str| {
        let process = scene.hardstand(name, &args);
        std::thread::sleep(Duration::from_millis(500));
        process
    };
    let mut first = waits("first");
    first.signal(Signal::INT);
    assert!(first.ends_with(5).contains("the order still holds"));
    let mut second = waits("second");
    scene.ctl(&["reset"], 0);
    assert!(second.ends_with(2).contains("run 2 has begun"), "{}", second.err());
    let mut third = waits("third");
    daemon.kill();
    assert!(third.ends_with(5).contains("no state comes any more"), "{}", third.err());
}

/// A name that was mistyped costs no scenario and no log.
#[test]
fn a_state_is_not_saved_over_another_file() {
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    Observer::of(&scene).until("it runs", |s| s.tick >= 50);
    let (scenario, state) = (scene.path("my.toml"), scene.path("my.state"));
    std::fs::write(&scenario, "mine").unwrap();
    let said = scene.ctl(&["snapshot", scenario.to_str().unwrap()], 2);
    assert!(said.contains("is not a saved state; choose another name"), "{said}");
    assert_eq!(std::fs::read_to_string(&scenario).unwrap(), "mine");
    for _ in 0..2 {
        scene.ctl(&["snapshot", state.to_str().unwrap()], 0);
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// Others may publish under the key of events.
#[test]
fn events_go_on_after_what_is_none() {
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 50);
    let mut events = scene.hardstand("events", &["events", "--connect", &scene.endpoint]);
    // the daemon passes on what it sends
    let session = raw_session(&scene.endpoint, &[]).expect("a session");
    let event = EventReading {
        kind: "a\x1b[2J".into(),
        text: "b\x1b]0;c\x07\r\nd".into(),
        ..Default::default()
    };
    let mut bytes = Vec::new();
    encode(Kind::Event, &event, &mut bytes).unwrap();
    wait_for("the event", || {
        for payload in [&b"junk"[..], &bytes] {
            session.put("hardstand/quadruped/events", payload).wait().unwrap();
        }
        events.out().contains("]0;c").then_some(())
    });
    let said = events.out();
    assert!(said.chars().all(|c| c == '\n' || !c.is_control()), "{said:?}");
    events.signal(Signal::INT);
    events.ends_with(0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// Two robots of one name on one bus would share their controllers and their orders.
#[test]
fn another_daemon_with_the_same_robot_is_told() {
    let (scene, second) = (Scene::tcp(), Scene::tcp());
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    Observer::of(&scene).until("it runs", |s| s.tick >= 50);
    let connect = format!("bus.connect=[{:?}]", scene.endpoint);
    let mut twin = second.daemon(&["--set", "sim.start=now", "--set", &connect]);
    wait_for("a word", || {
        let told = |of: &Process| of.err().contains("has a robot named quadruped, too");
        (told(&twin) && told(&daemon)).then_some(())
    });
    for process in [&mut twin, &mut daemon] {
        process.signal(Signal::TERM);
        process.ends_with(0);
    }
}
