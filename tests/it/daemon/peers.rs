//! Peers of the UDP port with bad intent: datagrams of others, and of a peer itself, cost the run
//! and the peer nothing.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hardstand_port::packet::{PacketCommand, encode_command};
use hardstand_protocol::{Authority, Event, JointCommand};
use rustix::process::Signal;

use crate::common::process::{Log, Observer, Process, Scene, serial, wait_for};

const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];

pub(super) fn free_udp() -> SocketAddr {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn daemon(scene: &Scene, more: &[&str]) -> (Process, SocketAddr) {
    let address = free_udp();
    let listen = format!("udp.listen={address}");
    let fixed = ["--set", &listen, "--set", "ros2.mode=off"];
    (scene.daemon(&[&fixed[..], more].concat()), address)
}

/// A program that speaks `docs/port.md` over UDP.
struct Peer {
    socket: UdpSocket,
    state: Vec<u8>,
    sequence: u64,
}

impl Peer {
    fn connect(address: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        Self { socket, state: vec![0; 8192], sequence: 0 }
    }

    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.state[at..at + 8].try_into().unwrap())
    }

    fn tick(&self) -> u64 {
        self.word(32)
    }

    /// Receives a state if one comes in time.
    fn hears(&mut self) -> bool {
        self.socket.recv(&mut self.state).is_ok_and(|count| count > 264)
    }

    /// Sends set-points as the answer to a tick.
    fn send(&mut self, tick: u64, joints: &[JointCommand]) {
        self.sequence += 1;
        let command = PacketCommand {
            run_id: u32::from_le_bytes(self.state[12..16].try_into().unwrap()),
            layout_hash: self.word(16),
            sequence: self.sequence,
            tick,
            joints: joints.to_vec(),
        };
        let mut bytes = Vec::new();
        encode_command(&command, &mut bytes);
        // a port that is not open any more answers with an error
        let _sent = self.socket.send(&bytes).is_ok();
    }

    /// Asks for states until one comes.
    fn begin(&mut self) {
        wait_for("a state", || {
            self.send(0, &[]);
            self.hears().then_some(())
        });
    }

    /// Answers states until one of this tick or a later one has come; false if none comes.
    fn stand(&mut self, hold: &[JointCommand], until: u64) -> bool {
        let mut heard = Instant::now();
        while self.tick() < until && heard.elapsed() < Duration::from_secs(20) {
            if self.hears() {
                heard = Instant::now();
                self.send(self.tick(), hold);
            }
        }
        self.tick() >= until
    }

    /// Answers states until this tick's, which it leaves to be answered; false if it never comes.
    fn stands_and_waits(&mut self, hold: &[JointCommand], tick: u64) -> bool {
        let answered = self.stand(hold, tick - 1);
        let since = Instant::now();
        while self.tick() < tick && since.elapsed() < Duration::from_secs(20) {
            self.hears();
        }
        answered && self.tick() == tick
    }
}

/// A peer that answers every state in a thread of its own.
pub(super) struct Answering {
    end: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<u64>,
}

