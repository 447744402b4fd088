//! Nodes of DDS and the daemon, by way of the real zenoh-bridge-ros2dds. `tests/ros2/bridge/run`
//! builds and runs all of it; it costs more than every other test here.

use std::collections::BTreeSet;

use hardstand::ros2::STATE_INTERFACES;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::dds::{Stage, heard, last, length, ns, number, texts, wait_heard};
use super::others::told;
use super::peer;
use crate::common::process;
use crate::common::process::{Log, Observer, Process, serial, wait_for};

const FEET: [&str; 4] = ["FL", "FR", "RL", "RR"];
pub const BRIDGE: &str = "/zenoh_bridge_ros2dds";

/// Name, type and durability of all that is published, and of what is listened to.
fn topics() -> Vec<(&'static str, String, &'static peer::Type, bool, u32)> {
    let published = [
        ("/clock", &peer::CLOCK, false),
        ("/joint_states", &peer::JOINT_STATE, false),
        ("/dynamic_joint_states", &peer::DYNAMIC, false),
        ("/imu/data", &peer::IMU, false),
        ("/contacts", &peer::CONTACTS, false),
        ("/ground_truth/odom", &peer::ODOMETRY, false),
        ("/tf", &peer::TF, false),
        ("/velocity_command", &peer::TWIST, false),
        ("/diagnostics", &peer::DIAGNOSTICS, false),
        ("/tf_static", &peer::TF, true),
        ("/robot_description", &peer::STRING, true),
    ];
    let mut all = Vec::new();
    for (topic, t, latched) in published {
        let depth = if latched { 1 } else { 10 };
        all.push(("publisher", topic.to_string(), t, latched, depth));
    }
    for foot in FEET {
        all.push(("publisher", format!("/feet/{foot}/wrench"), &peer::WRENCH, false, 10));
        all.push(("publisher", format!("/feet/{foot}/contact"), &peer::BOOL, false, 10));
    }
    for (topic, t) in [
        ("/dynamic_joint_commands", &peer::DYNAMIC),
        ("/joint_commands", &peer::JOINT_STATE),
        ("/forward_effort_controller/commands", &peer::ARRAY),
        ("/forward_position_controller/commands", &peer::ARRAY),
        ("/joint_trajectory_controller/joint_trajectory", &peer::TRAJECTORY),
        ("/cmd_vel", &peer::TWIST),
    ] {
        all.push(("subscription", topic.to_string(), t, false, 1));
    }
    all
}

/// The ends of the bridge's node in the graph that a node has told last.
fn bridged(graph: &Process) -> Vec<Value> {
    let all = last(graph, "graph").unwrap_or_default();
    let all = all.as_array().cloned().unwrap_or_default();
    // it listens to every node's log
    let ours = |v: &Value| {
        let topic = v["topic"].as_str().unwrap();
        v["node"] == BRIDGE && topic.starts_with('/') && topic != "/rosout"
    };
    all.into_iter().filter(ours).collect()
}

#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn dds_nodes_list_all_topics_whoever_comes_first() {
    let _one = serial();
    let stage = Stage::new();
    let graph = stage.node("graph", &["graph"]);
    let _bridge = stage.bridge();
    let mut daemon = stage.daemon(&["sim.start=now"]);
    let expected = topics();
    wait_for("all topics", || (bridged(&graph).len() == expected.len()).then_some(()));
    let listed = bridged(&graph);
    for (end, topic, t, latched, depth) in &expected {
        let of_topic: Vec<&Value> = listed.iter().filter(|v| v["topic"] == *topic).collect();
        assert_eq!(of_topic.len(), 1, "{topic}: {listed:#?}");
        let v = of_topic[0];
        assert_eq!((&v["end"], &v["type"]), (&json!(end), &json!(t.dds)), "{topic}");
        // streams of commands may come from whoever promises less; a trajectory is said once
        let reliable = *end == "publisher" || topic.ends_with("/joint_trajectory");
        assert_eq!(v["reliable"], reliable, "{topic}");
        assert_eq!((&v["latched"], &v["depth"]), (&json!(latched), &json!(depth)), "{topic}");
        assert_eq!(v["user_data"], format!("typehash={};", t.hash), "{topic}");
    }
    // a node that comes changes nothing of this
    let hearer = stage.node("hearer", &["hear", "clock", "rosgraph_msgs/Clock", "reliable", "3"]);
    wait_heard(&hearer, "clock", 3);
    assert_eq!(bridged(&graph), listed);
    let all = last(&graph, "graph").unwrap();
    let its = |v: &Value| v["node"] == "/hearer" && v["topic"] == "/clock";
    assert!(all.as_array().unwrap().iter().any(its), "{all:#}");
    // with the daemon its topics go, and come again; the bridge then has two subscriptions of each
    // command topic, the cause of duplicates
    drop(hearer);
    daemon.kill();
    let words =
        |v: &Value| [&v["end"], &v["topic"], &v["type"], &v["user_data"]].map(Value::to_string);
    let sorted = |all: &[Value]| all.iter().map(words).collect::<BTreeSet<_>>();
    wait_for("few topics", || (bridged(&graph).len() < 5).then_some(()));
    let _daemon = stage.daemon(&["sim.start=now"]);
    wait_for("all topics again", || (sorted(&bridged(&graph)) == sorted(&listed)).then_some(()));
}

