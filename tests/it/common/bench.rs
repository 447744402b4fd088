//! The loop without a bus: a scenario, the real hand-overs, a clock that the test moves.
#![allow(dead_code, reason = "the tests of two crates and the benchmarks use parts of it")]

use std::borrow::Borrow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use crossbeam_channel::Receiver;
use hardstand::buffer_pool::{
    CommandSender, EmergencyStop, Inbox, Sent, bell, command_queue, pool, touched_channel,
};
use hardstand::config::{Pace, Scenario, StartRule};
use hardstand::ros2::RosChannels;
use hardstand::rt::{
    Clock, Executive, Links, LoopEvent, ManualClock, RequestSender, RunLimits, TickReport,
    empty_log_tick, request_queue,
};
use hardstand::simulation::{EventSchedule, Snapshot};
use hardstand_log::{LogLimits, LogWriter, RunInfo, SideMessages};
use hardstand_protocol::LogTick;
use hardstand_protocol::{Command, JointCommand};

pub const PERIOD_NS: u64 = 1_000_000;
const SCENARIO: &str = include_str!("../../../config/quadruped.toml");
const ROBOT: &str = include_str!("../../../config/robots/quadruped.urdf");

/// The shipped quadruped with changed keys.
pub fn quadruped(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Scenario::from_texts(SCENARIO, ROBOT, &sets).unwrap()
}

/// Lengths of the queues.
#[derive(Clone, Copy)]
pub struct Queues {
    pub snapshots: usize,
    pub log: usize,
    pub reports: usize,
}

pub const ROOMY: Queues = Queues { snapshots: 8, log: 10_000, reports: 10_000 };

/// The other ends of the loop's links.
pub struct Bench {
    pub scenario: Scenario,
    pub commands: CommandSender,
    pub emergency_stop: EmergencyStop,
    pub orders: Option<RequestSender>,
    pub run_id: Arc<AtomicU32>,
    pub snapshots: Inbox<Snapshot>,
    pub log: Inbox<LogTick>,
    pub reports: Receiver<TickReport>,
    pub events: Receiver<LoopEvent>,
    pub stop: Arc<AtomicBool>,
    links: Option<Links>,
}

impl Bench {
    pub fn new(scenario: Scenario, queues: Queues) -> Self {
        let mut simulation = scenario.simulation();
        let (snapshot, words) = (simulation.new_snapshot(), simulation.snapshot_words().len());
        let (arrived_bell, arrived) = bell();
        let joints = vec![JointCommand::default(); simulation.model().joint_count()];
        let empty = || Command { joints: joints.clone(), ..Command::default() };
        let (commands, command_in) = command_queue(empty);
        let commands = commands.ringing(arrived_bell.clone());
        let emergency_stop = EmergencyStop::default().ringing(arrived_bell.clone());
        let (event_out, events) = touched_channel(1000, &LoopEvent::NONE);
        let (orders, order_in) = request_queue();
        let orders = orders.ringing(arrived_bell);
        let run_id = Arc::new(AtomicU32::new(1));
        let (snapshot_out, snapshots) = pool(queues.snapshots, || simulation.new_snapshot());
        let (log_out, log) = pool(queues.log, || {
            empty_log_tick(&simulation, &snapshot, words, scenario.record.ros2)
        });
        let (report_out, reports) = touched_channel(queues.reports, &TickReport::default());
        let stop = Arc::new(AtomicBool::new(false));
        let links = Links {
            commands: command_in,
            emergency_stop: emergency_stop.clone(),
            requests: order_in,
            run_id: Arc::clone(&run_id),
            snapshots: snapshot_out,
            ports: Vec::new(),
            buses: Vec::new(),
            direct: None,
            log: Some(log_out),
            reports: report_out,
            events: event_out,
            stop: Arc::clone(&stop),
            arrived,
            place: None,
        };
        let (orders, links) = (Some(orders), Some(links));
        Self {
            scenario,
            commands,
            emergency_stop,
            orders,
            run_id,
            snapshots,
            log,
            reports,
            events,
            stop,
            links,
        }
    }

    /// A loop of `ticks` ticks; it can be made once.
    pub fn executive<C: Clock>(
        &mut self,
        clock: C,
        pace: Pace,
        start: StartRule,
        ticks: u64,
    ) -> Executive<C> {
        let links = self.links();
        Self::loop_of(&self.scenario, links, clock, pace, start, ticks)
    }

