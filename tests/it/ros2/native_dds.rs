//! `ros2.mode = "dds"`: a participant of the domain drives the robot, without a bridge. Here the peer
//! is RustDDS; `.ci/unitree` lets CycloneDDS and Unitree's C++ library do the same.

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use hardstand::bus::PanicGuard;
use hardstand::config::{HgMotors, Scenario};
use hardstand::dds::{Participant, Quality, Readers, Receiving, Writer};
use hardstand::ros2::messages::{Clock, JointState, Message};
use hardstand::ros2::unitree::{
    HgImuState, HgLowCmd, HgLowState, LowCmd, LowState, MODE_AB, Request, Response, has_its_crc,
    set_crc,
};
use hardstand_protocol::StateReading;

use super::unitree::hold;
use crate::common::process::{Observer, Process, Scene, repository, serial, wait_for};

const LOW_CMD: (&str, &str) = ("rt/lowcmd", "unitree_go::msg::dds_::LowCmd_");
pub const LOW_STATE: (&str, &str) = ("rt/lowstate", "unitree_go::msg::dds_::LowState_");
const REQUEST: &str = "unitree_api::msg::dds_::Request_";
const RESPONSE: &str = "unitree_api::msg::dds_::Response_";

/// A domain of this process: its ports are below those that the system gives away.
pub fn domain() -> u16 {
    (1 + std::process::id() % 99) as u16
}

fn begin() -> (Scene, Process, Observer) {
    begin_with("config/quadruped.toml", &[])
}

/// A G1 that hangs from its pelvis, under the name that observers look for.
fn begin_g1() -> (Scene, Process, Observer) {
    let hangs = ["robot.base=fixed", "initial.position_m=[0,0,1.5]", "initial.place=as_given"];
    begin_with("benches/robots/g1_8.toml", &[&["robot.name=quadruped"][..], &hangs].concat())
}

pub fn begin_with(scenario: &str, more: &[&str]) -> (Scene, Process, Observer) {
    let scene = Scene::new();
    let domain = format!("ros2.domain={}", domain());
    let sets = [&domain, "ros2.mode=dds", "unitree.enabled=true", "command.hold_ticks=2000"];
    let sets: Vec<&str> = sets.iter().chain(more).flat_map(|set| ["--set", set]).collect();
    let mut args = scene.run_args(&sets);
    args[1] = repository(scenario);
    let daemon = scene.hardstand("daemon", &args.iter().map(String::as_str).collect::<Vec<_>>());
    let observer = Observer::of(&scene);
    (scene, daemon, observer)
}

/// Topics of one peer, and the messages that it hears.
pub struct Peer {
    participant: Participant,
    _receiving: Receiving,
    pub heard: Vec<Receiver<Vec<u8>>>,
}

impl Peer {
    pub fn hearing(topics: &[(&str, &str)]) -> Self {
        let participant = Participant::open(domain(), "lo").unwrap();
        let (mut readers, mut heard) = (Readers::default(), Vec::new());
        for &topic in topics {
            let (sender, receiver) = sync_channel(20_000);
            let take = Box::new(move |m: &hardstand::dds::Received| {
                _ = sender.try_send(m.bytes.clone());
            });
            participant.read(&mut readers, topic, Quality::Reliable, take).unwrap();
            heard.push(receiver);
        }
        let receiving = readers.start(PanicGuard::default()).unwrap();
        Self { participant, _receiving: receiving, heard }
    }

    pub fn writer(&self, (topic, of): (&str, &str)) -> Writer {
        self.participant.writer(topic, of, Quality::Reliable).unwrap()
    }

    /// The first answer to `request`, which is sent again while there is none.
    fn ask(&self, writer: &Writer, request: &[u8]) -> Vec<u8> {
        wait_for("the service is there", || writer.is_wanted().then_some(()));
        wait_for("an answer", || {
            writer.put(request);
            self.heard[0].recv_timeout(Duration::from_secs(1)).ok()
        })
    }
}

