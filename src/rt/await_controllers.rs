//! Times in which a tick waits for the controllers whose commands are due at it.

use std::sync::atomic::Ordering;

use crate::limits::OFFERS_MAX;
use hardstand_protocol::Command;

use super::gate::Missing;
use super::links::Ending;
use super::loop_event::Happened;
use super::mode::Mode;
use super::records::Phase;
use super::{Clock, Executive, Pacer};

/// A state that nobody has answered is sent again after this, ns: it may have been lost.
const SENT_AGAIN_NS: u64 = 20_000_000;
/// Later less often.
const SENT_AGAIN_MAX_NS: u64 = 1_000_000_000;
/// Longest time between two looks whether to end, ns.
const LOOK_AGAIN_NS: u64 = 10_000_000;

impl<C: Clock> Executive<C> {
    /// Waits until every command is there that the tick needs, for as long as the mode allows.
    pub(super) fn await_controllers(
        &mut self,
        missing: Missing,
        pacer: &mut Pacer,
    ) -> Option<Ending> {
        let (tick, begin_ns) = (self.plant.state().tick, self.clock.now_ns());
        let budget_ns = match &self.limits.mode {
            Mode::RealTime => 0,
            Mode::Lockstep => u64::MAX,
            Mode::Budgeted(budget) => self.spending.left_ns(budget, tick),
        };
        let ending = self.wait_for_commands(missing, begin_ns, budget_ns);
        let now_ns = self.clock.now_ns();
        let waited_ns = now_ns.saturating_sub(begin_ns);
        self.spending.spend(waited_ns);
        self.gate.counts.ticks_waited += 1;
        self.gate.counts.waited_ns += waited_ns;
        pacer.forgive(now_ns);
        ending
    }

    fn wait_for_commands(
        &mut self,
        mut missing: Missing,
        begin_ns: u64,
        budget_ns: u64,
    ) -> Option<Ending> {
        let (run_id, tick) = (self.run_id, self.plant.state().tick);
        let (mut again_ns, mut sent_ns) = (SENT_AGAIN_NS, begin_ns);
        while missing != Missing::default() {
            let now_ns = self.clock.now_ns();
            let waited_ns = now_ns.saturating_sub(begin_ns);
            if self.links.stop.load(Ordering::Relaxed) {
                return Some(Ending::Stopped);
            }
            if self.limits.patience_ns.is_some_and(|patience| waited_ns >= patience) {
                return Some(Ending::ControllerTimeout(missing));
            }
            if waited_ns >= budget_ns {
                self.given_up = Some(tick);
                self.gate.counts.ticks_given_up += 1;
                self.occur(tick, Happened::GivenUp(missing));
                return None;
            }
            if now_ns.saturating_sub(sent_ns) >= again_ns {
                (sent_ns, again_ns) = (now_ns, (again_ns * 2).min(SENT_AGAIN_MAX_NS));
                self.send_again(missing);
                self.report_awaiting(missing);
            }
            let look_ns = LOOK_AGAIN_NS.min(budget_ns - waited_ns);
            self.clock.sleep_till_rung(&self.links.arrived, now_ns + look_ns);
            self.collect_orders();
            if self.waiting || self.is_paused() || run_id != self.run_id {
                return None;
            }
            if std::mem::take(&mut self.newcomer) {
                self.publish(Phase::Running);
            }
            self.make_room();
            self.collect_commands();
            missing = self.missing();
        }
        None
    }

    /// Commands that no tick will obey must not keep those away that are waited for.
    pub(super) fn make_room(&mut self) {
        if self.input.offers.len() < OFFERS_MAX {
            return;
        }
        let (tick, leases) = (self.plant.state().tick, self.leases().into_owned());
        let is_due = |offer: &Command| {
            let lease = leases.of_session(offer.session).map(|(_, lease)| lease);
            lease.is_some_and(|l| l.schedule.answered_at(tick) == Some(offer.answers_tick))
        };
        while let Some(useless) = self.input.offers.iter().position(|offer| !is_due(offer)) {
            let offer = self.input.offers.remove(useless);
            self.gate.counts.no_room += 1;
            self.links.commands.give_back(offer);
        }
    }

    /// Sends the states again that are waited for: they, or their answers, may have been lost.
    fn send_again(&mut self, missing: Missing) {
        let (run_id, tick) = (self.run_id, self.plant.state().tick);
        // who has just joined has been sent the newest one
        self.publish(Phase::Running);
        let leases = self.leases().into_owned();
        for lease in leases.places().iter().filter(|l| missing.contains(&l.controller)) {
            let owed = lease.owes(tick).filter(|&answered| answered < tick);
            if let Some(state) = owed.and_then(|answered| self.kept.of(run_id, answered)) {
                self.snapshot.state.copy_from(state);
                (self.snapshot.asked, self.snapshot.again) = (true, true);
                self.send_snapshot();
            }
        }
    }

    fn report_awaiting(&self, missing: Missing) {
        let report = self.report_of(&super::stand_by::nothing_offered(), Phase::Awaiting, 0);
        self.tell(super::TickReport { missing, ..report });
    }
}