/// Set-points that hold the robot where it starts, as a JSON text.
fn hold(observer: &Observer) -> String {
    let joints = &observer.model.joints;
    let words = &hardstand::ros2::STATE_INTERFACES[..5];
    let value = |q: f64| json!({"interface_names": words, "values": [q, 0.0, 0.0, 100.0, 3.0]});
    let names: Vec<&String> = joints.iter().rev().map(|j| &j.name).collect();
    let values: Vec<Value> = joints.iter().rev().map(|j| value(j.q_initial)).collect();
    json!({"joint_names": names, "interface_values": values}).to_string()
}

const DYNAMIC: [&str; 4] =
    ["answer", "dynamic_joint_commands", "control_msgs/DynamicJointState", "reliable"];

/// A node that answers every joint state.
fn controller(stage: &Stage, name: &str, observer: &Observer) -> Process {
    stage.node(name, &[&DYNAMIC[..], &[&hold(observer)]].concat())
}

/// A robot that a node of DDS makes stand: everything that another one may ask of it.
#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn a_dds_controller_makes_the_robot_stand_and_all_see_it() {
    let _one = serial();
    let stage = Stage::new();
    // a loaded machine may not decide this test
    let mut daemon = stage.daemon(&["command.hold_ticks=2000"]);
    let _bridge = stage.bridge();
    let observer = Observer::of(&stage.scene);
    let words = ["hear", "clock", "rosgraph_msgs/Clock", "reliable", "1500"];
    let reliable = stage.node("reliable", &words);
    let words = ["hear", "clock", "rosgraph_msgs/Clock", "best_effort", "1500"];
    let best_effort = stage.node("best_effort", &words);
    wait_heard(&reliable, "clock", 1);
    let _controller = controller(&stage, "controller", &observer);
    let state = observer.until("2 s of standing", |s| s.tick >= 2000);
    let height_m = state.truth_base_position_m[2];
    assert!((0.30..0.36).contains(&height_m), "{height_m} m high");

    check_joints(&stage, &observer);
    check_imu_and_odometry(&stage, &observer);
    check_feet(&stage, observer.model.mass_kg * 9.81);
    check_late_joiners(&stage);
    check_diagnostics(&stage);
    for node in [&reliable, &best_effort] {
        check_clock(&wait_heard(node, "clock", 1500));
    }

    let status = observer.status();
    assert!(status.counter("commands_accepted") > 100, "{status:#?}");
    assert_eq!(harm(&observer), Vec::<String>::new());
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    stage.scene.replays();
}

/// Refusals that would mean that a message was mangled or taken for another.
fn harm(observer: &Observer) -> Vec<String> {
    let status = observer.status();
    let grave = status.counters.iter().filter(|c| c.name.contains("rejected_") && c.value > 0);
    // a busy machine may be late, and have too many at once
    let grave =
        grave.filter(|c| !["rejected_late", "rejected_queue_full"].contains(&c.name.as_str()));
    grave.map(|c| format!("{} {}", c.name, c.value)).collect()
}

