//! Services: bytes and hashes of other people's encoders, and what a client brings about.

use std::collections::BTreeMap;
use std::time::Duration;

use hardstand::ros2::messages::{
    CancelGoal, Empty, EntityAnswer, EntityRequest, EntityState, Features, FeedbackMessage,
    GetEntityState, GetResult, GetSimulationState, GetSimulatorFeatures, GoalStatusArray, Message,
    PlaceRequest, ResetRequest, ResetSimulation, SendGoal, Service, SetBool, SetBoolRequest,
    SetChosenEntityState, SetEntityState, SetSimulationState, SimulationState, StateAnswer,
    StateRequest, StepRequest, StepSimulation, Success, Trigger, read, written,
};
use serde::Deserialize;
use zenoh::Wait;

use super::bytes::bytes;
use super::peer::{Peer, Way};
use crate::common::process::{Observer, Process, Scene, serial, wait_for};

#[derive(Deserialize)]
struct Vector {
    hash: String,
    request: String,
    answer: String,
}

fn check<S: Service>(vectors: &mut BTreeMap<String, Vector>) {
    check_as::<S>(vectors, S::NAME);
}

/// Likewise, under another name than that of the type.
fn check_as<S: Service>(vectors: &mut BTreeMap<String, Vector>, name: &str) {
    let theirs = vectors.remove(name).unwrap_or_else(|| panic!("{name} is no service"));
    assert_eq!(S::HASH, theirs.hash, "{}", S::NAME);
    let answer = bytes(&theirs.answer);
    assert_eq!(written(&read::<S::Answer>(&answer).unwrap()), answer, "{}", S::NAME);
    let request = bytes(&theirs.request);
    let ours = written(&read::<S::Request>(&request).unwrap());
    // a request that says nothing has one byte, whose value says nothing
    let said = if ours == written(&Empty) { &request[..4] } else { &request[..] };
    assert_eq!(ours[..said.len()], *said, "{}", S::NAME);
    assert_eq!(ours.len(), request.len(), "{}", S::NAME);
}

/// A message of an action, which stands among the services.
fn check_message<T: Message>(vectors: &mut BTreeMap<String, Vector>) {
    let theirs = vectors.remove(T::NAME).unwrap_or_else(|| panic!("{} is missing", T::NAME));
    assert_eq!(T::HASH, theirs.hash, "{}", T::NAME);
    let message = bytes(&theirs.request);
    assert_eq!(written(&T::decode(&message).unwrap()), message, "{}", T::NAME);
}

#[test]
fn services_are_those_of_rosbags_and_of_generated_code() {
    let mut vectors = serde_json::from_str(include_str!("../../ros2/services.json")).unwrap();
    check::<SetBool>(&mut vectors);
    check::<Trigger>(&mut vectors);
    check::<GetSimulatorFeatures>(&mut vectors);
    check::<GetSimulationState>(&mut vectors);
    check::<SetSimulationState>(&mut vectors);
    check::<StepSimulation>(&mut vectors);
    check::<ResetSimulation>(&mut vectors);
    check::<GetEntityState>(&mut vectors);
    check::<SetEntityState>(&mut vectors);
    check_as::<SetChosenEntityState>(&mut vectors, "simulation_interfaces/srv/SetEntityState 2.1");
    check::<SendGoal>(&mut vectors);
    check::<GetResult>(&mut vectors);
    check::<CancelGoal>(&mut vectors);
    check_message::<FeedbackMessage>(&mut vectors);
    check_message::<GoalStatusArray>(&mut vectors);
    assert!(vectors.is_empty(), "{:?}", vectors.keys());
}

/// A client of one daemon.
pub struct Client {
    pub peer: Peer,
    pub sequence: u64,
}

impl Client {
    fn attachment(&self) -> Vec<u8> {
        let sequence = self.sequence.to_le_bytes();
        match self.peer.way {
            Way::RmwZenoh => {
                let time = 1_700_000_000_000_000_000_u64.to_le_bytes();
                [&sequence[..], &time, &[16], &[9; 16]].concat()
            }
            // as a bridge sends it on: a client's id, a number, little-endian
            Way::Bridge => [&b"rqh"[..], &[7; 8], &sequence, &[1]].concat(),
        }
    }

