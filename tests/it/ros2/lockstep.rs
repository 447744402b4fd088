//! A ROS 2 node in lockstep: ticks wait for its answers, and a run is that of a native controller.

use std::time::{Duration, Instant};

use hardstand::ros2::messages::{SetBool, SetBoolRequest};
use hardstand_protocol::{
    Authority, JoinRequest, JointCommand, ModelReply, StateReading, StatusReading,
    controller_number,
};
use index::builtin_interfaces::msg::Time;
use index::sensor_msgs::msg::{Imu, JointState};
use index::std_msgs::msg::Float64MultiArray;
use ros2_interfaces_jazzy_serde as index;
use rustix::process::Signal;
use zenoh::handlers::FifoChannelHandler;
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;

use super::commands::trajectory;
use super::peer::{self, DynamicJointState, InterfaceValue, Peer, Way, decode};
use super::services::Client;
use crate::common::process::{
    Dice, Observer, PATIENCE, Process, Scene, digest, repository, serial, wait_for,
};

const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];
const ONE_SECOND: [&str; 6] = ["--mode", "lockstep", "--pace", "free", "--duration", "1"];

/// The answer to measured positions, which depends on them.
fn answer(model: &ModelReply, measured: &[f64]) -> Vec<JointCommand> {
    let mut joints = model.hold();
    for (joint, q) in joints.iter_mut().zip(measured) {
        joint.q += 0.125 * (joint.q - q);
    }
    joints
}

/// The same as a message, with the joints in another order.
fn message(model: &ModelReply, state: &JointState) -> DynamicJointState {
    let names = ["position", "velocity", "effort", "kp", "kd"].map(String::from);
    let entry = |c: &JointCommand| InterfaceValue {
        interface_names: names.to_vec(),
        values: vec![c.q, c.dq, c.tau_ff, c.kp, c.kd],
    };
    let mut m = DynamicJointState {
        joint_names: model.joints.iter().rev().map(|j| j.name.clone()).collect(),
        interface_values: answer(model, &state.position).iter().rev().map(entry).collect(),
        ..Default::default()
    };
    m.header.stamp = state.header.stamp.clone();
    m
}

type States = Subscriber<FifoChannelHandler<Sample>>;

struct Node {
    peer: Peer,
    states: States,
    model: ModelReply,
}

impl Node {
    fn start(scene: &Scene, way: Way) -> Self {
        let model = scene.client().model(PATIENCE).unwrap();
        let peer = Peer::connect(&scene.endpoint, way);
        let states = peer.subscribe("joint_states", &peer::JOINT_STATE);
        Self { peer, states, model }
    }

    fn state(&self) -> JointState {
        wait_for("a state", || {
            self.states.recv_timeout(Duration::from_millis(100)).ok()?.map(|s| decode(&s))
        })
    }

    fn send(&self, m: &DynamicJointState) {
        self.peer.publish("dynamic_joint_commands", &peer::DYNAMIC, m);
    }

    /// Answers every state but a share of them, which are lost, until the daemon ends.
    fn answer_all(&self, daemon: &mut Process, lost_percent: u64) -> usize {
        let (mut dice, mut lost) = (Dice(5), 0);
        while !daemon.has_ended() {
            let heard = self.states.recv_timeout(Duration::from_millis(100));
            let Ok(Some(sample)) = heard else { continue };
            if dice.roll(100) < lost_percent {
                lost += 1;
                continue;
            }
            self.send(&message(&self.model, &decode(&sample)));
        }
        lost
    }

    /// Answers states up to the one of this tick of the run that began at `begin_ns`, which it
    /// returns.
    fn answer_until(&self, tick: u64, begin_ns: u64) -> JointState {
        loop {
            let state = self.state();
            let ns = ns(&state.header.stamp);
            if ns >= begin_ns + tick * self.model.period_ns {
                return state;
            }
            if ns >= begin_ns {
                self.send(&message(&self.model, &state));
            }
        }
    }
}

fn ns(stamp: &Time) -> u64 {
    stamp.sec as u64 * 1_000_000_000 + u64::from(stamp.nanosec)
}