/// The message with the number `count` of a topic, heard by a node that has just come.
fn hear(stage: &Stage, topic: &str, kind: &str, qos: &str, count: usize) -> Value {
    let node = stage.node("new_node", &["hear", topic, kind, qos, &count.to_string()]);
    wait_heard(&node, topic, count).pop().unwrap()
}

fn check_joints(stage: &Stage, observer: &Observer) {
    let topics = [
        ["joint_states", "sensor_msgs/JointState", "reliable", "200"],
        ["dynamic_joint_states", "control_msgs/DynamicJointState", "best_effort", "20"],
    ];
    let node = stage.node("joints", &[&["hear"][..], &topics.concat()].concat());
    let states = wait_heard(&node, "joint_states", 200);
    let names: Vec<&str> = observer.model.joints.iter().map(|j| j.name.as_str()).collect();
    let m = &states[199];
    assert_eq!(texts(&m["name"]), names);
    let q = |name: &str| number(&m["position"][names.iter().position(|n| *n == name).unwrap()]);
    assert!((q("FL_thigh_joint") - 0.8).abs() < 0.3 && (q("FL_calf_joint") + 1.5).abs() < 0.3);
    for list in ["position", "velocity", "effort"] {
        assert_eq!(m[list].as_array().unwrap().len(), 12, "{list}");
    }
    // 500 Hz of simulated time: every stamp is a multiple of 2 ms, and later than the one before
    let stamps: Vec<i64> = states.iter().map(|m| ns(&m["header"]["stamp"])).collect();
    assert!(stamps.iter().all(|t| t % 2_000_000 == 0), "{stamps:?}");
    assert!(stamps.windows(2).all(|w| w[0] < w[1]), "{stamps:?}");
    assert!(stamps[199] - stamps[0] < 2 * 400_000_000, "{stamps:?}");
    let simulated_ns = observer.state().time_ns as i64;
    assert!(stamps[0] > 2_000_000_000 - 1 && stamps[199] <= simulated_ns, "{stamps:?}");
    let d = &wait_heard(&node, "dynamic_joint_states", 20)[19];
    assert_eq!(texts(&d["joint_names"]), names);
    let of_joint = &d["interface_values"][1];
    assert_eq!(texts(&of_joint["interface_names"]), STATE_INTERFACES);
    assert!((number(&of_joint["values"][0]) - q(names[1])).abs() < 0.05);
}

fn check_imu_and_odometry(stage: &Stage, observer: &Observer) {
    let m = hear(stage, "imu/data", "sensor_msgs/Imu", "best_effort", 10);
    let (a, w) = (&m["linear_acceleration"], number(&m["orientation"]["w"]));
    assert!((number(&a["z"]) - 9.81).abs() < 0.3, "{a}");
    assert!(number(&a["x"]).abs() < 0.7 && number(&a["y"]).abs() < 0.7, "{a}");
    assert!(w > 0.99, "level, and the scalar in its place: {m}");
    assert_eq!(m["header"]["frame_id"], "trunk");
    assert!(number(&m["orientation_covariance"][0]) > 0.0);
    let m = hear(stage, "ground_truth/odom", "nav_msgs/Odometry", "reliable", 10);
    assert_eq!((&m["header"]["frame_id"], &m["child_frame_id"]), (&json!("odom"), &json!("trunk")));
    let height_m = number(&m["pose"]["pose"]["position"]["z"]);
    assert!((height_m - observer.state().truth_base_position_m[2]).abs() < 0.01, "{height_m}");
    let tf = hear(stage, "tf", "tf2_msgs/TFMessage", "reliable", 10);
    let edges = tf["transforms"].as_array().unwrap();
    let base = edges.iter().find(|t| t["header"]["frame_id"] == "odom").unwrap();
    assert_eq!(base["child_frame_id"], observer.model.base_link.as_str());
    assert!((number(&base["transform"]["translation"]["z"]) - height_m).abs() < 0.01, "{base}");
    assert!(edges.len() > 12, "{} edges", edges.len());
}

