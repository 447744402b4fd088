//! Unitree's messages: bytes and checksums of other people's encoders, the order of the motors, and
//! that nothing is said or obeyed where another robot is.

mod calls;

use std::collections::BTreeMap;
use std::time::Duration;

use hardstand::config::{HgMotors, Motors, Scenario, UnitreeRobot};
use hardstand::ros2::messages::Message;
use hardstand::ros2::unitree::{
    Checked, HgImuState, HgLowCmd, HgLowState, LowCmd, LowState, MODE_AB, POS_STOP, Request,
    Response, SportModeState, VEL_STOP, WirelessController, has_its_crc, hg_set_points,
    remote_bytes, set_crc, set_points, sticks,
};
use hardstand_protocol::{JointCommand, StateReading, VelocityCommand};
use serde::Deserialize;
use zenoh::Wait;

use super::bytes::{bytes, parts};
use super::peer::{Peer, Type, Way};
use crate::common::process::{Observer, Process, Scene, repository, serial, wait_for};

const LOW_CMD: Type = Type {
    dds: "unitree_go::msg::dds_::LowCmd_",
    hash: "RIHS01_0da1142c994d184f6102948c3acf52b9557836cfe5062b924a1f08ac8b72dc34",
};
pub const LOW_STATE: Type = Type {
    dds: "unitree_go::msg::dds_::LowState_",
    hash: "RIHS01_db5172cac933e3cfc0e705903343eb4eea42e65e224e9d726d3e672aec0caf0f",
};

#[derive(Deserialize)]
struct Vector {
    hash: String,
    definition: String,
    message: String,
}

/// The message, after definition, hash and bytes have been compared.
fn compare<T: Message>(vectors: &BTreeMap<String, Vector>) -> Vec<u8> {
    let theirs = &vectors[T::NAME];
    assert_eq!(T::HASH, theirs.hash);
    assert_eq!(parts(&T::definition()), parts(&theirs.definition));
    let message = bytes(&theirs.message);
    let mut ours = Vec::new();
    T::decode(&message).unwrap().encode(&mut ours);
    assert_eq!(ours, message, "{}", T::NAME);
    message
}

fn check<T: Checked>(vectors: &BTreeMap<String, Vector>) {
    let message = compare::<T>(vectors);
    let mut ours = message.clone();
    assert!(has_its_crc::<T>(&message), "{}", T::NAME);
    // every bit of every value counts; what is between them is no value
    let padding = |i: usize| {
        let mut other = message.clone();
        other[i] ^= 1;
        let mut again = Vec::new();
        T::decode(&other).unwrap().encode(&mut again);
        again == message
    };
    for i in (4..message.len()).filter(|&i| !padding(i)) {
        let mut other = message.clone();
        other[i] ^= 1 << (i % 8);
        assert!(!has_its_crc::<T>(&other), "{}: byte {i}", T::NAME);
    }
    let last = ours.len() - 1;
    ours[last] ^= 0x55;
    set_crc::<T>(&mut ours);
    assert_eq!(ours, message, "{}", T::NAME);
}

#[test]
fn messages_and_checksums_are_those_of_rosbags_and_of_unitree() {
    let vectors = serde_json::from_str(include_str!("../../ros2/unitree.json")).unwrap();
    check::<LowCmd>(&vectors);
    check::<LowState>(&vectors);
    check::<HgLowCmd>(&vectors);
    check::<HgLowState>(&vectors);
    compare::<SportModeState>(&vectors);
    compare::<WirelessController>(&vectors);
    compare::<HgImuState>(&vectors);
    compare::<Request>(&vectors);
    compare::<Response>(&vectors);
    for message in [&b""[..], b"\0\x01\0\0", b"\0\x01\0\0\x01\x02\x03\x04\x05"] {
        assert!(!has_its_crc::<LowCmd>(message));
        set_crc::<LowState>(&mut message.to_vec());
    }
}

fn quadruped() -> Scenario {
    Scenario::load(repository("config/quadruped.toml").as_ref(), &[]).unwrap()
}

