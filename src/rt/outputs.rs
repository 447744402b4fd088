//! What the loop hands to other threads: snapshots, log records, events and reports.

use crate::buffer_pool::Outbox;
use crate::config::{ControllerNumbers, Mode, Pace};
use crate::limits::CANDIDATES_MAX;
use crate::simulation::{Lease, LimitedJoints, Outcome, Snapshot};
use hardstand_protocol::{Authority, Event, LogTick, Phase, StateReading, Verdict};

use super::inputs::leases_of;
use super::loop_event::{Happened, LoopEvent};
use super::records::{TickReport, fill_log_tick};
use super::state::LoopState;
use super::{Clock, Executive};

/// At free pace, a full log queue is looked at again after this, ns.
const LOG_QUEUE_LOOK_NS: u64 = 20_000;
/// Longest wait for the recorder when free pace ends, ns.
const CATCH_UP_NS: u64 = 1_000_000_000;

/// What the loop has counted since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutputCounts {
    /// Ticks done in this run and those before.
    pub(super) ticks_run: u64,
    /// Wall time at which the first tick began, ns; 0 before it.
    pub(super) begun_ns: u64,
    pub(super) snapshots_dropped: u64,
    pub(super) log_dropped: u64,
    pub(super) commands_outdated: u64,
    pub(super) limited: LimitedJoints,
}

impl<C: Clock> Executive<C> {
    /// Publishes the state after a tick, and the events of the tick.
    pub(super) fn publish_tick(&mut self, tick: u64, outcome: &Outcome) {
        self.counts.ticks_run += self.simulation.state().tick.wrapping_sub(tick);
        self.counts.limited += self.simulation.limited_joints();
        self.fill_snapshot(phase_after(outcome));
        if outcome.failure.is_none() {
            self.pass_states();
        }
        self.send();
        let touch = |event: &&Event| matches!(event, Event::Touch { .. });
        for event in self.input.events.iter().filter(|event| !touch(event)) {
            self.send_event(tick, Happened::Event(*event));
        }
        if let Some(failure) = outcome.failure {
            self.send_event(tick, Happened::PlantFailure(failure));
        }
    }

    /// Publishes the state to a controller that has just joined, and an emergency stop.
    pub(super) fn publish_if_due(&mut self) {
        if std::mem::take(&mut self.publish_at_once) {
            self.publish(Phase::Running);
        }
    }

    /// Fills the snapshot and publishes it once more. Controllers that the state has not come to
    /// are shown the last one that has.
    pub(super) fn publish(&mut self, phase: Phase) {
        self.fill_snapshot(phase);
        if self.snapshot.withheld {
            let mut shown = std::mem::take(&mut self.recent_states.shown);
            shown.phase = phase.code();
            self.send_late(&mut shown, false, true);
            self.recent_states.shown = shown;
        }
        self.send();
    }

    fn fill_snapshot(&mut self, phase: Phase) {
        self.simulation.fill(&mut self.snapshot);
        (self.snapshot.asked, self.snapshot.again) = (false, false);
        let waits = matches!(self.state, LoopState::WaitingForCommands { .. });
        self.snapshot.open = waits || self.limits.mode == Mode::RealTime;
        // a plant that has stopped is seen by all
        self.snapshot.withheld = self.state_faults.withholds() && phase != Phase::Failed;
        let Snapshot { state, contacts, drives, sensors, bodies, .. } = &mut self.snapshot;
        state.phase = phase.code();
        (state.run_id, contacts.run_id, bodies.run_id) = (self.run_id, self.run_id, self.run_id);
        state.time_ns = state.time_ns.wrapping_add(self.time_offset_ns);
        (contacts.time_ns, bodies.time_ns) = (state.time_ns, state.time_ns);
        (drives.run_id, drives.time_ns) = (self.run_id, state.time_ns);
        (sensors.run_id, sensors.time_ns) = (self.run_id, state.time_ns);
        if phase != Phase::Running && self.leases().stopped {
            self.snapshot.state.authority = Authority::Stopped.code();
        }
    }