/// The digest of a run with a native controller that has the name of the node.
fn native() -> String {
    native_with(&[]).0
}

/// The same of a run with more words, and the ticks of the states that it saw.
fn native_with(more: &[&str]) -> (String, Vec<u64>) {
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&[&ONE_SECOND[..], more].concat());
    let mut seen = Vec::new();
    let client = scene.client();
    let model = client.model(PATIENCE).unwrap();
    let mut controller = client.join(JoinRequest::new(&model, "ros2"), PATIENCE).unwrap();
    while !daemon.has_ended() {
        let Ok(state) = controller.next_state(Duration::from_millis(100)) else { break };
        let Some(state) = state else { continue };
        note(&mut seen, state.tick);
        let measured: Vec<f64> = state.joints.iter().map(|j| j.q).collect();
        controller.answer(&state, &answer(&model, &measured)).unwrap();
    }
    (digest(&daemon.ends_with(0)), seen)
}

/// Notes a tick that is seen for the first time.
fn note(seen: &mut Vec<u64>, tick: u64) {
    if !seen.contains(&tick) {
        seen.push(tick);
    }
}

/// What the link does to states depends on their ticks, not on the way.
#[test]
fn states_come_to_a_node_as_late_and_in_the_order_as_to_a_native_controller() {
    let _one = serial();
    let faults = "events=[\
        {at_s=0.2, kind=\"state_drop\", probability=0.3, length=2, seed=7, duration_s=0.2}, \
        {at_s=0.5, kind=\"state_reorder\", probability=0.2, delay_ticks=3, seed=3, duration_s=0.2}, \
        {at_s=0.75, kind=\"state_delay\", delay_ticks=40, duration_s=0.1}]";
    let (native, native_saw) = native_with(&["--set", faults]);
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&[&ONE_SECOND[..], &["--set", faults]].concat());
    let node = Node::start(&scene, Way::RmwZenoh);
    let mut saw = Vec::new();
    while !daemon.has_ended() {
        let heard = node.states.recv_timeout(Duration::from_millis(100));
        let Ok(Some(sample)) = heard else { continue };
        let state = decode(&sample);
        node.send(&message(&node.model, &state));
        note(&mut saw, ns(&state.header.stamp) / node.model.period_ns);
    }
    assert_eq!(digest(&daemon.ends_with(0)), native);
    // the last state of a run may come when nobody listens any more
    let but_the_last = |seen: Vec<u64>| seen.into_iter().filter(|t| *t < 990).collect::<Vec<_>>();
    let [native_saw, saw] = [native_saw, saw].map(but_the_last);
    assert!((800..960).contains(&saw.len()), "{} states", saw.len());
    assert!(saw.windows(2).any(|w| w[1] < w[0]), "some overtake others");
    assert_eq!(saw, native_saw);
    scene.replays();
}

#[test]
fn a_node_in_lockstep_gives_the_digest_of_a_native_controller() {
    let _one = serial();
    let native = native();
    for (mode, way, lost_percent) in [
        ("rmw_zenoh", Way::RmwZenoh, 0),
        ("bridge", Way::Bridge, 0),
        ("rmw_zenoh", Way::RmwZenoh, 3),
    ] {
        let scene = Scene::in_memory();
        let set = format!("ros2.mode={mode}");
        let mut daemon = scene.daemon(&[&ONE_SECOND[..], &["--set", &set]].concat());
        let node = Node::start(&scene, way);
        let lost = node.answer_all(&mut daemon, lost_percent);
        assert_eq!(digest(&daemon.ends_with(0)), native, "{mode}, {lost} answers lost");
        assert_eq!(lost > 0, lost_percent > 0);
        scene.replays();
    }
}

