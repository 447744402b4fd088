//! Controllers with packets of fixed offsets, over UDP and shared memory.

use std::fs::{File, OpenOptions};
use std::net::UdpSocket;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use hardstand_port::packet::{PacketCommand, encode_command};
use hardstand_protocol::{JointCommand, ModelReply};

use super::PATIENCE;
use super::mark::marked;
use super::run::Exchange;

/// The peer of the shared memory looks for a state without a pause for so long, then with pauses.
const SPIN: Duration = Duration::from_micros(100);
const LOOK_AGAIN: Duration = Duration::from_micros(20);

/// Packets of commands that answer packets of states.
struct Answers {
    command: PacketCommand,
    hold: Vec<JointCommand>,
    bytes: Vec<u8>,
}

impl Answers {
    fn of(model: &ModelReply) -> Self {
        let command = PacketCommand {
            run_id: model.run_id,
            layout_hash: model.layout_hash,
            sequence: 0,
            tick: 0,
            joints: Vec::new(),
        };
        Self { command, hold: model.hold(), bytes: Vec::new() }
    }

    /// A packet that asks for states.
    fn hello(&mut self) -> &[u8] {
        encode_command(&self.command, &mut self.bytes);
        &self.bytes
    }

    fn answer(&mut self, state: &[u8]) -> &[u8] {
        self.command.tick = u64::from_le_bytes(state[32..40].try_into().unwrap());
        self.command.sequence += 1;
        self.command.joints = marked(&self.hold, self.command.tick);
        encode_command(&self.command, &mut self.bytes);
        &self.bytes
    }
}

pub struct Udp {
    socket: UdpSocket,
    answers: Answers,
    state: Vec<u8>,
}

impl Udp {
    pub fn of(address: &str, model: &ModelReply) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(address).unwrap();
        let mut answers = Answers::of(model);
        socket.send(answers.hello()).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { socket, answers, state: vec![0; 16384] }
    }
}

impl Exchange for Udp {
    fn exchange(&mut self) {
        self.socket.recv(&mut self.state).unwrap();
        self.socket.send(self.answers.answer(&self.state)).unwrap();
    }
}

pub struct Memory {
    file: File,
    /// Offsets of the packets.
    places: [u64; 2],
    state: Vec<u8>,
    answers: Answers,
    seen: u64,
    counter: u64,
}

impl Memory {
    pub fn of(path: &Path, model: &ModelReply) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let [state, size, command] = [1, 2, 3].map(|n| word(&file, n));
        let counter = word(&file, 16);
        let (places, state) = ([state, command], vec![0; size as usize]);
        Self { file, places, state, answers: Answers::of(model), seen: 0, counter }
    }
}

impl Exchange for Memory {
    fn exchange(&mut self) {
        let begin = Instant::now();
        loop {
            let counter = word(&self.file, 8);
            if counter != self.seen && counter.is_multiple_of(2) {
                self.file.read_exact_at(&mut self.state, self.places[0]).unwrap();
                if word(&self.file, 8) == counter {
                    self.seen = counter;
                    break;
                }
            }
            let waited = begin.elapsed();
            assert!(waited < PATIENCE, "no state");
            if waited > SPIN {
                std::thread::sleep(LOOK_AGAIN);
            }
        }
        let packet = self.answers.answer(&self.state);
        let set = |n: u64| self.file.write_all_at(&n.to_le_bytes(), 8 * 16).unwrap();
        set(self.counter + 1);
        self.file.write_all_at(packet, self.places[1]).unwrap();
        self.counter += 2;
        set(self.counter);
    }
}

fn word(file: &File, n: u64) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, 8 * n).unwrap();
    u64::from_le_bytes(bytes)
}