    /// The bytes of the answer, if there is one, to the request that was counted last.
    pub fn ask(&self, key: &str, request: &[u8]) -> Option<Vec<u8>> {
        let sent = self.attachment();
        let get = self.peer.session.get(key).payload(request).attachment(&sent[..]);
        let replies = get.timeout(Duration::from_secs(20)).wait().unwrap();
        let sample = replies.recv().ok()?.into_result().ok()?;
        let attached = sample.attachment().map(|a| a.to_bytes().into_owned()).unwrap_or_default();
        if self.peer.way == Way::RmwZenoh {
            // number and id of the request, and a time of its own
            assert_eq!((attached.len(), &attached[..8]), (33, &sent[..8]), "{key}");
            assert_eq!(attached[16..], sent[16..], "{key}");
        }
        Some(sample.payload().to_bytes().into_owned())
    }

    pub fn key<S: Service>(&self, name: &str) -> String {
        let dds = S::NAME.replace('/', "::").replace("::srv::", "::srv::dds_::");
        let dds = dds.replace("::action::", "::action::dds_::");
        match self.peer.way {
            Way::RmwZenoh => format!("0/{name}/{dds}_/{}", S::HASH),
            Way::Bridge => name.into(),
        }
    }

    /// Calls a service, as a new request.
    pub fn call<S: Service>(&mut self, name: &str, request: &S::Request) -> S::Answer {
        self.sequence += 1;
        self.again::<S>(name, request)
    }

    /// Sends the last request again.
    fn again<S: Service>(&self, name: &str, request: &S::Request) -> S::Answer {
        let key = self.key::<S>(name);
        let answer = wait_for(name, || self.ask(&key, &written(request)));
        read(&answer).unwrap()
    }

    pub fn pause(&mut self, data: bool) {
        let Success { success, message } =
            self.call::<SetBool>("hardstand/pause", &SetBoolRequest { data });
        assert!(success, "{message}");
    }

    pub fn state(&mut self) -> u8 {
        let StateAnswer { state, result } =
            self.call::<GetSimulationState>("get_simulation_state", &Empty);
        assert_eq!(result.result, 1);
        state.state
    }

    fn set_state(&mut self, state: u8) -> u8 {
        let request = StateRequest { state: SimulationState { state } };
        self.call::<SetSimulationState>("set_simulation_state", &request).result.result
    }

    pub fn step(&mut self, steps: u64) -> (u8, String) {
        let r = self.call::<StepSimulation>("step_simulation", &StepRequest { steps }).result;
        (r.result, r.error_message)
    }

    fn reset(&mut self, scope: u8) -> u8 {
        let request = ResetRequest { scope };
        self.call::<ResetSimulation>("reset_simulation", &request).result.result
    }

    pub fn entity(&mut self, entity: &str) -> EntityAnswer {
        self.call::<GetEntityState>("get_entity_state", &EntityRequest { entity: entity.into() })
    }

    pub fn place(&mut self, entity: &str, state: &EntityState) -> (u8, String) {
        let request = PlaceRequest { entity: entity.into(), state: state.clone() };
        let r = self.call::<SetEntityState>("set_entity_state", &request).result;
        (r.result, r.error_message)
    }
}