#[test]
fn after_a_reset_the_answer_to_the_run_before_is_refused_and_the_run_is_the_same() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&LOCKSTEP);
    let observer = Observer::of(&scene);
    let node = Node::start(&scene, Way::RmwZenoh);
    let imu = node.peer.subscribe("imu/data", &peer::IMU);
    let late = node.answer_until(200, 0);
    let first = observer.until("tick 200", |s| s.tick == 200);
    // every tick has its own, and one that waits is sent again
    let mut stamps = vec![];
    wait_for("the IMU's state of tick 200", || {
        let sample = imu.recv_timeout(Duration::from_millis(100)).ok()??;
        stamps.push(ns(&decode::<Imu>(&sample).header.stamp) / node.model.period_ns);
        (stamps.last() == Some(&200)).then_some(())
    });
    stamps.dedup();
    assert_eq!(stamps, (stamps[0]..=200).collect::<Vec<_>>(), "an IMU's state for every tick");

    scene.ctl(&["reset"], 0);
    let again = observer.until("the next run", |s| s.run_id == 2);
    assert_eq!((again.tick, again.phase), (0, 0));
    assert_eq!(again.time_ns, first.time_ns + node.model.period_ns, "no time comes twice");
    node.send(&message(&node.model, &late));
    observer.status_until("it is refused", |s| s.counter("ros2_rejected_stamp") == 1);
    assert_eq!(observer.state().phase, 0, "it does not begin the run");

    node.answer_until(200, again.time_ns);
    let second = observer.until("tick 200 again", |s| (s.run_id, s.tick) == (2, 200));
    assert_eq!(second.digest, first.digest);
    let status = observer.status_until("it has joined again", |s| !s.controllers.is_empty());
    assert_eq!(status.counter("rejected_conflict"), 0, "{status:#?}");
    let names: Vec<&str> = status.controllers.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["ros2"]);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn messages_without_a_stamp_are_refused_by_name() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&LOCKSTEP);
    let observer = Observer::of(&scene);
    let node = Node::start(&scene, Way::RmwZenoh);
    node.answer_until(3, 0);
    let efforts = Float64MultiArray { data: vec![0.0; 12], ..Default::default() };
    node.peer.publish("forward_effort_controller/commands", &peer::ARRAY, &efforts);
    let state = JointState { position: vec![0.0; 12], ..Default::default() };
    node.send(&message(&node.model, &state));
    let mut between = message(&node.model, &state);
    between.header.stamp.nanosec = 2_400_000;
    node.send(&between);
    observer.status_until("three are refused", |s| s.counter("ros2_rejected_stamp") == 3);
    assert_eq!(observer.until("it waits", |s| s.phase == 1).tick, 3);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// The first answer may come again, for its state does; of a node that always sends the same, the
/// refusal names what is missing.
#[test]
fn a_constant_command_without_a_stamp_is_refused_after_the_first_tick() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&LOCKSTEP);
    let observer = Observer::of(&scene);
    let node = Node::start(&scene, Way::RmwZenoh);
    let state = JointState { position: vec![0.0; 12], ..Default::default() };
    let hold = message(&node.model, &state);
    wait_for("the first tick", || {
        node.send(&hold);
        (observer.state().tick == 1).then_some(())
    });
    for _ in 0..5 {
        node.send(&hold);
    }
    let status = observer.status_until("they have come", |s| s.counter("ros2_received") > 5);
    assert_eq!(status.counter("ros2_rejected_stamp"), 0, "the first answer came again");
    wait_for("a refusal", || {
        node.send(&hold);
        let refused = observer.status_until("a status", |_| true).counter("ros2_rejected_stamp");
        (refused > 0).then_some(())
    });
    assert_eq!(observer.state().tick, 1);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn one_trajectory_answers_every_state_and_gives_the_same_run_each_time() {
    let _one = serial();
    let run = || {
        let scene = Scene::in_memory();
        let mut daemon = scene.daemon(&ONE_SECOND);
        let node = Node::start(&scene, Way::RmwZenoh);
        let names: Vec<String> = node.model.joints.iter().map(|j| j.name.clone()).collect();
        let to: Vec<f64> = node.model.joints.iter().map(|j| j.q_initial + 0.1).collect();
        let sent = trajectory(&names, &[to], 1);
        let topic = "joint_trajectory_controller/joint_trajectory";
        node.peer.publish(topic, &peer::TRAJECTORY, &sent);
        digest(&daemon.ends_with(0))
    };
    assert_eq!(run(), run());
}

