//! The loop.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use crate::fault_point;
use crate::limits::OFFERS_MAX;
use crate::simulation::{InjectedFaults, Leases, Outcome, Simulation, Snapshot};
use hardstand_protocol::{Command, Event, TickInput};

use super::gate::{self, Gate, Missing, Sorted};
use super::kept::KeptStates;
use super::link_faults::LinkFaults;
use super::links::{Ending, Links, Pace, RunLimits, StartRule};
use super::loop_event::{Happened, LoopEvent};
use super::mode::{Mode, Spending};
use super::records::{LogTick, Phase, TickReport};
use super::{Clock, OverrunPolicy, Pacer, Schedule, Wait};

/// A full queue of which everything is wanted is looked at again after this, ns.
const ROOM_AGAIN_NS: u64 = 20_000;

/// What became of a turn.
enum Turn {
    /// A tick was run.
    Ran,
    /// The run is over.
    Over(Ending),
    /// No tick may be run now.
    Stands,
    /// Controllers are missing.
    Lacks(Missing),
}

/// The cyclic executive: owns the plant, and nobody else can touch it.
#[derive(Debug)]
pub struct Executive<C> {
    pub(super) plant: Simulation,
    pub(super) clock: C,
    pub(super) links: Links,
    pub(super) schedule: Schedule,
    pub(super) pace: Pace,
    /// Wall time of a tick in real time, ns.
    pub(super) wall_period_ns: u64,
    /// The pacer has not heard of it yet.
    pub(super) new_pace: bool,
    pub(super) gate: Gate,
    pub(super) spending: Spending,
    /// This tick does not wait any longer.
    pub(super) given_up: Option<u64>,
    /// Somebody has joined who has not seen the state yet.
    pub(super) newcomer: bool,
    pub(super) limits: RunLimits,
    pub(super) input: TickInput,
    pub(super) snapshot: Snapshot,
    /// States that may have to be sent again.
    pub(super) kept: KeptStates,
    pub(super) link_faults: LinkFaults,
    /// Run number.
    pub(super) run_id: u32,
    /// Published time is that of the plant and this, ns.
    pub(super) time_offset_ns: u64,
    /// The loop pauses when so many ticks are done.
    pub(super) pause_at: u64,
    /// The loop waits for its first controller.
    pub(super) waiting: bool,
    /// Ticks done in this run and those before.
    ticks_run: u64,
    missed: u64,
    caught_up: u64,
    wakeup_latency_ns: u64,
    snapshots_dropped: u64,
    log_dropped: u64,
    pub(super) commands_outdated: u64,
    pub(super) keyframe_due: bool,
}

impl<C: Clock> Executive<C> {
    /// A loop around `plant`, which may be in a saved state: what was planned for earlier ticks has
    /// happened.
    pub fn new(
        plant: Simulation,
        clock: C,
        links: Links,
        mut schedule: Schedule,
        pace: Pace,
        limits: RunLimits,
    ) -> Self {
        let (mut snapshot, mut gate) = (plant.new_snapshot(), Gate::new());
        schedule.go_to(plant.state().tick);
        gate.begin(plant.state().tick);
        snapshot.state.mode = limits.mode.code();
        let link_faults = LinkFaults::new(plant.model().joint_count(), limits.gains_max);
        let (idle, shown) = (begins_idle(&plant, &limits), links.controller_replay.is_some());
        Self {
            plant,
            clock,
            links,
            schedule,
            pace,
            wall_period_ns: limits.wall_period_ns,
            new_pace: false,
            gate,
            spending: Spending::default(),
            given_up: None,
            newcomer: false,
            limits,
            input: TickInput::new(),
            kept: KeptStates::new(&snapshot.state),
            link_faults,
            snapshot,
            run_id: limits.run_id,
            time_offset_ns: 0,
            pause_at: u64::MAX,
            waiting: limits.start == StartRule::OnController && (idle || shown),
            ticks_run: 0,
            missed: 0,
            caught_up: 0,
            wakeup_latency_ns: 0,
            snapshots_dropped: 0,
            log_dropped: 0,
            commands_outdated: 0,
            keyframe_due: true,
        }
    }