fn encoded<T: Message>(message: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

#[test]
fn a_unitree_controller_makes_the_robot_stand_over_dds_alone() {
    let _one = serial();
    let (scene, mut daemon, observer) = begin();
    let clock = ("rt/clock", "rosgraph_msgs::msg::dds_::Clock_");
    let joints = ("rt/joint_states", "sensor_msgs::msg::dds_::JointState_");
    let peer = Peer::hearing(&[LOW_STATE, clock, joints]);
    let (commands, command) = (peer.writer(LOW_CMD), hold(&observer));
    let mut last = LowState::default();
    wait_for("it stands for two seconds", || {
        commands.put(&command);
        std::thread::sleep(Duration::from_millis(2));
        for bytes in peer.heard[0].try_iter() {
            assert!(has_its_crc::<LowState>(&bytes));
            last = LowState::decode(&bytes).unwrap();
        }
        (last.tick > 2000).then_some(())
    });
    let state = observer.until("a state", |s| s.tick >= 2000);
    assert!((0.30..0.36).contains(&state.truth_base_position_m[2]), "{state:?}");
    for (i, per_second) in [(1, 1000), (2, 500)] {
        let count = peer.heard[i].try_iter().count();
        assert!(count > per_second, "{count} messages of topic {i} in two seconds");
    }
    let before = observer.status().counter("ros2_rejected_crc");
    let mut wrong = command;
    wrong[30] ^= 1;
    commands.put(&wrong);
    observer.status_until("it is counted", |s| s.counter("ros2_rejected_crc") > before);
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// As after a suspend, a debugger or Ctrl-Z: polls are interrupted.
#[test]
fn after_a_stop_of_the_process_peers_hear_and_find_it_as_before() {
    let _one = serial();
    let (_scene, daemon, observer) = begin_with("config/quadruped.toml", &["sim.start=now"]);
    let before = Peer::hearing(&[LOW_STATE]);
    let hears = |peer: &Peer, what: &str| {
        while peer.heard[0].try_recv().is_ok() {}
        wait_for(what, || peer.heard[0].try_recv().ok());
    };
    hears(&before, "a state before");
    for _ in 0..3 {
        daemon.signal(rustix::process::Signal::STOP);
        std::thread::sleep(Duration::from_millis(200));
        daemon.signal(rustix::process::Signal::CONT);
    }
    hears(&before, "a state after the stop");
    let after = Peer::hearing(&[LOW_STATE]);
    hears(&after, "a peer that comes later hears it");
    let commands = after.writer(LOW_CMD);
    wait_for("a command of that peer", || {
        commands.put(&hold(&observer));
        std::thread::sleep(Duration::from_millis(2));
        (observer.status().counter("ros2_received") > 0).then_some(())
    });
}

fn call(peer: &Peer, writer: &Writer, api_id: i64) -> (i32, String) {
    call_with(peer, writer, api_id, "{}")
}

fn call_with(peer: &Peer, writer: &Writer, api_id: i64, parameter: &str) -> (i32, String) {
    let mut request = Request { parameter: parameter.into(), ..Default::default() };
    (request.header.identity.id, request.header.identity.api_id) = (7, api_id);
    let answer = Response::decode(&peer.ask(writer, &encoded(&request))).unwrap();
    assert_eq!(answer.header.identity, request.header.identity);
    while peer.heard[0].recv_timeout(Duration::from_millis(100)).is_ok() {}
    (answer.header.status.code, answer.data)
}

#[test]
fn unitrees_services_answer_and_move_the_robot() {
    let _one = serial();
    let (_scene, _daemon, observer) = begin();
    let switcher = Peer::hearing(&[("rt/api/motion_switcher/response", RESPONSE)]);
    let writer = switcher.writer(("rt/api/motion_switcher/request", REQUEST));
    assert_eq!(call(&switcher, &writer, 1001), (0, r#"{"form":"0","name":""}"#.into()));
    assert_eq!(call(&switcher, &writer, 1003), (0, String::new()));
    assert_eq!(call(&switcher, &writer, 1099).0, 3203);

    let sport = Peer::hearing(&[("rt/api/sport/response", RESPONSE)]);
    let writer = sport.writer(("rt/api/sport/request", REQUEST));
    let height = |s: &StateReading| s.truth_base_position_m[2];
    assert_eq!(call(&sport, &writer, 1005).0, 0);
    observer.until("it lies", |s| s.phase == 1 && height(s) < 0.2);
    assert_eq!(call(&sport, &writer, 1004).0, 0);
    observer.until("it stands", |s| height(s) > 0.3);

    // what is not simulated is refused under its name, and there is nothing to switch
    assert_eq!(call(&sport, &writer, 1030).0, 3203);
    observer.status_until("it is counted", |s| s.counter("ros2_rejected_call") > 0);
    assert_eq!(call(&sport, &writer, 1027), (0, String::new()));
    let set_state = |id: i64| {
        let code = call_with(&sport, &writer, 7101, &format!("{{\"data\":{id}}}")).0;
        (code, call(&sport, &writer, 7001).1)
    };
    let state = |code: i32, id: i64| (code, format!("{{\"data\":{id}}}"));
    assert_eq!(set_state(200), state(0, 200));
    assert_eq!(set_state(500), state(3203, 200));
    assert_eq!(set_state(706), state(0, 2), "from standing to squatting");
    observer.until("it sinks", |s| height(s) < 0.2);
    assert_eq!(set_state(706), state(0, 706), "and back");
    observer.until("it stands", |s| height(s) > 0.3);
}

/// `LocoClient.Move(0.3, 0, 0)` of Unitree's SDK: for a second, unless asked to go on.
#[test]
fn a_velocity_with_a_duration_ends_by_itself() {
    let _one = serial();
    let (_scene, _daemon, observer) = begin();
    let sport = Peer::hearing(&[("rt/api/sport/response", RESPONSE)]);
    let writer = sport.writer(("rt/api/sport/request", REQUEST));
    let ahead = |s: &StateReading| s.velocity_command.vx_m_per_s;
    let ask = |parameter: &str| call_with(&sport, &writer, 7105, parameter).0;
    assert_eq!(ask(r#"{"velocity":[0.3,0,0],"duration":-1}"#), 3204);
    assert_eq!(call(&sport, &writer, 1004).0, 0);
    assert_eq!(ask(r#"{"velocity":[0.3,0,0],"duration":1}"#), 0);
    let begun_ns = observer.until("it is asked to walk", |s| ahead(s) == 0.3).time_ns;
    let ended_ns = observer.until("its time is over", |s| ahead(s) == 0.0).time_ns;
    assert!(ended_ns - begun_ns > 800_000_000, "{begun_ns} ns to {ended_ns} ns");
    // without one it holds
    assert_eq!(ask(r#"{"velocity":[0.2,0,0]}"#), 0);
    let begun_ns = observer.until("it is asked to walk", |s| ahead(s) == 0.2).time_ns;
    let later = observer.until("2 s later", |s| s.time_ns > begun_ns + 2_000_000_000);
    assert_eq!(ahead(&later), 0.2);
}

/// `SportClient.Move(0.3, 0, 0)` where the daemon walks by itself.
#[test]
fn move_walks_where_there_is_a_walker() {
    let _one = serial();
    let (_scene, _daemon, observer) = begin_with("config/quadruped.toml", &["unitree.walker=trot"]);
    let sport = Peer::hearing(&[("rt/api/sport/response", RESPONSE)]);
    let writer = sport.writer(("rt/api/sport/request", REQUEST));
    let x_and_height = |s: &StateReading| (s.truth_base_position_m[0], s.truth_base_position_m[2]);
    assert_eq!(call(&sport, &writer, 1004).0, 0);
    let (x, _) = x_and_height(&observer.until("it stands", |s| x_and_height(s).1 > 0.3));
    assert_eq!(call_with(&sport, &writer, 1008, r#"{"x":0.3,"y":0,"z":0}"#).0, 0);
    let walked = observer.until("it has walked half a metre", |s| x_and_height(s).0 > x + 0.5);
    assert!(x_and_height(&walked).1 > 0.25, "{walked:?}");
    assert_eq!(call(&sport, &writer, 1003).0, 0);
    let slow = |s: &StateReading| s.truth_base_velocity_m_per_s.iter().all(|v| v.abs() < 0.03);
    observer.until("it stops", |s| s.velocity_command.vx_m_per_s == 0.0 && slow(s));
    assert_eq!(call(&sport, &writer, 1005).0, 0);
    observer.until("it lies", |s| x_and_height(s).1 < 0.2);
    assert_eq!(call_with(&sport, &writer, 1008, r#"{"x":"a"}"#).0, 3204);

    let scene = Scene::new();
    let sets = ["--set", "unitree.enabled=true", "--set", "ros2.mode=dds", "--set"];
    let refused = |set: &str, text: &str| {
        let said = scene.daemon(&[&sets[..], &[set]].concat()).ends_with(2);
        assert!(said.contains(text), "{said}");
    };
    refused("unitree.walker_policy=walk.onnx", "unitree.walker_policy");
    let said = scene.daemon(&[&sets[..], &["unitree.walker=none.toml"]].concat()).ends_with(2);
    assert!(said.contains("none.toml"), "{said}");
}

/// The calls of `g1_arm7_sdk_dds_example.py`: neither a mode of the motors nor `mode_machine`.
#[test]
fn arm_sdk_moves_the_arms_by_its_weight_and_the_daemon_holds_the_rest() {
    let _one = serial();
    let (scene, mut daemon, observer) = begin_g1();
    let place = |name: &str| observer.model.joints.iter().position(|j| j.name == name).unwrap();
    let (elbow, knee) = (place("left_elbow_joint"), place("left_knee_joint"));
    let file = repository("benches/robots/g1_8.toml");
    let motors = HgMotors::of(&Scenario::load(file.as_ref(), &[]).unwrap().model).unwrap();
    let mut message = HgLowCmd::default();
    for (motor, &joint) in message.motor_cmd.iter_mut().zip(&motors.joints).skip(12) {
        motor.q = observer.model.joints[joint].q_initial as f32;
        (motor.kp, motor.kd) = (60.0, 1.5);
    }
    message.motor_cmd[18].q = 1.2;
    let peer = Peer::hearing(&[]);
    let arms = peer.writer(("rt/arm_sdk", "unitree_hg::msg::dds_::LowCmd_"));
    let mut send_until = |weight: f32, what: &str, shown: &dyn Fn(&StateReading) -> bool| {
        message.motor_cmd[29].q = weight;
        let bytes = encoded(&message);
        wait_for(what, || {
            arms.put(&bytes);
            Some(observer.state()).filter(shown)
        })
    };
    let bent = |s: &StateReading, q: f64| (s.joints[elbow].q - q).abs() < 0.1;
    let all = send_until(1.0, "the elbow bends", &|s| bent(s, 1.2));
    assert!((all.joints[knee].q - 0.6).abs() < 0.1, "the legs hold: {:?}", all.joints[knee]);
    let none = send_until(0.0, "the elbow is released", &|s| bent(s, 0.6));
    assert!(none.phase == 1 && matches!(none.authority, 1 | 2), "the rest is held: {none:?}");
    send_until(1.0, "it bends again", &|s| bent(s, 1.2));
    observer.until("no message: as long as a command holds", |s| bent(s, 0.6));
    let before = observer.status().counter("rejected_not_finite");
    let refused = |s: &StateReading| s.tick > none.tick;
    send_until(f32::NAN, "no weight", &refused);
    observer.status_until("it is counted", |s| s.counter("ros2_rejected_cdr") > 0);
    assert_eq!(observer.status().counter("rejected_not_finite"), before);
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// The pelvis is held upright, so what turns the torso is the waist alone.
#[test]
fn secondary_imu_is_the_unit_in_the_torso_beside_that_in_the_pelvis() {
    let _one = serial();
    let (_scene, _daemon, observer) = begin_g1();
    let file = repository("benches/robots/g1_8.toml");
    let motors = HgMotors::of(&Scenario::load(file.as_ref(), &[]).unwrap().model).unwrap();
    let mut message = HgLowCmd::default();
    for (motor, &joint) in message.motor_cmd.iter_mut().zip(&motors.joints).skip(12) {
        motor.q = observer.model.joints[joint].q_initial as f32;
        (motor.kp, motor.kd) = (300.0, 10.0);
    }
    (message.motor_cmd[14].q, message.motor_cmd[29].q) = (0.3, 1.0);
    let unit = "unitree_hg::msg::dds_::IMUState_";
    let state = ("rt/lowstate", "unitree_hg::msg::dds_::LowState_");
    let topics = [("rt/secondary_imu", unit), ("rt/lf/secondary_imu", unit), state];
    let peer = Peer::hearing(&topics);
    let arms = peer.writer(("rt/arm_sdk", "unitree_hg::msg::dds_::LowCmd_"));
    let bytes = encoded(&message);
    let (mut counts, mut fastest) = ([0, 0, 0], [0.0_f32; 2]);
    let mut last = (HgImuState::default(), HgLowState::default());
    wait_for("it has bent forward and is at rest", || {
        arms.put(&bytes);
        std::thread::sleep(Duration::from_millis(2));
        for bytes in peer.heard[0].try_iter() {
            last.0 = HgImuState::decode(&bytes).unwrap();
            fastest[0] = fastest[0].max(last.0.gyroscope[1]);
            counts[0] += 1;
        }
        counts[1] += peer.heard[1].try_iter().count();
        for bytes in peer.heard[2].try_iter() {
            last.1 = HgLowState::decode(&bytes).unwrap();
            fastest[1] = fastest[1].max(last.1.motor_state[14].dq);
            counts[2] += 1;
        }
        let waist = &last.1.motor_state[14];
        (last.1.tick > 3000 && waist.q > 0.2 && waist.dq.abs() < 1e-3).then_some(())
    });
    let (torso, low) = (&last.0, &last.1);
    let q = low.motor_state[14].q;
    assert!((torso.rpy[1] - q).abs() < 0.01, "pitch {} of the waist {q}", torso.rpy[1]);
    assert!(low.imu_state.rpy[1].abs() < 1e-3, "the pelvis: {:?}", low.imu_state.rpy);
    let expected = [-9.81 * q.sin(), 0.0, 9.81 * q.cos()];
    for (i, f) in expected.into_iter().enumerate() {
        assert!(
            (torso.accelerometer[i] - f).abs() < 0.15,
            "{:?}, {expected:?}",
            torso.accelerometer
        );
    }
    let ratio = fastest[0] / fastest[1];
    assert!(fastest[1] > 0.2 && (0.95..1.05).contains(&ratio), "rad/s: {fastest:?}");
    let [fast, slow, states] = counts.map(|n| n as f64);
    assert!((fast / states - 1.0).abs() < 0.05, "at the rate of lowstate: {counts:?}");
    assert!((10.0 * slow / fast - 1.0).abs() < 0.1, "every tenth: {counts:?}");
}

#[test]
fn a_service_of_ros_2_is_answered_over_dds() {
    let _one = serial();
    let (_scene, _daemon, observer) = begin();
    let reply = ("rr/hardstand/pauseReply", "std_srvs::srv::dds_::SetBool_Response_");
    let peer = Peer::hearing(&[reply]);
    let request = ("rq/hardstand/pauseRequest", "std_srvs::srv::dds_::SetBool_Request_");
    let answer = peer.ask(&peer.writer(request), &[0, 1, 0, 0, 1]);
    assert_eq!(answer[4], 1, "success, then a text: {answer:?}");
    observer.until("it is paused", |s| s.phase == 3);
}

#[test]
fn a_node_joins_by_a_service_over_dds() {
    let _one = serial();
    let (_scene, _daemon, observer) = begin();
    let peer =
        Peer::hearing(&[("rr/hardstand/joinReply", "std_srvs::srv::dds_::SetBool_Response_")]);
    let request = ("rq/hardstand/joinRequest", "std_srvs::srv::dds_::SetBool_Request_");
    let answer = peer.ask(&peer.writer(request), &[0, 1, 0, 0, 1]);
    assert_eq!(answer[4], 1, "success, then a text: {answer:?}");
    let status = observer.status_until("it has joined", |s| !s.controllers.is_empty());
    assert_eq!(status.controllers[0].name, "ros2");
}

#[test]
fn where_another_writer_of_lowstate_is_nothing_is_said_or_obeyed() {
    let _one = serial();
    let robot = Peer::hearing(&[]);
    let _states = robot.writer(LOW_STATE);
    let (_scene, mut daemon, observer) = begin();
    let peer = Peer::hearing(&[LOW_STATE]);
    let (commands, command) = (peer.writer(LOW_CMD), hold(&observer));
    observer.status_until("the guard refuses for longer than it listens", |s| {
        commands.put(&command);
        std::thread::sleep(Duration::from_millis(20));
        s.counter("ros2_rejected_guard") > 200
    });
    assert_eq!(observer.state().command_seq, 0);
    assert!(peer.heard[0].try_recv().is_err());
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ends_with(0);
    let told = "commands are refused (guard): another robot's rt/lowstate is on this domain";
    assert_eq!(daemon.err().matches(told).count(), 1, "{}", daemon.err());
}

/// Ends what `sport` moves: what it has begun is no part of the next run, and a robot that was
/// stopped is not said to stand up.
#[test]
fn a_posture_ends_with_its_run_and_is_refused_after_a_stop() {
    let _one = serial();
    let (scene, _daemon, observer) = begin();
    let sport = Peer::hearing(&[("rt/api/sport/response", RESPONSE)]);
    let writer = sport.writer(("rt/api/sport/request", REQUEST));
    assert_eq!(call(&sport, &writer, 1004).0, 0);
    observer.until("it stands", |s| s.tick > 1000);
    scene.ctl(&["reset"], 0);
    observer.until("the next run", |s| s.run_id == 2);
    std::thread::sleep(Duration::from_secs(1));
    let waits = observer.state();
    assert_eq!((waits.phase, waits.tick), (0, 0), "it waits for a controller: {waits:?}");

    assert_eq!(call(&sport, &writer, 1004).0, 0);
    observer.until("it stands again", |s| s.tick > 100);
    assert_eq!(call_with(&sport, &writer, 1008, r#"{"x":1e9,"y":0,"z":0}"#).0, 3204);
    scene.ctl(&["stop"], 0);
    for (call_id, parameter) in [(1004, "{}"), (1008, r#"{"x":0.1,"y":0,"z":0}"#)] {
        assert_eq!(call_with(&sport, &writer, call_id, parameter).0, 3204, "{call_id}");
    }
    observer.status_until("both are counted", |s| s.counter("ros2_rejected_trajectory") >= 2);
}

/// Commands of a G1 that hold it, in the mode `mode_pr`, with the ankles at `ankle`.
fn humanoid(motors: &HgMotors, observer: &Observer, mode_pr: u8, ankle: f32) -> Vec<u8> {
    let mut m = HgLowCmd { mode_pr, mode_machine: 5, ..Default::default() };
    for (place, (motor, &joint)) in m.motor_cmd.iter_mut().zip(&motors.joints).enumerate() {
        let q = observer.model.joints[joint].q_initial as f32;
        (motor.mode, motor.kp, motor.kd) = (1, 60.0, 1.5);
        motor.q = if motors.kind.parallel.contains(&place) { ankle } else { q };
    }
    let mut bytes = encoded(&m);
    set_crc::<HgLowCmd>(&mut bytes);
    bytes
}

/// What the joints of parallel motors keep are the owner's own set-points.
#[test]
fn a_foreign_message_moves_nothing_in_the_mode_of_the_motors() {
    let _one = serial();
    let (_scene, _daemon, observer) = begin_g1();
    let file = repository("benches/robots/g1_8.toml");
    let motors = HgMotors::of(&Scenario::load(file.as_ref(), &[]).unwrap().model).unwrap();
    let low_cmd = (LOW_CMD.0, "unitree_hg::msg::dds_::LowCmd_");
    let peers = [Peer::hearing(&[]), Peer::hearing(&[])];
    let [owner, foreign] = [&peers[0], &peers[1]].map(|peer| peer.writer(low_cmd));
    let command = |mode_pr, ankle| humanoid(&motors, &observer, mode_pr, ankle);
    let ankle = motors.joints[motors.kind.parallel[0]];

    let first = command(MODE_AB, 0.3);
    observer.status_until("a first command in that mode is refused", |s| {
        foreign.put(&first);
        std::thread::sleep(Duration::from_millis(5));
        s.counter("ros2_rejected_machine") > 3 && s.counter("commands_received") == 0
    });
    let (own, kept) = (command(0, 0.1), command(MODE_AB, 0.3));
    let send_until = |bytes: &[u8], what: &str, shown: &dyn Fn(&StateReading) -> bool| {
        wait_for(what, || {
            owner.put(bytes);
            std::thread::sleep(Duration::from_millis(2));
            Some(observer.state()).filter(shown)
        })
    };
    let near = |s: &StateReading, q: f64| (s.joints[ankle].q - q).abs() < 0.02;
    send_until(&own, "the owner's ankle", &|s| s.tick > 500 && near(s, 0.1));
    let begun = send_until(&kept, "it stays", &|s| s.tick > 800);
    foreign.put(&command(0, 0.3));
    foreign.put(&command(0, f32::NAN));
    let refused = |name: &str| observer.status().counter(name);
    let later = send_until(&kept, "a second later", &|s| s.tick > begun.tick + 1500);
    assert!(near(&later, 0.1), "the ankle is at {}", later.joints[ankle].q);
    assert_eq!(later.command_session, begun.command_session, "the owner has the robot");
    assert_eq!(refused("rejected_not_finite"), 1, "the foreign one alone");
}

/// Ticks do not wait for what cannot say which of them it answers.
#[test]
fn where_ticks_wait_a_command_without_a_stamp_is_refused() {
    let _one = serial();
    let lockstep = ["control.mode=lockstep"];
    let (_scene, mut daemon, observer) = begin_with("config/quadruped.toml", &lockstep);
    let (peer, command) = (Peer::hearing(&[]), hold(&observer));
    let commands = peer.writer(LOW_CMD);
    let status = observer.status_until("it is counted", |s| {
        commands.put(&command);
        std::thread::sleep(Duration::from_millis(20));
        s.counter("ros2_rejected_stamp") > 3
    });
    assert_eq!(status.counter("commands_received"), 0, "{status:#?}");
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ends_with(0);
    assert!(daemon.err().contains("commands are refused (stamp): /lowcmd"), "{}", daemon.err());
    assert!(daemon.out().contains("rt/lowcmd have no stamp and are refused"), "{}", daemon.out());
}

#[test]
fn a_gain_out_of_range_is_told_with_its_joint() {
    let _one = serial();
    let (_scene, mut daemon, observer) = begin();
    let mut message = LowCmd::decode(&hold(&observer)).unwrap();
    message.motor_cmd[1].kp = 20_000.0;
    let mut bytes = encoded(&message);
    set_crc::<LowCmd>(&mut bytes);
    let peer = Peer::hearing(&[]);
    let commands = peer.writer(LOW_CMD);
    observer.status_until("it is counted", |s| {
        commands.put(&bytes);
        std::thread::sleep(Duration::from_millis(20));
        s.counter("rejected_out_of_range") > 3
    });
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ends_with(0);
    let told = "commands are refused (out_of_range): kp of FR_thigh_joint is 20000; kp is at most";
    assert_eq!(daemon.err().matches(told).count(), 1, "{}", daemon.err());
}

/// Ticks that a measurement takes.
const TICKS: u64 = 20_000;

/// The ages of the commands in the states of so many ticks, in ticks: p50, p99, p99.9.
fn ages(observer: &Observer) -> [u32; 3] {
    let begin = observer.until("it obeys", |s| s.authority == 1).tick;
    let (mut last, mut ages) = (begin, Vec::new());
    while last < begin + TICKS {
        let state = observer.until("a later state", |s| s.tick > last);
        last = state.tick;
        ages.push(state.command_age_ticks);
    }
    ages.sort_unstable();
    [500, 990, 999].map(|part| ages[(ages.len() - 1) * part / 1000])
}

#[test]
#[ignore = "a measurement: run it alone, on a quiet machine, in a release build"]
fn latency_of_answers_over_dds_beside_those_of_a_native_controller() {
    let _one = serial();
    let (scene, _daemon, observer) = begin();
    let native = scene.controller("native");
    println!("native: p50, p99, p99.9 {:?} ticks of 1 ms", ages(&observer));
    drop((native, observer, _daemon, scene));

    let (_scene, _daemon, observer) = begin();
    let mut answer = JointState {
        name: observer.model.joints.iter().map(|j| j.name.clone()).collect(),
        position: observer.model.joints.iter().map(|j| j.q_initial).collect(),
        ..Default::default()
    };
    let participant = Participant::open(domain(), "lo").unwrap();
    let topic = ("rt/joint_commands", "sensor_msgs::msg::dds_::JointState_");
    let commands = participant.writer(topic.0, topic.1, Quality::Reliable).unwrap();
    let mut readers = Readers::default();
    let clock = ("rt/clock", "rosgraph_msgs::msg::dds_::Clock_");
    // each answer names the state whose time it has heard
    let take = Box::new(move |m: &hardstand::dds::Received| {
        answer.header.stamp = Clock::decode(&m.bytes).unwrap().clock;
        commands.put(&encoded(&answer));
    });
    participant.read(&mut readers, clock, Quality::Reliable, take).unwrap();
    let _receiving = readers.start(PanicGuard::default()).unwrap();
    println!("DDS: p50, p99, p99.9 {:?} ticks of 1 ms", ages(&observer));
}

/// LN-7: RustDDS's threads run no code of ours, yet a panic of one ends the session, which the
/// daemon then opens again.
#[test]
fn a_panic_of_a_thread_of_rustdds_ends_the_session() {
    let _one = serial();
    let participant = Participant::open(domain(), "lo").unwrap();
    let names: Vec<String> = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("RustDDS"))
        .collect();
    assert!(names.len() >= 2, "the threads are called otherwise: {names:?}");
    let panic_guard = PanicGuard::default();
    let receiving = Readers::default().start(panic_guard.clone()).unwrap();
    let panic_in = |name: &str| {
        let thread = std::thread::Builder::new().name(name.into());
        assert!(thread.spawn(|| panic!("on purpose")).unwrap().join().is_err());
        std::thread::sleep(Duration::from_millis(300));
    };
    panic_in("of a test");
    assert!(!panic_guard.is_over());
    panic_in("RustDDS discovery thread");
    assert!(panic_guard.is_over());
    drop((receiving, participant));
}