#[test]
fn a_node_is_not_waited_for_where_its_commands_do_not_join() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&[&LOCKSTEP[..], &["--set", "ros2.join=off"]].concat());
    let observer = Observer::of(&scene);
    let node = Node::start(&scene, Way::RmwZenoh);
    let state = node.state();
    observer.status_until("they are refused", |s| {
        node.send(&message(&node.model, &state));
        s.counter("rejected_not_joined") > 0
    });
    assert_eq!(observer.state().tick, 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// Names of the controllers that have joined.
fn joined(status: &StatusReading) -> Vec<&str> {
    status.controllers.iter().map(|c| c.name.as_str()).collect()
}

#[test]
fn a_node_joins_by_a_service_before_it_commands() {
    let _one = serial();
    let native = native();
    for (mode, way) in [("rmw_zenoh", Way::RmwZenoh), ("bridge", Way::Bridge)] {
        let scene = Scene::in_memory();
        let set = format!("ros2.mode={mode}");
        let mut daemon = scene.daemon(&[&ONE_SECOND[..], &["--set", &set]].concat());
        let observer = Observer::of(&scene);
        let node = Node::start(&scene, way);
        let mut client = Client { peer: Peer::connect(&scene.endpoint, way), sequence: 0 };
        let mut ask = |data| client.call::<SetBool>("hardstand/join", &SetBoolRequest { data });
        assert!(joined(&observer.status()).is_empty());
        for _twice_is_once in 0..2 {
            let answer = ask(true);
            assert!(answer.success, "{}", answer.message);
        }
        let status = observer.status_until("it has joined", |s| joined(s) == ["ros2"]);
        assert_eq!((observer.state().tick, status.counter("ros2_rejected_join")), (0, 0));
        node.answer_all(&mut daemon, 0);
        assert_eq!(digest(&daemon.ends_with(0)), native, "{mode}");
        scene.replays();
    }
}

#[test]
fn ticks_do_not_wait_for_a_node_that_has_left_by_a_service() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&LOCKSTEP[..2]);
    let observer = Observer::of(&scene);
    let node = Node::start(&scene, Way::RmwZenoh);
    let mut client = Client { peer: Peer::connect(&scene.endpoint, Way::RmwZenoh), sequence: 0 };
    let mut ask = |data| client.call::<SetBool>("hardstand/join", &SetBoolRequest { data });
    assert!(ask(true).success);
    let state = node.answer_until(100, 0);
    assert_eq!(observer.until("tick 100", |s| s.tick == 100).phase, 1);
    assert!(ask(false).success);
    observer.until("ticks go on", |s| s.tick > 300);
    observer.status_until("it has left", |s| joined(s).is_empty());
    // its next answer joins again, although it is one to a state of long ago
    observer.status_until("it has joined again", |s| {
        node.send(&message(&node.model, &state));
        joined(s) == ["ros2"]
    });
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn in_real_time_commands_join_once_a_node_has_asked_for_it_and_never_where_they_may_not() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=2000"]);
    let observer = Observer::of(&scene);
    let node = Node::start(&scene, Way::RmwZenoh);
    let mut client = Client { peer: Peer::connect(&scene.endpoint, Way::RmwZenoh), sequence: 0 };
    let mut ask = |data| client.call::<SetBool>("hardstand/join", &SetBoolRequest { data });
    let command = message(&node.model, &node.state());
    let send_until = |what: &str, shown: &dyn Fn(&StatusReading) -> bool| {
        observer.status_until(what, |s| {
            node.send(&command);
            std::thread::sleep(Duration::from_millis(5));
            shown(s)
        })
    };
    // one is sent for each state that is looked at, so the next look may find it held
    let commands = |s: &StateReading| {
        node.send(&command);
        s.phase == 1 && Authority::is_command(s.authority)
    };
    let ros2 = controller_number("ros2");
    assert!(ask(true).success);
    send_until("it has joined", &|s| joined(s) == ["ros2"]);
    observer.until("it commands", |s| commands(s) && s.command_session == ros2);
    assert!(ask(false).success);
    send_until("it has left", &|s| joined(s).is_empty());
    observer.until("it commands without", |s| commands(s) && s.command_session != ros2);
    assert!(joined(&observer.status()).is_empty());
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);

    let scene = Scene::in_memory();
    let _daemon = scene.daemon(&["--set", "ros2.join=off"]);
    let mut client = Client { peer: Peer::connect(&scene.endpoint, Way::RmwZenoh), sequence: 0 };
    let answer = client.call::<SetBool>("hardstand/join", &SetBoolRequest { data: true });
    assert!(!answer.success && answer.message.contains("ros2.join"), "{}", answer.message);
}