    /// Lets faults of the link act on the state after a tick, and sends the delayed ones that come
    /// with it.
    fn pass_states(&mut self) {
        let tick = self.simulation.tick();
        let Self { state_faults, simulation, snapshot, .. } = self;
        let at =
            state_faults.pass(simulation.faults(), tick, |held| held.copy_from(&snapshot.state));
        snapshot.withheld = state_faults.withholds();
        if snapshot.withheld {
            let schedules = self.leases().places().map(|l| l.schedule);
            self.admission.arrivals.note(tick, at, &schedules);
        }
        while let Some(mut late) = self.state_faults.take_late(tick) {
            let is_last = self.snapshot.withheld && !self.state_faults.has_late(tick);
            let to_ports = is_last || self.is_wanted(late.tick, tick);
            self.snapshot.followed = !is_last;
            self.send_late(&mut late, true, to_ports);
            self.snapshot.followed = false;
            self.recent_states.shown.copy_from(&late);
            self.state_faults.give_back(late);
        }
    }

    /// True if a controller answers this state of those that come at `tick`.
    fn is_wanted(&self, state: u64, tick: u64) -> bool {
        let newest = |l: &Lease| self.admission.arrivals.newest(&l.schedule, tick) == Some(state);
        self.leases().places().iter().any(newest)
    }

    /// Sends a state that is not the newest one; `news` if it comes for the first time.
    fn send_late(&mut self, late: &mut StateReading, news: bool, to_ports: bool) {
        let newest = (self.snapshot.withheld, self.snapshot.again);
        std::mem::swap(&mut self.snapshot.state, late);
        (self.snapshot.withheld, self.snapshot.again) = (false, true);
        self.snapshot.asked = false;
        if news {
            self.note_asked();
        }
        if to_ports {
            self.send_to(&self.links.ports);
        }
        self.send_snapshot();
        std::mem::swap(&mut self.snapshot.state, late);
        (self.snapshot.withheld, self.snapshot.again) = newest;
    }

    /// Sends the snapshot to all that it is for.
    fn send(&mut self) {
        self.send_to(&self.links.buses);
        if !self.snapshot.withheld {
            self.note_asked();
            self.recent_states.shown.copy_from(&self.snapshot.state);
            self.send_to(&self.links.ports);
        }
        self.send_snapshot();
    }

    /// Outside real time: notes whether a controller answers the state of the snapshot, and
    /// whether none has joined.
    fn note_asked(&mut self) {
        if self.limits.mode != Mode::RealTime {
            let leases =
                leases_of(&self.simulation, self.replay_leases.as_ref(), &self.input.events);
            let tick = self.simulation.tick();
            self.snapshot.asked = self.recent_states.keep(&self.snapshot.state, &leases, tick);
            self.snapshot.open |= !leases.of_anybody();
        }
    }

    /// Publishes the snapshot, or hands a copy of it to the publisher.
    pub(super) fn send_snapshot(&mut self) {
        if let Some(direct) = &self.links.direct {
            self.counts.snapshots_dropped += u64::from(!direct.publish(&self.snapshot));
            return;
        }
        let Some(mut free) = self.links.snapshots.take_free() else {
            self.counts.snapshots_dropped += 1;
            return;
        };
        free.copy_from(&self.snapshot);
        self.links.snapshots.send(free);
    }

    /// A log record for the coming tick, with a keyframe if one is due. In real time a full queue
    /// drops the tick, and the next record starts a new segment with a keyframe; at free pace the
    /// loop waits, and an emergency stop acts in the coming tick.
    pub(super) fn reserve_record(&mut self) -> Option<Box<LogTick>> {
        let mut free = self.links.log.as_ref()?.take_free();
        while free.is_none() && self.pace == Pace::Free && self.asked_to_end().is_none() {
            self.give_recorder_time();
            free = self.links.log.as_ref()?.take_free();
        }
        let Some(mut record) = free else {
            self.counts.log_dropped += 1;
            self.keyframe_due = true;
            return None;
        };
        record.keyframe.clear();
        let every = self.limits.keyframe_every_ticks;
        if self.keyframe_due || self.simulation.state().tick.is_multiple_of(every.max(1)) {
            self.simulation.write_words(&mut record.keyframe);
            self.keyframe_due = false;
        }
        Some(record)
    }

