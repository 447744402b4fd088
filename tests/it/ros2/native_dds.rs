//! `ros2.mode = "dds"`: a participant of the domain drives the robot, without a bridge. Here the peer
//! is RustDDS; `.ci/unitree` lets CycloneDDS and Unitree's C++ library do the same.

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use hardstand::bus::PanicGuard;
use hardstand::dds::{Participant, Quality, Readers, Receiving, Writer};
use hardstand::ros2::messages::{Clock, JointState, Message};
use hardstand::ros2::unitree::{LowState, Request, Response, has_its_crc};
use hardstand_protocol::StateReading;

use super::unitree::hold;
use crate::common::process::{Observer, Process, Scene, serial, wait_for};

const LOW_CMD: (&str, &str) = ("rt/lowcmd", "unitree_go::msg::dds_::LowCmd_");
const LOW_STATE: (&str, &str) = ("rt/lowstate", "unitree_go::msg::dds_::LowState_");
const REQUEST: &str = "unitree_api::msg::dds_::Request_";
const RESPONSE: &str = "unitree_api::msg::dds_::Response_";

/// A domain of this process: its ports are below those that the system gives away.
fn domain() -> u16 {
    (1 + std::process::id() % 99) as u16
}

fn begin() -> (Scene, Process, Observer) {
    let scene = Scene::new();
    let sets = [
        &format!("ros2.domain={}", domain()),
        "ros2.mode=dds",
        "unitree.enabled=true",
        "command.hold_ticks=2000",
    ];
    let more: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let daemon = scene.daemon(&more);
    let observer = Observer::of(&scene);
    (scene, daemon, observer)
}

/// Topics of one peer, and the messages that it hears.
struct Peer {
    participant: Participant,
    _receiving: Receiving,
    heard: Vec<Receiver<Vec<u8>>>,
}

impl Peer {
    fn hearing(topics: &[(&str, &str)]) -> Self {
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

    fn writer(&self, (topic, of): (&str, &str)) -> Writer {
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

fn call(peer: &Peer, writer: &Writer, api_id: i64) -> (i32, String) {
    let mut request = Request { parameter: "{}".into(), ..Default::default() };
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
fn where_another_writer_of_lowstate_is_nothing_is_said_or_obeyed() {
    let _one = serial();
    let robot = Peer::hearing(&[]);
    let _states = robot.writer(LOW_STATE);
    let (_scene, _daemon, observer) = begin();
    let peer = Peer::hearing(&[LOW_STATE]);
    let (commands, command) = (peer.writer(LOW_CMD), hold(&observer));
    observer.status_until("the guard refuses for longer than it listens", |s| {
        commands.put(&command);
        std::thread::sleep(Duration::from_millis(20));
        s.counter("ros2_rejected_guard") > 200
    });
    assert_eq!(observer.state().command_seq, 0);
    assert!(peer.heard[0].try_recv().is_err());
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
