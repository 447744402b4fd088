//! The monitor: turns reports of ticks into one line a second, the status, and the summary.

use std::time::Instant;

use crossbeam_channel::Receiver;

use crate::config::{ControllerNumbers, Pace, Scenario};
use crate::ingress::{ControllerRegistry, JoinedSessions, RejectedCommands};
use crate::rt::{Clock as _, Ending, Grants, MonotonicClock, TickReport};
use crate::simulation::Simulation;
use hardstand_error::{Error, ErrorKind};
use hardstand_log::WrittenLog;
use hardstand_protocol::{
    AGE_EDGES_TICKS, Counter, LATENCY_EDGES_NS, Phase, Refusal, StatusReading,
};
use hardstand_protocol::{Authority, PlantFailure, Rejection, Verdict};

use super::front::{Counters, link_counts};
use super::latency_histogram::LatencyHistogram;
use super::report::RejectedController;

/// The state of a run, once a second.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondReport {
    /// What the loop is doing.
    pub phase: Phase,
    /// Ticks done in this run.
    pub tick: u64,
    /// Simulated time, s.
    pub time_s: f64,
    /// Simulated seconds per second of wall time, over the last second.
    pub real_time_factor: f64,
    /// Height of the base origin, m.
    pub base_height_m: f64,
    /// Tilt of the base's z-axis from the vertical, degrees.
    pub tilt_deg: f64,
    /// Sum of the feet's normal forces, N.
    pub foot_normal_sum_n: f64,
    /// Weight of the robot, N.
    pub weight_n: f64,
    /// What the drives obey.
    pub authority: Authority,
    /// Age of the command in force, ticks; `None` before the first.
    pub command_age_ticks: Option<u32>,
    /// Deadlines missed since the start.
    pub missed_deadlines: u64,
    /// 99th percentile of the wake-up latency in the last second, ns.
    pub wakeup_p99_ns: u64,
}

/// A stall of the physics thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Tick before which it happened.
    pub tick: u64,
    /// Deadlines missed in it.
    pub missed: u64,
}

/// Deadlines missed at once that are worth a line.
const STALL_DEADLINES: u64 = 10;

/// How a run went.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The robot's name.
    pub robot: String,
    /// Why it ended.
    pub ending: Ending,
    /// The last look at the robot.
    pub last: SecondReport,
    /// Ticks done.
    pub ticks: u64,
    /// Wall time, s, without the waiting.
    pub wall_s: f64,
    /// Digest after the last tick.
    pub digest: u64,
    /// The final status: latencies and all counters.
    pub status: StatusReading,
    /// How late the physics thread woke up in each tick, ns.
    pub wakeup_latency: LatencyHistogram,
    /// Cost of each tick, ns.
    pub tick_cost: LatencyHistogram,
    /// What was recorded.
    pub recorded: WrittenLog,
    /// Of the controllers that were missing at the end, those whose commands were rejected.
    pub rejected: Vec<RejectedController>,
}

pub(super) struct Monitor {
    robot: String,
    inbox: Receiver<TickReport>,
    arrivals: Counters,
    registry: ControllerRegistry,
    joined_sessions: JoinedSessions,
    period_ns: u64,
    weight_n: f64,
    wakeup: LatencyHistogram,
    wakeup_second: LatencyHistogram,
    tick_cost: LatencyHistogram,
    applied_age: LatencyHistogram,
    reports: u64,
    rejected: [u64; Rejection::ALL.len()],
    accepted: u64,
    proving: u64,
    log_failed: bool,
    log_is_full: bool,
    log_files_lost: u64,
    io_restarts: u64,
    pushes_refused: u64,
    faults_refused: u64,
    last: Option<TickReport>,
    /// Run number and tick with which it begins.
    begin: (u32, u64),
    /// Wall time of a tick in the beginning, ns; 0 at free pace.
    wall_period_ns: u64,
    stall: Option<Stall>,
    second: Instant,
    second_ticks: u64,
    status: StatusReading,
}