    /// Runs to the end and returns the plant.
    pub fn run(mut self) -> (Ending, Simulation) {
        let mut pacer = self.new_pacer();
        let ending = loop {
            let ending = match self.turn() {
                Turn::Ran => self.wait(&mut pacer),
                Turn::Over(ending) => Some(ending),
                Turn::Lacks(missing) => self.await_controllers(missing, &mut pacer),
                Turn::Stands => {
                    let ending = self.stand_by();
                    pacer.begin_again(self.clock.now_ns());
                    ending
                }
            };
            if let Some(ending) = ending {
                break ending;
            }
            if std::mem::take(&mut self.new_pace) {
                pacer.set_period(self.wall_period_ns, self.clock.now_ns());
            }
        };
        (ending, self.plant)
    }

    /// All of a tick but the wait for the next one. Nothing in here allocates, locks, waits or
    /// calls the system, unless the loop waits for controllers or runs as fast as it can.
    #[cfg_attr(rtsan, sanitize(realtime = "nonblocking"))]
    fn turn(&mut self) -> Turn {
        let begin_ns = self.clock.now_ns();
        fault_point::visit("physics");
        self.collect_orders();
        if self.waiting || self.is_paused() {
            return Turn::Stands;
        }
        if std::mem::take(&mut self.newcomer) {
            self.publish(Phase::Running);
        }
        self.collect_commands();
        let missing = self.missing();
        if missing != Missing::default() {
            return Turn::Lacks(missing);
        }
        let tick = self.plant.state().tick;
        let record = self.reserve_record();
        let outcome = if self.links.controller_replay.is_some() {
            let Some(applied) = self.replay_to_controllers() else {
                return Turn::Over(Ending::Done);
            };
            self.plant.step(&applied)
        } else {
            self.pass_link(tick);
            self.plant.step(&self.input)
        };
        self.ticks_run += self.plant.state().tick.wrapping_sub(tick);
        self.hand_over(tick, &outcome, record);
        self.report(&outcome, begin_ns);
        self.recycle_input();
        self.ending(&outcome).map_or(Turn::Ran, Turn::Over)
    }

    fn new_pacer(&self) -> Pacer {
        let policy = match self.pace {
            Pace::RealTime(policy) => policy,
            Pace::Free => OverrunPolicy::Slip,
        };
        Pacer::new(self.clock.now_ns(), self.wall_period_ns, policy)
    }

    /// All commands for this tick that have come: of controllers that have joined in the order of
    /// their leases, then those of others, oldest first.
    pub(super) fn collect_commands(&mut self) {
        let Self { plant, gate, input, links, run_id, commands_outdated, limits, .. } = self;
        let (tick, room) = (plant.state().tick, OFFERS_MAX);
        let leases = &leases_of(plant, links, &input.events);
        while input.offers.len() < room
            && let Some(due) = gate.take_due(tick)
        {
            gate::insert(&mut input.offers, due, leases);
        }
        let joined_only = limits.mode != Mode::RealTime;
        while input.offers.len() < room
            && let Some(command) = next_command(links, *run_id, commands_outdated)
        {
            match gate.sort(&command, leases, tick, joined_only) {
                Sorted::Now => gate::insert(&mut input.offers, command, leases),
                Sorted::Early => gate.keep(command),
                Sorted::Ignored => links.commands.give_back(command),
            }
        }
        let conflict = gate.take_conflict().and_then(|(session, answers_tick)| {
            let (_, lease) = leases.of_session(session)?;
            Some(Happened::Conflict { controller: lease.controller, answers_tick })
        });
        if let Some(conflict) = conflict {
            self.occur(tick, conflict);
        }
    }

    /// Tells what has happened in a tick.
    pub(super) fn occur(&self, tick: u64, happened: Happened) {
        let time_ns = tick.wrapping_mul(self.plant.spec().period_ns);
        let time_ns = time_ns.wrapping_add(self.time_offset_ns);
        let occurrence = LoopEvent { run_id: self.run_id, tick, time_ns, happened };
        let _no_room = self.links.occurrences.try_send(occurrence).is_err();
    }