fn check_feet(stage: &Stage, weight_n: f64) {
    let mut words = vec!["hear".to_string()];
    for foot in FEET {
        let wrench = format!("feet/{foot}/wrench");
        let contact = format!("feet/{foot}/contact");
        words.extend([wrench, "geometry_msgs/WrenchStamped".into(), "best_effort".into()]);
        words.push("20".into());
        words.extend([contact, "std_msgs/Bool".into(), "reliable".into(), "10".into()]);
    }
    words.extend(["contacts", "ros_gz_interfaces/Contacts", "reliable", "10"].map(String::from));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let node = stage.node("feet", &words);
    let mut sum_n = 0.0;
    for foot in FEET {
        let m = &wait_heard(&node, &format!("feet/{foot}/wrench"), 20)[19];
        assert_eq!(m["header"]["frame_id"], format!("{foot}_foot"));
        sum_n += length(&m["wrench"]["force"]);
        assert!(length(&m["wrench"]["torque"]) < 1.5, "about the foot's centre: {m}");
        assert_eq!(wait_heard(&node, &format!("feet/{foot}/contact"), 10)[9]["data"], true);
    }
    assert!((sum_n / weight_n - 1.0).abs() < 0.15, "feet {sum_n} N, weight {weight_n} N");
    let m = &wait_heard(&node, "contacts", 10)[9];
    assert_eq!(m["header"]["frame_id"], "odom");
    let contacts = m["contacts"].as_array().unwrap();
    assert_eq!(contacts.len(), 4);
    let up_n: f64 =
        contacts.iter().map(|c| number(&c["wrenches"][0]["body_1_wrench"]["force"]["z"])).sum();
    assert!((up_n / weight_n - 1.0).abs() < 0.1, "{up_n} N of {weight_n} N");
    let name = contacts[0]["collision1"]["name"].as_str().unwrap();
    assert!(name.starts_with("quadruped::FL_calf::"), "{name}");
}

/// Twice, because the bridge serves the second one itself.
fn check_late_joiners(stage: &Stage) {
    let urdf = std::fs::read_to_string(process::repository("config/robots/quadruped.urdf"));
    let urdf = urdf.unwrap();
    for _ in 0..2 {
        let m = hear(stage, "robot_description", "std_msgs/String", "latched", 1);
        assert_eq!(m["data"], urdf.as_str());
        let m = hear(stage, "tf_static", "tf2_msgs/TFMessage", "latched", 1);
        let edges = m["transforms"].as_array().unwrap();
        assert!(edges.iter().any(|t| t["child_frame_id"] == "FL_foot"), "{m}");
    }
}

fn check_diagnostics(stage: &Stage) {
    let m = hear(stage, "diagnostics", "diagnostic_msgs/DiagnosticArray", "reliable", 2);
    let status = &m["status"][1];
    assert_eq!(status["name"], "hardstand: commands");
    let values = status["values"].as_array().unwrap();
    let authority = values.iter().find(|v| v["key"] == "authority").unwrap();
    assert!(["fresh", "held"].contains(&authority["value"].as_str().unwrap()), "{authority}");
}

/// Every tick of 1 ms; what a busy machine cannot take is dropped.
fn check_clock(messages: &[Value]) {
    let stamps: Vec<i64> = messages.iter().map(|m| ns(&m["clock"])).collect();
    let begun = stamps.iter().position(|t| *t > 0).unwrap();
    let running = &stamps[begun..];
    assert!(running.len() > 100, "{stamps:?}");
    assert!(running.iter().all(|t| t % 1_000_000 == 0), "{running:?}");
    assert!(running.windows(2).all(|w| w[0] < w[1]), "{running:?}");
    let expected = (running[running.len() - 1] - running[0]) / 1_000_000 + 1;
    assert!(running.len() as i64 * 2 > expected, "{} of {expected}", running.len());
}

