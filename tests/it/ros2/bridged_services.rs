//! Services by way of the real bridge, and a client of DDS that calls them as rmw_cyclonedds does.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::bridged::BRIDGE;
use super::dds::{Stage, last, lines};
use crate::common::process::{Observer, Process, serial, wait_for};

const SERVICES: [(&str, &str); 10] = [
    ("hardstand/join", "std_srvs::srv::dds_::SetBool"),
    ("hardstand/pause", "std_srvs::srv::dds_::SetBool"),
    ("hardstand/reset", "std_srvs::srv::dds_::Trigger"),
    ("get_simulator_features", "simulation_interfaces::srv::dds_::GetSimulatorFeatures"),
    ("get_simulation_state", "simulation_interfaces::srv::dds_::GetSimulationState"),
    ("set_simulation_state", "simulation_interfaces::srv::dds_::SetSimulationState"),
    ("step_simulation", "simulation_interfaces::srv::dds_::StepSimulation"),
    ("reset_simulation", "simulation_interfaces::srv::dds_::ResetSimulation"),
    ("get_entity_state", "simulation_interfaces::srv::dds_::GetEntityState"),
    ("set_entity_state", "simulation_interfaces::srv::dds_::SetEntityState"),
];

/// Both ends of all services, as the bridge has them.
fn served(graph: &Process) -> BTreeSet<[String; 3]> {
    let all = last(graph, "graph").unwrap_or_default();
    let all = all.as_array().cloned().unwrap_or_default();
    let ours = all.iter().filter(|v| v["node"] == BRIDGE);
    let words = ours.map(|v| ["end", "topic", "type"].map(|k| v[k].as_str().unwrap().into()));
    words.filter(|[_, topic, _]: &[String; 3]| !topic.starts_with('/')).collect()
}

const PAUSE: [&str; 3] = ["hardstand/pause", "std_srvs/srv/SetBool", "{\"data\": true}"];
const STEP: [&str; 3] =
    ["step_simulation", "simulation_interfaces/srv/StepSimulation", "{\"steps\": 25}"];
const RESET: [&str; 3] = ["hardstand/reset", "std_srvs/srv/Trigger", "{}"];

/// The answers to a new client's calls.
fn call(stage: &Stage, calls: &[[&str; 3]]) -> Vec<Value> {
    let words: Vec<&str> = ["call"].into_iter().chain(calls.iter().flatten().copied()).collect();
    let mut client = stage.node("client", &words);
    client.ends_with(0);
    let answers: Vec<Value> = lines(&client).iter().map(|v| v["answer"].clone()).collect();
    assert_eq!(answers.len(), calls.len());
    answers
}

/// Pauses, steps and looks how far that went.
fn check_steps(stage: &Stage, observer: &Observer) {
    let answers = call(stage, &[PAUSE, STEP, PAUSE]);
    let ticks = |v: &Value| {
        assert_eq!(v["success"], true, "{v}");
        let words = v["message"].as_str().unwrap().strip_prefix("paused after ").unwrap();
        words.strip_suffix(" ticks").unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(answers[1]["result"], json!({"result": 1, "error_message": ""}));
    assert_eq!(ticks(&answers[2]), ticks(&answers[0]) + 25);
    let state = observer.until("the pause", |s| s.phase == 3 && s.tick >= ticks(&answers[2]));
    assert_eq!(state.tick, ticks(&answers[2]));
}

#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn a_dds_client_pauses_steps_and_resets() {
    let _one = serial();
    let stage = Stage::new();
    let graph = stage.node("graph", &["graph"]);
    let _bridge = stage.bridge();
    let mut daemon = stage.daemon(&["sim.start=now"]);
    // listed before there is a client
    wait_for("all services", || (served(&graph).len() == 2 * SERVICES.len()).then_some(()));
    let ends = |(name, kind): (&str, &str)| {
        let request = [format!("rq/{name}Request"), format!("{kind}_Request_")];
        let answer = [format!("rr/{name}Reply"), format!("{kind}_Response_")];
        let with = |end: &str, [topic, kind]: [String; 2]| [end.into(), topic, kind];
        [with("subscription", request), with("publisher", answer)]
    };
    assert_eq!(served(&graph), SERVICES.into_iter().flat_map(ends).collect());

    let observer = Observer::of(&stage.scene);
    observer.until("it runs", |s| s.phase == 1);
    check_steps(&stage, &observer);
    let before = observer.state();
    assert_eq!(call(&stage, &[RESET])[0]["success"], true);
    let after = observer.until("the next run", |s| s.run_id == before.run_id + 1);
    let later_ns = before.time_ns + observer.model.period_ns;
    assert_eq!((after.tick, after.time_ns, after.phase), (0, later_ns, 3));
    assert_eq!(observer.status().counter("ros2_rejected_cdr"), 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    stage.scene.replays();
}

/// The bridge subscribes to requests once more, too, and asks as often; it is done once.
#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn what_the_bridge_asks_several_times_is_done_once() {
    let _one = serial();
    let stage = Stage::new();
    let _bridge = stage.bridge();
    let mut called = Vec::new();
    for _ in 0..4 {
        let mut daemon = stage.daemon(&["sim.start=now"]);
        let observer = Observer::of(&stage.scene);
        observer.until("it runs", |s| s.phase == 1);
        check_steps(&stage, &observer);
        let status = observer.status_until("all calls", |s| s.counter("ros2_called") >= 3);
        called.push(status.counter("ros2_called"));
        daemon.signal(Signal::TERM);
        daemon.ends_with(0);
    }
    assert!(called[0] == 3 && called[3] > 6, "of 3 calls: {called:?}");
}
