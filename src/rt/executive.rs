//! The loop.

use std::sync::atomic::Ordering;

use crate::config::{OverrunPolicy, Pace, StartRule};
use crate::fault_point;
use crate::simulation::{EventSchedule, Leases, Outcome, Simulation, Snapshot};
use hardstand_protocol::{Event, TickInput};

use super::command_admission::CommandAdmission;
use super::link_faults::LinkFaults;
use super::links::{Ending, Links, RunLimits};
use super::lost_controllers::Held;
use super::meeting::Place;
use super::outputs::OutputCounts;
use super::recent_states::RecentStates;
use super::state::{LoopState, Trigger};
use super::state_faults::StateFaults;
use super::wait_budget::WaitBudget;
use super::{Clock, Pacer, Wait};

/// During a longer sleep the loop looks for an emergency stop this often, ns.
const LOOK_NS: u64 = 2_000_000;

/// What an iteration has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IterationOutcome {
    /// It has run a tick; the next one is due at the next deadline.
    TickDone,
    /// It has run the last tick.
    LastTickDone,
    /// The state of the loop allows no tick now.
    NoTick,
}

/// The cyclic executive: owns the plant, which nothing else can reach.
#[derive(Debug)]
pub struct Executive<C> {
    pub(super) state: LoopState,
    pub(super) simulation: Simulation,
    pub(super) clock: C,
    pub(super) links: Links,
    pub(super) limits: RunLimits,
    /// Events that the scenario has planned.
    pub(super) schedule: EventSchedule,
    pub(super) pace: Pace,
    pub(super) pacer: Pacer,
    /// How late the thread woke up for this tick, ns; 0 if it did not sleep.
    pub(super) wakeup_latency_ns: u64,
    /// Commands and events of the coming tick.
    pub(super) input: TickInput,
    pub(super) admission: CommandAdmission,
    pub(super) wait_budget: WaitBudget,
    pub(super) link_faults: LinkFaults,
    pub(super) state_faults: StateFaults,
    /// Leases of the controllers that a log is shown to; otherwise they are in the plant.
    pub(super) replay_leases: Option<Leases>,
    pub(super) run_id: u32,
    /// Published time is that of the plant and this, ns.
    pub(super) time_offset_ns: u64,
    pub(super) snapshot: Snapshot,
    pub(super) recent_states: RecentStates,
    /// A controller has joined, or the robot was stopped, and no state says so yet.
    pub(super) publish_at_once: bool,
    /// Sessions that had joints after the last tick.
    pub(super) held: Held,
    /// The next log record needs a keyframe.
    pub(super) keyframe_due: bool,
    pub(super) counts: OutputCounts,
}

impl<C: Clock> Executive<C> {
    /// A loop around `simulation`, which may be in a saved state: what was planned for earlier
    /// ticks has happened.
    pub fn new(
        simulation: Simulation,
        clock: C,
        links: Links,
        mut schedule: EventSchedule,
        pace: Pace,
        limits: RunLimits,
    ) -> Self {
        let tick = simulation.state().tick;
        let (mut snapshot, mut admission) = (simulation.new_snapshot(), CommandAdmission::new());
        schedule.go_to(tick);
        admission.begin(tick);
        snapshot.state.mode = limits.mode.code();
        let await_controllers =
            limits.start == StartRule::OnController && is_idle(&simulation, &limits);
        let policy = match pace {
            Pace::RealTime(policy) => policy,
            Pace::Free => OverrunPolicy::Slip,
        };
        Self {
            state: LoopState::at_start(await_controllers),
            pacer: Pacer::new(clock.now_ns(), limits.wall_period_ns, policy),
            link_faults: LinkFaults::new(simulation.model().joint_count(), limits.gains_max),
            state_faults: StateFaults::new(&snapshot.state),
            recent_states: RecentStates::new(&snapshot.state),
            simulation,
            clock,
            links,
            limits,
            schedule,
            pace,
            wakeup_latency_ns: 0,
            input: TickInput::new(),
            admission,
            wait_budget: WaitBudget::default(),
            replay_leases: None,
            run_id: limits.run_id,
            time_offset_ns: 0,
            snapshot,
            publish_at_once: false,
            held: Held::default(),
            keyframe_due: true,
            counts: OutputCounts::default(),
        }
    }

    /// Begins with controllers that have to join, if the run starts with controllers at all.
    pub(super) fn begin_with_controllers(&mut self) {
        self.state = LoopState::at_start(self.limits.start == StartRule::OnController);
    }

    /// Runs to the end and returns the plant.
    pub fn run(self) -> (Ending, Simulation) {
        self.run_with(Self::iterate)
    }

    /// Runs to the end with this iteration.
    pub(super) fn run_with(
        mut self,
        mut iterate: impl FnMut(&mut Self) -> IterationOutcome,
    ) -> (Ending, Simulation) {
        self.pacer.begin_again(self.clock.now_ns());
        self.note_owners();
        loop {
            match iterate(&mut self) {
                IterationOutcome::TickDone => self.wait_for_deadline(),
                IterationOutcome::LastTickDone => {}
                IterationOutcome::NoTick => self.stay(),
            }
            if let LoopState::Ended(ending) = self.state {
                if ending == Ending::Done {
                    let Self { links, simulation, .. } = &mut self;
                    links.place.iter_mut().for_each(|place| place.end_in_time(simulation));
                }
                return (ending, self.simulation);
            }
        }
    }

