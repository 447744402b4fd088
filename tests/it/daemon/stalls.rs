//! A daemon that stands still.

use std::time::Duration;

use hardstand_protocol::Authority;
use rustix::process::Signal;

use crate::common::process::{Log, Observer, Scene, serial, wait_for};

/// RT-8: missed deadlines are counted and skipped; simulated time stays `tick × period`.
#[test]
fn a_stopped_daemon_counts_what_it_missed_and_goes_on() {
    let _one = serial();
    let scene = Scene::new();
    // a busy machine may keep the controller waiting for longer than the usual 50 ticks
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    let before = observer.until("it stands", |s| s.tick >= 1000);
    let missed_before = observer.status_until("a status of this run", |s| s.tick >= 900);
    let missed_before = missed_before.counter("missed_deadlines");

    daemon.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(2));
    daemon.signal(Signal::CONT);

    let status = observer.status_until("2000 missed deadlines", |s| {
        s.counter("missed_deadlines") >= missed_before + 1900
    });
    let after = observer.until("another half second", |s| s.tick >= status.tick + 500);
    assert_eq!(after.time_ns, after.tick * 1_000_000);
    assert_eq!(after.failure, 0);
    let height = after.truth_base_position_m[2];
    assert!((height - before.truth_base_position_m[2]).abs() < 0.01, "height {height} m");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);

    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    assert!(
        log.states.iter().all(|s| s.time_ns == s.tick * 1_000_000),
        "time is not tick × period"
    );
    let jump = |w: &[hardstand_protocol::LogTick]| w[1].missed_deadlines - w[0].missed_deadlines;
    let stall = log.ticks.windows(2).map(jump).max().unwrap();
    assert!(stall >= 1900, "the stall is one gap in wall time, here {stall} periods");
    // the command in force was answered one tick ago, however long that took
    let lost = log.ticks.iter().filter(|t| !Authority::is_command(t.authority.code())).count();
    assert_eq!(lost, 0, "ticks without authority");
    scene.replays();
}

/// A controller that stands still for a quarter of a second has lost the robot. It says so, and joins
/// again by itself.
#[test]
fn a_stopped_controller_says_that_it_was_late_and_joins_again() {
    let _one = serial();
    let scene = Scene::new();
    // a busy machine may keep the controller waiting, too
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=100"]);
    let observer = Observer::of(&scene);
    let words = ["controller", "stand", "--join", "legs", "--connect", &scene.endpoint];
    let controller = scene.hardstand("controller", &words);
    observer.until("it stands", |s| s.tick >= 500 && Authority::is_command(s.authority));
    controller.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(250));
    let lost = observer.until("the loss", |s| !Authority::is_command(s.authority));
    controller.signal(Signal::CONT);
    let again = observer.until("the robot again", |s| Authority::is_command(s.authority));
    assert!(again.tick > lost.tick);
    wait_for("what it says", || {
        controller.err().contains("legs was late, and has joined again").then_some(())
    });
    let joined = observer.status_until("it is shown", |s| !s.controllers.is_empty());
    assert_eq!(joined.controllers[0].name, "legs");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// The stall of a daemon that is stopped for two seconds: the run's end, its log, its output.
fn stopped_for_two_seconds(sets: &[&str], code: i32) -> (Scene, Log, String) {
    let scene = Scene::new();
    let mut args = vec!["--set", "sim.start=now"];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    let mut daemon = scene.daemon(&args);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 300);
    daemon.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(2));
    daemon.signal(Signal::CONT);
    if code == 0 {
        observer.status_until("the stall", |s| s.counter("missed_deadlines") >= 1900);
        let tick = observer.state().tick;
        observer.until("some ticks more", |s| s.tick >= tick + 300);
        daemon.signal(Signal::TERM);
    }
    let out = daemon.ends_with(code);
    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    scene.replays();
    (scene, log, out)
}

fn counted(out: &str, name: &str) -> u64 {
    let words: Vec<&str> = out.split([' ', ',', '\n']).collect();
    let at = words.iter().position(|w| *w == name);
    at.map_or(0, |i| words[i + 1].parse().unwrap())
}

/// RT-8: the stall is told, counted, and in the log at its tick; what follows is the policy's.
#[test]
fn a_stall_of_two_seconds_goes_as_each_policy_says() {
    let _one = serial();
    // a tick that was run at once is one whose deadlines were counted with the first of them
    let slip = stopped_for_two_seconds(&["realtime.overrun=slip"], 0);
    assert_eq!(counted(&slip.2, "ticks_caught_up"), 0, "{}", slip.2);
    assert!(slip.2.contains("they are skipped"), "{}", slip.2);

    let sets = ["realtime.overrun=catch_up", "realtime.catch_up_ticks_max=7"];
    let (_scene, log, out) = stopped_for_two_seconds(&sets, 0);
    let missed = |t: &hardstand_protocol::LogTick| t.missed_deadlines;
    let stall = log.ticks.windows(2).position(|w| missed(&w[1]) - missed(&w[0]) >= 1900).unwrap();
    let (ticks, all) = (counted(&out, "ticks_caught_up"), counted(&out, "missed_deadlines"));
    // the noise of the machine is caught up too, but the stall gives seven at most
    let rest = all - (missed(&log.ticks[stall + 1]) - missed(&log.ticks[stall]));
    assert!((7..=7 + rest).contains(&ticks), "{ticks} caught up, {rest} other misses: {out}");
    assert!(out.contains("up to 7 are run at once"), "{out}");

    // `stop` on this machine may end at a miss of its own before the signal
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now", "--set", "realtime.overrun=stop"]);
    // until it ends: a slow start may not have begun to tick at the first signal
    wait_for("the end of a daemon with overrun=stop", || {
        daemon.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(300));
        daemon.signal(Signal::CONT);
        std::thread::sleep(Duration::from_millis(200));
        daemon.has_ended().then_some(())
    });
    let out = daemon.ends_with(7);
    assert!(out.contains("a deadline was missed"), "{out}");
    scene.replays();
}
