//! Nodes that command: every message type, every refusal, both ways.

use hardstand_protocol::Authority;
use index::builtin_interfaces::msg::{Duration as RosDuration, Time};
use index::diagnostic_msgs::msg::DiagnosticArray;
use index::geometry_msgs::msg::{Twist, Vector3};
use index::rosgraph_msgs::msg::Clock;
use index::sensor_msgs::msg::JointState;
use index::std_msgs::msg::Float64MultiArray;
use index::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use ros2_interfaces_jazzy_serde as index;
use zenoh::handlers::FifoChannelHandler;
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;

use super::peer::{self, DynamicJointState, InterfaceValue, Peer, Way, newest};
use crate::common::process;
use crate::common::process::{Observer, Process, Scene, serial, wait_for};

type States = Subscriber<FifoChannelHandler<Sample>>;

/// Set-points that hold `q`, for joints in an order of their own.
pub(crate) fn hold(names: &[String], q: &[f64], stamp: &Time) -> DynamicJointState {
    let interface_names = ["position", "velocity", "effort", "kp", "kd"].map(String::from);
    let entry = |q: &f64| InterfaceValue {
        interface_names: interface_names.to_vec(),
        values: vec![*q, 0.0, 0.0, 100.0, 3.0],
    };
    let mut m = DynamicJointState {
        joint_names: names.iter().rev().cloned().collect(),
        interface_values: q.iter().rev().map(entry).collect(),
        ..Default::default()
    };
    m.header.stamp = stamp.clone();
    m
}

fn initial(observer: &Observer) -> (Vec<String>, Vec<f64>) {
    let joints = &observer.model.joints;
    (joints.iter().map(|j| j.name.clone()).collect(), joints.iter().map(|j| j.q_initial).collect())
}

/// Answers joint states until simulated time has reached `until_s`. Everything is sent `copies`
/// times, as a bridge does after restarts.
fn stand(peer: &Peer, states: &States, observer: &Observer, until_s: i32, copies: usize) {
    let (names, q) = initial(observer);
    loop {
        let state: JointState = newest(states);
        if state.header.stamp.sec >= until_s {
            return;
        }
        let command = hold(&names, &q, &state.header.stamp);
        for _ in 0..copies {
            peer.publish("dynamic_joint_commands", &peer::DYNAMIC, &command);
        }
    }
}

#[test]
fn a_ros_controller_makes_the_robot_stand() {
    let _one = serial();
    for (mode, way, copies) in [("rmw_zenoh", Way::RmwZenoh, 1), ("bridge", Way::Bridge, 3)] {
        let scene = Scene::new();
        let set = format!("ros2.mode={mode}");
        // a loaded machine may not decide this test
        let mut daemon = scene.daemon(&["--set", &set, "--set", "command.hold_ticks=2000"]);
        let observer = Observer::of(&scene);
        let peer = Peer::connect(&scene.endpoint, way);
        let states = peer.subscribe("joint_states", &peer::JOINT_STATE);
        stand(&peer, &states, &observer, 2, copies);
        let state = observer.until("a state", |s| s.tick >= 2000);
        let (height_m, status) = (state.truth_base_position_m[2], observer.status());
        assert!((0.30..0.36).contains(&height_m), "{mode}: {height_m} m high: {status:#?}");
        assert!(status.counter("commands_accepted") > 100, "{status:#?}");
        let refused = |name: &str| status.counter(&format!("rejected_{name}"));
        // the same command twice is the same set-point twice: neither refused nor harmful
        let wrong = ["sequence", "future_tick", "not_owner", "revoked", "size", "out_of_range"];
        assert_eq!(wrong.map(refused), [0; 6], "{mode}: {status:#?}");
        daemon.signal(rustix::process::Signal::TERM);
        daemon.ends_with(0);
        scene.replays();
    }
}

/// A node on simulated time stamps its commands with the last /clock. Were the clock coarser than
/// the ticks, its commands would look older than they are.
#[test]
fn commands_stamped_with_the_clock_answer_every_tick() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let clock = peer.subscribe("clock", &peer::CLOCK);
    let (names, q) = initial(&observer);
    for _ in 0..400 {
        let now: Clock = newest(&clock);
        peer.publish("dynamic_joint_commands", &peer::DYNAMIC, &hold(&names, &q, &now.clock));
    }
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ends_with(0);
    let log = process::Log::read(&scene.log());
    let mut answered = [0; 10];
    for command in log.ticks.iter().flat_map(|t| &t.candidates) {
        answered[command.answers_tick as usize % 10] += 1;
    }
    assert!(answered.iter().all(|n| *n > 0), "by the last digit of the tick: {answered:?}");
}

