//! The action `follow_joint_trajectory`, with a client that knows its services and topics.

use hardstand::ros2::messages::{
    CancelAnswer, CancelGoal, CancelRequest, Duration, FeedbackMessage, FollowGoal, FollowResult,
    GetResult, GetResultAnswer, GetResultRequest, GoalInfo, GoalStatus, GoalStatusArray,
    JointTolerance, JointTrajectory, JointTrajectoryPoint, Message, SendGoal, SendGoalRequest,
    Time, Uuid,
};
use zenoh::Wait;
use zenoh_ext::{AdvancedSubscriberBuilderExt, HistoryConfig};

use super::peer::{Peer, Way};
use super::services::Client;
use crate::common::process::{Observer, Process, Scene, serial, wait_for};

const NAME: &str = "joint_trajectory_controller/follow_joint_trajectory/_action";

struct Stage {
    _scene: Scene,
    _daemon: Process,
    observer: Observer,
    client: Client,
    names: Vec<String>,
    begin: Vec<f64>,
}

/// The base is held in the air, so that a joint does what its motor does.
fn stage() -> Stage {
    let scene = Scene::in_memory();
    let sets = ["robot.base=fixed", "initial.position_m=[0, 0, 1]", "command.hold_ticks=5000"];
    let daemon = scene.daemon(&sets.map(|set| ["--set", set]).concat());
    let observer = Observer::of(&scene);
    let client = Client { peer: Peer::connect(&scene.endpoint, Way::RmwZenoh), sequence: 0 };
    let joints = &observer.model.joints;
    let names = joints.iter().map(|j| j.name.clone()).collect();
    let begin = joints.iter().map(|j| j.q_initial).collect();
    Stage { _scene: scene, _daemon: daemon, observer, client, names, begin }
}

fn id(number: u8) -> Uuid {
    Uuid { uuid: [number; 16] }
}

impl Stage {
    /// A goal that moves all joints by `by` within so many seconds.
    fn goal(&self, by: f64, seconds: i32) -> FollowGoal {
        let point = JointTrajectoryPoint {
            positions: self.begin.iter().map(|q| q + by).collect(),
            time_from_start: Duration { sec: seconds, nanosec: 0 },
            ..Default::default()
        };
        let trajectory = JointTrajectory {
            joint_names: self.names.clone(),
            points: vec![point],
            ..Default::default()
        };
        FollowGoal { trajectory, ..Default::default() }
    }

    fn send(&mut self, number: u8, goal: FollowGoal) -> bool {
        let request = SendGoalRequest { goal_id: id(number), goal };
        self.client.call::<SendGoal>(&format!("{NAME}/send_goal"), &request).accepted
    }

    /// Waits for the end of a goal.
    fn result(&mut self, number: u8) -> GetResultAnswer {
        let request = GetResultRequest { goal_id: id(number) };
        self.client.call::<GetResult>(&format!("{NAME}/get_result"), &request)
    }

    fn cancel(&mut self, number: u8) -> CancelAnswer {
        self.cancel_until(number, Time::default())
    }

    fn cancel_until(&mut self, number: u8, stamp: Time) -> CancelAnswer {
        let goal_info = GoalInfo { goal_id: id(number), stamp };
        let name = format!("{NAME}/cancel_goal");
        self.client.call::<CancelGoal>(&name, &CancelRequest { goal_info })
    }

    fn first_joint(&self) -> f64 {
        self.observer.state().joints[0].q - self.begin[0]
    }
}

fn tolerance(name: &str, position: f64) -> Vec<JointTolerance> {
    vec![JointTolerance { name: name.into(), position, ..Default::default() }]
}

#[test]
fn a_goal_is_followed_with_feedback_and_reached() {
    let _one = serial();
    let mut stage = stage();
    let key = |topic: &str, kind: &str, hash: &str| format!("0/{NAME}/{topic}/{kind}/{hash}");
    let dds = "control_msgs::action::dds_::FollowJointTrajectory_FeedbackMessage_";
    let session = stage.client.peer.session.clone();
    let feedback = session.declare_subscriber(key("feedback", dds, FeedbackMessage::HASH));
    let feedback = feedback.with(zenoh::handlers::FifoChannel::new(10_000)).wait().unwrap();

    let mut goal = stage.goal(0.2, 1);
    goal.goal_tolerance = tolerance(&stage.names[0], 0.1);
    assert!(stage.send(1, goal.clone()));
    assert!(stage.send(1, goal), "the same request again is the same goal");
    let GetResultAnswer { status, result } = stage.result(1);
    assert_eq!((status, result.error_code), (GoalStatus::SUCCEEDED, 0), "{result:?}");
    assert!((stage.first_joint() - 0.2).abs() < 0.1, "{}", stage.first_joint());
    assert_eq!(stage.result(1).status, GoalStatus::SUCCEEDED, "it is told again");
    assert_eq!(stage.result(9).status, GoalStatus::UNKNOWN);
    assert_eq!(stage.cancel(1).return_code, CancelAnswer::GOAL_TERMINATED);
    assert_eq!(stage.cancel(9).return_code, CancelAnswer::UNKNOWN_GOAL_ID);

    let fed: Vec<FeedbackMessage> = feedback
        .drain()
        .map(|sample| FeedbackMessage::decode(&sample.payload().to_bytes()).unwrap())
        .collect();
    assert!(fed.len() > 10, "{} feedbacks", fed.len());
    for FeedbackMessage { goal_id, feedback } in &fed {
        assert_eq!((goal_id, &feedback.joint_names), (&id(1), &stage.names));
        let (desired, actual) = (feedback.desired.positions[0], feedback.actual.positions[0]);
        assert_eq!(feedback.error.positions[0], desired - actual);
        assert!((-1e-9..0.2 + 1e-9).contains(&(desired - stage.begin[0])), "{desired}");
    }
    // whoever comes late learns how it ended
    let hash = GoalStatusArray::HASH;
    let late = session
        .declare_subscriber(key("status", "action_msgs::msg::dds_::GoalStatusArray_", hash))
        .history(HistoryConfig::default().detect_late_publishers())
        .wait()
        .unwrap();
    let told = wait_for("the status", || late.try_recv().unwrap());
    let told = GoalStatusArray::decode(&told.payload().to_bytes()).unwrap();
    let all: Vec<_> = told.status_list.iter().map(|s| (&s.goal_info.goal_id, s.status)).collect();
    assert_eq!(all, [(&id(1), GoalStatus::SUCCEEDED)]);
}

