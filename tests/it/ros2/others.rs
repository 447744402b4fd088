//! Nodes of other people, `tests/ros2/peers`, drive the robot. `tests/ros2/peers/run` builds and
//! runs them; their libraries cost more than every other test here.

use std::process::Command;

use crate::common::process::{Observer, Process, Scene, serial};

/// What a peer has printed: name and value a line.
pub fn told(out: &str, name: &str) -> u64 {
    let line = out.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_else(|| {
        panic!("no line \"{name}\" in:\n{out}");
    });
    line.trim().parse().unwrap()
}

/// Starts the peer; it holds the robot where it stands for some seconds.
fn drive(way: &str, peer: impl Fn(&str) -> (Vec<String>, Option<(String, String)>)) -> String {
    let program = std::env::var("HARDSTAND_ROS2_PEERS")
        .expect("HARDSTAND_ROS2_PEERS: tests/ros2/peers/run sets it");
    let scene = Scene::tcp();
    let _daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    let (words, variable) = peer(&scene.endpoint);
    let mut command = Command::new(program);
    command.args(words).envs(variable).env("RUST_LOG", "warn");
    let mut node = Process::start(scene.dir.path(), way, command);
    let begin = observer.until("it runs", |s| s.phase == 1);
    let state = observer.until("3 s", |s| s.tick >= begin.tick + 3000);
    assert!([1, 2].contains(&state.authority), "authority {}", state.authority);
    let height_m = state.truth_base_position_m[2];
    assert!((0.25..0.36).contains(&height_m), "{way}: {height_m} m high");
    assert_eq!(state.foot_contact, [1, 1, 1, 1]);
    let out = node.ends_with(0);
    let status = observer.status();
    assert!(status.counter("commands_accepted") > 500, "{status:#?}");
    assert_eq!(status.counter("ros2_rejected_cdr") + status.counter("ros2_rejected_size"), 0);
    assert_eq!(told(&out, "joints"), 12);
    // 500 Hz of simulated time, less what a busy machine drops
    let (states, ms) = (told(&out, "joint_states"), told(&out, "simulated_ms"));
    assert!(ms > 2500 && states * 2 > ms / 2 && states < ms / 2 + 2000, "{states} in {ms} ms");
    out
}

#[test]
#[ignore = "needs the peers: tests/ros2/peers/run"]
fn a_hiroz_node_makes_the_robot_stand() {
    let _one = serial();
    let words = |endpoint: &str| vec!["hiroz".to_string(), endpoint.to_string(), "6".to_string()];
    let out = drive("hiroz", |endpoint| (words(endpoint), None));
    assert!(told(&out, "clocks") > 100, "{out}");
    for topic in [
        "topic /clock rosgraph_msgs::msg::dds_::Clock_",
        "topic /joint_states sensor_msgs::msg::dds_::JointState_",
        "topic /imu/data sensor_msgs::msg::dds_::Imu_",
        "topic /feet/FL/wrench geometry_msgs::msg::dds_::WrenchStamped_",
        "topic /robot_description std_msgs::msg::dds_::String_",
        "topic /dynamic_joint_commands control_msgs::msg::dds_::DynamicJointState_",
    ] {
        assert!(out.contains(topic), "no \"{topic}\" in:\n{out}");
    }
    assert!(out.contains("\"hardstand\""), "{out}");
}

#[test]
#[ignore = "needs the peers: tests/ros2/peers/run"]
fn a_ros2_client_node_makes_the_robot_stand() {
    let _one = serial();
    drive("ros2_client", |endpoint| {
        let set = format!(
            "connect/endpoints=[{endpoint:?}];listen/endpoints=[\"tcp/127.0.0.1:0\"];\
             scouting/multicast/enabled=false"
        );
        let words = vec!["ros2-client".to_string(), "6".to_string()];
        (words, Some(("ZENOH_CONFIG_OVERRIDE".to_string(), set)))
    });
}
