//! Everything around the loop, moved on while the loop sleeps.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hardstand::config::OverrunPolicy;
use hardstand::daemon::Recording;
use hardstand::ingress::{
    ArrivalCounters, CommandIngress, CommandLimits, FrictionLimits, JoinedSessions, check_friction,
};
use hardstand::limits::CANDIDATES_MAX;
use hardstand::rt::{Clock, Phase, Request, RequestSender, TickReport};
use hardstand_protocol::{FrictionRequest, HEADER_BYTES, Kind, encode};
use hardstand_protocol::{Scope, StateReading, Verdict};

use super::controller::SimController;
use super::disk::SimDisk;
use super::faults::Faults;
use super::pace::PaceCheck;
use crate::common::bench::{Bench, PERIOD_NS};
use crate::common::dice::Dice;

/// When the world begins, ns.
pub const BEGIN_NS: u64 = 1_000_000_000;
/// Time between two rounds of the recorder, ns.
const ROUND_NS: u64 = 5_000_000;
const MAGIC_LATENCY_NS: u64 = 100_000;

/// What happens at a time.
enum Happening {
    Command(Vec<u8>),
    State(usize, Vec<u8>),
    Recorder,
}

pub struct World {
    pub now_ns: u64,
    dice: Dice,
    pub faults: Faults,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    happenings: BTreeMap<u64, Happening>,
    next_happening: u64,
    pub bench: Bench,
    desk: CommandIngress,
    pub arrivals: Arc<ArrivalCounters>,
    orders: RequestSender,
    friction_limits: FrictionLimits,
    controllers: Vec<SimController>,
    pub disk: SimDisk,
    pub recording: Option<Recording>,
    pub last_round_ns: u64,
    bus_dead_until_ns: u64,
    pub pace: PaceCheck,
    pub seen: Seen,
    buffer: Vec<u8>,
}

/// What was seen of the run.
#[derive(Default)]
pub struct Seen {
    pub ticks: u64,
    pub sleeps: u64,
    pub states: u64,
    pub accepted: u64,
    pub proving: u64,
    pub rejected: u64,
    pub friction_sent: u64,
    pub log_dropped: u64,
    pub snapshots_dropped: u64,
    pub last_published_tick: u64,
    pub last_report: Option<TickReport>,
}

impl World {
    pub fn new(bench: Bench, mut parts: Parts) -> Self {
        let scenario = &bench.scenario;
        let joints = scenario.spec.q.joints.clone();
        let simulation = scenario.simulation();
        let (layout_hash, run_id) = (simulation.layout_hash(), 1);
        let limits = CommandLimits {
            layout_hash,
            run_id,
            joints: joints.len(),
            kp_max: scenario.gains_max[0],
            kd_max: scenario.gains_max[1],
        };
        let counts = [scenario.spec.stations.len(), scenario.spec.feet.len(), 0].map(|n| n as u32);
        let arrivals = Arc::<ArrivalCounters>::default();
        let desk = CommandIngress::new(
            bench.commands.clone(),
            limits,
            Arc::clone(&bench.run_id),
            JoinedSessions::default(),
            Arc::clone(&arrivals),
        );
        let controllers = (0..2)
            .map(|i| {
                let session = 1 + parts.dice.roll(u64::MAX / 2);
                SimController::new(joints.clone(), session, i == 0 && parts.faults.stubborn)
            })
            .collect();
        let mut world = Self {
            now_ns: BEGIN_NS,
            dice: parts.dice,
            faults: parts.faults,
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            next_happening: 0,
            bench,
            desk,
            arrivals,
            orders: parts.orders,
            friction_limits: FrictionLimits { layout_hash, counts },
            controllers,
            disk: parts.disk,
            recording: Some(parts.recording),
            last_round_ns: 0,
            bus_dead_until_ns: 0,
            pace: PaceCheck::new(parts.policy),
            seen: Seen::default(),
            buffer: Vec::new(),
        };
        world.at(world.now_ns, Happening::Recorder);
        world
    }

    fn at(&mut self, time_ns: u64, what: Happening) {
        self.queue.push(Reverse((time_ns, self.next_happening)));
        self.happenings.insert(self.next_happening, what);
        self.next_happening += 1;
    }

    fn chance(&mut self, per_mille: u64) -> bool {
        per_mille > 0 && self.dice.roll(1000) < per_mille
    }

