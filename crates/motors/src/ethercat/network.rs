//! One master and a chain of slaves: the time of frames, and the faults of the line.

use super::datagram::{Datagram, places};
use super::slave::{HOP_NS, Identity, Slave};
use crate::drives::{Cia402, Cia402Config};
use crate::{JointReading, NodeFaults, Random, SetPoint};
use std::collections::VecDeque;

/// EtherType of EtherCAT.
pub const ETHER_TYPE: u16 = 0x88a4;
/// Slaves that a chain can have.
const SLAVES_MAX: usize = 64;
/// Frames that may be on their way. A master that sends more loses the newest.
const FRAMES_MAX: usize = 64;
/// Bytes of a frame without its checksum, which the interface adds.
const FRAME_BYTES: std::ops::RangeInclusive<usize> = 14..=1514;
/// Preamble, checksum, gap: bytes around a frame. A shorter one is filled.
const AROUND_BYTES: u64 = 8 + 4 + 12;
const FRAME_MIN_BYTES: u64 = 60;
/// A byte at 100 Mbit/s.
const BYTE_NS: u64 = 80;

/// Sums since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EtherCatStatistics {
    /// Frames that came back to the master.
    pub frames: u64,
    /// Frames that came back to it damaged, which it does not take.
    pub errors: u64,
    /// Frames that were lost on their way.
    pub lost: u64,
    /// Frames that were dropped: too many at a time.
    pub dropped: u64,
    /// Frames with wrong lengths or another EtherType.
    pub malformed: u64,
    /// Time in which the master's cable was busy.
    pub busy_ns: u64,
}

/// The chain. Drive `n` is the one that was given as number `n`; its place in the chain follows
/// from its alias.
#[derive(Debug)]
pub struct EtherCatNetwork {
    /// In the order of the chain, with the numbers of their drives.
    slaves: Vec<(usize, Slave)>,
    faults: Vec<NodeFaults>,
    random: Random,
    free_ns: u64,
    /// Frames and when they are back.
    frames: VecDeque<(u64, Vec<u8>)>,
    to_master: Vec<Vec<u8>>,
    statistics: EtherCatStatistics,
}

impl EtherCatNetwork {
    /// A chain in the order of the aliases. Slaves above 64 are left out.
    pub fn new(slaves: &[(Identity, Cia402Config)], seed: u64) -> Self {
        let mut order: Vec<usize> = (0..slaves.len().min(SLAVES_MAX)).collect();
        order.sort_by_key(|n| slaves[*n].0.alias);
        let last = order.last().copied();
        let slave = |n: usize| {
            let (identity, config) = slaves[n];
            (n, Slave::new(identity, config, last == Some(n)))
        };
        Self {
            slaves: order.into_iter().map(slave).collect(),
            faults: vec![NodeFaults::default(); slaves.len()],
            random: Random::new(seed),
            free_ns: 0,
            frames: VecDeque::new(),
            to_master: Vec::new(),
            statistics: EtherCatStatistics::default(),
        }
    }

    /// A frame of the master, from its Ethernet header on, without its checksum. True if it is one
    /// of EtherCAT.
    pub fn send(&mut self, now_ns: u64, frame: &[u8]) -> bool {
        let is_own = frame.get(12..14) == Some(&ETHER_TYPE.to_be_bytes()[..]);
        if !is_own || !FRAME_BYTES.contains(&frame.len()) || places(frame).is_none() {
            self.statistics.malformed += 1;
            return false;
        }
        if self.frames.len() >= FRAMES_MAX {
            self.statistics.dropped += 1;
            return true;
        }
        let wire_ns = (AROUND_BYTES + (frame.len() as u64).max(FRAME_MIN_BYTES)) * BYTE_NS;
        let begin_ns = now_ns.max(self.free_ns);
        self.free_ns = begin_ns + wire_ns;
        self.statistics.busy_ns += wire_ns;
        let way_ns = 2 * HOP_NS * self.slaves.len() as u64;
        self.frames.push_back((self.free_ns + way_ns, frame.to_vec()));
        true
    }

    /// Advances the chain to `until_ns`. `readings[n]` belongs to drive `n`.
    pub fn advance(&mut self, until_ns: u64, readings: &[JointReading]) {
        while self.frames.front().is_some_and(|(back_ns, _)| *back_ns <= until_ns) {
            let Some((back_ns, frame)) = self.frames.pop_front() else { break };
            self.settle(back_ns, readings);
            self.pass(back_ns, frame);
        }
        self.settle(until_ns, readings);
    }

    fn settle(&mut self, now_ns: u64, readings: &[JointReading]) {
        for (n, slave) in &mut self.slaves {
            slave.advance(now_ns, &readings.get(*n).copied().unwrap_or_default());
        }
    }

    /// Sends a frame through the chain. Where it is lost or damaged, it ends for the slaves that
    /// follow: those before have taken it, and the master hears nothing.
    fn pass(&mut self, back_ns: u64, mut frame: Vec<u8>) {
        let Some(places) = places(&frame) else { return };
        let count = self.slaves.len();
        for at in 0..count {
            let NodeFaults { error_share, loss_share } = self.faults[self.slaves[at].0];
            if self.random.chance(loss_share) {
                self.statistics.lost += 1;
                return;
            }
            if self.random.chance(error_share) {
                let rest = self.slaves.iter_mut().skip(at).enumerate();
                rest.for_each(|(n, (_, slave))| slave.count_error(n == 0));
                self.statistics.errors += 1;
                return;
            }
            let left = 2 * (count - at) as u64;
            let slave = &mut self.slaves[at].1;
            for place in &places {
                if let Some(mut datagram) = Datagram::at(&mut frame, *place) {
                    let here_ns = back_ns.saturating_sub(left * HOP_NS);
                    slave.take(here_ns, &mut datagram, (left - 2) * HOP_NS);
                }
            }
        }
        if count > 0 {
            // a slave marks the source address, so that the master tells its frame from the answer
            frame[6] |= 2;
        }
        self.statistics.frames += 1;
        self.to_master.push(frame);
    }

    /// Frames that have come back to the master.
    pub fn received(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.to_master.drain(..)
    }

    fn drive(&mut self, n: usize) -> Option<(&mut Cia402, &mut NodeFaults)> {
        let slave = self.slaves.iter_mut().find(|(drive, _)| *drive == n);
        slave.map(|(_, slave)| &mut slave.drive).zip(self.faults.get_mut(n))
    }

    /// What drive `n` does from `now_ns` on; `None` if there is no such drive.
    pub fn set_point(&mut self, n: usize, now_ns: u64, now: &JointReading) -> Option<SetPoint> {
        self.drive(n).map(|(drive, _)| drive.set_point(now_ns, now))
    }

    /// Adds or removes a fault of the hardware of drive `n`.
    pub fn set_condition(&mut self, n: usize, condition: crate::Condition, present: bool) {
        if let Some((drive, _)) = self.drive(n) {
            drive.set_condition(condition, present);
        }
    }

    /// Sets the faults of the cable that leads to drive `n`: shares of frames that are damaged and
    /// lost on it.
    pub fn set_faults(&mut self, n: usize, faults: NodeFaults) {
        if let Some((_, own)) = self.drive(n) {
            *own = faults;
        }
    }

    /// Slaves that are in the state OP.
    pub fn operational(&self) -> usize {
        self.slaves.iter().filter(|(_, slave)| slave.is_operational()).count()
    }

    /// Sums since the start.
    pub fn statistics(&self) -> EtherCatStatistics {
        self.statistics
    }
}