    /// The leases as the coming tick will have them.
    pub(super) fn leases(&self) -> Cow<'_, Leases> {
        leases_of(&self.plant, &self.links, &self.input.events)
    }

    /// Hears what has been answered; what the log says was applied, until it ends.
    fn replay_to_controllers(&mut self) -> Option<TickInput> {
        let controller_replay = self.links.controller_replay.as_mut()?;
        let applied = controller_replay.hear(&self.plant, &self.input);
        self.recycle_input();
        applied
    }

    /// The controllers that the coming tick has to wait for.
    pub(super) fn missing(&self) -> Missing {
        let tick = self.plant.state().tick;
        if self.limits.mode == Mode::RealTime || self.given_up == Some(tick) {
            return Missing::default();
        }
        self.gate.missing(&self.leases(), tick, &self.input.offers)
    }

    /// What a faulty link makes of the commands.
    fn pass_link(&mut self, tick: u64) {
        let Self { plant, link_faults, input, links, .. } = self;
        let leases = plant.leases_with(&input.events);
        let quiet = plant.faults().is_empty() && input.events.is_empty();
        let faults =
            if quiet { InjectedFaults::default() } else { plant.faults_with(&input.events) };
        link_faults
            .pass((&faults, &leases), tick, &mut input.offers, |b| links.commands.give_back(b));
    }

    /// The next command for this run; those for the run before are out of date.
    pub(super) fn take_command(&mut self) -> Option<Box<Command>> {
        next_command(&self.links, self.run_id, &mut self.commands_outdated)
    }

    fn recycle_input(&mut self) {
        self.recycle_offers();
        self.input.events.clear();
    }

    pub(super) fn recycle_offers(&mut self) {
        let Self { link_faults, input, links, .. } = self;
        link_faults.take_back(&mut input.offers, |b| links.commands.give_back(b));
    }

    /// A log record for the coming tick, with a keyframe if one is due. In real time a full queue
    /// drops the tick, and the next record starts a new segment with a keyframe; at free pace the
    /// loop waits.
    fn reserve_record(&mut self) -> Option<Box<LogTick>> {
        let log = self.links.log.as_ref()?;
        let mut free = log.take_free();
        while free.is_none() && self.pace == Pace::Free && !self.links.stop.load(Ordering::Relaxed)
        {
            self.clock.sleep_until(self.clock.now_ns() + ROOM_AGAIN_NS);
            free = log.take_free();
        }
        let Some(mut record) = free else {
            self.log_dropped += 1;
            self.keyframe_due = true;
            return None;
        };
        record.keyframe.clear();
        let every = self.limits.keyframe_every_ticks;
        if self.keyframe_due || self.plant.state().tick.is_multiple_of(every.max(1)) {
            self.plant.write_words(&mut record.keyframe);
            self.keyframe_due = false;
        }
        Some(record)
    }

    fn hand_over(&mut self, tick: u64, outcome: &Outcome, record: Option<Box<LogTick>>) {
        let phase = if outcome.failure.is_some() { Phase::Failed } else { Phase::Running };
        self.publish(phase);
        for event in &self.input.events {
            self.occur(tick, Happened::Event(*event));
        }
        if let Some(fault) = outcome.failure {
            self.occur(tick, Happened::PlantFailure(fault));
        }
        if let (Some(mut record), Some(log)) = (record, &self.links.log) {
            record.fill(tick, &self.input, outcome, &self.snapshot);
            record.missed_deadlines = self.missed;
            log.send(record);
        }
    }

    /// Fills the snapshot and publishes it.
    pub(super) fn publish(&mut self, phase: Phase) {
        self.plant.fill(&mut self.snapshot);
        (self.snapshot.asked, self.snapshot.again) = (false, false);
        let Snapshot { state, contacts, .. } = &mut self.snapshot;
        state.phase = phase.code();
        (state.run_id, contacts.run_id) = (self.run_id, self.run_id);
        state.time_ns = state.time_ns.wrapping_add(self.time_offset_ns);
        contacts.time_ns = state.time_ns;
        if self.limits.mode != Mode::RealTime {
            let leases = leases_of(&self.plant, &self.links, &self.input.events);
            self.snapshot.asked = self.kept.keep(&self.snapshot.state, &leases);
        }
        self.send_snapshot();
    }

    /// Publishes the snapshot, or hands a copy of it to the publisher.
    pub(super) fn send_snapshot(&mut self) {
        if let Some(direct) = &self.links.direct {
            self.snapshots_dropped += u64::from(!direct.publish(&self.snapshot));
            return;
        }
        let Some(mut free) = self.links.snapshots.take_free() else {
            self.snapshots_dropped += 1;
            return;
        };
        free.copy_from(&self.snapshot);
        self.links.snapshots.send(free);
    }

    fn ending(&self, outcome: &Outcome) -> Option<Ending> {
        if let Some(fault) = outcome.failure {
            return Some(Ending::PlantFailure(fault));
        }
        let done = self.limits.ticks.is_some_and(|n| self.plant.state().tick >= n);
        if done {
            return Some(Ending::Done);
        }
        self.links.stop.load(Ordering::Relaxed).then_some(Ending::Stopped)
    }

    fn wait(&mut self, pacer: &mut Pacer) -> Option<Ending> {
        self.wakeup_latency_ns = 0;
        if self.pace == Pace::Free {
            return None;
        }
        let wait = pacer.after_tick(self.clock.now_ns());
        (self.missed, self.caught_up) = (pacer.missed(), pacer.caught_up());
        match wait {
            Wait::Until(deadline) => {
                self.clock.sleep_until(deadline);
                self.wakeup_latency_ns = self.clock.now_ns().saturating_sub(deadline);
                None
            }
            Wait::AtOnce => None,
            Wait::Stop => Some(Ending::Overrun),
            Wait::ClockWentBack => Some(Ending::ClockWentBack),
        }
    }

    fn report(&self, outcome: &Outcome, begin_ns: u64) {
        let phase = if outcome.failure.is_some() { Phase::Failed } else { Phase::Running };
        self.send_report(outcome, phase, self.clock.now_ns().saturating_sub(begin_ns));
    }

    pub(super) fn send_report(&self, outcome: &Outcome, phase: Phase, tick_cost_ns: u64) {
        self.tell(self.report_of(outcome, phase, tick_cost_ns));
    }

    pub(super) fn report_of(
        &self,
        outcome: &Outcome,
        phase: Phase,
        tick_cost_ns: u64,
    ) -> TickReport {
        let (s, state) = (&self.snapshot.state, self.plant.state());
        TickReport {
            run_id: self.run_id,
            tick: state.tick,
            ticks_run: self.ticks_run,
            time_ns: s.time_ns,
            phase,
            wakeup_latency_ns: self.wakeup_latency_ns,
            tick_cost_ns,
            missed_deadlines: self.missed,
            caught_up_ticks: self.caught_up,
            authority: outcome.authority,
            command_age_ticks: s.command_age_ticks,
            command_session: s.command_session,
            verdicts: outcome.verdicts,
            offers: outcome.offers,
            pushes_refused: outcome.pushes_refused,
            faults_refused: outcome.faults_refused,
            base_height_m: state.q.p_WB.z,
            tilt_cos: self.plant.data().X_WB[0].R[(2, 2)],
            foot_normal_sum_n: s.foot_normal_n.iter().sum(),
            fault: outcome.failure,
            digest: state.digest,
            snapshots_dropped: self.snapshots_dropped,
            log_dropped: self.log_dropped,
            commands_outdated: self.commands_outdated,
            link: *self.link_faults.counts(),
            gate: self.gate.counts,
            missing: Missing::default(),
            wall_period_ns: if self.pace == Pace::Free { 0 } else { self.wall_period_ns },
        }
    }

    pub(super) fn tell(&self, report: TickReport) {
        // a monitor that sleeps loses reports, never time
        let _monitor_keeps_up = self.links.reports.try_send(report).is_ok();
    }
}

/// The leases of the coming tick, if these are its events.
fn leases_of<'a>(plant: &'a Simulation, links: &'a Links, events: &[Event]) -> Cow<'a, Leases> {
    match &links.controller_replay {
        Some(controller_replay) => controller_replay.leases_with(plant.state().tick, events),
        None => plant.leases_with(events),
    }
}

/// True if the first tick has to wait until somebody comes. Where a saved state has leases, ticks
/// wait for the controllers themselves; where a session without a lease owns the robot, it is held
/// until that has been silent for too long.
fn begins_idle(plant: &Simulation, limits: &RunLimits) -> bool {
    let leased = plant.leases().of_anybody();
    let named = limits.expected != Missing::default();
    plant.unjoined_owner().is_none() && (named || !leased)
}

/// The next command for the run `run_id`; those for the run before are out of date.
fn next_command(links: &Links, run_id: u32, outdated: &mut u64) -> Option<Box<Command>> {
    while let Some(command) = links.commands.take() {
        if command.run_id == run_id {
            return Some(command);
        }
        *outdated += 1;
        links.commands.give_back(command);
    }
    None
}