#[test]
fn motors_are_in_unitrees_order_and_sentinels_ask_for_nothing() {
    let scenario = quadruped();
    let motors = Motors::of(&scenario.model, &scenario.spec).unwrap();
    let mut m = LowCmd::default();
    for (i, motor) in m.motor_cmd.iter_mut().enumerate() {
        let x = i as f32;
        (motor.mode, motor.q, motor.dq, motor.tau) = (1, x, 100.0 + x, 200.0 + x);
        (motor.kp, motor.kd) = (300.0 + x, 400.0 + x);
    }
    let commands = set_points(&motors, &m);
    let of = |name: &str| {
        let joint = scenario.model.joints.iter().position(|j| j.name == name).unwrap();
        commands[joint]
    };
    let at = |x: f64| JointCommand {
        q: x,
        dq: 100.0 + x,
        kp: 300.0 + x,
        kd: 400.0 + x,
        tau_ff: 200.0 + x,
    };
    for (leg, name) in ["FR", "FL", "RR", "RL"].iter().enumerate() {
        for (i, part) in ["hip", "thigh", "calf"].iter().enumerate() {
            let expected = at((3 * leg + i) as f64);
            assert_eq!(of(&format!("{name}_{part}_joint")), expected, "{name} {part}");
        }
    }
    m.motor_cmd[0].q = POS_STOP;
    m.motor_cmd[1].dq = VEL_STOP;
    m.motor_cmd[2].mode = 0;
    let commands = set_points(&motors, &m);
    let of = |name: &str| {
        let joint = scenario.model.joints.iter().position(|j| j.name == name).unwrap();
        commands[joint]
    };
    assert_eq!(of("FR_hip_joint"), JointCommand { q: 0.0, kp: 0.0, ..at(0.0) });
    assert_eq!(of("FR_thigh_joint"), JointCommand { dq: 0.0, kd: 0.0, ..at(1.0) });
    assert_eq!(of("FR_calf_joint"), JointCommand::default());

    let ball = "<robot name=\"r\"><link name=\"l\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" \
                ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link></robot>";
    let sets = ["unitree.enabled=true".to_string()];
    let refused = Scenario::from_texts("", ball, &sets).unwrap_err();
    assert!(refused.to_string().contains("unitree.enabled is true; it must be false"), "{refused}");
}

#[test]
fn a_humanoids_parallel_joints_keep_their_set_points_in_the_mode_of_their_motors() {
    let file = repository("benches/robots/g1_8.toml");
    let scenario = Scenario::load(file.as_ref(), &[]).unwrap();
    let motors = HgMotors::of(&scenario.model).unwrap();
    let of = |name: &str| scenario.model.joints.iter().position(|j| j.name == name).unwrap();
    let places =
        [(0, "left_hip_pitch_joint"), (9, "right_knee_joint"), (28, "right_wrist_yaw_joint")];
    for (place, name) in places {
        assert_eq!(motors.joints[place], of(name), "{name}");
    }
    let mut m = HgLowCmd::default();
    for (i, motor) in m.motor_cmd.iter_mut().enumerate() {
        (motor.mode, motor.q, motor.kp) = (1, i as f32, 50.0);
    }
    let before = hg_set_points(&motors, &m, &[]);
    m.mode_pr = MODE_AB;
    m.motor_cmd.iter_mut().for_each(|motor| motor.q = -1.0);
    let after = hg_set_points(&motors, &m, &before);
    for (place, &joint) in motors.joints.iter().enumerate() {
        let expected = if motors.kind.parallel.contains(&place) { place as f64 } else { -1.0 };
        assert_eq!(after[joint].q, expected, "place {place}");
    }
}

/// As `unitree_rl_gym`'s `RemoteController` reads them.
#[test]
fn the_remote_control_in_a_state_has_the_velocity_command_as_sticks() {
    let velocity_command = VelocityCommand::from([0.5, 0.25, -2.0]);
    let remote = sticks(&StateReading { velocity_command, ..Default::default() });
    let bytes = remote_bytes(&WirelessController { keys: 0x0102, ..remote });
    let float = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(u16::from_le_bytes([bytes[2], bytes[3]]), 0x0102);
    let [lx, rx, ry, ly] = [4, 8, 12, 20].map(float);
    assert_eq!((ly, lx, rx, ry), (0.5, -0.25, 1.0, 0.0), "forward, left, to the right, none");
}

/// A robot with these joints, in the reverse order, all at its pelvis.
fn with_joints(names: &[String]) -> String {
    let inertial = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" \
                    iyz=\"0\" izz=\"1\"/></inertial>";
    let joint = |name: &String| {
        format!(
            "<link name=\"{name}_link\">{inertial}</link><joint name=\"{name}\" type=\"revolute\">\
             <parent link=\"pelvis\"/><child link=\"{name}_link\"/><axis xyz=\"0 1 0\"/>\
             <limit lower=\"-1\" upper=\"1\" effort=\"20\" velocity=\"9\"/></joint>"
        )
    };
    let joints: String = names.iter().rev().map(joint).collect();
    format!("<robot name=\"r\"><link name=\"pelvis\">{inertial}</link>{joints}</robot>")
}

