//! A log shown to controllers, by a loop of its own: a tick applies what the log says, and the
//! answers of the controllers are only compared.
//!
//! It shares requests, leases and publishing with the loop. It reads files and allocates, so it
//! never runs in real time.

use std::fmt;

use crate::simulation::{Leases, Simulation};
use hardstand_protocol::{TickInput, Verdict};

use super::executive::IterationOutcome;
use super::links::Ending;
use super::state::Trigger;
use super::{Clock, Executive, SetPoint};

/// What the controllers have answered by the time of a tick.
#[derive(Debug)]
pub struct TickAnswers<'a> {
    /// The plant before the tick.
    pub simulation: &'a Simulation,
    /// Set-points that would have come into force in the tick.
    pub answers: &'a [SetPoint],
}

/// Returns what was applied in the coming tick; `None` at the end.
pub type NextInput = Box<dyn FnMut(&TickAnswers<'_>) -> Option<TickInput> + Send>;

/// Runs the ticks of a log.
pub struct ControllerReplay {
    next_input: NextInput,
}

impl ControllerReplay {
    /// Of the log that `next_input` reads.
    #[must_use]
    pub fn new(next_input: NextInput) -> Self {
        Self { next_input }
    }

    /// Runs to the end and returns the plant.
    pub fn run<C: Clock>(mut self, mut executive: Executive<C>) -> (Ending, Simulation) {
        executive.show_log();
        executive.run_with(|executive| self.iterate(executive))
    }

    fn iterate<C: Clock>(&mut self, executive: &mut Executive<C>) -> IterationOutcome {
        let begin_ns = executive.clock.now_ns();
        if !executive.take_input() {
            return IterationOutcome::NoTick;
        }
        let tick = executive.simulation.state().tick;
        let answers = executive.judge_answers();
        let answered = TickAnswers { simulation: &executive.simulation, answers: &answers };
        let applied = (self.next_input)(&answered);
        executive.recycle_input();
        let Some(applied) = applied else {
            executive.change_state(Trigger::End(Ending::Done));
            return IterationOutcome::LastTickDone;
        };
        let outcome = executive.simulation.step(&applied);
        executive.publish_tick(tick, &outcome);
        executive.report_tick(&outcome, begin_ns);
        executive.finish_tick(&outcome)
    }
}

impl<C: Clock> Executive<C> {
    /// The leases of the log stay in the plant; those of the controllers begin empty.
    fn show_log(&mut self) {
        self.replay_leases = Some(Leases::default());
        self.begin_with_controllers();
    }

    /// Judges the commands as the plant would; the set-points of those that would be accepted.
    fn judge_answers(&mut self) -> Vec<SetPoint> {
        let (tick, joints) = (self.simulation.state().tick, self.simulation.model().joint_count());
        let Some(leases) = &mut self.replay_leases else { return Vec::new() };
        let spec = self.simulation.watchdog();
        self.input.events.iter().for_each(|event| leases.apply(spec, tick, event));
        let mut answers = Vec::new();
        for candidate in &self.input.candidates {
            let Some((place, _)) = leases.of_session(candidate.session) else { continue };
            let (answers_tick, size) = (candidate.answers_tick, candidate.joints.len());
            let ticks = (answers_tick, candidate.applies_tick);
            let verdict = leases.judge_joined(spec, tick, place, ticks, size);
            if verdict == Verdict::Accepted {
                let from = (candidate.session, answers_tick);
                answers.extend(SetPoint::of(from, &candidate.joints, leases, joints));
            }
        }
        answers
    }
}

impl fmt::Debug for ControllerReplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerReplay").finish_non_exhaustive()
    }
}