    /// The loop's ends; they can be taken once.
    pub fn links(&mut self) -> Links {
        self.links.take().expect("one loop per bench")
    }

    /// A loop of `ticks` ticks on these links.
    pub fn loop_of<C: Clock>(
        scenario: &Scenario,
        links: Links,
        clock: C,
        pace: Pace,
        start: StartRule,
        ticks: u64,
    ) -> Executive<C> {
        let limits = RunLimits {
            ticks: Some(ticks),
            start,
            keyframe_every_ticks: scenario.record.keyframe_every_ticks,
            ..RunLimits::new(scenario.spec.period_ns)
        };
        let schedule = EventSchedule::new(scenario.events.clone());
        Executive::new(scenario.simulation(), clock, links, schedule, pace, limits)
    }

    /// The side of the controllers.
    pub fn hands(&self) -> Hands {
        Hands { commands: self.commands.clone(), q: self.scenario.spec.q.joints.clone() }
    }

    /// All ticks that were logged; their boxes go back.
    pub fn logged(&self) -> Vec<LogTick> {
        let take = || {
            let tick = self.log.take()?;
            let copy = (*tick).clone();
            self.log.give_back(tick);
            Some(copy)
        };
        std::iter::from_fn(take).collect()
    }

    pub fn reported(&self) -> Vec<TickReport> {
        self.reports.try_iter().collect()
    }
}

/// What a controller holds.
pub struct Hands {
    pub commands: CommandSender,
    q: Vec<f64>,
}

impl Hands {
    /// Offers a command that holds the initial pose.
    pub fn candidate(&self, session: u64, seq: u64, answers_tick: u64) {
        self.candidate_in(1, session, seq, answers_tick);
    }

    /// Likewise, for the run with this number.
    pub fn candidate_in(&self, run_id: u32, session: u64, seq: u64, answers_tick: u64) {
        let hold = |&q: &f64| JointCommand { q, kp: 100.0, kd: 3.0, ..Default::default() };
        let joints = self.q.iter().map(hold).collect();
        let command = Command { run_id, session, seq, answers_tick, applies_tick: 0, joints };
        assert_ne!(self.commands.send(&command), Sent::Refused, "room for a command");
    }
}

/// A log in one file, with the channels of ROS 2 that the scenario asks for.
pub fn write_log(
    path: &Path,
    scenario: &Scenario,
    ticks: impl IntoIterator<Item = impl Borrow<LogTick>>,
) {
    let (mut ros2, mut messages) = (RosChannels::of(scenario), SideMessages::default());
    let channels = ros2.as_ref().map(RosChannels::channels).unwrap_or_default();
    let mut writer = LogWriter::create(path, &info(scenario), &channels).unwrap();
    for tick in ticks {
        if let Some(ros2) = &mut ros2 {
            ros2.fill(tick.borrow(), &mut messages);
        }
        writer.write(tick.borrow(), &messages).unwrap();
    }
    writer.finish().unwrap();
}

/// A log in files of about so many bytes.
pub fn in_files_of(segment_bytes_max: u64) -> LogLimits {
    LogLimits { segment_bytes_max, ..LogLimits::default() }
}

pub fn info(scenario: &Scenario) -> RunInfo {
    RunInfo {
        version: "test".into(),
        recording_id: 0,
        layout_hash: scenario.simulation().layout_hash(),
        physics_hash: scenario.physics_hash,
        run_id: 1,
        period_ns: scenario.spec.period_ns,
        robot: scenario.robot_urdf.clone(),
        scenario: scenario.complete_toml.clone(),
    }
}

/// A clock on which chosen sleeps wake up late: `(deadline in periods, delay in ns)`. At each sleep
/// the test may act in between, as another thread would.
pub struct TestClock<F> {
    pub clock: ManualClock,
    pub late: Vec<(u64, u64)>,
    pub between: F,
}

impl<F: Fn(u64)> Clock for TestClock<F> {
    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        (self.between)(deadline_ns / PERIOD_NS);
        self.clock.sleep_until(deadline_ns);
        for (period, delay_ns) in &self.late {
            if period * PERIOD_NS == deadline_ns {
                self.clock.advance(*delay_ns);
            }
        }
    }
}