impl Monitor {
    pub(super) fn new(
        scenario: &Scenario,
        begin: (u32, u64),
        mass_kg: f64,
        grants: Grants,
        inbox: Receiver<TickReport>,
        (arrivals, registry, joined_sessions): (Counters, ControllerRegistry, JoinedSessions),
    ) -> Self {
        let status = StatusReading {
            run_id: begin.0,
            period_ns: scenario.spec.period_ns,
            command_age_ticks: u32::MAX,
            mode: scenario.control.mode.code(),
            fifo_priority: grants.fifo_priority.unwrap_or(0),
            core: grants.core.map_or(u32::MAX, |c| c as u32),
            memory_locked: u8::from(grants.memory_locked),
            refused: grants.refused,
            ..Default::default()
        };
        let mut monitor = Self {
            robot: scenario.bus.robot.clone(),
            inbox,
            arrivals,
            registry,
            joined_sessions,
            period_ns: scenario.spec.period_ns,
            weight_n: mass_kg * scenario.spec.gravity_W.norm(),
            wakeup: LatencyHistogram::new(&LATENCY_EDGES_NS),
            wakeup_second: LatencyHistogram::new(&LATENCY_EDGES_NS),
            tick_cost: LatencyHistogram::new(&LATENCY_EDGES_NS),
            applied_age: LatencyHistogram::new(&AGE_EDGES_TICKS),
            reports: 0,
            rejected: [0; Rejection::ALL.len()],
            accepted: 0,
            proving: 0,
            log_failed: false,
            log_is_full: false,
            log_files_lost: 0,
            io_restarts: 0,
            pushes_refused: 0,
            faults_refused: 0,
            last: None,
            begin,
            wall_period_ns: if scenario.pace == Pace::Free { 0 } else { scenario.wall_period_ns },
            stall: None,
            second: Instant::now(),
            second_ticks: 0,
            status,
        };
        // a query in the first second finds every counter
        monitor.update_status(0.0);
        monitor
    }

    pub(super) fn status(&self) -> &StatusReading {
        &self.status
    }

    /// What is wrong with the log.
    pub(super) const fn note_log(&mut self, log: &WrittenLog) {
        self.log_failed |= log.error.is_some();
        self.log_is_full |= log.is_full;
        self.log_files_lost = log.losses.len() as u64;
    }

    /// So often the bus has been opened again; true if that is new, and its status unknown.
    pub(super) const fn note_io_restarts(&mut self, restarts: u64) -> bool {
        let event_feed = self.io_restarts != restarts;
        self.io_restarts = restarts;
        event_feed
    }

    /// Takes in all reports; gives a line if a second has passed.
    pub(super) fn poll(&mut self) -> Option<SecondReport> {
        self.drain();
        let elapsed_s = self.second.elapsed().as_secs_f64();
        if elapsed_s < 1.0 {
            return None;
        }
        let line = self.line(elapsed_s);
        self.second = Instant::now();
        self.second_ticks = self.last.map_or(0, |r| r.ticks_run);
        self.wakeup_second.reset();
        self.update_status(line.as_ref().map_or(0.0, |l| l.real_time_factor));
        line
    }

    /// Brings the status up to date if the loop has changed its state, or another run has begun,
    /// since it was; true if it did. A wait within a tick is none: in lockstep each tick has one.
    pub(super) fn note_change(&mut self) -> bool {
        let state =
            |phase| if phase == Some(Phase::Awaiting) { Some(Phase::Running) } else { phase };
        let shown = (state(Phase::from_code(self.status.phase)), self.status.run_id);
        let changed = self.last.is_some_and(|r| (state(Some(r.phase)), r.run_id) != shown);
        if changed {
            self.update_status(self.status.real_time_factor);
        }
        changed
    }

    /// Takes in all reports.
    pub(super) fn drain(&mut self) {
        while let Ok(report) = self.inbox.try_recv() {
            self.take(&report);
        }
    }

    fn take(&mut self, r: &TickReport) {
        if matches!(r.phase, Phase::Running | Phase::Failed) {
            self.reports += 1;
            self.wakeup.record(r.wakeup_latency_ns);
            self.wakeup_second.record(r.wakeup_latency_ns);
            self.tick_cost.record(r.tick_cost_ns);
        }
        let verdicts = r.verdicts.iter().take(r.candidates);
        if verdicts.clone().any(|v| *v == Verdict::Accepted) {
            self.applied_age.record(r.command_age_ticks.into());
        }
        for verdict in verdicts {
            match verdict {
                Verdict::Accepted => self.accepted += 1,
                Verdict::Proving => self.proving += 1,
                Verdict::Rejected(reason) => self.rejected[*reason as usize] += 1,
            }
        }
        self.pushes_refused += u64::from(r.pushes_refused);
        self.faults_refused += u64::from(r.faults_refused);
        self.note_stall(r);
        self.last = Some(*r);
    }

    fn note_stall(&mut self, r: &TickReport) {
        let missed = r.missed_deadlines - self.last.map_or(0, |l| l.missed_deadlines);
        let longest = self.stall.map_or(STALL_DEADLINES - 1, |s| s.missed);
        if missed > longest {
            self.stall = Some(Stall { tick: r.tick, missed });
        }
    }

    /// The longest stall since the last call, if one is worth a line.
    pub(super) const fn take_stall(&mut self) -> Option<Stall> {
        self.stall.take()
    }