pub fn begin(mode: &str, way: Way) -> (Scene, Process, Observer, Client) {
    let scene = Scene::new();
    let set = format!("ros2.mode={mode}");
    let daemon = scene.daemon(&["--set", &set, "--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.phase == 1);
    let client = Client { peer: Peer::connect(&scene.endpoint, way), sequence: 0 };
    (scene, daemon, observer, client)
}

pub fn end(scene: &Scene, mut daemon: Process) {
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

#[test]
fn a_client_pauses_steps_and_resets() {
    let _one = serial();
    for (mode, way) in [("rmw_zenoh", Way::RmwZenoh), ("bridge", Way::Bridge)] {
        let (scene, daemon, observer, mut client) = begin(mode, way);
        assert_eq!(client.state(), 1);
        let (code, why) = client.step(5);
        assert_eq!((code, why.as_str()), (4, "the simulation is not paused"));

        client.pause(true);
        // whoever asks next sees it; and once more is no mistake
        assert_eq!(client.state(), 2);
        client.pause(true);
        assert_eq!(client.set_state(2), 101);
        let tick = observer.until("paused", |s| s.phase == 3).tick;

        // the answer comes when the ticks are done; a bridge may ask several times
        assert_eq!(client.step(25), (1, String::new()));
        let request = StepRequest { steps: 25 };
        for _ in 0..3 {
            let again = client.again::<StepSimulation>("step_simulation", &request);
            assert_eq!(again.result.result, 1);
        }
        assert_eq!(observer.until("paused", |s| s.phase == 3 && s.tick > tick).tick, tick + 25);
        // one step after the other, and each time it is paused
        for step in 0..100 {
            assert_eq!(client.step(1), (1, String::new()), "step {step}");
            assert_eq!(client.state(), 2, "step {step}");
        }
        assert_eq!(client.step(0).0, 1);
        assert!(client.step(u64::MAX).1.contains("number is 18446744073709551615"), "{mode}");

        // time goes on with the next run, unless it is asked to begin again as well
        let before = observer.until("paused", |s| s.phase == 3);
        assert!(client.call::<Trigger>("hardstand/reset", &Empty).success);
        let after = observer.until("the next run", |s| s.run_id == before.run_id + 1);
        let later_ns = before.time_ns + observer.model.period_ns;
        assert_eq!((after.tick, after.time_ns, after.phase), (0, later_ns, 3));
        assert_eq!((client.reset(1), client.reset(4), client.reset(2)), (0, 0, 1));
        assert_eq!(observer.until("and the next", |s| s.run_id == before.run_id + 2).tick, 0);
        assert_eq!(client.reset(0), 1);
        let zero = observer.until("and the next", |s| s.run_id == before.run_id + 3);
        assert_eq!((zero.tick, zero.time_ns), (0, 0));
        client.pause(false);
        assert_eq!(client.state(), 1);
        end(&scene, daemon);
    }
}

/// No state shows a pause after the last tick.
#[test]
fn a_step_to_the_end_of_the_run_is_answered() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "ros2.mode=rmw_zenoh", "--duration", "0.05"]);
    let _observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let mut client = Client { peer, sequence: 0 };
    client.pause(true);
    assert_eq!(client.step(50), (1, String::new()));
    daemon.ends_with(0);
    scene.replays();
}

#[test]
fn a_client_stops_the_simulation_and_plays_it() {
    let _one = serial();
    let (scene, daemon, observer, mut client) = begin("rmw_zenoh", Way::RmwZenoh);
    let features = client.call::<GetSimulatorFeatures>("get_simulator_features", &Empty);
    let Features { features } = features;
    assert_eq!(features.features, [10, 11, 20, 21, 22, 24, 25, 26, 31, 32]);
    assert_eq!((client.set_state(1), client.set_state(3), client.set_state(9)), (101, 0, 0));

    assert_eq!((client.set_state(0), client.state(), client.set_state(0)), (1, 0, 101));
    let stopped = observer.until("stopped", |s| s.phase == 3);
    assert_eq!((stopped.tick, stopped.time_ns, stopped.run_id), (0, 0, 2));
    // paused is not stopped
    assert_eq!((client.set_state(2), client.state()), (1, 2));
    assert_eq!((client.set_state(0), client.set_state(1), client.state()), (1, 1, 1));
    observer.until("it runs", |s| s.tick > 10);

    // a pause ends a step of which nobody has spoken since
    client.pause(true);
    observer.until("it is paused", |s| s.phase == 3);
    let endpoint = scene.endpoint.clone();
    let stepper = std::thread::spawn(move || {
        let other = Peer::connect(&endpoint, Way::RmwZenoh);
        let mut other = Client { peer: other, sequence: 1000 };
        other.step(1_000_000)
    });
    observer.until("it steps", |s| s.phase == 1);
    client.pause(true);
    let (code, why) = stepper.join().unwrap();
    assert!(code == 4 && why.starts_with("paused after"), "{code} {why}");

    // bytes that are no request are counted, and nobody waits for long
    let key = client.key::<SetBool>("hardstand/pause");
    for (i, bad) in [&b""[..], b"\0\x01\0\0", b"\0\x01\0\0\x07", b"junk!"].into_iter().enumerate() {
        client.sequence += 1;
        assert_eq!(client.ask(&key, bad), None, "{i}");
    }
    let status = observer.status_until("they are counted", |s| s.counter("ros2_rejected_cdr") == 4);
    assert!(status.counter("ros2_called") > 10, "{status:#?}");
    assert_eq!(client.state(), 2);
    end(&scene, daemon);
}
