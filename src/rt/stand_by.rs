//! Times in which no tick is run: before the first controller has come, and in a pause.

use std::sync::atomic::Ordering;

use crate::limits::OFFERS_MAX;
use crate::simulation::{Outcome, Watchdog};
use hardstand_protocol::{Authority, Verdict};

use super::links::Ending;
use super::records::Phase;
use super::{Clock, Executive, Mode, OverrunPolicy, Pacer, TickReport, Wait};

/// In a pause the state is shown again after this, for those who come late, ns.
const SHOWN_EVERY_NS: u64 = 100_000_000;

impl<C: Clock> Executive<C> {
    /// Stays until ticks may be run again, or the run ends.
    pub(super) fn stand_by(&mut self) -> Option<Ending> {
        while self.waiting || self.is_paused() {
            let ending = if self.is_paused() { self.pause() } else { self.wait_for_controller() };
            if ending.is_some() {
                return ending;
            }
        }
        None
    }

    /// Looks for orders once a period. Commands stay in their queue, where the newest win.
    fn pause(&mut self) -> Option<Ending> {
        let (run_id, mut shown_ns) = (self.run_id, None);
        while self.is_paused() && self.run_id == run_id {
            if self.links.stop.load(Ordering::Relaxed) {
                return Some(Ending::Stopped);
            }
            let now_ns = self.clock.now_ns();
            if shown_ns.is_none_or(|at| now_ns.saturating_sub(at) >= SHOWN_EVERY_NS) {
                shown_ns = Some(now_ns);
                self.publish(Phase::Paused);
                self.send_report(&nothing_offered(), Phase::Paused, 0);
            }
            self.clock.sleep_until(now_ns + self.plant.spec().period_ns);
            self.collect_orders();
        }
        None
    }

    /// Publishes the initial state once a period until one session has proved life. A copy of the
    /// watchdog judges meanwhile; the proof stays in the input of the first tick, where the plant's
    /// own watchdog comes to the same verdicts.
    fn wait_for_controller(&mut self) -> Option<Ending> {
        let spec = self.plant.spec();
        let (period_ns, hold_ticks) = (spec.period_ns, spec.watchdog.hold_ticks);
        let begin_ns = self.clock.now_ns();
        let mut pacer = Pacer::new(begin_ns, period_ns, OverrunPolicy::Slip);
        let (run_id, mut watchdog) = (self.run_id, *self.plant.watchdog());
        let mut silent = 0;
        while self.waiting && self.run_id == run_id && !self.is_paused() {
            if self.links.stop.load(Ordering::Relaxed) {
                return Some(Ending::Stopped);
            }
            if self.patience_is_over(begin_ns) {
                return Some(Ending::ControllerTimeout(self.absent()));
            }
            let mut outcome = nothing_offered();
            let kept = self.input.offers.len();
            let with_leases = self.starts_with_leases();
            self.waiting = if with_leases {
                self.make_room();
                self.collect_commands();
                !self.all_have_joined()
            } else {
                !self.keep_proof(&mut watchdog, &mut outcome)
            };
            silent = if self.input.offers.len() > kept { 0 } else { silent + 1 };
            if !with_leases && silent > hold_ticks {
                // the candidate has left before its proof was complete
                watchdog = *self.plant.watchdog();
                outcome.offers += self.input.offers.len();
                self.recycle_offers();
            }
            self.publish(Phase::Waiting);
            let report = self.report_of(&outcome, Phase::Waiting, 0);
            self.tell(TickReport { missing: self.absent(), ..report });
            if !self.waiting {
                return None;
            }
            match pacer.after_tick(self.clock.now_ns()) {
                Wait::Until(deadline) => self.clock.sleep_until(deadline),
                Wait::AtOnce | Wait::Stop => {}
                Wait::ClockWentBack => return Some(Ending::ClockWentBack),
            }
            self.collect_orders();
        }
        None
    }

    fn patience_is_over(&self, begin_ns: u64) -> bool {
        let waited_ns = self.clock.now_ns().saturating_sub(begin_ns);
        let over = self.limits.patience_ns.is_some_and(|patience| waited_ns >= patience);
        over && self.starts_with_leases()
    }

    /// True if the run begins when controllers have joined, rather than with a proof of life.
    fn starts_with_leases(&self) -> bool {
        let expected = self.limits.expected.iter().any(|&number| number != 0);
        expected || self.limits.mode != Mode::RealTime || self.leases().of_anybody()
    }

    /// True once the controllers are there that the run cannot begin without.
    fn all_have_joined(&self) -> bool {
        let absent = self.absent().iter().any(|&number| number != 0);
        !absent && self.leases().of_anybody()
    }

    /// Keeps the commands that prove life, refuses the others; true when the proof is complete.
    fn keep_proof(&mut self, watchdog: &mut Watchdog, outcome: &mut Outcome) -> bool {
        let tick = self.plant.state().tick;
        // room for the verdicts of what is refused and of what is kept
        while outcome.offers + self.input.offers.len() < OFFERS_MAX
            && let Some(offer) = self.take_command()
        {
            let spec = &self.plant.spec().watchdog;
            let (session, seq) = (offer.session, offer.seq);
            let verdict = watchdog.offer(spec, tick, session, seq, offer.answers_tick);
            if let Verdict::Rejected(_) = verdict {
                outcome.verdicts[outcome.offers] = verdict;
                outcome.offers += 1;
                self.links.commands.give_back(offer);
                continue;
            }
            self.input.offers.push(offer);
            if verdict == Verdict::Accepted {
                return true;
            }
        }
        false
    }
}

/// The outcome of a period in which nobody has sent anything.
pub(super) const fn nothing_offered() -> Outcome {
    Outcome {
        authority: Authority::Zero,
        verdicts: [Verdict::Proving; OFFERS_MAX],
        offers: 0,
        pushes_refused: 0,
        faults_refused: 0,
        failure: None,
    }
}
