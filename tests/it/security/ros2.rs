//! ROS 2 nodes on a bus with users: the role `ros2_nodes` has the keys of the domain and no others.

use std::time::Duration;

use hardstand::ros2::messages::SetBool;
use ros2_interfaces_jazzy_serde::sensor_msgs::msg::JointState;
use zenoh::handlers::FifoChannel;
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};
use zenoh_ext::{AdvancedSubscriberBuilderExt, HistoryConfig};

use super::guarded::{Guarded, USERS, counted, password, status, user_session};
use crate::common::process::{PATIENCE, serial, wait_for};
use crate::ros2::commands::hold;
use crate::ros2::peer::{self, Peer, Way};
use crate::ros2::services::Client;

const ROS: (&str, &str) = ("ros", "Zq7-ros-secret-4");
const JOINT_STATES: &str = "0/joint_states/sensor_msgs::msg::dds_::JointState_/*";

fn begin() -> Guarded {
    let users = [&USERS[..], &[ROS]].concat();
    Guarded::with(&users, &["--set", "bus.ros2_nodes=[\"ros\"]", "--set", "sim.start=now"])
}

/// True if a subscription of this session is given something.
fn hears(session: &Session, key: &str, patience: Duration) -> bool {
    let subscriber = session.declare_subscriber(key).with(FifoChannel::new(64)).wait().unwrap();
    subscriber.recv_timeout(patience).unwrap().is_some()
}

#[test]
fn a_node_with_its_role_hears_commands_and_calls_services() {
    let _one = serial();
    let guarded = begin();
    let observer = guarded.client("view");
    let who = [
        ("transport/auth/usrpwd/user", "\"ros\""),
        ("transport/auth/usrpwd/password", "\"Zq7-ros-secret-4\""),
    ];
    let peer = Peer::open(&guarded.scene.endpoint, Way::RmwZenoh, &who);
    let state: JointState = peer.first("joint_states", &peer::JOINT_STATE);
    assert_eq!(state.name.len(), 12);
    let tokens = wait_for("tokens", || {
        let found = peer.session.liveliness().get("@ros2_lv/0/**").wait().unwrap();
        Some(found.iter().count()).filter(|count| *count > 20)
    });
    println!("{tokens} tokens");
    let latched = peer
        .session
        .declare_subscriber("0/robot_description/std_msgs::msg::dds_::String_/*")
        .history(HistoryConfig::default().detect_late_publishers())
        .wait()
        .unwrap();
    wait_for("the robot description", || latched.try_recv().unwrap());

    let command = hold(&state.name, &state.position, &Default::default());
    wait_for("its command is taken", || {
        peer.publish("dynamic_joint_commands", &peer::DYNAMIC, &command);
        (status(&observer).counter("commands_accepted") > 0).then_some(())
    });
    let mut client = Client { peer, sequence: 0 };
    client.pause(true);
    let key = client.key::<SetBool>("hardstand/pause");
    assert!(key.starts_with("0/hardstand/pause/"), "{key}");
}

#[test]
fn a_node_has_no_other_keys_and_no_other_role_has_its_keys() {
    let _one = serial();
    let guarded = begin();
    let observer = guarded.client("view");
    let before = status(&observer);
    let node = user_session(&guarded.scene.endpoint, ROS.0, ROS.1).unwrap();
    assert!(hears(&node, JOINT_STATES, PATIENCE), "the daemon publishes");
    let short = Duration::from_millis(500);
    for key in ["hardstand/quadruped/state", "hardstand/**", "**", "1/**"] {
        assert!(!hears(&node, key, short), "a node hears {key}");
    }
    for key in ["hardstand/quadruped/status", "hardstand/quadruped/stop"] {
        let replies = node.get(key).payload("x").timeout(short).wait().unwrap();
        assert_eq!(replies.iter().filter(|r| r.result().is_ok()).count(), 0, "{key}");
    }
    let put = |session: &Session, key: &str| {
        let put = session.put(key.to_string(), "x").congestion_control(CongestionControl::Block);
        put.wait().unwrap();
    };
    put(&node, "hardstand/quadruped/cmd");
    let denied = before.counter("messages_denied") + 7;
    let after = counted(&observer, "messages_denied", denied);
    assert_eq!(after.counter("commands_received"), before.counter("commands_received"));

    let received = status(&observer).counter("ros2_received");
    for (user, _) in USERS {
        let other = user_session(&guarded.scene.endpoint, user, password(user)).unwrap();
        assert!(!hears(&other, JOINT_STATES, short), "{user} hears topics");
        put(&other, "0/joint_commands/sensor_msgs::msg::dds_::JointState_/x");
        put(&other, "0/cmd_vel/geometry_msgs::msg::dds_::Twist_/x");
        let tokens = other.liveliness().get("@ros2_lv/**").timeout(short).wait().unwrap();
        assert_eq!(tokens.iter().filter(|r| r.result().is_ok()).count(), 0, "{user} sees nodes");
    }
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(status(&observer).counter("ros2_received"), received, "others command over ROS 2");
}