#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn a_rustdds_node_makes_the_robot_stand() {
    let _one = serial();
    let stage = Stage::new();
    let _daemon = stage.daemon(&["command.hold_ticks=2000"]);
    let _bridge = stage.bridge();
    let observer = Observer::of(&stage.scene);
    let mut node = stage.rust_node(8);
    let begin = observer.until("it runs", |s| s.phase == 1);
    let state = observer.until("3 s", |s| s.tick >= begin.tick + 3000);
    assert!([1, 2].contains(&state.authority), "authority {}", state.authority);
    let height_m = state.truth_base_position_m[2];
    assert!((0.25..0.36).contains(&height_m), "{height_m} m high");
    assert_eq!(state.foot_contact, [1, 1, 1, 1]);
    let out = node.ends_with(0);
    let status = observer.status();
    assert!(status.counter("commands_accepted") > 250, "{status:#?}");
    assert_eq!(status.counter("ros2_rejected_cdr") + status.counter("ros2_rejected_size"), 0);
    assert_eq!(told(&out, "joints"), 12);
    let (states, ms) = (told(&out, "joint_states"), told(&out, "simulated_ms"));
    assert!(ms > 2500 && states * 4 > ms / 2 && states < ms / 2 + 2000, "{states} in {ms} ms");
}

/// The base held in the air, and legs that pass each other, so that a joint does what its motor
/// does.
const HUNG: [&str; 4] = [
    "robot.base=fixed",
    "initial.position_m=[0, 0, 1]",
    "contact.bodies=feet",
    "command.hold_ticks=2000",
];

/// Publishers of either reliability; then a trajectory, which is said once.
#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn what_dds_nodes_say_arrives_at_the_motors() {
    let _one = serial();
    let stage = Stage::new();
    let _daemon = stage.daemon(&HUNG);
    let _bridge = stage.bridge();
    let observer = Observer::of(&stage.scene);
    for (qos, sign) in [("reliable", 1.0), ("best_effort", -1.0)] {
        let efforts: Vec<f64> = (0..12).map(|i| sign * (0.01 * f64::from(i) - 0.05)).collect();
        let (topic, kind) = ("forward_effort_controller/commands", "std_msgs/Float64MultiArray");
        let text = json!({"data": efforts}).to_string();
        let _node = stage.node(qos, &["publish", topic, kind, qos, "200", "0", &text]);
        observer.until(qos, |s| {
            s.joints.iter().zip(&efforts).all(|(j, tau)| (j.tau - tau).abs() < 1e-12)
        });
    }
    // a trajectory does not take the robot from a publisher whose command holds
    observer.until("no command holds", |s| s.authority == 0);
    let joints = &observer.model.joints;
    let names: Vec<&String> = joints.iter().rev().map(|j| &j.name).collect();
    let wanted: Vec<f64> = joints.iter().map(|j| j.q_initial + 0.2).collect();
    let positions: Vec<f64> = wanted.iter().rev().copied().collect();
    let point = json!({"positions": positions, "time_from_start": {"sec": 1}});
    let text = json!({"joint_names": names, "points": [point]}).to_string();
    let topic = "joint_trajectory_controller/joint_trajectory";
    let kind = "trajectory_msgs/JointTrajectory";
    let mut node = stage.node("once", &["publish", topic, kind, "reliable", "100", "1", &text]);
    node.ends_with(0);
    observer.until("the end of the trajectory", |s| {
        s.joints.iter().zip(&wanted).all(|(j, q)| (j.q - q).abs() < 0.03)
    });
    assert_eq!(observer.status().counter("ros2_rejected_trajectory"), 0);
}

/// Issues #570, #700, #722 of the bridge: each time publisher and daemon have both been away, it
/// delivers everything once more. What is commanded stays the same.
#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn duplicates_after_restarts_do_no_harm() {
    const SENT: u64 = 200;
    let _one = serial();
    let stage = Stage::new();
    let _bridge = stage.bridge();
    let (topic, kind) = ("forward_effort_controller/commands", "std_msgs/Float64MultiArray");
    let efforts = |i: u64| json!({"data": vec![1e-4 * i as f64; 12]});
    let text = Value::from((1..=SENT).map(efforts).collect::<Vec<_>>()).to_string();
    let sent = SENT.to_string();
    let mut received = Vec::new();
    for _ in 0..4 {
        let mut daemon = stage.daemon(&HUNG);
        let observer = Observer::of(&stage.scene);
        let words = ["publish", topic, kind, "reliable", "200", &sent, &text];
        stage.node("publisher", &words).ends_with(0);
        let highest = 1e-4 * SENT as f64;
        let state = observer.until("the last", |s| (s.joints[0].tau - highest).abs() < 1e-12);
        assert!([1, 2].contains(&state.authority), "authority {}", state.authority);
        let status = observer.status();
        received.push(status.counter("ros2_received"));
        assert_eq!(harm(&observer), Vec::<String>::new(), "{received:?}");
        daemon.signal(Signal::TERM);
        daemon.ends_with(0);
        check_applied(&Log::read(&stage.scene.log()), SENT);
    }
    assert!(received[0] <= SENT && received[3] > 2 * SENT, "of {SENT}: {received:?}");

    // and with as many copies a controller makes the robot stand
    let _daemon = stage.daemon(&["command.hold_ticks=2000"]);
    let observer = Observer::of(&stage.scene);
    let _controller = controller(&stage, "controller", &observer);
    let state = observer.until("2 s of standing", |s| s.tick >= 2000);
    let height_m = state.truth_base_position_m[2];
    assert!((0.30..0.36).contains(&height_m), "{height_m} m high");
    assert_eq!(harm(&observer), Vec::<String>::new());
}

