//! One master and drives on a CAN bus.

use super::bit_time::BitRates;
use super::can_bus::{BusStatistics, CanBus, NODES_MAX, NodeFaults};
use super::error_counters::ErrorState;
use crate::{CanFrame, Drive, JointReading, SetPoint};

/// A drive on a CAN bus.
pub type CanDrive = Box<dyn Drive<Frame = CanFrame> + Send>;

/// The master's adapter is node 0, drive `n` is node `n + 1`.
pub struct CanNetwork {
    bus: CanBus,
    drives: Vec<CanDrive>,
    answer_ns: u64,
    now_ns: u64,
    to_master: Vec<(u64, CanFrame)>,
    frames: Vec<CanFrame>,
}

impl CanNetwork {
    /// Drives answer `answer_ns` after the end of a frame. Drives above 127 are left out.
    pub fn new(rates: BitRates, mut drives: Vec<CanDrive>, answer_ns: u64, seed: u64) -> Self {
        drives.truncate(NODES_MAX - 1);
        let bus = CanBus::new(rates, drives.len() + 1, seed);
        Self { bus, drives, answer_ns, now_ns: 0, to_master: Vec::new(), frames: Vec::new() }
    }

    /// A frame from the master.
    pub fn send(&mut self, now_ns: u64, frame: CanFrame) {
        // in what is already simulated, nothing can begin
        let ready_ns = now_ns.max(self.now_ns);
        // ends bus-off whose time is over; what comes before is counted as dropped
        self.bus.state(0, ready_ns);
        self.bus.queue(0, ready_ns, frame);
    }

    /// Advances the bus to `until_ns`. `readings[n]` belongs to drive `n`; a drive without one
    /// reads zeros.
    pub fn advance(&mut self, until_ns: u64, readings: &[JointReading]) {
        loop {
            let due = self.drives.iter().filter_map(|drive| drive.next_time_ns()).min();
            let due_ns = due.filter(|due| *due <= until_ns);
            self.deliver(due_ns.unwrap_or(until_ns), readings);
            let Some(due_ns) = due_ns else { break };
            for n in 0..self.drives.len() {
                if self.drives[n].next_time_ns().is_some_and(|next| next <= due_ns) {
                    self.drives[n].on_time(due_ns, &reading(readings, n), &mut self.frames);
                    self.queue_frames(n, due_ns);
                }
            }
        }
        self.now_ns = self.now_ns.max(until_ns);
    }

    fn deliver(&mut self, until_ns: u64, readings: &[JointReading]) {
        while let Some(delivery) = self.bus.next(until_ns) {
            let has = |node: usize| delivery.receivers >> node & 1 != 0;
            if has(0) {
                self.to_master.push((delivery.end_ns, delivery.frame));
            }
            for n in (0..self.drives.len()).filter(|n| has(n + 1)) {
                let (frame, reading) = (&delivery.frame, reading(readings, n));
                self.drives[n].on_frame(delivery.end_ns, frame, &reading, &mut self.frames);
                self.queue_frames(n, delivery.end_ns + self.answer_ns);
            }
        }
    }

    fn queue_frames(&mut self, drive: usize, ready_ns: u64) {
        self.bus.state(drive + 1, ready_ns);
        for frame in self.frames.drain(..) {
            self.bus.queue(drive + 1, ready_ns, frame);
        }
    }

    /// Frames that have arrived at the master, with their times.
    pub fn received(&mut self) -> impl Iterator<Item = (u64, CanFrame)> {
        self.to_master.drain(..)
    }

    /// What drive `n` does from `now_ns` on; `None` if there is no such drive.
    pub fn set_point(&mut self, n: usize, now_ns: u64, now: &JointReading) -> Option<SetPoint> {
        Some(self.drives.get_mut(n)?.set_point(now_ns, now))
    }

    /// Drive `n`, to change its surroundings.
    pub fn drive(&mut self, n: usize) -> Option<&mut CanDrive> {
        self.drives.get_mut(n)
    }

    /// Sets the faults of a connection: 0 is the master, `n + 1` is drive `n`.
    pub fn set_faults(&mut self, node: usize, faults: NodeFaults) {
        self.bus.set_faults(node, faults);
    }

    /// State of a node's error counters: 0 is the master, `n + 1` is drive `n`.
    pub fn state(&mut self, node: usize) -> ErrorState {
        self.bus.state(node, self.now_ns)
    }

    /// Sums since the start. The load in percent between two calls is
    /// `100 * (difference of busy_ns) / (time between)`.
    pub fn statistics(&self) -> BusStatistics {
        self.bus.statistics()
    }
}

impl std::fmt::Debug for CanNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CanNetwork").field("bus", &self.bus).finish_non_exhaustive()
    }
}

pub(super) fn reading(readings: &[JointReading], n: usize) -> JointReading {
    readings.get(n).copied().unwrap_or_default()
}
