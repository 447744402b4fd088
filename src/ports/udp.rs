//! States and commands as UDP datagrams, with one peer.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::buffer_pool::Waiter;
use crate::fault_point;
use crate::rt::PortState;
use hardstand_error::{Error, ErrorKind, Result};

use super::PortEnds;
use super::exchange::Exchange;

/// Longest wait for a datagram; a state may have come meanwhile.
const WAIT: Duration = Duration::from_micros(50);
/// The same without a peer.
const IDLE_WAIT: Duration = Duration::from_millis(5);
/// A peer that has been silent for so long makes room for another one.
const PEER_SILENT: Duration = Duration::from_secs(1);
/// Datagrams that are taken before the next look for a state.
const BURST: usize = 16;

/// An open socket, before its thread runs.
#[derive(Debug)]
pub struct OpenUdp(UdpSocket);

impl OpenUdp {
    /// Binds the socket.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if the address is taken.
    pub fn open(address: SocketAddr) -> Result<Self> {
        let failed = |e: std::io::Error| {
            Error::new(ErrorKind::Bus, format!("cannot open UDP port {address}: {e}"))
        };
        let socket = UdpSocket::bind(address).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Self(socket))
    }

    /// Starts the thread; `arrived` wakes it when a state has come, if ticks wait for its commands.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if there is no thread.
    pub fn start(
        self,
        ends: PortEnds,
        state: PortState,
        arrived: Option<Waiter>,
    ) -> Result<JoinHandle<()>> {
        let exchange = Exchange::new("udp", ends, state, arrived.is_some());
        let mut udp = Udp { socket: self.0, exchange, arrived, peer: None };
        std::thread::Builder::new()
            .name("udp".into())
            .spawn(move || udp.run())
            .map_err(|e| Error::new(ErrorKind::Internal, format!("thread of UDP: {e}")))
    }
}

struct Udp {
    socket: UdpSocket,
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
            for _ in 0..if input { BURST } else { 0 } {
                let Ok((count, from)) = self.socket.recv_from(&mut buffer) else { break };
                self.take(&buffer[..count], from);
            }
            if let Some((peer, _)) = self.peer.filter(|_| news) {
                // a datagram that does not go out is lost, as on the wire
                let _lost = self.socket.send_to(&self.exchange.packet, peer).is_err();
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
        let mut waits = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut waits, Some(&timeout)).is_ok_and(|ready| ready > 0)
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
        let new = self.peer.is_none_or(|(peer, _)| peer != from);
        if new {
            self.exchange.begin_again();
        }
        if !self.exchange.take(bytes) {
            return;
        }
        self.peer = Some((from, now));
        if new && !self.exchange.packet.is_empty() {
            let _lost = self.socket.send_to(&self.exchange.packet, from).is_err();
        }
    }
}
