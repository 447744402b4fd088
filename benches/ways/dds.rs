//! Participants of DDS: a node of ROS 2, and a program with Unitree's messages. They are RustDDS.

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use hardstand::bus::PanicGuard;
use hardstand::dds::{Participant, Quality, Readers, Receiving, Writer};
use hardstand::ros2::messages::Message;
use hardstand::ros2::unitree::{LowCmd, LowState, set_crc};
use hardstand_protocol::ModelReply;

use super::PATIENCE;
use super::mark::offset_rad;
use super::ros2::Node;
use super::run::{Exchange, unitrees_place};

const JOINT_STATES: (&str, &str) = ("rt/joint_states", "sensor_msgs::msg::dds_::JointState_");
const COMMANDS: (&str, &str) =
    ("rt/dynamic_joint_commands", "control_msgs::msg::dds_::DynamicJointState_");
const LOW_STATE: (&str, &str) = ("rt/lowstate", "unitree_go::msg::dds_::LowState_");
const LOW_CMD: (&str, &str) = ("rt/lowcmd", "unitree_go::msg::dds_::LowCmd_");

/// A domain of this process: its ports are below those that the system gives away.
pub fn domain() -> u16 {
    (1 + std::process::id() % 99) as u16
}

/// One topic in, one out.
struct Peer {
    commands: Writer,
    states: Receiver<Vec<u8>>,
    _receiving: Receiving,
    _participant: Participant,
}

impl Peer {
    fn open(states: (&str, &str), commands: (&str, &str)) -> Self {
        let participant = Participant::open(domain(), "lo").unwrap();
        let (sender, receiver) = sync_channel(64);
        let mut readers = Readers::default();
        let take = Box::new(move |m: &hardstand::dds::Received| {
            _ = sender.try_send(m.bytes.clone());
        });
        participant.read(&mut readers, states, Quality::Reliable, take).unwrap();
        let receiving = readers.start(PanicGuard::default()).unwrap();
        let writer = participant.writer(commands.0, commands.1, Quality::Reliable).unwrap();
        let peer = Self {
            commands: writer,
            states: receiver,
            _receiving: receiving,
            _participant: participant,
        };
        let begin = Instant::now();
        while !peer.commands.is_wanted() {
            assert!(begin.elapsed() < PATIENCE, "{} has no reader", commands.0);
            std::thread::yield_now();
        }
        peer
    }

    /// The newest message.
    fn state(&self) -> Vec<u8> {
        let first = self.states.recv_timeout(PATIENCE).expect("a state");
        self.states.try_iter().last().unwrap_or(first)
    }
}

pub struct Dds {
    peer: Peer,
    node: Node,
    out: Vec<u8>,
}

impl Dds {
    pub fn of(model: &ModelReply) -> Self {
        Self { peer: Peer::open(JOINT_STATES, COMMANDS), node: Node::of(model), out: Vec::new() }
    }
}

impl Exchange for Dds {
    fn exchange(&mut self) {
        self.node.answer(&self.peer.state(), &mut self.out);
        self.peer.commands.put(&self.out);
    }
}

pub struct Unitree {
    peer: Peer,
    message: LowCmd,
    /// Of the first joint of the model, in Unitree's order, and what it holds.
    marked: (usize, f64),
    out: Vec<u8>,
}

impl Unitree {
    pub fn of(model: &ModelReply) -> Self {
        let mut message = LowCmd { head: [0xFE, 0xEF], level_flag: 0xFF, ..Default::default() };
        for (joint, c) in model.joints.iter().zip(model.hold()) {
            let motor = &mut message.motor_cmd[unitrees_place(&joint.name)];
            (motor.mode, motor.q, motor.kp, motor.kd) = (1, c.q as f32, c.kp as f32, c.kd as f32);
        }
        let marked = (unitrees_place(&model.joints[0].name), model.hold()[0].q);
        Self { peer: Peer::open(LOW_STATE, LOW_CMD), message, marked, out: Vec::new() }
    }
}

impl Exchange for Unitree {
    fn exchange(&mut self) {
        // milliseconds, which are ticks here
        let tick = u64::from(LowState::decode(&self.peer.state()).unwrap().tick);
        let (place, hold) = self.marked;
        self.message.motor_cmd[place].q = (hold + offset_rad(tick)) as f32;
        self.message.encode(&mut self.out);
        set_crc::<LowCmd>(&mut self.out);
        self.peer.commands.put(&self.out);
    }
}
