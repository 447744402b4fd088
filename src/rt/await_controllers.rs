//! The state [`AwaitingControllers`](super::LoopState::AwaitingControllers).

use crate::config::{ControllerNumbers, Mode, OverrunPolicy};
use crate::limits::CANDIDATES_MAX;
use crate::simulation::{Leases, Outcome};
use hardstand_protocol::{Phase, Verdict};

use super::links::Ending;
use super::outputs::no_outcome;
use super::records::TickReport;
use super::state::{LoopState, Trigger};
use super::{Clock, Executive, Pacer, Wait};

impl<C: Clock> Executive<C> {
    /// Publishes the initial state once a period until the controllers have joined, or one session
    /// has proved life. A copy of the leases judges meanwhile; the proof stays in the input of
    /// the first tick, where the plant's own leases come to the same verdicts.
    pub(super) fn await_controllers(&mut self) {
        let period_ns = self.simulation.spec().period_ns;
        let begin_ns = self.clock.now_ns();
        let mut pacer = Pacer::new(begin_ns, period_ns, OverrunPolicy::Slip);
        let run_id = self.run_id;
        let mut proof = Proof { leases: *self.simulation.leases(), silent_ticks: 0 };
        while self.state == LoopState::AwaitingControllers && self.run_id == run_id {
            if let Some(ending) = self.asked_to_end() {
                return self.change_state(Trigger::End(ending));
            }
            if self.patience_is_over(begin_ns) {
                return self.change_state(Trigger::End(Ending::ControllerTimeout(self.absent())));
            }
            let mut outcome = no_outcome();
            let ready = if self.starts_with_leases() {
                self.make_room();
                self.take_commands();
                self.all_have_joined()
            } else {
                self.take_proof(&mut proof, &mut outcome)
            };
            self.publish(Phase::Waiting);
            let report = self.report(&outcome, Phase::Waiting);
            self.send_report(TickReport { missing: self.absent(), ..report });
            if ready {
                return self.change_state(Trigger::ControllersReady);
            }
            let now_ns = self.clock.now_ns();
            match pacer.after_tick(now_ns) {
                Wait::Until(deadline) => self.sleep_until(now_ns, deadline),
                Wait::AtOnce | Wait::Stop => {}
                Wait::ClockWentBack => {
                    return self.change_state(Trigger::End(Ending::ClockWentBack));
                }
            }
            self.take_requests();
        }
    }

    fn patience_is_over(&self, begin_ns: u64) -> bool {
        let waited_ns = self.clock.now_ns().saturating_sub(begin_ns);
        let over = self.limits.patience_ns.is_some_and(|patience| waited_ns >= patience);
        over && self.starts_with_leases()
    }

    /// True if the run begins when controllers have joined, rather than with a proof of life.
    fn starts_with_leases(&self) -> bool {
        let expected = self.limits.expects_controllers();
        expected || self.limits.mode != Mode::RealTime || self.leases().of_anybody()
    }

    /// True once the controllers are there that the run cannot begin without.
    fn all_have_joined(&self) -> bool {
        self.absent() == ControllerNumbers::default() && self.leases().of_anybody()
    }

    /// Takes the commands of one period; true when one session has proved life. A proof that its
    /// session leaves incomplete is dropped.
    fn take_proof(&mut self, proof: &mut Proof, outcome: &mut Outcome) -> bool {
        let before = self.input.candidates.len();
        let complete = self.keep_proof(&mut proof.leases, outcome);
        let silent = self.input.candidates.len() <= before;
        proof.silent_ticks = if silent { proof.silent_ticks + 1 } else { 0 };
        if proof.silent_ticks > self.simulation.watchdog().hold_ticks {
            proof.leases = *self.simulation.leases();
            outcome.candidates += self.input.candidates.len();
            self.recycle_commands();
        }
        complete
    }

    /// Keeps the commands that prove life, refuses the others; true when the proof is complete.
    fn keep_proof(&mut self, leases: &mut Leases, outcome: &mut Outcome) -> bool {
        let tick = self.simulation.state().tick;
        // room for the verdicts of what is refused and of what is kept
        while outcome.candidates + self.input.candidates.len() < CANDIDATES_MAX
            && let Some(candidate) = self.take_command()
        {
            let spec = self.simulation.watchdog();
            let (session, seq) = (candidate.session, candidate.seq);
            let verdict = leases.judge_implicit(spec, tick, session, seq, candidate.answers_tick);
            if let Verdict::Rejected(_) = verdict {
                outcome.verdicts[outcome.candidates] = verdict;
                outcome.candidates += 1;
                self.links.commands.give_back(candidate);
                continue;
            }
            self.input.candidates.push(candidate);
            if verdict == Verdict::Accepted {
                return true;
            }
        }
        false
    }
}

/// A proof of life that is not complete.
struct Proof {
    leases: Leases,
    /// Periods since its last command.
    silent_ticks: u64,
}
