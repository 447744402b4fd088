//! A node that answers `joint_states` with `dynamic_joint_commands`, over zenoh as `rmw_zenoh` does.

use hardstand::ros2::messages::{DynamicJointState, InterfaceValue, JointState, Message};
use hardstand_protocol::{JointCommand, ModelReply};
use zenoh::handlers::{RingChannel, RingChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use super::PATIENCE;
use super::mark::marked;
use super::run::Exchange;

/// Answers of a node.
pub struct Node {
    hold: Vec<JointCommand>,
    message: DynamicJointState,
    period_ns: u64,
}

impl Node {
    pub fn of(model: &ModelReply) -> Self {
        let names = ["position", "velocity", "effort", "kp", "kd"].map(String::from);
        let entry = |_| InterfaceValue { interface_names: names.to_vec(), values: vec![0.0; 5] };
        let message = DynamicJointState {
            joint_names: model.joints.iter().map(|j| j.name.clone()).collect(),
            interface_values: model.joints.iter().map(entry).collect(),
            ..Default::default()
        };
        Self { hold: model.hold(), message, period_ns: model.period_ns }
    }

    /// The answer to a message of `joint_states`.
    pub fn answer(&mut self, state: &[u8], out: &mut Vec<u8>) {
        let stamp = JointState::decode(state).unwrap().header.stamp;
        let time_ns = stamp.sec as u64 * 1_000_000_000 + u64::from(stamp.nanosec);
        let joints = marked(&self.hold, time_ns / self.period_ns);
        self.message.header.stamp = stamp;
        for (entry, c) in self.message.interface_values.iter_mut().zip(joints) {
            entry.values.copy_from_slice(&[c.q, c.dq, c.tau_ff, c.kp, c.kd]);
        }
        self.message.encode(out);
    }
}

pub struct RmwZenoh {
    states: Subscriber<RingChannelHandler<Sample>>,
    commands: Publisher<'static>,
    _session: Session,
    node: Node,
    sent: i64,
    out: Vec<u8>,
}

/// `<domain>/<topic>/<type>/<hash>`, as rmw_zenoh names it.
fn key<T: Message>(topic: &str) -> String {
    format!("0/{topic}/{}/{}", T::NAME.replace("/msg/", "::msg::dds_::") + "_", T::HASH)
}

impl RmwZenoh {
    pub fn of(endpoint: &str, model: &ModelReply) -> Self {
        let session = hardstand_client::session::open_client(endpoint).unwrap();
        let states = session
            .declare_subscriber(key::<JointState>("joint_states"))
            .with(RingChannel::new(1))
            .wait()
            .unwrap();
        let commands = session
            .declare_publisher(key::<DynamicJointState>("dynamic_joint_commands"))
            .wait()
            .unwrap();
        let (node, out) = (Node::of(model), Vec::new());
        Self { states, commands, _session: session, node, sent: 0, out }
    }
}

impl Exchange for RmwZenoh {
    fn exchange(&mut self) {
        let state = self.states.recv_timeout(PATIENCE).unwrap().expect("a state");
        self.node.answer(&state.payload().to_bytes(), &mut self.out);
        self.sent += 1;
        // number, time, and the id of the publisher behind its length
        let mut attachment = [7; 33];
        attachment[..8].copy_from_slice(&self.sent.to_le_bytes());
        attachment[16] = 16;
        self.commands.put(&self.out[..]).attachment(&attachment[..]).wait().unwrap();
    }
}