#[test]
fn a_goal_is_cancelled_and_the_robot_stops_where_it_is() {
    let _one = serial();
    let mut stage = stage();
    let goal = stage.goal(0.4, 10);
    assert!(stage.send(1, goal));
    wait_for("it moves", || (stage.first_joint() > 0.03).then_some(()));
    let CancelAnswer { return_code, goals_canceling } = stage.cancel(1);
    assert_eq!((return_code, goals_canceling.len()), (CancelAnswer::NONE, 1));
    assert_eq!(stage.result(1).status, GoalStatus::CANCELED);
    let tick = stage.observer.state().tick;
    stage.observer.until("it has stopped", |s| s.tick > tick + 200);
    let there = stage.first_joint();
    stage.observer.until("some time later", |s| s.tick > tick + 700);
    assert!((stage.first_joint() - there).abs() < 0.01, "{there}, {}", stage.first_joint());
    assert!(there < 0.35, "{there}");

    let goal = stage.goal(0.1, 20);
    assert!(stage.send(2, goal));
    // it was accepted after this time, and before the other
    let nothing = stage.cancel_until(0, Time { sec: 0, nanosec: 1 });
    assert_eq!((nothing.return_code, nothing.goals_canceling.len()), (CancelAnswer::NONE, 0));
    let now = stage.observer.state().time_ns + 10_000_000_000;
    let later = Time { sec: (now / 1_000_000_000) as i32, nanosec: 0 };
    let cancelled = stage.cancel_until(0, later).goals_canceling;
    assert_eq!(cancelled.iter().map(|goal| goal.goal_id.uuid[0]).collect::<Vec<_>>(), [2]);
    assert_eq!(stage.result(2).status, GoalStatus::CANCELED);
}

#[test]
fn a_goal_fails_for_its_tolerances_and_for_a_newer_goal() {
    let _one = serial();
    let mut stage = stage();
    // wrong names are refused with their list
    let mut wrong = stage.goal(0.1, 1);
    wrong.trajectory.joint_names[0] = "tail".into();
    assert!(!stage.send(7, wrong));
    let status =
        stage.observer.status_until("it is counted", |s| s.counter("ros2_rejected_names") > 0);
    assert_eq!(status.counter("ros2_rejected_names"), 1);

    // a misspelt tolerance does not count as none, and the time of day is no simulated time
    let mut misspelt = stage.goal(0.1, 1);
    misspelt.path_tolerance = tolerance("tail", 0.1);
    assert!(!stage.send(8, misspelt));
    stage.observer.status_until("it is counted", |s| s.counter("ros2_rejected_names") == 2);
    let mut other_clock = stage.goal(0.1, 1);
    other_clock.trajectory.header.stamp.sec = 1_780_000_000;
    assert!(!stage.send(9, other_clock));
    stage.observer.status_until("so is it", |s| s.counter("ros2_rejected_trajectory") == 1);

    let first = stage.goal(0.3, 20);
    assert!(stage.send(1, first));
    let mut second = stage.goal(0.2, 1);
    second.path_tolerance = tolerance(&stage.names[3], 1e-9);
    assert!(stage.send(2, second));
    let replaced = stage.result(1);
    assert_eq!(replaced.status, GoalStatus::ABORTED);
    assert!(replaced.result.error_string.contains("newer goal"), "{replaced:?}");
    let missed = stage.result(2);
    let code = FollowResult::PATH_TOLERANCE_VIOLATED;
    assert_eq!((missed.status, missed.result.error_code), (GoalStatus::ABORTED, code));
    assert!(missed.result.error_string.contains(&stage.names[3]), "{missed:?}");

    let impossible = stage.goal(1e308, 1);
    assert!(stage.send(4, impossible));
    let refused = stage.result(4);
    assert_eq!(refused.status, GoalStatus::ABORTED);
    let why = &refused.result.error_string;
    assert!(why.contains("set-points were refused (out_of_range)"), "{why}");

    let mut third = stage.goal(0.0, 1);
    third.goal_tolerance = tolerance(&stage.names[0], 1e-9);
    assert!(stage.send(3, third));
    let missed = stage.result(3).result;
    assert_eq!(missed.error_code, FollowResult::GOAL_TOLERANCE_VIOLATED, "{missed:?}");
}
