//! Everything around the loop, moved on while the loop sleeps.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hardstand::buffer_pool::Outbox;
use hardstand::config::OverrunPolicy;
use hardstand::daemon::Recording;
use hardstand::desk::Reply;
use hardstand::ingress::{ArrivalCounters, CommandIngress, CommandLimits};
use hardstand::limits::CANDIDATES_MAX;
use hardstand::rt::{Clock, RequestSender, TickReport};
use hardstand_protocol::{
    Keys, Kind, LogTick, Phase, SavedState, StateReading, Verdict, controller_number, encode,
    is_exact, public_session,
};

use super::controller::SimController;
use super::disk::SimDisk;
use super::faults::{Company, Faults};
use super::joiner::SimJoiner;
use super::misfortunes::joiners;
use super::pace::PaceCheck;
use super::sim_bus::SimBus;
use super::tick_watch::TickWatch;
use crate::common::bench::{Bench, PERIOD_NS};
use crate::common::dice::Dice;

/// When the world begins, ns.
pub const BEGIN_NS: u64 = 1_000_000_000;
/// Time between two rounds of the recorder, ns.
const ROUND_NS: u64 = 5_000_000;
pub const MAGIC_LATENCY_NS: u64 = 100_000;

/// The loop is stopped after so many sleeps: of a robot that no controller ever gets hold of, and
/// of one that is paused.
const SLEEPS_MAX: [u64; 2] = [4000, 9000];

/// What happens at a time.
pub enum Happening {
    /// A command arrives, put under a key or a pattern of keys.
    Command(&'static str, Vec<u8>),
    /// A state arrives at a controller, or, from here on, at one that joins.
    State(usize, Vec<u8>),
    /// An order arrives under a key.
    Query(String, u64),
    Reply(u64, Reply),
    AskAgain(u64),
    /// The connection with this public number is announced, or has gone.
    Connection(u64, bool),
    Recorder,
}

pub struct World {
    pub now_ns: u64,
    pub(super) dice: Dice,
    pub faults: Faults,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    pub(super) happenings: BTreeMap<u64, Happening>,
    next_happening: u64,
    pub bench: Bench,
    pub(super) desk: CommandIngress,
    pub arrivals: Arc<ArrivalCounters>,
    pub bus: SimBus,
    pub(super) keys: Keys,
    pub(super) layout_hash: u64,
    /// Initial positions of the joints.
    pub(super) q: Vec<f64>,
    pub(super) controllers: Vec<SimController>,
    pub(super) joiners: Vec<SimJoiner>,
    /// What an operator has saved.
    pub(super) saved: Option<SavedState>,
    pub(super) marks: u64,
    pub disk: SimDisk,
    pub recording: Option<Recording>,
    to_recorder: Outbox<LogTick>,
    pub watch: TickWatch,
    pub last_round_ns: u64,
    pub(super) publisher_silent_until_ns: u64,
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
    pub ticks_run: u64,
    pub outdated: u64,
    pub last_state: LastState,
    pub last_report: Option<TickReport>,
    /// Commands of the owner: session, the state that they answer, and when they arrived, ticks.
    pub of_owner: Vec<(u64, u64, u64)>,
}

/// What everybody knows of the newest state.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastState {
    pub run_id: u32,
    pub tick: u64,
    pub time_ns: u64,
    pub phase: u8,
    pub stopped: bool,
    pub command_session: u64,
    /// An operator has made the daemon crawl.
    pub slow: bool,
}

