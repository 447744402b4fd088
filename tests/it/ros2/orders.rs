//! From messages to set-points, without a daemon.

use hardstand::ros2::messages::{
    Duration, DynamicJointState, Float64MultiArray, InterfaceValue, JointState, JointTrajectory,
    JointTrajectoryPoint, Time,
};
use hardstand::ros2::{Orders, RosRejection, Trajectory};
use hardstand::urdf::command_interfaces;
use hardstand_protocol::{HoldGains, JointCommand, JointReading};

fn orders() -> Orders {
    orders_with(HoldGains::default())
}

/// The gains of `a`; `b` has 100 and 3.
fn orders_with(a: HoldGains) -> Orders {
    Orders::new(vec!["a".into(), "b".into()], vec![a, HoldGains::default()])
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The interfaces of joint `b`, then of `a`.
fn dynamic(b: &[(&str, f64)], a: &[(&str, f64)]) -> DynamicJointState {
    let values = |given: &[(&str, f64)]| InterfaceValue {
        interface_names: given.iter().map(|(name, _)| (*name).to_string()).collect(),
        values: given.iter().map(|(_, value)| *value).collect(),
    };
    DynamicJointState {
        joint_names: texts(&["b", "a"]),
        interface_values: vec![values(b), values(a)],
        ..Default::default()
    }
}

#[test]
fn interfaces_are_mapped_by_name_and_gains_fill_what_is_not_said() {
    let all = [("effort", 1.0), ("position", 2.0), ("kd", 3.0), ("velocity", 4.0), ("kp", 5.0)];
    let mapped = orders().dynamic(&dynamic(&all, &[("effort", 7.0)])).unwrap();
    let b = JointCommand { q: 2.0, dq: 4.0, kp: 5.0, kd: 3.0, tau_ff: 1.0 };
    let a = JointCommand { tau_ff: 7.0, ..Default::default() };
    assert_eq!(mapped, [a, b]);
    let words = [("stiffness", 5.0), ("damping", 3.0), ("torque", 1.0)];
    let others = [("proportional", 5.0), ("derivative", 3.0), ("feedforward", 1.0)];
    let mapped = orders().dynamic(&dynamic(&words, &others)).unwrap();
    assert_eq!(mapped[0], mapped[1]);
    assert_eq!((mapped[0].kp, mapped[0].kd, mapped[0].tau_ff), (5.0, 3.0, 1.0));
    // a position wants both gains, a velocity damping; a gain that is given is taken, also 0
    let soft = orders_with(HoldGains { kp: 50.0, kd: 2.0 });
    let mapped = soft.dynamic(&dynamic(&[("position", 1.0)], &[("velocity", 1.0)])).unwrap();
    assert_eq!([mapped[1].kp, mapped[1].kd, mapped[0].kp, mapped[0].kd], [100.0, 3.0, 0.0, 2.0]);
    let mapped = orders().dynamic(&dynamic(&[("position", 1.0), ("kp", 0.0)], &[])).unwrap();
    assert_eq!([mapped[1].kp, mapped[1].kd], [0.0, 3.0]);
    assert_eq!(mapped[0], JointCommand::default());
}

#[test]
fn refusals_have_their_reason_and_tell_names_in_bounds() {
    let refused = |m: &DynamicJointState| orders().dynamic(m).unwrap_err();
    let twice = dynamic(&[("kp", 1.0), ("stiffness", 1.0)], &[]);
    let e = refused(&twice);
    assert_eq!(e.reason, RosRejection::Interfaces);
    assert_eq!(e.to_string(), "b: the interface proportional occurs twice");
    let mut many = dynamic(&[], &[]);
    many.joint_names = (0..100).map(|i| format!("{}\n{i}", "x".repeat(500))).collect();
    let e = refused(&many);
    assert_eq!(e.reason, RosRejection::Names);
    assert!(e.text.len() < 1000 && e.text.contains("and 92 more; missing \"a\", \"b\""), "{e}");
    assert!(!e.text.contains('\n'), "{e}");
    let mut short = dynamic(&[], &[]);
    short.interface_values.pop();
    assert_eq!(refused(&short).reason, RosRejection::Size);
}

#[test]
fn arrays_need_a_number_for_each_joint() {
    let array = |data: &[f64]| Float64MultiArray { data: data.to_vec(), ..Default::default() };
    let efforts = orders().efforts(&array(&[1.0, -2.0])).unwrap();
    assert_eq!(efforts[1], JointCommand { tau_ff: -2.0, ..Default::default() });
    let positions = orders().positions(&array(&[1.0, -2.0])).unwrap();
    assert_eq!(positions[0], JointCommand { q: 1.0, kp: 100.0, kd: 3.0, ..Default::default() });
    assert_eq!(orders().efforts(&array(&[1.0])).unwrap_err().reason, RosRejection::Size);
}

#[test]
fn a_joint_state_commands_what_it_has() {
    let message = |lists: [&[f64]; 3]| JointState {
        name: texts(&["b", "a"]),
        position: lists[0].to_vec(),
        velocity: lists[1].to_vec(),
        effort: lists[2].to_vec(),
        ..Default::default()
    };
    let mapped = orders().joints(&message([&[1.0, 2.0], &[], &[3.0, 4.0]])).unwrap();
    let b = JointCommand { q: 1.0, dq: 0.0, kp: 100.0, kd: 3.0, tau_ff: 3.0 };
    assert_eq!((mapped[1], mapped[0].q, mapped[0].tau_ff), (b, 2.0, 4.0));
    let mapped = orders().joints(&message([&[], &[], &[3.0, 4.0]])).unwrap();
    assert_eq!(mapped[0], JointCommand { tau_ff: 4.0, ..Default::default() });
    let e = orders().joints(&message([&[1.0], &[], &[]])).unwrap_err();
    assert_eq!((e.reason, e.text.contains("position has 1 entries")), (RosRejection::Size, true));
}

/// The present plugin for topics names all joints, and sends values of those that have the interface.
#[test]
fn lists_shorter_than_the_names_are_for_the_joints_with_that_interface() {
    let urdf = "<robot name='r'><ros2_control name='c' type='system'>\
                <joint name='a'><command_interface name='effort'/></joint>\
                <joint name='b'><command_interface name='position'/>\
                <command_interface name='velocity'/><state_interface name='effort'/></joint>\
                </ros2_control></robot>";
    let known = command_interfaces(urdf, &["a", "b"]);
    assert_eq!(known, [[false, false, true], [true, true, false]]);
    let robot = orders().with_interfaces(known);
    let message = |lists: [&[f64]; 3]| JointState {
        name: texts(&["b", "a"]),
        position: lists[0].to_vec(),
        velocity: lists[1].to_vec(),
        effort: lists[2].to_vec(),
        ..Default::default()
    };
    let mapped = robot.joints(&message([&[1.0], &[2.0], &[3.0]])).unwrap();
    assert_eq!(mapped[0], JointCommand { tau_ff: 3.0, ..Default::default() });
    assert_eq!((mapped[1].q, mapped[1].dq, mapped[1].tau_ff), (1.0, 2.0, 0.0));
    // as long as the names: for all of them, as before
    let mapped = robot.joints(&message([&[], &[], &[3.0, 4.0]])).unwrap();
    assert_eq!((mapped[1].tau_ff, mapped[0].tau_ff), (3.0, 4.0));
    // a URDF without <command_interface> does not tell whose values they are
    assert!(command_interfaces("<robot name='r'/>", &["a", "b"]).is_empty());
    for robot in [robot.clone(), orders()] {
        let e = robot.joints(&message([&[], &[], &[1.0, 2.0, 3.0]])).unwrap_err();
        assert_eq!(e.reason, RosRejection::Size);
    }
    let text = orders().joints(&message([&[1.0], &[], &[]])).unwrap_err().text;
    assert!(text.contains("each of the 0 with a <command_interface name=\"position\"/>"), "{text}");
    let text = robot.joints(&message([&[1.0, 2.0, 3.0], &[], &[]])).unwrap_err().text;
    assert!(text.contains("has 3 entries") && text.contains("the 1 with"), "{text}");
}

/// One point a second, joint `b` first.
fn message(points: &[[f64; 2]], velocities: Option<&[[f64; 2]]>) -> JointTrajectory {
    let point = |(i, p): (usize, &[f64; 2])| JointTrajectoryPoint {
        positions: p.to_vec(),
        velocities: velocities.map(|v| v[i].to_vec()).unwrap_or_default(),
        time_from_start: Duration { sec: i as i32 + 1, nanosec: 0 },
        ..Default::default()
    };
    JointTrajectory {
        joint_names: texts(&["b", "a"]),
        points: points.iter().enumerate().map(point).collect(),
        ..Default::default()
    }
}

const S: u64 = 1_000_000_000;

/// Positions and velocities of `a` and `b`.
fn at(t: &mut Trajectory, now_ns: u64) -> [f64; 4] {
    let measured = [JointReading { q: 0.5, ..Default::default() }; 2];
    let c = t.at(now_ns, &measured);
    assert_eq!((c[0].kp, c[1].kd, c[0].tau_ff), (100.0, 3.0, 0.0));
    [c[0].q, c[1].q, c[0].dq, c[1].dq]
}

#[test]
fn a_trajectory_goes_through_its_points_on_time() {
    let sent = message(&[[1.0, 2.0], [3.0, 2.0]], None);
    let mut t = orders().trajectory(&sent).unwrap();
    // from where it is found, 0.5, when it is first looked at
    assert_eq!(at(&mut t, 7 * S), [0.5, 0.5, 1.5, 0.5]);
    assert_eq!(at(&mut t, 7 * S + S / 2), [1.25, 0.75, 1.5, 0.5]);
    assert_eq!(at(&mut t, 8 * S), [2.0, 1.0, 0.0, 2.0]);
    assert_eq!(at(&mut t, 8 * S + S / 2), [2.0, 2.0, 0.0, 2.0]);
    // and holds the last
    assert_eq!(at(&mut t, 9 * S), [2.0, 3.0, 0.0, 0.0]);
    assert_eq!(at(&mut t, 900 * S), [2.0, 3.0, 0.0, 0.0]);
}

#[test]
fn velocities_make_it_smooth() {
    let sent = message(&[[0.5, 0.5], [1.5, 0.5]], Some(&[[0.0, 0.0], [0.0, 0.0]]));
    let mut t = orders().trajectory(&sent).unwrap();
    at(&mut t, 0);
    let [_, b, _, db] = at(&mut t, S);
    assert_eq!([b, db], [0.5, 0.0]);
    let [_, b, _, db] = at(&mut t, S + S / 2);
    assert!((b - 1.0).abs() < 1e-12 && (db - 1.5).abs() < 1e-12, "{b} {db}");
    let [_, b, _, db] = at(&mut t, S + S / 4);
    // 3 u² − 2 u³ at a quarter
    assert!((b - 0.65625).abs() < 1e-12 && (db - 1.125).abs() < 1e-12, "{b} {db}");
}

#[test]
fn a_stamp_says_when_it_starts() {
    let mut sent = message(&[[1.0, 2.0]], None);
    sent.header.stamp = Time { sec: 10, nanosec: 0 };
    let mut t = orders().trajectory(&sent).unwrap();
    assert_eq!(at(&mut t, 9 * S), [0.5, 0.5, 0.0, 0.0]);
    assert_eq!(at(&mut t, 10 * S + S / 2)[..2], [1.25, 0.75]);
    // begun in the past, it is joined on its way
    let mut late = orders().trajectory(&sent).unwrap();
    assert_eq!(at(&mut late, 10 * S + S / 2)[..2], [1.25, 0.75]);
}

#[test]
fn trajectories_that_cannot_be_followed_are_refused() {
    let refused = |m: &JointTrajectory| {
        let e = orders().trajectory(m).unwrap_err();
        assert_eq!(e.reason, RosRejection::Trajectory, "{e}");
        e.text
    };
    assert!(refused(&message(&[], None)).contains("has no points"));
    let mut m = message(&[[0.0; 2], [0.0; 2]], None);
    m.points[1].time_from_start = Duration { sec: 1, nanosec: 0 };
    assert!(refused(&m).contains("points[1].time_from_start must be ≥ 0 and increase"));
    m.points[0].time_from_start = Duration { sec: -1, nanosec: 0 };
    assert!(refused(&m).contains("points[0].time_from_start"));
    let mut m = message(&[[0.0; 2]], None);
    m.points[0].velocities = vec![0.0];
    assert!(refused(&m).contains("points[0].velocities: 1 numbers; it must be 2 finite ones"));
    let mut m = message(&[[f64::NAN, 0.0]], None);
    assert!(refused(&m).contains("points[0].positions"));
    let mut past = message(&[[0.0; 2]], None);
    past.header.stamp = Time { sec: -3, nanosec: 0 };
    assert!(refused(&past).contains("the stamp is -3 s; it must not be negative"));
    m.points[0].positions.clear();
    assert!(refused(&m).contains("points[0].positions: 0 numbers"));
    let mut m = message(&[[0.0; 2]], None);
    m.joint_names = texts(&["a", "a"]);
    assert_eq!(orders().trajectory(&m).unwrap_err().reason, RosRejection::Names);
}