    /// Waits until the recorder has taken what free pace has left it: at a real-time pace a full
    /// queue drops ticks. An emergency stop acts in the coming tick.
    pub(super) fn wait_for_recorder(&mut self) {
        let until_ns = self.clock.now_ns().saturating_add(CATCH_UP_NS);
        while self.links.log.as_ref().is_some_and(Outbox::is_behind)
            && self.clock.now_ns() < until_ns
            && self.asked_to_end().is_none()
        {
            self.give_recorder_time();
        }
    }

    /// Takes an emergency stop meanwhile, which need not wait for the recorder.
    fn give_recorder_time(&mut self) {
        self.take_stop();
        self.clock.sleep_until(self.clock.now_ns() + LOG_QUEUE_LOOK_NS);
    }

    pub(super) fn log_tick(&self, tick: u64, outcome: &Outcome, record: Option<Box<LogTick>>) {
        if let (Some(mut record), Some(log)) = (record, &self.links.log) {
            fill_log_tick(&mut record, tick, &self.input, outcome, &self.snapshot);
            record.missed_deadlines = self.pacer.missed();
            log.send(record);
        }
    }

    /// Reports an event of a tick.
    pub(super) fn send_event(&self, tick: u64, happened: Happened) {
        let time_ns = tick.wrapping_mul(self.simulation.spec().period_ns);
        let time_ns = time_ns.wrapping_add(self.time_offset_ns);
        let event = LoopEvent { run_id: self.run_id, tick, time_ns, happened };
        let _no_room = self.links.events.try_send(event).is_err();
    }

    pub(super) fn report_tick(&mut self, outcome: &Outcome, begin_ns: u64) {
        if self.counts.begun_ns == 0 {
            self.counts.begun_ns = begin_ns;
        }
        let tick_cost_ns = self.clock.now_ns().saturating_sub(begin_ns);
        self.send_report(TickReport { tick_cost_ns, ..self.report(outcome, phase_after(outcome)) });
    }

    /// A report on a tick, or on a period without one.
    pub(super) fn report(&self, outcome: &Outcome, phase: Phase) -> TickReport {
        let (s, state) = (&self.snapshot.state, self.simulation.state());
        let stopped = phase != Phase::Running && self.leases().stopped;
        TickReport {
            run_id: self.run_id,
            tick: state.tick,
            ticks_run: self.counts.ticks_run,
            begun_ns: self.counts.begun_ns,
            time_ns: s.time_ns,
            phase,
            wakeup_latency_ns: self.wakeup_latency_ns,
            tick_cost_ns: 0,
            missed_deadlines: self.pacer.missed(),
            caught_up_ticks: self.pacer.caught_up(),
            authority: if stopped { Authority::Stopped } else { self.simulation.authority() },
            command_age_ticks: s.command_age_ticks,
            command_session: s.command_session,
            verdicts: outcome.verdicts,
            candidates: outcome.candidates,
            pushes_refused: outcome.pushes_refused,
            faults_refused: outcome.faults_refused,
            base_height_m: state.q.p_WB.z,
            tilt_cos: self.simulation.data().X_WB[0].R[(2, 2)],
            foot_normal_sum_n: s.foot_normal_sum_n(),
            failure: outcome.failure,
            digest: state.digest,
            snapshots_dropped: self.counts.snapshots_dropped,
            log_dropped: self.counts.log_dropped,
            commands_outdated: self.counts.commands_outdated,
            limited: self.counts.limited,
            link: *self.link_faults.counts(),
            states: *self.state_faults.counts(),
            admission: self.admission.counts,
            missing: ControllerNumbers::default(),
            wall_period_ns: if self.pace == Pace::Free { 0 } else { self.pacer.period_ns() },
        }
    }

    pub(super) fn send_report(&self, report: TickReport) {
        // a monitor that is late loses reports; the loop never waits for it
        let _monitor_keeps_up = self.links.reports.try_send(report).is_ok();
    }
}

const fn phase_after(outcome: &Outcome) -> Phase {
    if outcome.failure.is_some() { Phase::Failed } else { Phase::Running }
}

/// The outcome of a period in which no tick ran and no command was judged.
pub(super) const fn no_outcome() -> Outcome {
    Outcome {
        authority: Authority::Zero,
        verdicts: [Verdict::Proving; CANDIDATES_MAX],
        candidates: 0,
        pushes_refused: 0,
        faults_refused: 0,
        failure: None,
    }
}