impl World {
    pub fn new(bench: Bench, mut parts: Parts) -> Self {
        let scenario = &bench.scenario;
        let joints = scenario.spec.q.joints.clone();
        let simulation = scenario.simulation();
        let layout_hash = simulation.layout_hash();
        let limits = CommandLimits {
            layout_hash,
            run_id: 1,
            joints: joints.len(),
            kp_max: scenario.gains_max[0],
            kd_max: scenario.gains_max[1],
        };
        let time_ns = Arc::new(AtomicU64::new(BEGIN_NS));
        let bus = SimBus::new(&bench, parts.orders, time_ns);
        let arrivals = Arc::<ArrivalCounters>::default();
        let desk = CommandIngress::new(
            bench.commands.clone(),
            limits,
            Arc::clone(&bench.run_id),
            bus.joined.clone(),
            Arc::clone(&arrivals),
        );
        let names = simulation.model().joints.iter().map(|j| j.name.clone());
        let named: Vec<_> = names.zip(joints.iter().copied()).collect();
        let joiners = joiners(&mut parts.dice, &parts.faults, &named);
        let mut watch = TickWatch::new(scenario.watchdog.hold_ticks);
        watch.own_sessions.extend(joiners.iter().map(|j| controller_number(&j.name)));
        let keys = Keys::of(&scenario.bus.robot);
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
            bus,
            keys,
            layout_hash,
            q: joints,
            controllers: Vec::new(),
            joiners,
            saved: None,
            marks: 0,
            disk: parts.disk,
            recording: Some(parts.recording),
            to_recorder: parts.to_recorder,
            watch,
            last_round_ns: 0,
            publisher_silent_until_ns: 0,
            pace: PaceCheck::new(parts.policy),
            seen: Seen::default(),
            buffer: Vec::new(),
        };
        world.seen.last_state.run_id = 1;
        world.begin();
        world
    }

    /// Starts the controllers and the recorder.
    fn begin(&mut self) {
        for i in 0..self.faults.controllers {
            let session = self.fresh_session();
            let stubborn = i == 0 && self.faults.stubborn;
            self.controllers.push(SimController::new(self.q.clone(), session, stubborn));
        }
        for i in 0..self.joiners.len() {
            self.restart_joiner(i, 0);
        }
        self.at(self.now_ns, Happening::Recorder);
    }

    /// A secret number that no other session has.
    pub(super) fn fresh_session(&mut self) -> u64 {
        let session = 1 + self.dice.roll(u64::MAX / 2);
        self.watch.own_sessions.insert(public_session(session));
        session
    }

    pub(super) fn at(&mut self, time_ns: u64, what: Happening) {
        self.queue.push(Reverse((time_ns, self.next_happening)));
        self.happenings.insert(self.next_happening, what);
        self.next_happening += 1;
    }

    pub(super) fn chance(&mut self, per_mille: u64) -> bool {
        per_mille > 0 && self.dice.roll(1000) < per_mille
    }

    /// Puts a message on the link. One without bytes cannot be damaged.
    pub(super) fn send(&mut self, mut bytes: Vec<u8>, wrap: impl Fn(Vec<u8>) -> Happening) {
        if self.chance(self.faults.lose) {
            return;
        }
        if self.chance(self.faults.damage) && !bytes.is_empty() {
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
        // an emergency stop is looked for at least every 2 ms
        let longest_ns = 2_000_000.max(PERIOD_NS) + 100_000;
        assert!(deadline_ns.saturating_sub(self.now_ns) <= longest_ns, "a sleep of more than 2 ms");
        self.bus.check_stops();
        self.hear_reports(deadline_ns);
        self.hear_events();
        self.attend();
        self.publish();
        self.misfortunes();
        let mut wake_ns = self.now_ns.max(deadline_ns) + self.dice.roll(60_000);
        if self.chance(self.faults.stall) {
            wake_ns += self.dice.roll(self.faults.stall_periods_max * PERIOD_NS);
            self.pace.stalls += 1;
        }
        if self.faults.company == Company::Flood && self.dice.roll(4) > 0 {
            self.flood();
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
        let busy = usize::from(self.faults.company == Company::Busy);
        if self.seen.sleeps > SLEEPS_MAX[busy] {
            self.bench.stop.store(true, Ordering::Relaxed);
        }
    }

    fn happen(&mut self, what: Happening) {
        let bus_dead = self.bus.is_dead(self.now_ns);
        match what {
            Happening::Recorder => {
                self.attend();
                self.recorder_round();
            }
            Happening::AskAgain(nonce) => self.ask_again(nonce),
            Happening::Query(key, nonce) => self.arrive(&key, nonce),
            Happening::Command(..) | Happening::State(..) | Happening::Reply(..) if bus_dead => {}
            Happening::Command(key, bytes) => self.take_command(key, &bytes),
            Happening::Connection(public, there) => self.bus.joined.note_connection(public, there),
            Happening::Reply(nonce, reply) => self.hear(nonce, &reply),
            Happening::State(i, bytes) if i < self.controllers.len() => {
                if self.now_ns < self.controllers[i].silent_until_ns {
                    return;
                }
                let session = self.fresh_session();
                if let Some(command) = self.controllers[i].answer(&bytes, session) {
                    self.send(command, |bytes| Happening::Command("cmd", bytes));
                }
            }
            Happening::State(i, bytes) => self.tell_joiner(i - self.controllers.len(), &bytes),
        }
    }

    /// A message under the key of the commands, or under a pattern.
    fn take_command(&mut self, key: &str, bytes: &[u8]) {
        if !is_exact(key) {
            return;
        }
        if self.desk.take_in(bytes).is_ok() {
            self.note_of_owner(bytes);
        }
    }

    /// Notes a command of the session that owns the robot.
    fn note_of_owner(&mut self, bytes: &[u8]) {
        let Some(report) = self.seen.last_report else { return };
        let Ok(claim) = hardstand_protocol::decode_command(bytes, self.q.len()) else { return };
        let joined = self.bus.joined.controller(claim.session);
        let session = joined.unwrap_or_else(|| public_session(claim.session));
        // fresh or held
        let owns = report.command_session == session && [1, 2].contains(&report.authority.code());
        if owns && report.phase == Phase::Running && self.watch.own_sessions.contains(&session) {
            self.seen.of_owner.push((session, claim.answers_tick, report.tick));
        }
    }

    /// An order arrives at the daemon under a key expression.
    pub(super) fn arrive(&mut self, key: &str, nonce: u64) {
        let mut answers = Vec::new();
        self.bus.time_ns.store(self.now_ns, Ordering::Relaxed);
        self.bus.query(key, nonce, self.now_ns, &mut answers);
        self.send_answers(answers);
    }

    /// The daemon's threads look for answers of the loop.
    fn attend(&mut self) {
        let mut answers = Vec::new();
        self.bus.look(self.now_ns, &mut answers);
        self.send_answers(answers);
    }

    fn send_answers(&mut self, answers: Vec<(u64, Reply)>) {
        for (nonce, reply) in answers {
            self.send(Vec::new(), |_| Happening::Reply(nonce, reply.clone()));
        }
    }

    fn recorder_round(&mut self) {
        let busy = self.disk.state().busy_until_ns;
        if busy > self.now_ns {
            self.at(busy, Happening::Recorder);
            return;
        }
        {
            let mut disk = self.disk.state();
            disk.now_ns = self.now_ns;
            disk.remove_newest();
        }
        self.pass_ticks();
        if let Some(recording) = &mut self.recording {
            recording.round(self.now_ns);
        }
        self.last_round_ns = self.now_ns;
        self.at(self.now_ns + ROUND_NS, Happening::Recorder);
    }

    /// Looks at the ticks on their way to the recorder; how many they were.
    pub fn pass_ticks(&mut self) -> u64 {
        let mut passed = 0;
        while let Some(mut free) = self.to_recorder.take_free() {
            let Some(tick) = self.bench.log.take() else {
                self.to_recorder.put_back(free);
                break;
            };
            self.watch.see(&tick);
            free.clone_from(&tick);
            self.to_recorder.send(free);
            self.bench.log.give_back(tick);
            passed += 1;
        }
        passed
    }

    /// The publisher: every snapshot to all controllers.
    fn publish(&mut self) {
        if self.bus.is_dead(self.now_ns) || self.now_ns < self.publisher_silent_until_ns {
            return;
        }
        while let Some(snapshot) = self.bench.snapshots.take() {
            self.check_state(&snapshot.state);
            self.seen.states += 1;
            encode(Kind::State, &snapshot.state, &mut self.buffer).unwrap();
            self.bench.snapshots.give_back(snapshot);
            for i in 0..self.controllers.len() + self.joiners.len() {
                self.send(self.buffer.clone(), |bytes| Happening::State(i, bytes));
            }
        }
    }

    /// What must hold of every state that is published.
    fn check_state(&mut self, s: &StateReading) {
        let last = self.seen.last_state;
        assert!(s.run_id >= last.run_id, "run {} after {}", s.run_id, last.run_id);
        if s.run_id == last.run_id {
            assert!(s.tick >= last.tick, "tick {} after {}", s.tick, last.tick);
            let passed_ns = (s.tick - last.tick) * PERIOD_NS;
            let first = self.seen.states == 0;
            assert!(first || s.time_ns == last.time_ns + passed_ns, "time {} ns", s.time_ns);
        }
        check_numbers(s);
        self.seen.last_state = LastState {
            run_id: s.run_id,
            tick: s.tick,
            time_ns: s.time_ns,
            phase: s.phase,
            stopped: s.authority == hardstand_protocol::Authority::Stopped.code(),
            command_session: s.command_session,
            slow: last.slow,
        };
    }

    /// The tick after which the loop did not sleep any more.
    pub fn hear_the_last(&mut self) {
        self.take_reports();
        self.publish();
        self.attend();
    }

    fn hear_reports(&mut self, deadline_ns: u64) {
        let (begun, heard) = self.take_reports();
        // pauses, speeds and resets are the states of another test
        if self.faults.company == Company::Busy {
            return;
        }
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
            if ![Phase::Waiting, Phase::Paused].contains(&report.phase) {
                begun |= report.ticks_run == 1;
                assert_eq!(report.ticks_run, self.seen.ticks_run + 1, "reports of every tick");
                (self.seen.ticks, self.seen.ticks_run) = (report.tick, report.ticks_run);
            }
            self.seen.log_dropped = report.log_dropped;
            self.seen.snapshots_dropped = report.snapshots_dropped;
            self.seen.outdated = report.commands_outdated;
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
    pub to_recorder: Outbox<LogTick>,
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

fn check_numbers(s: &StateReading) {
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
