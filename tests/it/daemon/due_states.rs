//! The key of the states that are answered: what a controller with a long period needs, and no more.

use std::collections::BTreeSet;

use hardstand_protocol::{Kind, StateReading, decode};
use rustix::process::Signal;
use zenoh::Wait;
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;

use super::lockstep::joined;
use crate::common::process::{Observer, PATIENCE, Process, Scene, serial};
use hardstand_client::session::open_client;

/// Everything that is published under a key, in a session of its own: of two messages that go to
/// one session at once zenoh may drop the second.
struct Heard {
    subscriber: Subscriber<FifoChannelHandler<Sample>>,
    _session: zenoh::Session,
}

impl Heard {
    fn on(scene: &Scene, name: &str) -> Self {
        let session = open_client(&scene.endpoint).unwrap();
        let key = format!("hardstand/quadruped/{name}");
        let subscriber = session.declare_subscriber(key).with(FifoChannel::new(10_000));
        Self { subscriber: subscriber.wait().unwrap(), _session: session }
    }

    fn states(&self) -> Vec<StateReading> {
        let read = |sample: Sample| decode(Kind::State, &sample.payload().to_bytes()).unwrap();
        self.subscriber.drain().map(read).collect()
    }
}

fn ticks(states: &[StateReading]) -> BTreeSet<u64> {
    states.iter().map(|s| s.tick).collect()
}

/// A controller with all joints that answers the states of every 20th tick.
fn seldom(scene: &Scene, more: &[&str]) -> Process {
    joined(scene, "seldom", &[], &[&["--period", "20"], more].concat())
}

#[test]
fn outside_real_time_only_states_that_are_answered_are_due() {
    let scene = Scene::new();
    let waits = ["--set", "control.controllers=[\"seldom\"]", "--duration", "2"];
    let mut daemon = scene.daemon(&[&waits[..], &["--mode", "lockstep"]].concat());
    let heard = ["state", "state/due"].map(|name| Heard::on(&scene, name));
    let _seldom = seldom(&scene, &["--offset", "3"]);
    daemon.ends_with(0);
    let [all, due] = heard.each_ref().map(Heard::states);
    assert!(ticks(&all).len() > 1900, "{} states", ticks(&all).len());
    let running: Vec<_> = due.into_iter().filter(|s| s.phase == 1 && s.tick > 20).collect();
    // what is repeated in a wait is due, too
    let extra = running.iter().filter(|s| s.tick % 20 != 0).count();
    assert!(extra < 20, "{extra} of {} are answered by no controller", running.len());
    let answered: BTreeSet<u64> = (2..=100).map(|k| 20 * k).collect();
    let missing: Vec<_> = answered.difference(&ticks(&running)).copied().collect();
    assert!(missing.is_empty(), "{missing:?} are answered, and were not published");
    scene.replays();
}

#[test]
fn in_real_time_and_without_controllers_all_states_are_due() {
    let _one = serial();
    for mode in ["realtime", "lockstep"] {
        let scene = Scene::new();
        let run = ["--mode", mode, "--set", "sim.start=now", "--set", "sim.speed=0.1"];
        let mut daemon = scene.daemon(&[&run[..], &["--duration", "0.3"]].concat());
        let heard = ["state", "state/due"].map(|name| Heard::on(&scene, name));
        daemon.ends_with(0);
        let [mut all, due] = heard.each_ref().map(Heard::states);
        // the first key is subscribed to earlier
        all.retain(|s| s.tick >= due[0].tick);
        assert!(all.len() >= 50, "{} states", all.len());
        assert_eq!(due, all, "{mode}");
    }
}

/// The saved state has the lease, and two ticks later one waits for the answer to a state of before,
/// with no state to answer between: the controller has to hear of the new run all the same.
#[test]
fn a_restored_run_finds_a_controller_that_answers_seldom() {
    let scene = Scene::new();
    let ctl = |words: &[&str]| scene.ctl(words, 0);
    let waits = ["--set", "control.controllers=[\"seldom\"]", "--mode", "lockstep"];
    let mut daemon = scene.daemon(&waits);
    let _seldom = seldom(&scene, &["--offset", "30"]);
    let observer = Observer::of(&scene);
    observer.client.model(PATIENCE).unwrap();
    ctl(&["run-until", "128"]);
    observer.until("a pause", |s| (s.tick, s.phase) == (128, 3));
    let file = scene.path("state.bin");
    ctl(&["snapshot", file.to_str().unwrap()]);
    ctl(&["resume"]);
    for run_id in 2..5 {
        observer.until("it runs", |s| s.run_id == run_id - 1 && s.tick > 200);
        ctl(&["restore", file.to_str().unwrap()]);
    }
    observer.until("it runs", |s| s.run_id == 4 && s.tick > 200);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}
