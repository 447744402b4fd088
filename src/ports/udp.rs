//! States and commands as UDP datagrams, with one peer.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::buffer_pool::Waiter;
use crate::fault_point;
use crate::rt::PortState;
use hardstand_error::{Error, ErrorKind, Result, no_thread};

use super::PortEnds;
use super::exchange::Exchange;

/// Longest wait for a datagram; a state may have come meanwhile.
const WAIT: Duration = Duration::from_micros(50);
/// The same without a peer.
const IDLE_WAIT: Duration = Duration::from_millis(5);
/// A peer that has been silent for so long makes room for another one, unless it has reason to be.
const PEER_SILENT: Duration = Duration::from_secs(1);
/// Datagrams that are taken before the next look for a state.
const BURST: usize = 16;

/// Bytes that may wait for the thread at the seat, if the system allows as many.
const SEAT_BYTES: usize = 1 << 20;

/// Two open sockets of one address, before their thread runs.
#[derive(Debug)]
pub struct OpenUdp(Sockets);

/// Two sockets of one address. The kernel gives the peer's datagrams to the seat, which is
/// connected to it, and all others to the door: a flood there fills no queue of the peer.
#[derive(Debug)]
struct Sockets {
    door: UdpSocket,
    seat: UdpSocket,
}

impl Sockets {
    fn open(address: SocketAddr) -> std::io::Result<Self> {
        // alone, so that an address that another program has is refused
        let door = UdpSocket::bind(address)?;
        let address = door.local_addr()?;
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let seat = rustix::net::socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        sockopt::set_socket_reuseaddr(&door, true)?;
        sockopt::set_socket_reuseaddr(&seat, true)?;
        rustix::net::bind(&seat, &address)?;
        // no third socket
        sockopt::set_socket_reuseaddr(&door, false)?;
        sockopt::set_socket_reuseaddr(&seat, false)?;
        sockopt::set_socket_recv_buffer_size(&seat, SEAT_BYTES)?;
        let seat = UdpSocket::from(seat);
        door.set_nonblocking(true)?;
        seat.set_nonblocking(true)?;
        Ok(Self { door, seat })
    }

    /// Connects the seat to another peer.
    fn seat(&self, peer: SocketAddr) {
        // without it the peer's datagrams come through the door, as those of all
        let _connected = self.seat.connect(peer).is_ok();
        // an error of the one before
        let _cleared = self.seat.take_error().is_ok();
    }
}

impl OpenUdp {
    /// Binds the sockets.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if the address is taken.
    pub fn open(address: SocketAddr) -> Result<Self> {
        let failed = |e: std::io::Error| {
            Error::new(ErrorKind::Bus, format!("cannot open UDP port {address}: {e}"))
        };
        Sockets::open(address).map_err(failed).map(Self)
    }

    /// The address, with the port that the system chose if the scenario says 0.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.0.door.local_addr().ok()
    }

    /// Starts the thread; `arrived` wakes it when a state has come, if ticks wait for its commands.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if there is no thread.
    pub fn start(
        self,
        ends: PortEnds,
        state: PortState,
        arrived: Option<Waiter>,
    ) -> Result<JoinHandle<()>> {
        let exchange = Exchange::new("udp", ends, state, arrived.is_some());
        let mut udp = Udp { sockets: self.0, exchange, arrived, peer: None };
        let guard = udp.exchange.ends.guard.clone();
        std::thread::Builder::new()
            .name("udp".into())
            .spawn(move || guard.keep(|| udp.run()))
            .map_err(|e| no_thread("udp", &e))
    }
}

struct Udp {
    sockets: Sockets,
    exchange: Exchange,
    /// Wakes the thread when a state has come.
    arrived: Option<Waiter>,
    /// Who gets the states, and when it was heard last.
    peer: Option<(SocketAddr, Instant)>,
}

impl Udp {
    fn run(&mut self) {
        let mut buffer = [0; 8192];
        while !self.exchange.ends.stop.load(Ordering::Relaxed) {
            fault_point::visit("udp");
            let input = self.wait();
            let news = self.exchange.has_news();
            self.excuse();
            if input {
                self.take_in(&mut buffer);
            }
            if news {
                self.send();
            }
            self.exchange.count();
        }
    }

    /// Waits for what comes next: a state if the last one has its answer, or else a datagram. True
    /// if there may be a datagram.
    fn wait(&self) -> bool {
        let patience = if self.peer.is_some() { WAIT } else { IDLE_WAIT };
        if let Some(arrived) = self.arrived.as_ref().filter(|_| self.exchange.is_answered()) {
            arrived.sleep(patience);
            return true;
        }
        let Ok(timeout) = Timespec::try_from(patience) else { return true };
        let Sockets { door, seat } = &self.sockets;
        let mut waits = [seat, door].map(|socket| PollFd::new(socket, PollFlags::IN));
        poll(&mut waits, Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    /// A peer that has reason to be silent counts as heard.
    fn excuse(&mut self) {
        if self.exchange.may_be_silent()
            && let Some((_, heard)) = &mut self.peer
        {
            *heard = Instant::now();
        }
    }

    fn take_in(&mut self, buffer: &mut [u8]) {
        for _ in 0..BURST {
            match self.sockets.seat.recv_from(buffer) {
                Ok((count, from)) => self.take(&buffer[..count], from),
                Err(e) => {
                    self.note_error(&e);
                    break;
                }
            }
        }
        for _ in 0..BURST {
            let Ok((count, from)) = self.sockets.door.recv_from(buffer) else { break };
            self.take(&buffer[..count], from);
        }
    }

    fn send(&mut self) {
        let Some((peer, _)) = self.peer.filter(|_| !self.exchange.packet.is_empty()) else {
            return;
        };
        // a datagram that does not go out is lost, as on the wire
        if let Err(e) = self.sockets.seat.send_to(&self.exchange.packet, peer) {
            self.note_error(&e);
        }
    }

    /// A peer that has closed its socket makes room at once.
    fn note_error(&mut self, e: &std::io::Error) {
        if e.kind() == std::io::ErrorKind::ConnectionRefused {
            self.peer = None;
        }
    }

    fn take(&mut self, bytes: &[u8], from: SocketAddr) {
        let now = Instant::now();
        let others = |(peer, heard): &(SocketAddr, Instant)| {
            *peer != from && now.duration_since(*heard) < PEER_SILENT
        };
        if self.peer.as_ref().is_some_and(others) {
            self.exchange.count_other();
            return;
        }
        let Some(command) = self.exchange.decode(bytes) else { return };
        let new = self.peer.is_none_or(|(peer, _)| peer != from);
        if new && self.exchange.is_for_this_robot(&command) {
            self.exchange.begin_again();
            self.sockets.seat(from);
        } else if new {
            // counted as what it is, and no peer
            self.exchange.obey(command);
            return;
        }
        self.peer = Some((from, now));
        self.exchange.obey(command);
        if new {
            self.send();
        }
    }
}
