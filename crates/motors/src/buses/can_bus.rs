//! One CAN bus: nodes with queues, arbitration, transmission times, errors, bus-off.

use super::bit_time::{BitRates, exact};
use super::error_counters::{ErrorCounters, ErrorState};
use super::random::Random;
use crate::CanFrame;
use std::collections::VecDeque;

/// Nodes that a bus can have.
pub const NODES_MAX: usize = 128;
/// Frames that wait in a node.
const QUEUE_MAX: usize = 64;
/// Error flag with its echoes, delimiter, intermission: the longest error frame.
const ERROR_BITS: u32 = 12 + 8 + 3;
/// Pause of an error-passive node after its own frame.
const SUSPEND_BITS: u32 = 8;
/// A node returns from bus-off after 128 times 11 recessive bits.
const RECOVERY_BITS: u32 = 128 * 11;

/// Faults of one node's connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeFaults {
    /// Share of the node's transmissions that an error destroys: CRC, stuff or form error. The
    /// node repeats them.
    pub error_share: f64,
    /// Share of the frames for this node that its controller loses after they were acknowledged,
    /// as when its receive buffer overflows. No node repeats them.
    pub loss_share: f64,
}

/// Sums since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusStatistics {
    /// Frames that have arrived.
    pub frames: u64,
    /// Frames that an error destroyed.
    pub errors: u64,
    /// Frames that no node acknowledged.
    pub unacknowledged: u64,
    /// Deliveries that a receiver lost.
    pub lost: u64,
    /// Frames that a node dropped: queue full, or bus-off.
    pub dropped: u64,
    /// How often a node went bus-off.
    pub bus_off: u64,
    /// Time in which the bus was not idle.
    pub busy_ns: u64,
}

#[derive(Debug, Default)]
struct Node {
    queue: VecDeque<(u64, CanFrame)>,
    faults: NodeFaults,
    counters: ErrorCounters,
    silent_until_ns: u64,
}

#[derive(Debug)]
struct Transmission {
    node: usize,
    end_ns: u64,
    outcome: Outcome,
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Arrived,
    Error,
    Unacknowledged,
}

/// A frame at the end of its transmission.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// When its last bit has passed.
    pub end_ns: u64,
    /// The node that sent it.
    pub from: usize,
    /// The frame.
    pub frame: CanFrame,
    /// Bit `n` is set if node `n` has it: not the sender, not bus-off, not lost.
    pub receivers: u128,
}

/// The bus. Nodes are numbered from 0.
#[derive(Debug)]
pub struct CanBus {
    rates: BitRates,
    nodes: Vec<Node>,
    idle_ns: u64,
    current: Option<Transmission>,
    random: Random,
    statistics: BusStatistics,
}

impl CanBus {
    /// An idle bus with `nodes` nodes, at most [`NODES_MAX`].
    pub fn new(rates: BitRates, nodes: usize, seed: u64) -> Self {
        let nodes = (0..nodes.min(NODES_MAX)).map(|_| Node::default()).collect();
        let random = Random::new(seed);
        let statistics = BusStatistics::default();
        Self { rates, nodes, idle_ns: 0, current: None, random, statistics }
    }