/// The base held in the air, so that a joint does what its motor does.
fn hung(scene: &Scene) -> Process {
    let sets = ["robot.base=fixed", "initial.position_m=[0, 0, 1]", "command.hold_ticks=500"];
    scene.daemon(&sets.map(|set| ["--set", set]).concat())
}

#[test]
fn an_effort_arrives_at_the_motor() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = hung(&scene);
    let _ready = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let states = peer.subscribe("joint_states", &peer::JOINT_STATE);
    let efforts: Vec<f64> = (0..12).map(|i| 0.01 * f64::from(i) - 0.05).collect();
    let command = Float64MultiArray { data: efforts.clone(), ..Default::default() };
    let topic = "forward_effort_controller/commands";
    let felt = wait_for("the effort", || {
        peer.publish(topic, &peer::ARRAY, &command);
        let m: JointState = newest(&states);
        (m.effort.iter().zip(&efforts).all(|(a, b)| (a - b).abs() < 1e-12)).then_some(m)
    });
    assert_eq!(felt.name[0], "FL_hip_joint");
}

/// First as an array, then, by another publisher who has to wait for its turn, as a joint state.
#[test]
fn positions_are_held_with_the_gains_of_the_scenario() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = hung(&scene);
    let observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let states = peer.subscribe("joint_states", &peer::JOINT_STATE);
    let mut wanted = initial(&observer).1;
    wanted.iter_mut().for_each(|q| *q += 0.1);
    let command = Float64MultiArray { data: wanted.clone(), ..Default::default() };
    wait_for("the positions", || {
        peer.publish("forward_position_controller/commands", &peer::ARRAY, &command);
        let m: JointState = newest(&states);
        m.position.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 0.03).then_some(())
    });
    let (names, wanted) = initial(&observer);
    let command = JointState { name: names, position: wanted.clone(), ..Default::default() };
    wait_for("the positions of the joint state", || {
        peer.publish("joint_commands", &peer::JOINT_STATE, &command);
        let m: JointState = newest(&states);
        m.position.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 0.03).then_some(())
    });
}

pub(super) fn trajectory(names: &[String], q: &[Vec<f64>], seconds: i32) -> JointTrajectory {
    let point = |(i, q): (usize, &Vec<f64>)| JointTrajectoryPoint {
        positions: q.iter().rev().copied().collect(),
        time_from_start: RosDuration { sec: seconds * (i as i32 + 1), nanosec: 0 },
        ..Default::default()
    };
    JointTrajectory {
        joint_names: names.iter().rev().cloned().collect(),
        points: q.iter().enumerate().map(point).collect(),
        ..Default::default()
    }
}

/// Published once, it proves life by itself, is followed on time, and held at its end.
#[test]
fn a_trajectory_is_followed_in_simulated_time_and_held() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = hung(&scene);
    let observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let (names, from) = initial(&observer);
    let to: Vec<f64> = from.iter().map(|q| q + 0.2).collect();
    let sent = trajectory(&names, &[to.clone(), from.clone()], 1);
    peer.publish("joint_trajectory_controller/joint_trajectory", &peer::TRAJECTORY, &sent);
    let near = |q: &[f64], s: &hardstand_protocol::StateReading| {
        s.joints.iter().zip(q).all(|(j, q)| (j.q - q).abs() < 0.03)
    };
    let state = observer.until("1 s", |s| s.tick >= 1000);
    let late = state.tick - 1000;
    assert!(late > 50 || near(&to, &state), "at {} ms: {:?}", state.tick, state.joints);
    let state = observer.until("2.5 s", |s| s.tick >= 2500);
    assert!(near(&from, &state) && Authority::is_command(state.authority), "{state:?}");

    // a command of another publisher is refused, and ends nothing
    let command = Float64MultiArray { data: to.clone(), ..Default::default() };
    observer.status_until("they are refused", |s| {
        peer.publish("forward_position_controller/commands", &peer::ARRAY, &command);
        assert!(Authority::is_command(s.authority), "the robot was lost: {s:?}");
        s.counter("rejected_not_owner") > 20
    });
    let state = observer.state();
    assert!(near(&from, &state) && Authority::is_command(state.authority), "{state:?}");

    // its publisher ends it by one without points; then the robot is free
    let none = trajectory(&names, &[], 1);
    peer.publish("joint_trajectory_controller/joint_trajectory", &peer::TRAJECTORY, &none);
    wait_for("the next publisher", || {
        peer.publish("forward_position_controller/commands", &peer::ARRAY, &command);
        near(&to, &observer.state()).then_some(())
    });

    // and no trajectory waits behind its back until it is gone
    peer.publish("joint_trajectory_controller/joint_trajectory", &peer::TRAJECTORY, &sent);
    observer.status_until("it is refused", |s| {
        peer.publish("forward_position_controller/commands", &peer::ARRAY, &command);
        s.counter("ros2_rejected_trajectory") == 1
    });
    let state = observer.until("no controller commands the robot", |s| s.authority == 0);
    let later = observer.until("and nobody comes", |s| s.tick >= state.tick + 200);
    assert_eq!(later.authority, 0);
}