impl Answering {
    pub(super) fn start(address: SocketAddr, hold: Vec<JointCommand>) -> Self {
        let end = Arc::<AtomicBool>::default();
        let seen = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            let mut peer = Peer::connect(address);
            peer.begin();
            while !seen.load(Ordering::Relaxed) {
                let tick = peer.tick();
                peer.stand(&hold, tick + 10);
            }
            peer.sequence
        });
        Self { end, thread }
    }

    /// Ends the thread. How many packets it has sent.
    pub(super) fn finish(self) -> u64 {
        self.end.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// An answer to the last tick that there can be would stand for all others.
#[test]
fn an_answer_to_a_state_that_has_not_been_does_not_silence_the_port() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (mut daemon, address) = daemon(&scene, &LOCKSTEP);
    let observer = Observer::of(&scene);
    let hold = observer.model.hold();
    let mut peer = Peer::connect(address);
    peer.begin();
    for until in [50, 100, 150] {
        let ahead = [u64::MAX, peer.tick() + 1, 1 << 40][(until / 50 - 1) as usize];
        peer.send(ahead, &hold);
        peer.send(peer.tick(), &hold);
        // only what is not answered keeps the daemon from the tick ahead
        assert!(peer.stands_and_waits(&hold, until), "no state after tick {}", peer.tick());
    }
    observer.status_until("they are counted", |s| s.counter("rejected_future_tick") == 3);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

/// Threads that send datagrams as fast as they can.
fn flood(address: SocketAddr, end: &Arc<AtomicBool>) -> std::thread::JoinHandle<u64> {
    let end = Arc::clone(end);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    std::thread::spawn(move || {
        let mut sent = 0;
        while !end.load(Ordering::Relaxed) {
            sent += u64::from(socket.send_to(&[0x48; 400], address).is_ok());
        }
        sent
    })
}

#[test]
fn a_flood_of_strangers_costs_the_peer_one_datagram_in_fifty_at_most() {
    let _one = serial();
    let scene = Scene::in_memory();
    // the flood takes the peer's cores too
    let (mut daemon, address) = daemon(&scene, &["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    let hold = observer.model.hold();
    let mut peer = Peer::connect(address);
    peer.begin();
    assert!(peer.stand(&hold, 500), "it does not stand");
    let missed = |what: &str, sequence: u64| {
        // the counters follow within 0.2 s
        std::thread::sleep(Duration::from_millis(400));
        let status = observer.status();
        println!("{what}: {sequence} sent, {} missed", status.counter("udp_packets_missed"));
        (status.counter("udp_packets_missed"), status.counter("udp_packets_of_others"))
    };
    let (before, sequence) = (missed("before", peer.sequence).0, peer.sequence);
    let end = Arc::<AtomicBool>::default();
    let floods = [flood(address, &end), flood(address, &end)];
    for _ in 0..40 {
        // while the daemon stands still, the strangers fill every queue that they share
        daemon.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(20));
        peer.send(peer.tick(), &hold);
        daemon.signal(Signal::CONT);
        let tick = peer.tick();
        assert!(peer.stand(&hold, tick + 10), "no state after tick {}", peer.tick());
    }
    end.store(true, Ordering::Relaxed);
    let flooded: u64 = floods.into_iter().map(|thread| thread.join().unwrap()).sum();
    peer.stand(&hold, peer.tick() + 100);
    let (after, of_others) = missed("after", peer.sequence);
    let sent = peer.sequence - sequence;
    println!("{} of {sent} missed in a flood of {flooded}, {of_others} seen", after - before);
    assert!(sent > 100 && flooded > 20 * sent, "{sent} in a flood of {flooded}");
    assert!((after - before) * 50 <= sent, "{} of {sent} datagrams were lost", after - before);
    assert!(of_others > 0, "the flood has not been seen");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// In lockstep a peer may be silent for as long as it likes, in a pause or at a breakpoint.
#[test]
fn a_silent_peer_keeps_its_seat_in_lockstep_until_it_closes_its_socket() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (mut daemon, address) = daemon(&scene, &LOCKSTEP);
    let observer = Observer::of(&scene);
    let hold = observer.model.hold();
    let (mut peer, mut stranger) = (Peer::connect(address), Peer::connect(address));
    peer.begin();
    assert!(peer.stand(&hold, 100), "it does not stand");
    let mut intrude = |seconds: u64, what: &str| {
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            stranger.send(0, &[]);
            assert!(!stranger.hears(), "{what}: the stranger has the seat");
        }
    };
    intrude(2, "at a breakpoint");
    assert!(peer.stand(&hold, 200), "no state after a breakpoint");
    scene.ctl(&["pause"], 0);
    intrude(2, "in a pause");
    scene.ctl(&["resume"], 0);
    intrude(1, "after the pause");
    assert!(peer.stand(&hold, 300), "no state after a pause");
    drop(peer);
    stranger.begin();
    assert!(stranger.stand(&hold, 400), "no state for the next peer");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    // the next peer goes on where the first one was
    let log = Log::read(&scene.log());
    assert_eq!(joins_and_leaves(&log), (1, 0));
    let late = log.states.iter().filter(|s| s.tick > 0).find(|s| s.command_age_ticks != 0);
    assert_eq!(late.map(|s| (s.tick, s.command_age_ticks)), None, "a tick without an answer");
    scene.replays();
}

fn joins_and_leaves(log: &Log) -> (usize, usize) {
    let events = || log.ticks.iter().flat_map(|t| &t.events);
    let joins = events().filter(|e| matches!(e, Event::Grant(_))).count();
    (joins, events().filter(|e| matches!(e, Event::Leave { .. })).count())
}

/// In real time nothing of what the one before has commanded acts for the next peer.
#[test]
fn the_next_peer_in_real_time_begins_with_a_lease_of_its_own() {
    let _one = serial();
    let scene = Scene::in_memory();
    // the first lease would still be there
    let (mut daemon, address) = daemon(&scene, &["--set", "command.hold_ticks=5000"]);
    let observer = Observer::of(&scene);
    let hold = observer.model.hold();
    let mut first = Peer::connect(address);
    first.begin();
    assert!(first.stand(&hold, 300), "the first does not stand");
    drop(first);
    let mut next = Peer::connect(address);
    next.begin();
    observer.until("the lease has ended", |s| !Authority::is_command(s.authority));
    let tick = next.tick();
    assert!(next.stand(&hold, tick + 500), "the next does not stand");
    observer.until("the next has the robot", |s| Authority::is_command(s.authority));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    assert_eq!(joins_and_leaves(&Log::read(&scene.log())), (2, 1));
    scene.replays();
}

/// What is no packet takes nothing from a peer, not even when that has been silent for long.
#[test]
fn a_seat_is_taken_by_a_packet_only() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (mut daemon, address) = daemon(&scene, &[]);
    let observer = Observer::of(&scene);
    let hold = observer.model.hold();
    let (mut peer, mut stranger) = (Peer::connect(address), Peer::connect(address));
    peer.begin();
    assert!(peer.stand(&hold, 100), "it does not stand");
    std::thread::sleep(Duration::from_millis(1500));
    stranger.socket.send(b"HSP1 and more").unwrap();
    // a packet for another robot, which is counted as such
    stranger.state[16] = 1;
    stranger.send(0, &hold);
    observer.status_until("both are counted", |s| {
        s.counter("udp_packets_malformed") == 1 && s.counter("rejected_layout") == 1
    });
    // the last packet once more: it is known. On a busy machine `stand` has answered a state twice
    let before = observer.status().counter("udp_packets_repeated");
    peer.sequence -= 1;
    peer.send(peer.tick(), &hold);
    observer.status_until("it is known", |s| s.counter("udp_packets_repeated") == before + 1);
    assert!(!stranger.hears(), "the stranger has the seat");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