#[test]
fn an_h1_2_has_27_motors_and_a_mode_machine_of_its_own() {
    let parts = |side: &str, parts: &[&str]| -> Vec<String> {
        parts.iter().map(|part| format!("{side}_{part}_joint")).collect()
    };
    let leg = ["hip_yaw", "hip_pitch", "hip_roll", "knee", "ankle_pitch", "ankle_roll"];
    let shoulder = ["shoulder_pitch", "shoulder_roll", "shoulder_yaw"];
    let arm = [&shoulder[..], &["elbow", "wrist_roll", "wrist_pitch", "wrist_yaw"]].concat();
    let names = [
        parts("left", &leg),
        parts("right", &leg),
        vec!["torso_joint".into()],
        parts("left", &arm),
        parts("right", &arm),
    ]
    .concat();
    let sets = ["unitree.enabled=true".to_string()];
    let scenario = Scenario::from_texts("", &with_joints(&names), &sets).unwrap();
    let settings = scenario.unitree.clone().unwrap();
    assert_eq!(settings.mode_machine, 6);
    let UnitreeRobot::Hg(motors) = settings.robot else { panic!("{settings:?}") };
    assert_eq!((motors.kind.name, motors.joints.len()), ("H1-2", 27));
    for (&joint, name) in motors.joints.iter().zip(&names) {
        assert_eq!(scenario.model.joints[joint].name, *name);
    }
    // in the mode of the ankles' motors the rest is commanded, the torso too
    let mut m = HgLowCmd { mode_pr: MODE_AB, ..Default::default() };
    m.motor_cmd.iter_mut().for_each(|motor| (motor.mode, motor.q, motor.kp) = (1, -1.0, 50.0));
    let kept = vec![JointCommand::default(); 27];
    let commands = hg_set_points(&motors, &m, &kept);
    let kept: Vec<&str> = (0..27)
        .filter(|&place| commands[motors.joints[place]].kp == 0.0)
        .map(|place| names[place].as_str())
        .collect();
    assert_eq!(kept, [&parts("left", &leg[4..])[..], &parts("right", &leg[4..])].concat());

    let other = [&sets[0][..], "unitree.mode_machine=7"].map(String::from);
    let scenario = Scenario::from_texts("", &with_joints(&names), &other).unwrap();
    assert_eq!(scenario.unitree.unwrap().mode_machine, 7);
    let refused = Scenario::from_texts("", &with_joints(&names[1..]), &sets).err().unwrap();
    assert!(refused.to_string().contains("27 of an H1-2"), "{refused}");
}

/// Holds the robot where it stands, in Unitree's order.
pub fn hold(observer: &Observer) -> Vec<u8> {
    let scenario = quadruped();
    let mut m = LowCmd { head: [0xFE, 0xEF], level_flag: 0xFF, ..Default::default() };
    let mut i = 0;
    for leg in ["FR", "FL", "RR", "RL"] {
        for part in ["hip", "thigh", "calf"] {
            let name = format!("{leg}_{part}_joint");
            let joint = scenario.model.joints.iter().position(|j| j.name == name).unwrap();
            let motor = &mut m.motor_cmd[i];
            let q = observer.model.joints[joint].q_initial as f32;
            (motor.mode, motor.q, motor.dq, motor.kp, motor.kd) = (1, q, 0.0, 100.0, 3.0);
            i += 1;
        }
    }
    let mut bytes = Vec::new();
    m.encode(&mut bytes);
    set_crc::<LowCmd>(&mut bytes);
    bytes
}

fn begin(way: Way) -> (Scene, Process, Observer, Peer) {
    let scene = Scene::new();
    let mode = if way == Way::Bridge { "bridge" } else { "rmw_zenoh" };
    let sets = [&format!("ros2.mode={mode}"), "unitree.enabled=true", "command.hold_ticks=2000"];
    let more: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let daemon = scene.daemon(&more);
    let observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, way);
    (scene, daemon, observer, peer)
}