#[test]
fn wrong_names_are_refused_with_the_list() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let diagnostics = peer.subscribe("diagnostics", &peer::DIAGNOSTICS);
    let (names, q) = initial(&observer);
    let topic = "dynamic_joint_commands";
    let good = hold(&names, &q, &Time::default());
    let counted = |name: &str, n: u64| {
        let name = format!("ros2_rejected_{name}");
        observer.status_until(&name, |s| s.counter(&name) == n);
    };
    let told = |text: &str| {
        wait_for(text, || {
            let m: DiagnosticArray = newest(&diagnostics);
            let value = m.status[1].values.iter().find(|v| v.key == "last_refusal");
            value.filter(|v| v.value.contains(text)).map(|_| ())
        });
    };

    let mut bad = good.clone();
    bad.joint_names[0] = "tail".into();
    bad.joint_names[1] = bad.joint_names[2].clone();
    peer.publish(topic, &peer::DYNAMIC, &bad);
    counted("names", 1);
    told(
        "dynamic_joint_commands: joints: unknown \"tail\"; missing \"RR_thigh_joint\", \
         \"RR_calf_joint\"; repeated \"RR_hip_joint\"",
    );
    let mut bad = good.clone();
    bad.interface_values[3].interface_names[0] = "temperature".into();
    peer.publish(topic, &peer::DYNAMIC, &bad);
    counted("interfaces", 1);
    told("unknown interface \"temperature\"; known: position, velocity");
    let mut bad = good.clone();
    bad.interface_values[0].values.pop();
    peer.publish(topic, &peer::DYNAMIC, &bad);
    counted("interfaces", 2);
    let few = Float64MultiArray { data: vec![0.0; 11], ..Default::default() };
    peer.publish("forward_effort_controller/commands", &peer::ARRAY, &few);
    counted("size", 1);
    told("data has 11 entries; it must have one for each of 12 joints");
    peer.put(topic, &peer::DYNAMIC, b"\0\x01\0\0\xff\xff\xff\x7f");
    counted("cdr", 1);
    let longer = [peer::bytes(&good), vec![0; 4]].concat();
    peer.put(topic, &peer::DYNAMIC, &longer);
    counted("cdr", 2);
    told("bytes follow the message");
    let mut bad = trajectory(&names, &[q.clone(), q.clone()], 1);
    bad.points[1].time_from_start.sec = 1;
    peer.publish("joint_trajectory_controller/joint_trajectory", &peer::TRAJECTORY, &bad);
    counted("trajectory", 1);
    told("points[1].time_from_start must be ≥ 0 and increase");

    // what is well-formed is judged like any other command
    let mut bad = good.clone();
    bad.interface_values[0].values[0] = f64::NAN;
    peer.publish(topic, &peer::DYNAMIC, &bad);
    observer.status_until("not finite", |s| s.counter("rejected_not_finite") == 1);
    let wall = Time { sec: 1_700_000_000, nanosec: 0 };
    peer.publish(topic, &peer::DYNAMIC, &hold(&names, &q, &wall));
    counted("stamp", 1);
    told("the simulation is at 0.000000000 s; nodes must have use_sim_time");
    let ahead = Time { sec: 5, nanosec: 0 };
    peer.publish(topic, &peer::DYNAMIC, &hold(&names, &q, &ahead));
    let status = observer.status_until("the future", |s| s.counter("rejected_future_tick") == 1);
    assert_eq!((status.counter("ros2_received"), status.phase), (10, 0));
    assert_eq!(status.counter("commands_received"), 2);
}

/// What panics behind ROS takes the bus with it, which comes back; the robot goes on.
#[test]
fn a_panic_behind_ros_restarts_the_bus_and_not_the_robot() {
    let _one = serial();
    for fault in ["ros2:300", "ros2_command:300"] {
        let scene = Scene::new();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hardstand"));
        command.args(scene.run_args(&["--set", "sim.start=now"]));
        command.env("HARDSTAND_FAULT_POINT", fault);
        let mut daemon = Process::start(scene.dir.path(), "daemon", command);
        let observer = Observer::of(&scene);
        let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
        let states = peer.subscribe("joint_states", &peer::JOINT_STATE);
        let (names, q) = initial(&observer);
        let mut restarts = 0;
        while restarts < 2 {
            for _ in 0..50 {
                let state: JointState = newest(&states);
                let command = hold(&names, &q, &state.header.stamp);
                peer.publish("dynamic_joint_commands", &peer::DYNAMIC, &command);
            }
            restarts = observer.status().counter("io_restarts");
        }
        daemon.signal(rustix::process::Signal::TERM);
        let out = daemon.ends_with(0);
        assert!(
            out.contains(&format!("fault point {}\n", fault.trim_end_matches(":300"))),
            "{out}"
        );
        process::Log::read(&scene.log()).assert_no_tick_is_missing();
    }
}