    /// Sets the faults of a node's connection.
    pub fn set_faults(&mut self, node: usize, faults: NodeFaults) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.faults = faults;
        }
    }

    /// Error counters of a node.
    pub fn counters(&self, node: usize) -> ErrorCounters {
        self.nodes.get(node).map_or(ErrorCounters::default(), |node| node.counters)
    }

    /// Sums since the start.
    pub fn statistics(&self) -> BusStatistics {
        self.statistics
    }

    /// Bit rates.
    pub fn rates(&self) -> BitRates {
        self.rates
    }

    /// Puts a frame into a node's queue, from where it takes part in arbitration from `ready_ns`.
    /// False if the queue is full or the node is bus-off: the frame is dropped.
    pub fn queue(&mut self, node: usize, ready_ns: u64, frame: CanFrame) -> bool {
        let Some(node) = self.nodes.get_mut(node) else { return false };
        let full = node.queue.len() >= QUEUE_MAX;
        let accepted = !full && node.counters.state() != ErrorState::BusOff;
        if accepted {
            node.queue.push_back((ready_ns, frame));
        } else {
            self.statistics.dropped += 1;
        }
        accepted
    }

    /// The next frame that arrives until `until_ns`, or `None`. Call it until `None`; frames that
    /// follow from a delivery can be queued in between.
    pub fn next(&mut self, until_ns: u64) -> Option<Delivery> {
        loop {
            if self.current.is_none() {
                self.current = self.start(until_ns);
            }
            let end_ns = self.current.as_ref()?.end_ns;
            if end_ns > until_ns {
                return None;
            }
            if let Some(delivery) = self.current.take().and_then(|done| self.finish(&done)) {
                return Some(delivery);
            }
        }
    }

    /// The first transmission that begins until `until_ns`.
    fn start(&mut self, until_ns: u64) -> Option<Transmission> {
        let idle_ns = self.idle_ns;
        let ready = |node: &Node| {
            let (ready_ns, frame) = node.queue.front()?;
            Some(((*ready_ns).max(node.silent_until_ns).max(idle_ns), *frame))
        };
        let begin_ns = self.nodes.iter().filter_map(ready).map(|(ns, _)| ns).min()?;
        if begin_ns > until_ns {
            return None;
        }
        let contenders = self.nodes.iter().enumerate().filter_map(|(n, node)| {
            let (ready_ns, frame) = ready(node)?;
            (ready_ns == begin_ns).then_some((frame.arbitration_key(), n, frame))
        });
        let (_, node, frame) = contenders.min_by_key(|(key, n, _)| (*key, *n))?;
        for (n, other) in self.nodes.iter_mut().enumerate() {
            if n != node && other.counters.state() == ErrorState::BusOff {
                other.recover(begin_ns);
            }
        }
        let full_ns = self.rates.frame_ns(exact(&frame), &frame);
        let heard = self
            .nodes
            .iter()
            .enumerate()
            .any(|(n, other)| n != node && other.counters.state() != ErrorState::BusOff);
        let (outcome, busy_ns) = if self.random.chance(self.nodes[node].faults.error_share) {
            let seen = self.random.below(full_ns);
            (Outcome::Error, seen + self.rates.nominal_ns(ERROR_BITS))
        } else if heard {
            (Outcome::Arrived, full_ns)
        } else {
            (Outcome::Unacknowledged, full_ns + self.rates.nominal_ns(ERROR_BITS))
        };
        let end_ns = begin_ns + busy_ns;
        self.statistics.busy_ns += busy_ns;
        self.idle_ns = end_ns;
        Some(Transmission { node, end_ns, outcome })
    }

    fn finish(&mut self, done: &Transmission) -> Option<Delivery> {
        let end_ns = done.end_ns;
        let sender = &mut self.nodes[done.node];
        match done.outcome {
            Outcome::Arrived => sender.counters.transmitted(),
            Outcome::Error => {
                self.statistics.errors += 1;
                sender.counters.transmit_error();
            }
            Outcome::Unacknowledged => {
                self.statistics.unacknowledged += 1;
                sender.counters.acknowledge_error();
            }
        }
        match sender.counters.state() {
            ErrorState::Active => {}
            ErrorState::Passive => {
                sender.silent_until_ns = end_ns + self.rates.nominal_ns(SUSPEND_BITS);
            }
            ErrorState::BusOff => {
                self.statistics.bus_off += 1;
                self.statistics.dropped += sender.queue.len() as u64;
                sender.queue.clear();
                sender.silent_until_ns = end_ns + self.rates.nominal_ns(RECOVERY_BITS);
            }
        }
        let arrived = done.outcome == Outcome::Arrived;
        let frame = if arrived { sender.queue.pop_front().map(|(_, frame)| frame) } else { None };
        let mut receivers = 0;
        for (n, node) in self.nodes.iter_mut().enumerate() {
            if n == done.node || node.counters.state() == ErrorState::BusOff {
                continue;
            }
            match done.outcome {
                Outcome::Arrived => node.counters.received(),
                Outcome::Error => node.counters.receive_error(),
                Outcome::Unacknowledged => {}
            }
            if arrived && self.random.chance(node.faults.loss_share) {
                self.statistics.lost += 1;
            } else if arrived {
                receivers |= 1 << n;
            }
        }
        let frame = frame?;
        self.statistics.frames += 1;
        Some(Delivery { end_ns, from: done.node, frame, receivers })
    }

    /// The state of a node at `now_ns`; ends bus-off whose time is over.
    pub fn state(&mut self, node: usize, now_ns: u64) -> ErrorState {
        let Some(node) = self.nodes.get_mut(node) else { return ErrorState::BusOff };
        node.recover(now_ns);
        node.counters.state()
    }
}

impl Node {
    fn recover(&mut self, now_ns: u64) {
        if self.counters.state() == ErrorState::BusOff && now_ns >= self.silent_until_ns {
            self.counters = ErrorCounters::default();
        }
    }
}