    fn line(&self, elapsed_s: f64) -> Option<SecondReport> {
        let r = self.last?;
        let ticks = r.ticks_run.saturating_sub(self.second_ticks) as f64;
        Some(SecondReport {
            phase: r.phase,
            tick: r.tick,
            time_s: r.time_ns as f64 * 1e-9,
            real_time_factor: ticks * self.period_ns as f64 * 1e-9 / elapsed_s,
            base_height_m: r.base_height_m,
            tilt_deg: hardstand_physics::math::acos_clamped(r.tilt_cos).to_degrees(),
            foot_normal_sum_n: r.foot_normal_sum_n,
            weight_n: self.weight_n,
            authority: r.authority,
            command_age_ticks: (r.command_age_ticks != u32::MAX).then_some(r.command_age_ticks),
            missed_deadlines: r.missed_deadlines,
            wakeup_p99_ns: self.wakeup_second.quantile(0.99),
        })
    }

    /// Since the first tick began, s: not since the first report was read, which at free pace may
    /// be after the last tick.
    fn wall_s(&self) -> f64 {
        let begun_ns = self.last.map_or(0, |r| r.begun_ns);
        let since_ns = MonotonicClock::default().now_ns().saturating_sub(begun_ns);
        if begun_ns > 0 { since_ns as f64 * 1e-9 } else { 0.0 }
    }

    /// The last report; before the first one, the initial values.
    fn last_report(&self) -> TickReport {
        let (run_id, tick) = self.begin;
        let time_ns = tick.saturating_mul(self.period_ns);
        let wall_period_ns = self.wall_period_ns;
        let first = TickReport { run_id, tick, time_ns, wall_period_ns, ..TickReport::default() };
        self.last.unwrap_or(first)
    }

    fn update_status(&mut self, real_time_factor: f64) {
        let r = self.last_report();
        let s = &mut self.status;
        (s.run_id, s.tick, s.time_ns) = (r.run_id, r.tick, r.time_ns);
        s.phase = r.phase.code();
        s.real_time_factor = real_time_factor;
        let wall_period_ns = r.wall_period_ns as f64;
        s.speed = if wall_period_ns > 0.0 { self.period_ns as f64 / wall_period_ns } else { 0.0 };
        s.controllers = self.registry.present();
        s.missing = named(&r.missing, &self.registry);
        (s.failure, s.authority) = (r.failure.map_or(0, PlantFailure::code), r.authority.code());
        (s.command_age_ticks, s.command_session) = (r.command_age_ticks, r.command_session);
        s.wakeup_latency_ns = self.wakeup.distribution();
        s.tick_cost_ns = self.tick_cost.distribution();
        s.applied_age_ticks = self.applied_age.distribution();
        let mut counters = vec![
            ("missed_deadlines".to_string(), r.missed_deadlines),
            ("ticks_caught_up".to_string(), r.caught_up_ticks),
            ("snapshots_dropped".to_string(), r.snapshots_dropped),
            ("log_ticks_dropped".to_string(), r.log_dropped),
            ("log_failed".to_string(), u64::from(self.log_failed)),
            ("log_full".to_string(), u64::from(self.log_is_full)),
            ("log_files_lost".to_string(), self.log_files_lost),
            ("io_restarts".to_string(), self.io_restarts),
            ("pushes_refused".to_string(), self.pushes_refused),
            ("faults_refused".to_string(), self.faults_refused),
            ("joints_at_effort_limit".to_string(), r.limited.by_effort),
            ("joints_at_speed_limit".to_string(), r.limited.by_speed),
            ("reports_dropped".to_string(), r.ticks_run.saturating_sub(self.reports)),
            ("commands_received".to_string(), self.arrivals.commands.received()),
            ("commands_accepted".to_string(), self.accepted),
            ("commands_proving".to_string(), self.proving),
            ("commands_repeated".to_string(), r.admission.repeated),
            ("ticks_waited".to_string(), r.admission.ticks_waited),
            ("waited_ms".to_string(), r.admission.waited_ns / 1_000_000),
            ("ticks_given_up".to_string(), r.admission.ticks_given_up),
            ("link_dropped".to_string(), r.link.dropped),
            ("link_delayed".to_string(), r.link.delayed),
            ("link_duplicated".to_string(), r.link.duplicated),
            ("link_stale".to_string(), r.link.stale),
            ("link_altered".to_string(), r.link.altered),
            ("states_dropped".to_string(), r.states.dropped),
            ("states_delayed".to_string(), r.states.delayed),
            ("answers_void".to_string(), r.admission.void),
        ];
        for reason in Rejection::ALL {
            let arrived = self.arrivals.commands.rejected(reason);
            let outdated = if reason == Rejection::RunId { r.commands_outdated } else { 0 };
            let (at_gate, spoilt) =
                (r.admission.rejected(reason), r.link.rejected[reason as usize]);
            let refused = self.rejected[reason as usize];
            let count = arrived + refused + outdated + at_gate + spoilt;
            counters.push((format!("rejected_{}", reason.name()), count));
        }
        let orders = &self.arrivals.orders;
        counters.push(("orders_received".into(), orders.received()));
        for reason in Refusal::REASONS {
            let name = format!("orders_rejected_{}", reason.name());
            counters.push((name, orders.rejected(reason)));
        }
        counters.extend(self.arrivals.ros2.all());
        counters.extend(self.arrivals.of_ports());
        counters.extend(link_counts().into_iter().map(|(name, n)| (name.into(), n)));
        let named = |(name, value)| Counter { name, value };
        s.counters = counters.into_iter().map(named).collect();
    }