/// Silent for too long, it has lost the robot; its next messages prove life under a new session.
#[test]
fn a_publisher_that_was_silent_comes_back() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = hung(&scene);
    let observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let command = Float64MultiArray { data: vec![0.01; 12], ..Default::default() };
    let commanding = || {
        wait_for("authority", || {
            peer.publish("forward_effort_controller/commands", &peer::ARRAY, &command);
            let state = observer.state();
            Authority::is_command(state.authority).then_some(state.command_session)
        })
    };
    let first = commanding();
    observer.until("the loss", |s| s.authority == 3);
    assert_ne!(commanding(), first);
    assert!(observer.status().counter("rejected_revoked") <= 1);
}

/// The id of a publisher is public. A message under it must continue the publisher's numbers.
#[test]
fn a_second_sender_under_the_id_of_a_publisher_is_refused() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = hung(&scene);
    let observer = Observer::of(&scene);
    let owner = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    owner.skip(1 << 20);
    // with numbers that have been, and with numbers that are far ahead; connected before, since
    // that takes longer than a command is held
    let strangers = [0, 1 << 40].map(|ahead| {
        let stranger = Peer::connect(&scene.endpoint, Way::RmwZenoh);
        stranger.skip(ahead);
        stranger
    });
    let topic = "forward_effort_controller/commands";
    let efforts = |tau: f64| Float64MultiArray { data: vec![tau; 12], ..Default::default() };
    let command = |n: usize| {
        for _ in 0..n {
            owner.publish(topic, &peer::ARRAY, &efforts(0.01));
            observer.state();
        }
    };
    command(300);
    let owned = observer.until("authority", |s| Authority::is_command(s.authority));
    for stranger in strangers {
        let before = observer.status().counter("ros2_rejected_sender");
        for _ in 0..50 {
            (0..20).for_each(|_| stranger.publish(topic, &peer::ARRAY, &efforts(-0.02)));
            command(5);
        }
        let all = before + 1000;
        observer.status_until("all are refused", |s| {
            command(1);
            s.counter("ros2_rejected_sender") == all
        });
    }
    let state = observer.state();
    assert_eq!(state.command_session, owned.command_session);
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ends_with(0);
    let log = process::Log::read(&scene.log());
    let strange = |c: &hardstand_protocol::JointCommand| c.tau_ff < 0.0;
    assert!(!log.ticks.iter().flat_map(|t| &t.joints).any(strange), "the motors got an effort");
}

/// `geometry_msgs/Twist`: in on `cmd_vel`, and out on `velocity_command`.
#[test]
fn a_twist_is_a_velocity_command() {
    let _one = serial();
    for (mode, way) in [("rmw_zenoh", Way::RmwZenoh), ("bridge", Way::Bridge)] {
        let scene = Scene::new();
        let set = format!("ros2.mode={mode}");
        let mut daemon = scene.daemon(&["--set", &set, "--set", "sim.start=now"]);
        let observer = Observer::of(&scene);
        let peer = Peer::connect(&scene.endpoint, way);
        let heard = peer.subscribe("velocity_command", &peer::TWIST);
        let vector = |x, y, z| Vector3 { x, y, z };
        // what a robot on the ground cannot do is left out
        let asked = Twist { linear: vector(0.3, -0.1, 9.0), angular: vector(9.0, 9.0, 0.2) };
        wait_for("the velocity command", || {
            peer.publish("cmd_vel", &peer::TWIST, &asked);
            (observer.state().velocity_command.values() == [0.3, -0.1, 0.2]).then_some(())
        });
        let shown = Twist { linear: vector(0.3, -0.1, 0.0), angular: vector(0.0, 0.0, 0.2) };
        wait_for("the same as a message", || (newest::<Twist>(&heard) == shown).then_some(()));
        let wrong = Twist { linear: vector(f64::NAN, 0.0, 0.0), ..shown };
        peer.publish("cmd_vel", &peer::TWIST, &wrong);
        peer.publish("cmd_vel", &peer::TWIST, &Time::default());
        observer.status_until("both are counted", |s| {
            s.counter("orders_rejected_not_finite") == 1 && s.counter("ros2_rejected_cdr") == 1
        });
        assert_eq!(observer.state().velocity_command.values(), [0.3, -0.1, 0.2]);
        daemon.kill();
    }
}
