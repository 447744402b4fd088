//! The thread of one bus: bytes of the master in, answers out, set-points to the loop.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::config::MotorBus;
use crate::fault_point;
use crate::ports::PortEnds;
use crate::rt::PortState;
use crate::simulation::InjectedFaults;
use hardstand_motors::JointReading;

use super::clock::BusClock;
use super::load::Load;
use super::mapping;
use super::network::Network;
use super::port::{Input, Port};
use hardstand_protocol::Phase;

/// Longest wait for bytes of the master while frames are on their way.
const BUSY_WAIT: Duration = Duration::from_micros(50);
/// The same when the master has been silent.
const IDLE_WAIT: Duration = Duration::from_micros(250);
/// Frames are on their way so long after the master's last bytes.
const BUSY_FOR: Duration = Duration::from_millis(5);
/// A master whose last frame is older than this does not take joints.
const MASTER_SILENT: Duration = Duration::from_millis(200);
/// Time between two updates of the counters.
const COUNTED_EVERY: Duration = Duration::from_millis(200);

/// One bus.
#[derive(Debug)]
pub(super) struct Bus {
    bus: MotorBus,
    port: Port,
    network: Network,
    ends: PortEnds,
    clock: BusClock,
    state: Box<PortState>,
    readings: Vec<JointReading>,
    faults: InjectedFaults,
    /// The master's last bytes, and its last frame.
    heard: [Option<Instant>; 2],
    counted: Option<Instant>,
    load: Load,
    bytes_lost: u64,
    /// Largest `kp` and `kd` of a joint, and how many commands asked for more.
    gains_max: [f64; 2],
    gains_limited: u64,
}

impl Bus {
    pub(super) fn new(
        bus: MotorBus,
        port: Port,
        ends: PortEnds,
        state: PortState,
        periods_ns: (u64, u64),
        gains_max: [f64; 2],
    ) -> Self {
        let readings = vec![JointReading::default(); bus.drives.len()];
        Self {
            network: Network::of(&bus),
            clock: BusClock::new(periods_ns.0, periods_ns.1),
            bus,
            port,
            ends,
            state: Box::new(state),
            readings,
            faults: InjectedFaults::default(),
            heard: [None; 2],
            counted: None,
            load: Load::default(),
            bytes_lost: 0,
            gains_max,
            gains_limited: 0,
        }
    }

    /// Runs until it is asked to stop.
    pub(super) fn run(&mut self) {
        let (mut buffer, mut out) = ([0; 4096], Vec::new());
        while !self.ends.stop.load(Ordering::Relaxed) {
            fault_point::visit("motor-bus");
            let busy = self.is_within(0, BUSY_FOR);
            let input = self.port.wait(if busy { BUSY_WAIT } else { IDLE_WAIT });
            let now = Instant::now();
            let news = self.ends.take_newest(&mut self.state, 1);
            if news {
                self.clock.note(&self.state.state, now);
                self.take_state();
            }
            let now_ns = self.clock.now(now);
            self.network.advance(now_ns, &self.readings, &mut out);
            if input {
                self.take_input(now, now_ns, &mut buffer, &mut out);
            }
            self.bytes_lost += self.port.write(&out) as u64;
            out.clear();
            if news {
                self.command(now_ns);
            }
            self.count(now, now_ns);
        }
    }

    fn is_within(&self, which: usize, time: Duration) -> bool {
        self.heard[which].is_some_and(|at| at.elapsed() < time)
    }

    fn take_state(&mut self) {
        let joints = &self.state.state.joints;
        for (drive, reading) in self.bus.drives.iter().zip(&mut self.readings) {
            if let Some(joint) = joints.get(drive.joint) {
                *reading = mapping::reading(drive, joint);
            }
        }
        self.network.set_imu(&self.state.state);
        if self.state.faults != self.faults {
            self.faults = self.state.faults;
            self.network.set_faults(&self.bus.drives, &self.faults);
        }
    }

    fn take_input(&mut self, now: Instant, now_ns: u64, buffer: &mut [u8], out: &mut Vec<u8>) {
        match self.port.read(buffer) {
            Input::Connected => self.network.greet(out),
            Input::Bytes(0) => {}
            Input::Bytes(count) => {
                self.heard[0] = Some(now);
                if self.network.feed(now_ns, &buffer[..count], out) {
                    self.heard[1] = Some(now);
                    self.port.note_frame(now);
                }
            }
        }
    }

    /// Answers a new state with what the drives do. The joints are taken when the master first asks
    /// for an effort, so a run that waits for it begins with motors that hold.
    fn command(&mut self, now_ns: u64) {
        let state = &self.state.state;
        if state.phase == Phase::Failed.code() || state.phase == Phase::Paused.code() {
            return;
        }
        // a drive's watchdog and trajectory advance whether its joint obeys it or not
        let readings = self.readings.iter().enumerate();
        let set_points: Vec<_> =
            readings.map(|(n, now)| self.network.set_point(n, now_ns, now)).collect();
        let source = &mut self.ends.source;
        if !source.holds(&self.state) {
            let speaks = self.heard[1].is_some_and(|at| at.elapsed() < MASTER_SILENT);
            let asks = speaks && set_points.iter().any(mapping::asks_for_effort);
            if !asks || !source.join(&self.state) {
                return;
            }
        }
        if let Some(at) = source.owed(&self.state) {
            let of = self.bus.drives.iter().zip(&set_points).zip(&self.readings);
            let mut joints: Vec<_> =
                of.map(|((d, set_point), now)| mapping::command(d, set_point, now)).collect();
            let limit = |joint| mapping::limit_gains(joint, self.gains_max);
            let limited = joints.iter_mut().map(limit).filter(|limited| *limited).count();
            self.gains_limited += u64::from(limited > 0);
            let _counted_by_the_ingress = source.send(at, joints).is_ok();
        }
    }

    fn count(&mut self, now: Instant, now_ns: u64) {
        if self.counted.is_some_and(|at| now.duration_since(at) < COUNTED_EVERY) {
            return;
        }
        self.counted = Some(now);
        let (mut counts, busy_ns) = self.network.counts(self.bus.drives.len());
        counts.extend(self.port.counts());
        let source = &self.ends.source;
        counts.extend([
            ("load_permille", self.load.permille(now_ns, busy_ns)),
            ("bytes_lost", self.bytes_lost),
            ("commands", source.commands),
            ("gains_limited", self.gains_limited),
            ("joins_refused", source.joins_refused),
        ]);
        self.ends.counters.set(&format!("bus_{}", self.bus.name), &counts);
    }
}