    /// The physics thread has panicked.
    pub(super) fn panic_report(mut self) -> Error {
        self.drain();
        let (tick, digest) = self.last.map_or((0, 0), |r| (r.tick, r.digest));
        Error::new(
            ErrorKind::Internal,
            format!(
                "the physics thread panicked after tick {tick} (digest {digest:016x}); the log is \
                 complete up to it. This is a defect of Hardstand: please report it with the log"
            ),
        )
    }

    /// The end of the run: what the reports may have missed comes from the plant itself.
    pub(super) fn summary(
        mut self,
        ending: Ending,
        simulation: &Simulation,
        mut recorded: WrittenLog,
    ) -> Summary {
        self.drain();
        self.note_log(&recorded);
        let wall_s = self.wall_s();
        let (state, data) = (simulation.state(), simulation.data());
        let last_report = self.last_report();
        let unreported = state.tick.saturating_sub(last_report.tick);
        let ticks = last_report.ticks_run + unreported;
        recorded.note_run(ticks);
        let run_s = ticks as f64 * self.period_ns as f64 * 1e-9;
        self.update_status(if wall_s > 0.0 { run_s / wall_s } else { 0.0 });
        let time_ns = last_report.time_ns + unreported * self.period_ns;
        let mut rejected = Vec::new();
        if let Ending::ControllerTimeout(missing) = &ending {
            self.status.missing = named(missing, &self.registry);
            rejected = self.rejected(missing);
        }
        let feet = &simulation.spec().feet;
        let last = SecondReport {
            phase: self.last.map_or(Phase::Waiting, |r| r.phase),
            tick: state.tick,
            time_s: time_ns as f64 * 1e-9,
            real_time_factor: self.status.real_time_factor,
            base_height_m: state.q.p_WB.z,
            tilt_deg: hardstand_physics::math::acos_clamped(data.X_WB[0].R[(2, 2)]).to_degrees(),
            // the sum of no feet is −0
            foot_normal_sum_n: 0.0
                + feet.iter().map(|f| simulation.plant().foot_normal_n(f)).sum::<f64>(),
            weight_n: self.weight_n,
            authority: simulation.authority(),
            command_age_ticks: self.last.map(|r| r.command_age_ticks).filter(|a| *a != u32::MAX),
            missed_deadlines: self.last.map_or(0, |r| r.missed_deadlines),
            wakeup_p99_ns: self.wakeup_second.quantile(0.99),
        };
        (self.status.tick, self.status.time_ns) = (state.tick, time_ns);
        Summary {
            robot: self.robot,
            ending,
            ticks,
            wall_s,
            digest: state.digest,
            last,
            status: self.status,
            wakeup_latency: self.wakeup,
            tick_cost: self.tick_cost,
            recorded,
            rejected,
        }
    }
}

impl Monitor {
    /// Those of the missing controllers whose commands were rejected at arrival.
    fn rejected(&self, missing: &ControllerNumbers) -> Vec<RejectedController> {
        let rejected = |&number: &u64| {
            let RejectedCommands { count, last } = self.joined_sessions.rejected(number);
            let (reason, answers_tick) = last?;
            let (controller, reason) = (self.registry.name(number), reason.name().to_string());
            Some(RejectedController { controller, count, reason, answers_tick })
        };
        missing.iter().filter(|number| **number != 0).filter_map(rejected).collect()
    }
}

/// The names of controllers that are missed.
fn named(missing: &ControllerNumbers, registry: &ControllerRegistry) -> Vec<String> {
    missing.iter().filter(|&&number| number != 0).map(|&number| registry.name(number)).collect()
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor").field("last", &self.last).finish_non_exhaustive()
    }
}
