//! Unitree's messages by way of the real bridge, and robots that are no nodes of ROS.

use hardstand::ros2::messages::Message;
use hardstand::ros2::unitree::{LowCmd, MotorCmd};
use serde_json::{Value, json};

use super::dds::{Stage, heard, wait_heard};
use super::unitree::hold;
use crate::common::process::{Observer, Process, serial};

const UNITREE: [&str; 3] =
    ["unitree.enabled=true", "unitree.rate_hz=50", "command.hold_ticks=2000"];

/// Publishes Unitree's commands that hold the robot.
fn unitree_controller(stage: &Stage, observer: &Observer) -> Process {
    let m = LowCmd::decode(&hold(observer)).unwrap();
    let motor = |m: &MotorCmd| json!({"mode": m.mode, "q": m.q, "kp": m.kp, "kd": m.kd});
    let motors: Vec<Value> = m.motor_cmd.iter().map(motor).collect();
    let text = json!({
        "head": m.head, "level_flag": m.level_flag, "motor_cmd": motors, "crc": m.crc
    });
    let text = text.to_string();
    let words = ["publish", "lowcmd", "unitree_go/LowCmd", "reliable", "100", "0", &text];
    stage.node("controller", &words)
}

/// A node that hears Unitree's states, and the clock.
fn unitree_hearer(stage: &Stage) -> Process {
    let mut words = vec!["hear", "lowstate", "unitree_go/LowState", "best_effort", "100000"];
    words.extend(["clock", "rosgraph_msgs/Clock", "best_effort", "100000"]);
    stage.node("hearer", &words)
}

/// Waits until the guard refuses; from then on nothing is obeyed, and `ours` hears nothing more.
fn check_guarded(observer: &Observer, hearer: &Process, ours: impl Fn(&Value) -> bool) {
    let refused = || observer.status().counter("ros2_rejected_guard");
    // it has refused while it was listening, too
    let begin = refused();
    observer.status_until("the guard", |s| s.counter("ros2_rejected_guard") > begin + 50);
    let later = |count: usize| {
        wait_heard(hearer, "clock", heard(hearer, "clock").len() + count);
        heard(hearer, "lowstate").into_iter().filter(&ours).count()
    };
    let (before, since, seq) = (later(20), refused(), observer.state().command_seq);
    observer.status_until("more of it", |s| s.counter("ros2_rejected_guard") > since + 100);
    assert_eq!(later(20), before, "states of the daemon");
    assert_eq!(observer.state().command_seq, seq);
}

/// Until a robot comes, which is no node of ROS.
#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn a_dds_controller_of_unitree_commands_where_no_robot_is() {
    let _one = serial();
    let stage = Stage::new();
    let _bridge = stage.bridge();
    let _daemon = stage.daemon(&[&UNITREE[..], &["sim.start=now"]].concat());
    let observer = Observer::of(&stage.scene);
    let hearer = unitree_hearer(&stage);
    let _controller = unitree_controller(&stage, &observer);
    let begin = observer.until("it obeys", |s| s.authority == 1);
    observer.until("2 s of commands", |s| s.tick >= begin.tick + 2000);
    let states = wait_heard(&hearer, "lowstate", 50);
    let tick = |m: &Value| m["tick"].as_u64().unwrap();
    assert!(states.windows(2).all(|w| tick(&w[0]) < tick(&w[1])), "{states:?}");
    let status = observer.status();
    assert_eq!(status.counter("ros2_rejected_crc") + status.counter("ros2_rejected_cdr"), 0);
    assert!(status.counter("commands_accepted") > 50, "{status:#?}");

    let sn = json!([1, 2]);
    let text = json!({ "sn": sn }).to_string();
    let words = ["bare", "lowstate", "unitree_go/LowState", "best_effort", &text];
    let _robot = stage.node("robot", &words);
    check_guarded(&observer, &hearer, |m| m["sn"] != sn);
    observer.until("the loss", |s| ![1, 2].contains(&s.authority));
    let of_robot = |m: &Value| m["sn"] == sn;
    assert!(heard(&hearer, "lowstate").iter().any(of_robot), "it hears the robot");
}

/// Whatever its states are: a bridge tells of its writer.
#[test]
#[ignore = "needs the bridge: tests/ros2/bridge/run"]
fn where_a_robot_without_a_node_is_nothing_is_said_or_obeyed() {
    let _one = serial();
    let stage = Stage::new();
    let _robot = stage.node("robot", &["bare", "lowstate", "std_msgs/Bool", "reliable", "{}"]);
    let _bridge = stage.bridge();
    let _daemon = stage.daemon(&[&UNITREE[..], &["sim.start=now"]].concat());
    let observer = Observer::of(&stage.scene);
    let hearer = unitree_hearer(&stage);
    let _controller = unitree_controller(&stage, &observer);
    observer.until("the guard has listened", |s| s.tick > 5000);
    check_guarded(&observer, &hearer, |_| true);
    assert_eq!(heard(&hearer, "lowstate").len(), 0);
    assert_eq!(observer.state().command_session, 0, "nobody has commanded it");
}
