//! `kill -9`: of the controller, and of the daemon.

use std::collections::BTreeSet;
use std::time::Duration;

use hardstand::limits::REVOKED_SESSIONS;
use hardstand_client::Controller;
use hardstand_protocol::{JointCommand, Rejection, Verdict};
use rustix::process::Signal;

use crate::common::ladder::Ladder;
use crate::common::process::{Dice, Log, Observer, Scene, serial};

const HOLD: u64 = 40;
const DAMPED: u64 = 150;
const LADDER: [&str; 4] = ["--set", "command.hold_ticks=40", "--set", "command.damped_ticks=150"];
const FRESH: u8 = 1;

/// LN-1: the age ladder, to the tick, read from the log; and the way back.
#[test]
fn a_killed_controller_is_held_damped_and_released_at_the_exact_tick() {
    let _one = serial();
    kill_controllers(10);
}

#[test]
#[ignore = "some minutes"]
fn fifty_killed_controllers_are_held_damped_and_released_at_the_exact_tick() {
    let _one = serial();
    kill_controllers(50);
}

fn kill_controllers(kills: usize) {
    let scene = Scene::new();
    let mut daemon = scene.daemon(&LADDER);
    let observer = Observer::of(&scene);
    let mut dice = Dice(0x5eed_0001);
    let mut lost = Vec::new();
    for kill in 0..kills {
        let mut controller = scene.controller(&format!("controller{kill}"));
        let state = observer.until("a new session in command", |s| {
            s.authority == FRESH && !lost.contains(&s.command_session)
        });
        std::thread::sleep(Duration::from_micros(50_000 + dice.roll(250_000)));
        controller.kill();
        lost.push(state.command_session);
        observer.until("the robot is released", |s| s.authority == 0);
    }
    let late = old_sessions_knock(&scene, &observer);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);

    let log = Log::read(&scene.log());
    assert_eq!(log.damage, None);
    let (sessions, releases) = climb(&log);
    assert!(lost.iter().all(|s| sessions.contains(s)), "{lost:x?} in {sessions:x?}");
    assert!(releases >= lost.len(), "{releases} releases for {} kills", lost.len());
    let revoked = log.ticks.iter().flat_map(|t| &t.candidates);
    let revoked = revoked.filter(|o| o.verdict == Verdict::Rejected(Rejection::Revoked)).count();
    assert!(revoked as u64 >= late, "{revoked} refusals for {late} late commands");
    scene.replays();
}

/// Walks the log with a ladder of its own. Returns the sessions that had the robot and the number
/// of releases.
fn climb(log: &Log) -> (BTreeSet<u64>, usize) {
    let mut ladder = Ladder::new(HOLD, DAMPED, 3);
    log.ticks.iter().for_each(|t| ladder.climb(t));
    (ladder.sessions, ladder.releases)
}

/// Sessions that have lost the robot send commands again, otherwise without fault. Returns how
/// many. Older ones are forgotten, see limits::REVOKED_SESSIONS.
fn old_sessions_knock(scene: &Scene, observer: &Observer) -> u64 {
    let client = scene.client();
    let hold = vec![JointCommand::default(); observer.model.joints.len()];
    let lost = (0..REVOKED_SESSIONS).map(|_| {
        let mut controller = client.control(&observer.model).unwrap();
        loop {
            let state = observer.state();
            if state.authority == FRESH && state.command_session == controller.session() {
                break;
            }
            controller.send(&state, &hold).unwrap();
        }
        observer.until("it has lost the robot", |s| s.authority == 0);
        controller
    });
    let mut lost: Vec<Controller> = lost.collect();
    let before = observer.status().counter("rejected_revoked");
    let mut sent = 0;
    for controller in &mut lost {
        for _ in 0..5 {
            controller.send(&observer.state(), &hold).unwrap();
            sent += 1;
        }
    }
    observer
        .status_until("old sessions refused", |s| s.counter("rejected_revoked") - before >= sent);
    assert_eq!(observer.state().authority, 0, "an old session moves the robot");
    sent
}

/// RC-1: the log of a killed daemon is a prefix of the run, at most a few chunks short.
#[test]
fn a_killed_daemon_leaves_a_log_that_replays() {
    let _one = serial();
    kill_daemons(5);
}

#[test]
#[ignore = "some minutes"]
fn two_hundred_killed_daemons_leave_logs_that_replay() {
    let _one = serial();
    kill_daemons(200);
}

fn kill_daemons(kills: usize) {
    let scene = Scene::new();
    let mut dice = Dice(0x5eed_0002);
    for kill in 0..kills {
        // again on the same endpoint: what the killed one left behind is not in the way
        let mut daemon = scene.daemon(&["--set", "record.keyframe_every_ticks=100"]);
        let observer = Observer::of(&scene);
        let _controller = scene.controller("controller");
        observer.until("it runs", |s| s.tick >= 50);
        let end = 100 + dice.roll(500);
        let mut seen = observer.until("a random tick", |s| s.tick >= end).tick;
        daemon.kill();
        while let Ok(Some(state)) = observer.states.next_state(Duration::from_millis(20)) {
            seen = state.tick;
        }
        let out = scene.replay(&[]).ends_with(3);
        assert!(out.contains("identical") && out.contains("it breaks off"), "{out}");
        let log = Log::read(&scene.log());
        let logged = log.ticks.len() as u64;
        assert!(out.contains(&format!("replayed   {logged} ticks")), "{out}");
        assert!(logged + 40 >= seen, "kill {kill}: {logged} of {seen} ticks are in the log");
        log.assert_no_tick_is_missing();
    }
}
