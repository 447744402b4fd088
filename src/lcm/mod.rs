//! LCM: the daemon in the place of the program that stands between a policy and the drives of a
//! quadruped. `docs/lcm.md` describes channels and messages.
//!
//! One thread. It publishes states to a multicast group of this machine, and answers each state
//! with the set-points that it heard last, as the robot's program does, until they are too old.

mod messages;
mod packet;
mod record;

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketType, sockopt};

use crate::config::LcmSettings;
use crate::fault_point;
use crate::ports::PortEnds;
use crate::rt::PortState;
use hardstand_error::{Error, ErrorKind, Result, no_thread};
use hardstand_protocol::{JointCommand, Phase};

use messages::BadTargets;

/// Longest wait for a datagram; a state may have come meanwhile.
const WAIT: Duration = Duration::from_micros(250);
/// Set-points that were heard longer ago than this are not sent on.
const SILENT: Duration = Duration::from_millis(200);
/// Datagrams that are taken before the next look for a state.
const BURST: usize = 16;
/// Time between two updates of the counters.
const COUNTED_EVERY: Duration = Duration::from_millis(200);

/// An open socket, before its thread runs.
#[derive(Debug)]
pub struct OpenLcm(UdpSocket);

impl OpenLcm {
    /// Opens the socket and joins the group on the loopback interface.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if the kernel refuses it.
    pub fn open(group: SocketAddrV4) -> Result<Self> {
        Self::join(group).map(Self).map_err(|e| {
            Error::new(ErrorKind::Bus, format!("cannot join LCM's group {group} on lo: {e}"))
        })
    }

    fn join(group: SocketAddrV4) -> std::io::Result<UdpSocket> {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
        // every program of LCM on a machine binds the same port
        sockopt::set_socket_reuseaddr(&socket, true)?;
        sockopt::set_socket_reuseport(&socket, true)?;
        // of the group alone: datagrams to other addresses of this machine do not arrive
        rustix::net::bind(&socket, &group)?;
        sockopt::set_ip_multicast_if(&socket, &Ipv4Addr::LOCALHOST)?;
        let socket = UdpSocket::from(socket);
        socket.join_multicast_v4(group.ip(), &Ipv4Addr::LOCALHOST)?;
        socket.set_multicast_ttl_v4(0)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if there is no thread.
    pub fn start(
        self,
        settings: LcmSettings,
        ends: PortEnds,
        state: PortState,
    ) -> Result<JoinHandle<()>> {
        let mut lcm = Lcm {
            socket: self.0,
            settings,
            ends,
            state: Box::new(state),
            heard: None,
            sequence: 0,
            counted: None,
            received: 0,
            other_structure: 0,
            cartesian: 0,
        };
        let guard = lcm.ends.guard.clone();
        std::thread::Builder::new()
            .name("lcm".into())
            .spawn(move || guard.keep(|| lcm.run()))
            .map_err(|e| no_thread("lcm", &e))
    }
}

struct Lcm {
    socket: UdpSocket,
    settings: LcmSettings,
    ends: PortEnds,
    state: Box<PortState>,
    /// The newest set-points, and when they came.
    heard: Option<(Vec<JointCommand>, Instant)>,
    sequence: u32,
    counted: Option<Instant>,
    received: u64,
    other_structure: u64,
    cartesian: u64,
}

impl Lcm {
    fn run(&mut self) {
        let (mut buffer, mut datagram) = ([0; 4096], Vec::new());
        while !self.ends.stop.load(Ordering::Relaxed) {
            fault_point::visit("lcm");
            if self.has_input() {
                for _ in 0..BURST {
                    let Ok((count, _)) = self.socket.recv_from(&mut buffer) else { break };
                    self.take(&buffer[..count]);
                }
            }
            if self.ends.take_newest(&mut self.state, 1) {
                if self.state.state.tick.is_multiple_of(self.settings.every_ticks) {
                    self.publish(&mut datagram);
                }
                self.command();
            }
            self.count();
        }
    }

    fn has_input(&self) -> bool {
        let Ok(timeout) = Timespec::try_from(WAIT) else { return true };
        let mut waits = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut waits, Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    fn take(&mut self, datagram: &[u8]) {
        let types = self.settings.types;
        // the daemon's own messages come back, and other channels are not for it
        let Some((channel, message)) = packet::decode(datagram) else { return };
        if channel != messages::targets_channel(types) {
            return;
        }
        self.received += 1;
        match messages::targets(types, &self.settings.motors, message) {
            Ok(commands) => self.hear(commands),
            Err(BadTargets::Structure) => self.other_structure += 1,
            Err(BadTargets::Cartesian) => self.cartesian += 1,
        }
    }

    /// Takes set-points, unless no drive may be given them: those must not even join, which would
    /// start the simulation.
    fn hear(&mut self, commands: Vec<JointCommand>) {
        // the ingress counts a refusal
        if self.ends.source.check(&commands).is_ok() {
            self.heard = Some((commands, Instant::now()));
        }
    }

    fn publish(&mut self, datagram: &mut Vec<u8>) {
        let LcmSettings { types, ref motors, group, .. } = self.settings;
        for (channel, message) in messages::of_state(types, motors, &self.state.state) {
            packet::encode(self.sequence, channel, &message, datagram);
            self.sequence = self.sequence.wrapping_add(1);
            // a datagram that does not go out is lost, as on the wire
            let _lost = self.socket.send_to(datagram, SocketAddr::V4(group)).is_err();
        }
    }

    /// Answers a state with the set-points that were heard last.
    fn command(&mut self) {
        let state = &self.state.state;
        if state.phase == Phase::Failed.code() || state.phase == Phase::Paused.code() {
            return;
        }
        let Some((commands, at)) = &self.heard else { return };
        if at.elapsed() > SILENT {
            self.heard = None;
            return;
        }
        let source = &mut self.ends.source;
        if (source.holds(&self.state) || source.join(&self.state))
            && let Some(at) = source.owed(&self.state)
        {
            let _counted_by_the_ingress = source.send(at, commands.clone()).is_ok();
        }
    }

    fn count(&mut self) {
        if self.counted.is_some_and(|at| at.elapsed() < COUNTED_EVERY) {
            return;
        }
        self.counted = Some(Instant::now());
        let source = &self.ends.source;
        let counts = [
            ("targets", self.received),
            ("other_structure", self.other_structure),
            ("cartesian", self.cartesian),
            ("commands", source.commands),
            ("joins_refused", source.joins_refused),
        ];
        self.ends.counters.set("lcm", &counts);
    }
}