/// The node of a certificate or of a case: another process, which finds the daemon as a node of
/// `rmw_zenoh` does, and knows nothing but the states.
#[test]
#[ignore = "a program for the tests below"]
fn node_in_a_process_of_its_own() {
    let Ok(settings) = std::env::var("ZENOH_CONFIG_OVERRIDE") else { return };
    let endpoints = settings.split(';').find_map(|s| s.strip_prefix("connect/endpoints=")).unwrap();
    let endpoint = endpoints.trim_matches(['[', ']', '"']);
    let peer = Peer::connect(endpoint, Way::RmwZenoh);
    let states = peer.subscribe("joint_states", &peer::JOINT_STATE);
    let mut held: Option<Vec<f64>> = None;
    let begin = Instant::now();
    // it is ended by the one that has started it
    while begin.elapsed() < 10 * PATIENCE {
        let heard = states.recv_timeout(Duration::from_millis(100));
        let Ok(Some(sample)) = heard else { continue };
        let state: JointState = decode(&sample);
        let q = held.get_or_insert_with(|| state.position.clone());
        let command = super::commands::hold(&state.name, q, &state.header.stamp);
        peer.publish("dynamic_joint_commands", &peer::DYNAMIC, &command);
    }
}

/// The command of that node.
fn node_command() -> Vec<String> {
    let program = std::env::current_exe().unwrap().display().to_string();
    let (_, module) = module_path!().split_once("::").unwrap();
    let test = format!("{module}::node_in_a_process_of_its_own");
    [&program, "--ignored", "--exact", &test].map(ToString::to_string).into()
}

#[test]
fn a_node_is_certified() {
    let _one = serial();
    let scene = Scene::in_memory();
    let listen = format!("bus.listen=[{:?}]", scene.endpoint);
    let (scenario, out) = (repository("config/quadruped.toml"), scene.path("certificate"));
    let mut args = vec!["certify".into(), scenario, "--set".into(), listen, "--out".into()];
    args.extend([out.display().to_string(), "--duration".into(), "0.1".into(), "--".into()]);
    args.extend(node_command());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let said = scene.hardstand("certify", &args).ends_with(0);
    println!("{said}");
    let text = std::fs::read_to_string(out.join("certificate.json")).unwrap();
    let certificate: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(certificate["certified"], true, "{certificate:#}");
}

#[test]
fn a_node_is_the_controller_of_a_campaign() {
    let _one = serial();
    let scene = Scene::in_memory();
    let words: Vec<String> = node_command().iter().map(|word| format!("{word:?}")).collect();
    let plan = format!(
        "controller = [{}]\nduration_s = 0.2\nseeds = [1]\n[[scenarios]]\nname = \"flat\"\n\
         file = {:?}\n",
        words.join(", "),
        repository("config/quadruped.toml")
    );
    let file = scene.path("campaign.toml");
    std::fs::write(&file, plan).unwrap();
    let (file, out) = (file.display().to_string(), scene.path("out").display().to_string());
    let said = scene.hardstand("campaign", &["campaign", &file, "--out", &out]).ends_with(0);
    let table = std::fs::read_to_string(scene.path("out").join("table.csv")).unwrap();
    assert!(table.contains("done"), "{said}\n{table}");
}
