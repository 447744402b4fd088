//! Every input that the fuzzer kept, through the same checks, without the fuzzer.

#[allow(clippy::duplicate_mod, reason = "the fuzz targets need helpers that are common here")]
#[path = "../../fuzz/checks.rs"]
mod checks;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::bench::{Bench, ROOMY};
use hardstand::config::{Pace, Scenario, StartRule};
use hardstand::ros2::messages::{JointState, Message as _};
use hardstand::ros2::unitree::LowCmd;
use hardstand::rt::ManualClock;
use hardstand_log::{KEYFRAME_TOPIC, STATE_TOPIC, TICK_TOPIC};
use hardstand_protocol::{
    ClaimedCommand, FrictionRequest, Keyframe, Kind, Order, OrderHead, encode, encode_command,
    encode_order,
};
use hardstand_protocol::{JointCommand, Scope};

const LUMP: &str = r#"<robot name="lump"><link name="a"><inertial><mass value="1"/><inertia
 ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link></robot>"#;

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}

/// Runs `check` on all files of a target.
fn all(target: &str, check: fn(&[u8])) {
    let (mut files, mut bytes) = (0, 0);
    for entry in std::fs::read_dir(folder(target)).unwrap() {
        let path = entry.unwrap().path();
        let data = std::fs::read(&path).unwrap();
        println!("{}", path.display());
        check(&data);
        files += 1;
        bytes += data.len();
    }
    assert!(files > 1 && bytes < 100_000, "{target}: {files} files, {bytes} bytes");
}

#[test]
fn commands() {
    all("command_bytes", checks::command_bytes);
}

#[test]
fn friction_requests() {
    all("friction_bytes", checks::friction_bytes);
}

#[test]
fn logs() {
    all("log_bytes", checks::log_bytes);
}

#[test]
fn robots() {
    all("urdf", checks::urdf);
}

#[test]
fn scenarios() {
    all("config", checks::config);
}

#[test]
fn packets_of_ports() {
    all("port_packets", checks::port_packets);
}

#[test]
fn bytes_on_motor_wires() {
    all("motor_wires", checks::motor_wires);
}

#[test]
fn messages_of_ros_2() {
    all("cdr", checks::cdr);
}

#[test]
fn models_of_mujoco() {
    all("mjcf", checks::mjcf);
}

#[test]
fn logs_of_robots() {
    all("robot_logs", checks::robot_logs);
}