/// One session commands, and set-points rise as they were sent: none of before comes again after a
/// later one.
fn check_applied(log: &Log, sent: u64) {
    let mut sessions: Vec<u64> =
        log.ticks.iter().flat_map(|t| &t.candidates).map(|candidate| candidate.session).collect();
    sessions.dedup();
    assert_eq!(sessions.len(), 1, "{sessions:x?}");
    let applied: Vec<f64> =
        log.ticks.iter().filter_map(|t| t.joints.first()).map(|j| j.tau_ff).collect();
    assert!(applied.windows(2).all(|w| w[0] <= w[1]), "{applied:?}");
    let mut distinct = applied;
    distinct.dedup();
    assert!(distinct.len() as u64 * 2 > sent, "{} of {sent}", distinct.len());
}

/// A bridge that is killed takes the commands with it; its successor brings them back, and nobody
/// has to help.
#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn a_bridge_that_comes_back_is_enough() {
    let _one = serial();
    let stage = Stage::new();
    let _daemon = stage.daemon(&["robot.base=fixed", "initial.position_m=[0, 0, 1]"]);
    let mut bridge = stage.bridge();
    let observer = Observer::of(&stage.scene);
    let _controller = controller(&stage, "controller", &observer);
    let clock =
        stage.node("clock", &["hear", "clock", "rosgraph_msgs/Clock", "reliable", "100000"]);
    let in_force = |what: &str| observer.until(what, |s| [1, 2].contains(&s.authority));
    let mut session = 0;
    for _ in 0..3 {
        let state = in_force("commands");
        assert_ne!(state.command_session, session, "a session that was lost is not taken up again");
        session = state.command_session;
        let before = heard(&clock, "clock").len();
        wait_heard(&clock, "clock", before + 20);
        bridge.kill();
        observer.until("the loss", |s| s.authority == 0);
        bridge = stage.bridge();
    }
    in_force("commands after the last time");
    let _description = hear(&stage, "robot_description", "std_msgs/String", "latched", 1);
    let stamps: Vec<i64> = heard(&clock, "clock").iter().map(|m| ns(&m["clock"])).collect();
    // it stands at 0 while the robot waits
    assert!(stamps.windows(2).all(|w| w[0] < w[1] || w == [0, 0]), "{stamps:?}");
}

/// The other way round: a bridge that listens, to which the daemon connects.
#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn a_daemon_may_connect_to_a_bridge_that_listens() {
    let _one = serial();
    let stage = Stage::new();
    let there = process::Scene::tcp().endpoint;
    let _bridge = stage.bridge_with(&format!(
        "{{ mode: \"router\", listen: {{ endpoints: [{there:?}] }}, \
         scouting: {{ multicast: {{ enabled: false }} }}, plugins: {{ ros2dds: {{}} }} }}"
    ));
    let connect = format!("bus.connect=[{there:?}]");
    let _daemon = stage.daemon(&[&connect, "command.hold_ticks=2000"]);
    let observer = Observer::of(&stage.scene);
    let _controller = controller(&stage, "controller", &observer);
    let state = observer.until("2 s of standing", |s| s.tick >= 2000);
    assert!((0.30..0.36).contains(&state.truth_base_position_m[2]));
    check_late_joiners(&stage);
}