    /// Puts a message on the link.
    fn send(&mut self, mut bytes: Vec<u8>, wrap: impl Fn(Vec<u8>) -> Happening) {
        if self.chance(self.faults.lose) {
            return;
        }
        if self.chance(self.faults.damage) {
            let at = self.dice.roll(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << self.dice.roll(8);
            if self.dice.roll(4) == 0 {
                bytes.truncate(at);
            }
        }
        let copies = if self.chance(self.faults.twice) { 2 } else { 1 };
        for _ in 0..copies {
            let mut delay_ns = MAGIC_LATENCY_NS + self.dice.roll(200_000);
            if self.chance(self.faults.late) {
                delay_ns += self.dice.roll(self.faults.late_us_max) * 1000;
            }
            self.at(self.now_ns + delay_ns, wrap(bytes.clone()));
        }
    }

    /// One sleep of the loop.
    fn sleep(&mut self, deadline_ns: u64) {
        self.seen.sleeps += 1;
        self.hear_reports(deadline_ns);
        self.publish();
        self.misfortunes();
        let mut wake_ns = self.now_ns.max(deadline_ns) + self.dice.roll(60_000);
        if self.chance(self.faults.stall) {
            wake_ns += self.dice.roll(self.faults.stall_periods_max * PERIOD_NS);
            self.pace.stalls += 1;
        }
        while let Some(&Reverse((time_ns, number))) = self.queue.peek()
            && time_ns <= wake_ns
        {
            self.queue.pop();
            self.now_ns = self.now_ns.max(time_ns);
            let what = self.happenings.remove(&number).unwrap();
            self.happen(what);
        }
        self.now_ns = wake_ns;
        self.pace.woken_ns = wake_ns;
        // a robot that no controller ever gets hold of
        if self.seen.sleeps > 4000 {
            self.bench.stop.store(true, Ordering::Relaxed);
        }
    }

    fn happen(&mut self, what: Happening) {
        let bus_dead = self.now_ns < self.bus_dead_until_ns;
        match what {
            Happening::Recorder => self.recorder_round(),
            Happening::Command(_) | Happening::State(..) if bus_dead => {}
            Happening::Command(bytes) => _ = self.desk.take_in(&bytes),
            Happening::State(i, bytes) => {
                if self.now_ns < self.controllers[i].silent_until_ns {
                    return;
                }
                let session = 1 + self.dice.roll(u64::MAX / 2);
                if let Some(command) = self.controllers[i].answer(&bytes, session) {
                    self.send(command, Happening::Command);
                }
            }
        }
    }

    fn recorder_round(&mut self) {
        let busy = self.disk.state().busy_until_ns;
        if busy > self.now_ns {
            self.at(busy, Happening::Recorder);
            return;
        }
        self.disk.state().now_ns = self.now_ns;
        if let Some(recording) = &mut self.recording {
            recording.round(self.now_ns);
        }
        self.last_round_ns = self.now_ns;
        self.at(self.now_ns + ROUND_NS, Happening::Recorder);
    }

    /// The publisher: every snapshot to both controllers.
    fn publish(&mut self) {
        if self.now_ns < self.bus_dead_until_ns {
            return;
        }
        while let Some(snapshot) = self.bench.snapshots.take() {
            check_state(&snapshot.state, self.seen.last_published_tick);
            self.seen.last_published_tick = snapshot.state.tick;
            self.seen.states += 1;
            encode(Kind::State, &snapshot.state, &mut self.buffer).unwrap();
            self.bench.snapshots.give_back(snapshot);
            for i in 0..self.controllers.len() {
                self.send(self.buffer.clone(), |bytes| Happening::State(i, bytes));
            }
        }
    }

    fn misfortunes(&mut self) {
        let i = self.dice.roll(2) as usize;
        if self.chance(self.faults.crash) {
            let session = 1 + self.dice.roll(u64::MAX / 2);
            self.controllers[i].restart(session);
            self.controllers[i].silent_until_ns = self.now_ns + self.dice.roll(300_000_000);
        }
        if self.chance(self.faults.freeze) {
            self.controllers[i].silent_until_ns = self.now_ns + self.dice.roll(100_000_000);
        }
        if self.chance(self.faults.bus_death) {
            self.bus_dead_until_ns = self.now_ns + 20_000_000 + self.dice.roll(50_000_000);
        }
        if self.chance(self.faults.stranger) {
            let length = self.dice.roll(700);
            let bytes = (0..length).map(|_| self.dice.roll(256) as u8).collect();
            self.at(self.now_ns + MAGIC_LATENCY_NS, Happening::Command(bytes));
        }
        if self.chance(self.faults.friction) {
            self.change_friction();
        }
        while self.orders.answer().is_some() {}
    }

    fn change_friction(&mut self) {
        let mu = self.dice.roll(1000) as f64 / 1000.0;
        let scope = [Scope::All, Scope::Foot(self.dice.roll(4) as u32)][self.dice.roll(2) as usize];
        let layout_hash = self.friction_limits.layout_hash;
        let request = FrictionRequest::new(layout_hash, scope, mu, mu * 0.9);
        let mut bytes = Vec::new();
        encode(Kind::Friction, &request, &mut bytes).unwrap();
        let event = check_friction(&bytes[HEADER_BYTES..], &self.friction_limits).unwrap();
        self.seen.friction_sent += u64::from(self.orders.send(Request::Event(event)).is_ok());
    }

    /// The tick after which the loop did not sleep any more.
    pub fn hear_the_last(&mut self) {
        self.take_reports();
        self.publish();
    }

    fn hear_reports(&mut self, deadline_ns: u64) {
        let (begun, heard) = self.take_reports();
        let Some(told) = self.seen.last_report.filter(|r| r.phase != Phase::Waiting) else {
            assert_eq!(heard, 1, "a sleep after every look for a controller");
            return;
        };
        // the first tick follows the proof of life at once
        let extra = if begun { heard - 1 } else { 0 };
        assert!(extra <= 1, "{heard} reports before the first sleep");
        self.pace.check(deadline_ns, self.now_ns, begun, heard - extra, &told);
    }

    /// True if the first tick was among them, and how many there were.
    fn take_reports(&mut self) -> (bool, u64) {
        let (mut begun, mut heard) = (false, 0);
        for report in self.bench.reports.try_iter() {
            for verdict in &report.verdicts[..report.candidates.min(CANDIDATES_MAX)] {
                match verdict {
                    Verdict::Accepted => self.seen.accepted += 1,
                    Verdict::Proving => self.seen.proving += 1,
                    Verdict::Rejected(_) => self.seen.rejected += 1,
                }
            }
            if report.phase != Phase::Waiting {
                begun |= report.tick == 1;
                assert_eq!(report.tick, self.seen.ticks + 1, "reports are those of every tick");
                self.seen.ticks = report.tick;
            }
            self.seen.log_dropped = report.log_dropped;
            self.seen.snapshots_dropped = report.snapshots_dropped;
            self.seen.last_report = Some(report);
            heard += 1;
        }
        (begun, heard)
    }
}

/// What the world around the loop is made of.
pub struct Parts {
    pub dice: Dice,
    pub faults: Faults,
    pub policy: OverrunPolicy,
    pub orders: RequestSender,
    pub disk: SimDisk,
    pub recording: Recording,
}

/// The loop's view of the world.
pub struct SimClock<'a>(pub &'a RefCell<World>);

impl Clock for SimClock<'_> {
    fn now_ns(&self) -> u64 {
        let mut world = self.0.borrow_mut();
        world.now_ns += 400;
        world.now_ns
    }

    fn sleep_until(&self, deadline_ns: u64) {
        self.0.borrow_mut().sleep(deadline_ns);
    }
}

/// What must hold of every state that is published.
fn check_state(s: &StateReading, last_tick: u64) {
    assert!(s.tick >= last_tick, "tick {} after {last_tick}", s.tick);
    assert_eq!(s.time_ns, s.tick * PERIOD_NS);
    let joints = s.joints.iter().flat_map(|j| [j.q, j.dq, j.tau]);
    let fixed = [
        &s.imu_quat_wxyz[..],
        &s.imu_angular_velocity_rad_per_s,
        &s.imu_specific_force_m_per_s2,
        &s.truth_base_position_m,
        &s.truth_base_quat_wxyz,
        &s.truth_base_velocity_m_per_s,
        &s.truth_base_angular_velocity_rad_per_s,
        &s.foot_normal_n,
    ];
    let finite = joints.chain(fixed.into_iter().flatten().copied()).all(f64::is_finite);
    assert!(finite, "tick {}: a number that is not finite: {s:?}", s.tick);
}
