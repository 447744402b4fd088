//! The state [`WaitingForCommands`](super::LoopState::WaitingForCommands).

use crate::config::{ControllerNumbers, Mode};

use super::links::Ending;
use super::loop_event::Happened;
use super::outputs::no_outcome;
use super::records::TickReport;
use super::state::{LoopState, Trigger};
use super::{Clock, Executive};
use hardstand_protocol::Phase;

/// A state without an answer is sent again after this, ns: it may have been lost.
const SENT_AGAIN_NS: u64 = 20_000_000;
/// Each time twice as late, up to this, ns.
const SENT_AGAIN_MAX_NS: u64 = 1_000_000_000;
/// While other robots are waited for, the state is sent again after this, ns.
const SHOWN_EVERY_NS: u64 = 100_000_000;
/// Longest time between two looks whether to end, ns.
const LOOK_AGAIN_NS: u64 = 10_000_000;

impl<C: Clock> Executive<C> {
    /// Waits until every command is there that the tick needs, for as long as the mode allows, and
    /// until the other robots are ready.
    pub(super) fn wait_for_commands(&mut self) {
        let (tick, begin_ns) = (self.simulation.state().tick, self.clock.now_ns());
        let budget_ns = match &self.limits.mode {
            Mode::RealTime => 0,
            Mode::Lockstep => u64::MAX,
            Mode::Budgeted(budget) => self.wait_budget.left_ns(budget, tick),
        };
        let missing = self.missing();
        let mut end = self.end_of_wait(missing, begin_ns, budget_ns);
        if missing != ControllerNumbers::default() {
            let waited_ns = self.clock.now_ns().saturating_sub(begin_ns);
            self.wait_budget.spend(waited_ns);
            self.admission.counts.ticks_waited += 1;
            self.admission.counts.waited_ns += waited_ns;
        }
        if end == Some(Trigger::WaitOver) {
            end = self.end_of_wait_for_others();
        }
        if let Some(trigger) = end {
            self.change_state(trigger);
        }
        // in real time only other robots are waited for, and none of them is late for this one
        let since_ns = if self.limits.mode == Mode::RealTime { begin_ns } else { 0 };
        self.pacer.forgive(since_ns, self.clock.now_ns());
    }

    /// Waits for the other robots of the daemon; `None` if a request has changed the state. Where
    /// one of them is paused or waits for its controllers, those of this one are shown that it is
    /// there.
    fn end_of_wait_for_others(&mut self) -> Option<Trigger> {
        let mut shown_ns = self.clock.now_ns();
        while !self.others_are_ready() {
            if let Some(ending) = self.asked_to_end() {
                return Some(Trigger::End(ending));
            }
            let now_ns = self.clock.now_ns();
            if now_ns.saturating_sub(shown_ns) >= SHOWN_EVERY_NS {
                shown_ns = now_ns;
                self.publish(Phase::Running);
                self.send_report(self.report(&no_outcome(), Phase::Awaiting));
            }
            if !self.goes_on_waiting(now_ns + LOOK_AGAIN_NS) {
                return None;
            }
        }
        Some(Trigger::WaitOver)
    }

    /// Waits for commands; `None` if a request has changed the state.
    fn end_of_wait(
        &mut self,
        mut missing: ControllerNumbers,
        begin_ns: u64,
        budget_ns: u64,
    ) -> Option<Trigger> {
        let tick = self.simulation.state().tick;
        let (mut again_ns, mut sent_ns) = (SENT_AGAIN_NS, begin_ns);
        while missing != ControllerNumbers::default() {
            let now_ns = self.clock.now_ns();
            let waited_ns = now_ns.saturating_sub(begin_ns);
            if let Some(ending) = self.asked_to_end() {
                return Some(Trigger::End(ending));
            }
            if self.limits.patience_ns.is_some_and(|patience| waited_ns >= patience) {
                return Some(Trigger::End(Ending::ControllerTimeout(missing)));
            }
            if waited_ns >= budget_ns {
                self.wait_budget.give_up(tick);
                self.admission.counts.ticks_given_up += 1;
                self.send_event(tick, Happened::GivenUp(missing));
                return Some(Trigger::WaitOver);
            }
            if now_ns.saturating_sub(sent_ns) >= again_ns {
                (sent_ns, again_ns) = (now_ns, (again_ns * 2).min(SENT_AGAIN_MAX_NS));
                self.send_again(missing);
                let report = self.report(&no_outcome(), Phase::Awaiting);
                self.send_report(TickReport { missing, ..report });
            }
            let look_ns = LOOK_AGAIN_NS.min(budget_ns - waited_ns);
            if !self.goes_on_waiting(now_ns + look_ns) {
                return None;
            }
            missing = self.missing();
        }
        Some(Trigger::WaitOver)
    }

    /// Takes what comes until `until_ns`; false if a request has changed the state.
    fn goes_on_waiting(&mut self, until_ns: u64) -> bool {
        self.clock.sleep_until_notified(&self.links.arrived, until_ns);
        self.take_requests();
        if !matches!(self.state, LoopState::WaitingForCommands { .. }) {
            return false;
        }
        self.publish_if_due();
        self.make_room();
        self.take_commands();
        true
    }

    /// Sends the states again that await an answer: they, or their answers, may have been lost.
    fn send_again(&mut self, missing: ControllerNumbers) {
        let (run_id, tick) = (self.run_id, self.simulation.state().tick);
        // a controller that has just joined was sent the newest one only
        self.publish(Phase::Running);
        let leases = self.leases().into_owned();
        for lease in leases.places().iter().filter(|l| missing.contains(&l.controller)) {
            let owed = self.admission.owed(lease, tick).filter(|&answered| answered < tick);
            if let Some(state) = owed.and_then(|answered| self.recent_states.of(run_id, answered)) {
                self.snapshot.state.copy_from(state);
                (self.snapshot.asked, self.snapshot.again) = (true, true);
                self.snapshot.withheld = false;
                self.send_snapshot();
            }
        }
    }
}
