//! A program with walk-these-ways' messages of LCM, written from LCM's documents.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use hardstand_protocol::{JointCommand, ModelReply};
use rustix::net::{AddressFamily, SocketType, sockopt};

use super::PATIENCE;
use super::mark::marked;
use super::run::Exchange;

/// Behind magic, sequence number and channel: a fingerprint of 8 bytes, five arrays of 12 floats, the
/// time, and the tick.
const STATES: &[u8] = b"leg_control_data\0";
const TICK_AT: usize = 8 + STATES.len() + 8 + 5 * 12 * 4 + 8;
const TARGETS: &[u8] = b"pd_plustau_targets\0";

pub struct Lcm {
    socket: UdpSocket,
    group: SocketAddrV4,
    hold: Vec<JointCommand>,
    /// The joint of the model for each motor.
    order: [usize; 12],
    sequence: u32,
    state: Vec<u8>,
}

impl Lcm {
    pub fn of(group: SocketAddrV4, model: &ModelReply) -> Self {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None).unwrap();
        sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        sockopt::set_socket_reuseport(&socket, true).unwrap();
        rustix::net::bind(&socket, &group).unwrap();
        sockopt::set_ip_multicast_if(&socket, &Ipv4Addr::LOCALHOST).unwrap();
        let socket = UdpSocket::from(socket);
        socket.join_multicast_v4(group.ip(), &Ipv4Addr::LOCALHOST).unwrap();
        socket.set_multicast_ttl_v4(0).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut order = [0; 12];
        for (n, joint) in model.joints.iter().enumerate() {
            order[super::run::unitrees_place(&joint.name)] = n;
        }
        Self { socket, group, hold: model.hold(), order, sequence: 0, state: vec![0; 4096] }
    }

    /// The tick of the next message with encoders.
    fn tick(&mut self) -> u64 {
        loop {
            let count = self.socket.recv(&mut self.state).unwrap();
            let datagram = &self.state[..count];
            if datagram.get(8..).is_some_and(|named| named.starts_with(STATES)) {
                return u64::from_be_bytes(datagram[TICK_AT..TICK_AT + 8].try_into().unwrap());
            }
        }
    }
}

impl Exchange for Lcm {
    fn exchange(&mut self) {
        let tick = self.tick();
        let joints = marked(&self.hold, tick);
        self.sequence += 1;
        let mut out = [b"LC02", &self.sequence.to_be_bytes()[..], TARGETS].concat();
        out.extend(fingerprint());
        let fields: [fn(&JointCommand) -> f64; 5] =
            [|c| c.q, |c| c.dq, |c| c.tau_ff, |c| c.kp, |c| c.kd];
        for field in fields {
            self.order.iter().for_each(|&joint| out.extend(field(&joints[joint]).to_be_bytes()));
        }
        out.extend([0; 3 * 8]);
        self.socket.send_to(&out, self.group).unwrap();
    }
}

/// LCM's hash of `pd_tau_targets_lcmt`: names and types of the members.
fn fingerprint() -> [u8; 8] {
    let update = |hash: i64, c: u8| ((hash << 8) ^ (hash >> 55)).wrapping_add(i64::from(c));
    let text = |hash: i64, text: &str| text.bytes().fold(update(hash, text.len() as u8), update);
    let mut hash = 0x1234_5678;
    for name in ["q_des", "qd_des", "tau_ff", "kp", "kd"] {
        // one dimension, whose length is a constant
        hash = update(update(text(text(hash, name), "double"), 1), 0);
        hash = text(hash, "12");
    }
    for name in ["timestamp_us", "id", "robot_id"] {
        hash = update(text(text(hash, name), "int64_t"), 0);
    }
    (hash as u64).rotate_left(1).to_be_bytes()
}