    /// All of a tick but the wait for the next one. Nothing in here allocates, locks, waits or
    /// calls the system, unless the mode is not real time or the pace is free.
    #[cfg_attr(rtsan, sanitize(realtime = "nonblocking"))]
    fn iterate(&mut self) -> IterationOutcome {
        let begin_ns = self.clock.now_ns();
        fault_point::visit("physics");
        if !self.take_input() {
            return IterationOutcome::NoTick;
        }
        let tick = self.simulation.state().tick;
        let record = self.reserve_record();
        self.apply_link_faults();
        let outcome = self.simulation.step(&self.input);
        self.publish_tick(tick, &outcome);
        self.log_tick(tick, &outcome, record);
        self.report_tick(&outcome, begin_ns);
        self.recycle_input();
        self.note_owners();
        self.report_lost();
        self.finish_tick(&outcome)
    }

    /// Takes requests, events and commands for the coming tick; false if it may not run now.
    pub(super) fn take_input(&mut self) -> bool {
        self.take_requests();
        if !self.state.runs_ticks() {
            return false;
        }
        self.publish_if_due();
        self.take_commands();
        if self.misses_commands() || !self.others_are_ready() {
            self.change_state(Trigger::CommandsMissing);
            return false;
        }
        let Self { links, input, .. } = self;
        links.place.iter_mut().for_each(|place| place.add_touches(&mut input.events));
        true
    }

    /// Ends the run, or goes on to the next tick.
    pub(super) fn finish_tick(&mut self, outcome: &Outcome) -> IterationOutcome {
        self.links.place.iter_mut().for_each(Place::tick_done);
        if let Some(ending) = self.ending(outcome) {
            self.change_state(Trigger::End(ending));
            return IterationOutcome::LastTickDone;
        }
        self.change_state(Trigger::TickDone(self.simulation.state().tick));
        IterationOutcome::TickDone
    }

    fn ending(&self, outcome: &Outcome) -> Option<Ending> {
        if let Some(failure) = outcome.failure {
            return Some(Ending::PlantFailure(failure));
        }
        if self.limits.ticks.is_some_and(|n| self.simulation.state().tick >= n) {
            return Some(Ending::Done);
        }
        self.asked_to_end()
    }

    /// Why the run is to end, if something outside it says so.
    pub(super) fn asked_to_end(&self) -> Option<Ending> {
        if self.links.stop.load(Ordering::Relaxed) {
            return Some(Ending::Stopped);
        }
        let broken = self.links.place.as_ref().is_some_and(Place::is_broken);
        broken.then_some(Ending::AnotherEnded)
    }

    /// True if all other robots of the daemon are ready for their next tick, as this one is now.
    pub(super) fn others_are_ready(&self) -> bool {
        self.links.place.as_ref().is_none_or(|place| place.meets(&self.simulation))
    }

    /// The only place where the state of a run changes.
    pub(super) fn change_state(&mut self, trigger: Trigger) {
        let next = self.state.next(trigger);
        debug_assert!(next.is_some(), "{trigger:?} came in the state {:?}", self.state);
        self.state = next.unwrap_or(self.state);
    }

    /// Waits in a state that runs no tick, until another state begins.
    fn stay(&mut self) {
        match self.state {
            LoopState::AwaitingControllers => self.await_controllers(),
            LoopState::Paused => self.stay_paused(),
            LoopState::WaitingForCommands { .. } => return self.wait_for_commands(),
            LoopState::Running | LoopState::Stepping { .. } | LoopState::Ended(_) => {}
        }
        self.pacer.begin_again(self.clock.now_ns());
    }

    /// Sleeps until the deadline. In slow motion requests are taken meanwhile, and one that changes
    /// what comes next ends the sleep.
    fn sleep_between_ticks(&mut self, mut now_ns: u64, deadline_ns: u64) {
        let plan = |e: &Self| (e.state, e.run_id, e.pace, e.pacer.period_ns());
        let before = plan(self);
        while deadline_ns.saturating_sub(now_ns) > LOOK_NS {
            self.clock.sleep_until(now_ns + LOOK_NS);
            now_ns = self.clock.now_ns();
            self.take_requests();
            if plan(self) != before || self.input.events.contains(&Event::Stop) {
                return self.pacer.begin_again(now_ns);
            }
        }
        self.clock.sleep_until(deadline_ns);
    }

    /// Sleeps until the deadline; an emergency stop ends the sleep.
    pub(super) fn sleep_until(&self, mut now_ns: u64, deadline_ns: u64) {
        while deadline_ns.saturating_sub(now_ns) > LOOK_NS {
            if self.links.emergency_stop.is_requested() {
                return;
            }
            self.clock.sleep_until(now_ns + LOOK_NS);
            now_ns = self.clock.now_ns();
        }
        self.clock.sleep_until(deadline_ns);
    }

    fn wait_for_deadline(&mut self) {
        self.wakeup_latency_ns = 0;
        if self.pace == Pace::Free {
            return;
        }
        let now_ns = self.clock.now_ns();
        match self.pacer.after_tick(now_ns) {
            Wait::Until(deadline) => {
                self.sleep_between_ticks(now_ns, deadline);
                self.wakeup_latency_ns = self.clock.now_ns().saturating_sub(deadline);
            }
            Wait::AtOnce => {}
            Wait::Stop => self.change_state(Trigger::End(Ending::Overrun)),
            Wait::ClockWentBack => self.change_state(Trigger::End(Ending::ClockWentBack)),
        }
    }
}

/// True if no controller is there yet. Where a saved state has leases, ticks wait for the
/// controllers themselves; where a session without a lease owns the robot, it is held until that
/// session has been silent for too long.
fn is_idle(simulation: &Simulation, limits: &RunLimits) -> bool {
    let leased = simulation.leases().of_anybody();
    simulation.unjoined_owner().is_none() && (limits.expects_controllers() || !leased)
}