#[test]
fn a_unitree_controller_makes_the_robot_stand() {
    let _one = serial();
    for way in [Way::RmwZenoh, Way::Bridge] {
        let (scene, mut daemon, observer, peer) = begin(way);
        let states = peer.subscribe("lowstate", &LOW_STATE);
        let command = hold(&observer);
        let mut last = LowState::default();
        wait_for("it stands for two seconds", || {
            peer.put("lowcmd", &LOW_CMD, &command);
            std::thread::sleep(Duration::from_millis(2));
            while let Some(sample) = states.try_recv().unwrap() {
                let bytes = sample.payload().to_bytes();
                assert!(has_its_crc::<LowState>(&bytes));
                let next = LowState::decode(&bytes).unwrap();
                // every other ms of simulated time, 0 while nobody has command
                assert!(next.tick == 0 || (next.tick % 2 == 0 && next.tick > last.tick));
                last = next;
            }
            (last.tick > 2000).then_some(())
        });
        let state = observer.until("a state", |s| s.tick >= 2000);
        assert!((0.30..0.36).contains(&state.truth_base_position_m[2]), "{state:?}");
        let weight_n = observer.model.mass_kg * 9.81;
        let feet_n: f64 = last.foot_force.iter().map(|&f| f64::from(f)).sum();
        assert!((feet_n - weight_n).abs() < 0.05 * weight_n + 2.0, "{feet_n} N of {weight_n} N");
        assert!((last.imu_state.accelerometer[2] - 9.81).abs() < 0.5, "{:?}", last.imu_state);
        assert!(last.imu_state.quaternion[0] > 0.99, "the scalar comes first");
        assert_eq!((last.motor_state[11].mode, last.motor_state[12].mode), (1, 0));
        assert!((1.0..3.0).contains(&-last.motor_state[2].q), "a calf: {:?}", last.motor_state[2]);

        // a wrong checksum is no command, and neither is half of one
        let before = observer.status().counter("ros2_rejected_crc");
        let mut wrong = command.clone();
        wrong[30] ^= 1;
        peer.put("lowcmd", &LOW_CMD, &wrong);
        peer.put("lowcmd", &LOW_CMD, &command[..400]);
        let status = observer.status_until("both are counted", |s| {
            s.counter("ros2_rejected_crc") > before && s.counter("ros2_rejected_cdr") > 0
        });
        assert_eq!(status.counter("ros2_rejected_crc"), before + 1);
        daemon.signal(rustix::process::Signal::TERM);
        daemon.ends_with(0);
        scene.replays();
    }
}

/// Sends commands until the status says that they are refused by the guard, and nobody hears a
/// state any more.
fn is_silent(observer: &Observer, peer: &Peer) {
    let states = peer.subscribe("lowstate", &LOW_STATE);
    let command = hold(observer);
    observer.status_until("the guard refuses", |s| {
        peer.put("lowcmd", &LOW_CMD, &command);
        s.counter("ros2_rejected_guard") > 0
    });
    while states.try_recv().unwrap().is_some() {}
    let before = (observer.status(), observer.state().command_seq);
    for _ in 0..20 {
        peer.put("lowcmd", &LOW_CMD, &command);
        std::thread::sleep(Duration::from_millis(2));
    }
    let after = observer.status_until("they are counted", |s| {
        s.counter("ros2_rejected_guard") >= before.0.counter("ros2_rejected_guard") + 20
    });
    assert_eq!(observer.state().command_seq, before.1, "{after:#?}");
    assert!(states.try_recv().unwrap().is_none());
}

#[test]
fn where_another_robot_is_nothing_is_said_or_obeyed() {
    let _one = serial();
    // one whose states come over the bridge, after the simulation was in command
    let (_scene, _daemon, observer, peer) = begin(Way::Bridge);
    let command = hold(&observer);
    wait_for("it obeys", || {
        peer.put("lowcmd", &LOW_CMD, &command);
        std::thread::sleep(Duration::from_millis(5));
        // fresh or held: the states seen here may always be those between two commands
        matches!(observer.state().authority, 1 | 2).then_some(())
    });
    let mut robot = Vec::new();
    LowState { sn: [1, 2], ..Default::default() }.encode(&mut robot);
    peer.put("lowstate", &LOW_STATE, &robot);
    is_silent(&observer, &peer);
    drop(_daemon);

    // and one that is no ROS node: the bridge knows its writer, and passes nothing on
    let (_scene, _daemon, observer, peer) = begin(Way::Bridge);
    let key = "@/0123/ros2/dds/9a/writer/9b/rt/lowstate";
    let declared = peer.session.declare_queryable(key).callback(move |query| {
        query.reply(key, "{}").wait().unwrap();
    });
    let _writer = declared.wait().unwrap();
    is_silent(&observer, &peer);
}
