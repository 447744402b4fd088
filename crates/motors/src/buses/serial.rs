//! One master and drives on a half-duplex serial line, RS-485.

use super::network::reading;
use super::random::Random;
use crate::{Drive, JointReading, Packet, SetPoint};

/// Requests that may wait for the line. A master that writes faster loses the newest.
const REQUESTS_MAX: usize = 64;

/// A drive on a serial line.
pub type SerialDrive = Box<dyn Drive<Frame = Packet> + Send>;

/// Bit rate and the time that a drive takes to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialLine {
    /// Bits per second. A byte has ten: start bit, eight, stop bit.
    pub bps: u32,
    /// From the end of a request to the begin of its answer.
    pub answer_ns: u64,
}

impl SerialLine {
    /// Time of `bytes` bytes.
    pub fn bytes_ns(&self, bytes: usize) -> u64 {
        (bytes as u64 * 10_000_000_000).div_ceil(u64::from(self.bps.max(1)))
    }
}

/// Faults of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SerialFaults {
    /// Share of packets in which one bit flips.
    pub flip_share: f64,
    /// Share of packets that are lost.
    pub loss_share: f64,
}

/// Finds packets in a stream of requests, whose format only the drives know.
pub type Split = fn(&mut Vec<u8>) -> Option<Packet>;

/// A serial line. Answers that begin before the line is free collide: none of them arrives.
pub struct SerialNetwork {
    line: SerialLine,
    /// Faults of the line, for packets of both directions.
    pub faults: SerialFaults,
    drives: Vec<SerialDrive>,
    split: Split,
    random: Random,
    request: Vec<u8>,
    requests: Vec<(u64, Packet)>,
    answers: Vec<(u64, Packet)>,
    /// Packets that collided.
    pub collisions: u64,
    /// Requests that were dropped because too many wait for the line.
    pub dropped: u64,
    /// Time in which the line was not idle.
    pub busy_ns: u64,
}

impl SerialNetwork {
    /// A line with drives whose requests `split` finds.
    pub fn new(line: SerialLine, drives: Vec<SerialDrive>, split: Split, seed: u64) -> Self {
        Self {
            line,
            faults: SerialFaults::default(),
            drives,
            split,
            random: Random::new(seed),
            request: Vec::new(),
            requests: Vec::new(),
            answers: Vec::new(),
            collisions: 0,
            dropped: 0,
            busy_ns: 0,
        }
    }

    /// Bytes from the master, which begins to send them at `now_ns` or when it has sent the rest.
    /// True if a request is complete now.
    pub fn send(&mut self, now_ns: u64, bytes: &[u8]) -> bool {
        self.request.extend_from_slice(bytes);
        let mut complete = false;
        while let Some(packet) = (self.split)(&mut self.request) {
            complete = true;
            if self.requests.len() >= REQUESTS_MAX {
                self.dropped += 1;
                continue;
            }
            let begin_ns = now_ns.max(self.requests.last().map_or(0, |(end, _)| *end));
            let end_ns = begin_ns + self.line.bytes_ns(packet.len());
            // the master talks into an answer: neither arrives
            if self.answers.pop_if(|(end, _)| begin_ns < *end).is_some() {
                self.collisions += 2;
                continue;
            }
            self.busy_ns += end_ns - begin_ns;
            self.requests.push((end_ns, packet));
        }
        complete
    }

    /// Delivers requests that have ended until `until_ns` to all drives.
    pub fn advance(&mut self, until_ns: u64, readings: &[JointReading]) {
        let mut answers = Vec::new();
        while self.requests.first().is_some_and(|(end, _)| *end <= until_ns) {
            let (end_ns, packet) = self.requests.remove(0);
            let Some(packet) = self.disturb(packet) else { continue };
            for n in 0..self.drives.len() {
                self.drives[n].on_frame(end_ns, &packet, &reading(readings, n), &mut answers);
            }
            let count = answers.len();
            for answer in answers.drain(..) {
                let end_ns = end_ns + self.line.answer_ns + self.line.bytes_ns(answer.len());
                self.busy_ns += self.line.bytes_ns(answer.len());
                if count > 1 {
                    self.collisions += 1; // two drives with one id
                } else if let Some(answer) = self.disturb(answer) {
                    self.answers.push((end_ns, answer));
                }
            }
        }
    }

    /// The packet as it arrives, or `None` if it is lost.
    fn disturb(&mut self, mut packet: Packet) -> Option<Packet> {
        if self.random.chance(self.faults.loss_share) {
            return None;
        }
        if self.random.chance(self.faults.flip_share) {
            let bit = self.random.below(8 * packet.len() as u64) as usize;
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        Some(packet)
    }

    /// Appends the bytes that have arrived at the master until `now_ns`.
    pub fn receive(&mut self, now_ns: u64, out: &mut Vec<u8>) {
        while self.answers.first().is_some_and(|(end, _)| *end <= now_ns) {
            out.extend(self.answers.remove(0).1);
        }
    }

    /// What drive `n` does from `now_ns` on; `None` if there is no such drive.
    pub fn set_point(&mut self, n: usize, now_ns: u64, now: &JointReading) -> Option<SetPoint> {
        Some(self.drives.get_mut(n)?.set_point(now_ns, now))
    }

    /// Drive `n`, to change its surroundings.
    pub fn drive(&mut self, n: usize) -> Option<&mut SerialDrive> {
        self.drives.get_mut(n)
    }
}

impl std::fmt::Debug for SerialNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SerialNetwork").field("line", &self.line).finish_non_exhaustive()
    }
}