/// A log of the lump without checksums, so that the fuzzer gets past them.
fn log(ticks: u64, chunked: bool) -> Vec<u8> {
    let scenario = Scenario::from_texts("", LUMP, &[]).unwrap();
    let mut bench = Bench::new(scenario, ROOMY);
    bench.executive(ManualClock::default(), Pace::Free, StartRule::Now, ticks).run();
    let options = mcap::WriteOptions::new()
        .profile("hardstand")
        .compression(None)
        .use_chunks(chunked)
        .emit_summary_records(false)
        .emit_message_indexes(false)
        .calculate_chunk_crcs(false)
        .calculate_data_section_crc(false)
        .calculate_attachment_crcs(false);
    let mut writer = options.create(std::io::Cursor::new(Vec::new())).unwrap();
    let channels = [TICK_TOPIC, STATE_TOPIC, KEYFRAME_TOPIC]
        .map(|topic| writer.add_channel(0, topic, "", &BTreeMap::new()).unwrap());
    let metadata = BTreeMap::from([("version".to_string(), "0".to_string())]);
    writer.write_metadata(&mcap::records::Metadata { name: "hardstand".into(), metadata }).unwrap();
    for (name, text) in [("robot.urdf", LUMP), ("scenario.toml", "[sim]\n")] {
        let (name, media_type) = (name.to_string(), String::new());
        let data = Cow::Borrowed(text.as_bytes());
        let file = mcap::Attachment { log_time: 0, create_time: 0, name, media_type, data };
        writer.attach(&file).unwrap();
    }
    let mut put = |n: usize, data: &[u8]| {
        let (channel_id, sequence) = (channels[n], 0);
        let header =
            mcap::records::MessageHeader { channel_id, sequence, log_time: 0, publish_time: 0 };
        writer.write_to_known_channel(&header, data).unwrap();
    };
    let mut data = Vec::new();
    for tick in bench.logged() {
        if !tick.keyframe.is_empty() {
            let (run_id, words) = (tick.run_id, tick.keyframe.clone());
            let keyframe = Keyframe { run_id, tick: tick.tick, words };
            encode(Kind::Keyframe, &keyframe, &mut data).unwrap();
            put(2, &data);
        }
        encode(Kind::LogTick, &tick, &mut data).unwrap();
        put(0, &data);
        encode(Kind::State, &tick.state, &mut data).unwrap();
        put(1, &data);
    }
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

/// Where the fuzzer starts from.
#[test]
#[ignore = "writes into fuzz/corpus"]
fn renew_the_seeds() {
    let put = |target: &str, name: &str, data: &[u8]| {
        std::fs::create_dir_all(folder(target)).unwrap();
        std::fs::write(folder(target).join(name), data).unwrap();
    };
    let (layout_hash, run_id) = (checks::COMMANDS.layout_hash, checks::COMMANDS.run_id);
    let joint = JointCommand { q: 0.5, dq: -1.0, kp: 100.0, kd: 2.0, tau_ff: 3.0 };
    let joints = vec![joint, JointCommand::default()];
    let good = ClaimedCommand {
        layout_hash,
        run_id,
        session: 7,
        seq: 9,
        answers_tick: 1000,
        applies_tick: 0,
        joints,
    };
    let mut data = Vec::new();
    encode_command(&good, &mut data).unwrap();
    put("command_bytes", "good", &data);
    put("command_bytes", "short", &data[..90]);
    for (name, scope) in
        [("all", Scope::All), ("foot", Scope::Foot(1)), ("region", Scope::Region(1))]
    {
        let request = FrictionRequest::new(layout_hash, scope, 0.5, 0.25);
        let (robot, asker) = (checks::ORDERS.robot.into(), "seed".into());
        let head = OrderHead { robot, run_id, nonce: 77, asker };
        encode_order(Order::Friction, &head, &request, &mut data).unwrap();
        put("friction_bytes", name, &data);
    }
    put("log_bytes", "chunk", &log(2, true));
    put("log_bytes", "no-chunk", &log(2, false));
    put("urdf", "lump", LUMP.as_bytes());
    put("urdf", "leg", LEG.as_bytes());
    Scenario::from_texts("", LEG, &[]).unwrap();
    Scenario::from_texts(GROUND, checks::ROBOT, &[]).unwrap();
    put("config", "defaults", b"");
    put("config", "quadruped", include_bytes!("../../config/quadruped.toml"));
    put("config", "ground", GROUND.as_bytes());
    let packet = checks::packet::PacketCommand {
        run_id,
        layout_hash,
        sequence: 1,
        tick: 2,
        joints: vec![joint],
    };
    checks::packet::encode_command(&packet, &mut data);
    put("port_packets", "good", &data);
    put("port_packets", "short", &data[..40]);
    for (name, wire, text) in [
        ("slcan", 0, "S8\rO\rt00180102030405060708\rT0000000121122\rC\r"),
        ("socketcand", 1, "< open can0 >< rawmode >< send 1 2 11 22 >"),
        ("fdcanusb", 2, "conf get can.bitrate\ncan send 8001 01020304 BFR\ncan status\n"),
    ] {
        put("motor_wires", name, &[&[wire, 3], text.as_bytes()].concat());
    }
    let state = JointState { name: vec!["h".into()], position: vec![0.5], ..Default::default() };
    state.encode(&mut data);
    put("cdr", "joint_state", &[&[0], &data[..]].concat());
    LowCmd::default().encode(&mut data);
    put("cdr", "low_cmd", &[&[5], &data[..]].concat());
    put("mjcf", "leg", LEG_MJCF.as_bytes());
    put("mjcf", "empty", b"<mujoco/>");
    #[cfg(feature = "zenoh")]
    {
        use crate::robot_log::{archive, bag, npy};
        let arrays = [("t.npy", npy("<f8", "1,", &[0; 8])), ("q.npy", npy("<f4", "1, 2", &[0; 8]))];
        put("robot_logs", "npz", &[&[0], &archive(&arrays)[..]].concat());
        state.encode(&mut data);
        let message = ("/joint_states", JointState::NAME, 1, data);
        put("robot_logs", "bag", &[&[1], &bag(&[message])[..]].concat());
    }
}

const LEG_MJCF: &str = r#"<mujoco model="leg"><worldbody><body name="trunk" pos="0 0 0.5"><freejoint/>
<geom type="box" size="0.1 0.1 0.1" mass="3"/><body name="thigh"><joint name="hip" type="hinge" axis="0 1 0"
 range="-1 1"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="1"/></body></body></worldbody>
<actuator><motor joint="hip" ctrlrange="-20 20"/></actuator></mujoco>"#;

const LEG: &str = r#"<robot name="leg"><link name="base"><inertial><mass value="3"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link><link name="thigh"><inertial>
<origin xyz="0 0 -0.1" rpy="0.1 0 0"/><mass value="2"/><inertia ixx="0.1" ixy="0.01" ixz="0"
iyy="0.1" iyz="0" izz="0.1"/></inertial><collision><origin xyz="0 0 -0.2"/><geometry>
<sphere radius="0.02"/></geometry></collision></link><joint name="hip" type="revolute">
<parent link="base"/><child link="thigh"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"
effort="30" velocity="20"/><dynamics damping="0.1" friction="0.2"/></joint><link name="foot">
<inertial><mass value="0.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
</inertial><collision><geometry><box size="0.1 0.05 0.02"/></geometry></collision></link>
<joint name="ankle" type="fixed"><origin xyz="0 0 -0.3" quat_xyzw="0 0 0 1"/>
<parent link="thigh"/><child link="foot"/></joint></robot>"#;

const GROUND: &str = r#"
contact.model = "hunt_crossley"
initial.joints = { FL_thigh_joint = 0.8, FL_calf_joint = -1.6 }
[robot]
base = "floating"
[joints."*"]
armature = 0.01
[[feet]]
name = "FL"
link = "FL_foot"
[[stations]]
name = "trunk"
link = "trunk"
model = "rigid"
points_m = [[0, 0, -0.1]]
[[planes]]
name = "belt"
position_m = [0.0, 0.0, 0.0]
rpy_rad = [0.0, 0.1, 0.0]
motion = { velocity_m_per_s = [-0.5, 0.0, 0.0], ramp_s = 1.0 }
[[terrain]]
kind = "stairs"
position_m = [2.0, 0.0, 0.0]
steps = 3
rise_m = 0.1
run_m = 0.3
width_m = 2.0
[[terrain]]
kind = "heightfield"
position_m = [0, 0, -5]
origin_m = [0, 0]
spacing_m = 1
heights_m = [[0, 1], [1, 0]]
[[events]]
at_s = 0.001
kind = "push"
link = "trunk"
force_n = [0.0, 40.0, 0.0]
duration_s = 0.1
[[events]]
at_s = 0
kind = "friction"
region = "ice"
mu_static = 0.1
mu_kinetic = 0.05
[[regions]]
name = "ice"
min_m = [1.0, -0.5]
max_m = [2.0, 0.5]
"#;
