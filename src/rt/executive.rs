//! The loop.

use std::sync::atomic::Ordering;

use crate::fault_point;
use crate::limits::{EVENTS_MAX, OFFERS_MAX};
use crate::plant::{Authority, Outcome, Plant, Snapshot, TickInput, Verdict, Watchdog};

use super::links::{Ending, Links, Pace, RunLimits, StartRule};
use super::records::{LogTick, TickReport};
use super::{Clock, OverrunPolicy, Pacer, Schedule, Wait};

/// The cyclic executive: owns the plant, and nobody else can touch it.
#[derive(Debug)]
pub struct Executive<C> {
    plant: Plant,
    clock: C,
    links: Links,
    schedule: Schedule,
    pace: Pace,
    limits: RunLimits,
    input: TickInput,
    snapshot: Snapshot,
    missed: u64,
    caught_up: u64,
    wakeup_latency_ns: u64,
    snapshots_dropped: u64,
    log_dropped: u64,
    keyframe_due: bool,
}

impl<C: Clock> Executive<C> {
    /// A loop around `plant`.
    pub fn new(
        plant: Plant,
        clock: C,
        links: Links,
        schedule: Schedule,
        pace: Pace,
        limits: RunLimits,
    ) -> Self {
        let mut snapshot = plant.new_snapshot();
        (snapshot.state.epoch, snapshot.contacts.epoch) = (limits.epoch, limits.epoch);
        snapshot.state.mode = pace.code();
        Self {
            plant,
            clock,
            links,
            schedule,
            pace,
            limits,
            input: TickInput::new(),
            snapshot,
            missed: 0,
            caught_up: 0,
            wakeup_latency_ns: 0,
            snapshots_dropped: 0,
            log_dropped: 0,
            keyframe_due: true,
        }
    }

    /// Runs to the end and returns the plant.
    pub fn run(mut self) -> (Ending, Plant) {
        let mut ending = self.wait_for_controller();
        let mut pacer = self.new_pacer();
        while ending.is_none() {
            ending = self.turn().or_else(|| self.wait(&mut pacer));
        }
        (ending.unwrap_or(Ending::Done), self.plant)
    }

    /// All of a tick but the wait for the next one. Nothing in here allocates, locks, waits or
    /// calls the system.
    #[cfg_attr(rtsan, sanitize(realtime = "nonblocking"))]
    fn turn(&mut self) -> Option<Ending> {
        let begin_ns = self.clock.now_ns();
        fault_point::visit("physics");
        self.collect_input();
        let tick = self.plant.state().tick;
        let record = self.reserve_record();
        let outcome = self.plant.step(&self.input);
        self.hand_over(tick, &outcome, record);
        self.report(&outcome, begin_ns);
        self.recycle_input();
        self.ending(&outcome)
    }

    fn new_pacer(&self) -> Pacer {
        let policy = match self.pace {
            Pace::RealTime(policy) => policy,
            Pace::Free => OverrunPolicy::Slip,
        };
        Pacer::new(self.clock.now_ns(), self.plant.spec().period_ns, policy)
    }

    /// Publishes the initial state once a period until one session has proved life. A copy of the
    /// watchdog judges meanwhile; the proof stays in the input of the first tick, where the plant's
    /// own watchdog comes to the same verdicts.
    fn wait_for_controller(&mut self) -> Option<Ending> {
        if self.limits.start == StartRule::Now {
            return None;
        }
        let spec = self.plant.spec();
        let (period_ns, hold_ticks) = (spec.period_ns, spec.watchdog.hold_ticks);
        let mut pacer = Pacer::new(self.clock.now_ns(), period_ns, OverrunPolicy::Slip);
        let mut watchdog = self.plant.state().watchdog;
        let mut silent = 0;
        loop {
            if self.links.stop.load(Ordering::Relaxed) {
                return Some(Ending::Stopped);
            }
            let mut outcome = nothing_offered();
            self.collect_events();
            let kept = self.input.offers.len();
            let proved = self.keep_proof(&mut watchdog, &mut outcome);
            silent = if self.input.offers.len() > kept { 0 } else { silent + 1 };
            if silent > hold_ticks {
                // the candidate has left before its proof was complete
                watchdog = self.plant.state().watchdog;
                outcome.offers += self.input.offers.len();
                self.recycle_offers();
            }
            self.publish(0);
            self.report_waiting(&outcome);
            if proved {
                return None;
            }
            match pacer.after_tick(self.clock.now_ns()) {
                Wait::Until(deadline) => self.clock.sleep_until(deadline),
                Wait::AtOnce | Wait::Stop => {}
                Wait::ClockWentBack => return Some(Ending::ClockWentBack),
            }
        }
    }

    /// Keeps the commands that prove life, refuses the others; true when the proof is complete.
    fn keep_proof(&mut self, watchdog: &mut Watchdog, outcome: &mut Outcome) -> bool {
        let tick = self.plant.state().tick;
        // room for the verdicts of what is refused and of what is kept
        while outcome.offers + self.input.offers.len() < OFFERS_MAX
            && let Some(offer) = self.links.commands.take()
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

    /// All commands that have arrived, oldest first, and the events.
    fn collect_input(&mut self) {
        while self.input.offers.len() < OFFERS_MAX
            && let Some(offer) = self.links.commands.take()
        {
            self.input.offers.push(offer);
        }
        self.collect_events();
    }

    /// Planned events, then those from outside, for the coming tick: the first, during the wait.
    fn collect_events(&mut self) {
        let tick = self.plant.state().tick;
        self.schedule.take_due(tick, &mut self.input.events);
        while self.input.events.len() < EVENTS_MAX
            && let Some(event) = self.links.events.take(tick)
        {
            self.input.events.push(event);
        }
    }

    fn recycle_input(&mut self) {
        self.recycle_offers();
        self.input.events.clear();
    }

    fn recycle_offers(&mut self) {
        for offer in self.input.offers.drain(..) {
            self.links.commands.give_back(offer);
        }
    }

    /// A log record for the coming tick, with a keyframe if one is due. In real time a full queue
    /// drops the tick, and the next record starts a new segment with a keyframe; at free pace the
    /// loop waits.
    fn reserve_record(&mut self) -> Option<Box<LogTick>> {
        let log = self.links.log.as_ref()?;
        let mut free = log.take_free();
        while free.is_none() && self.pace == Pace::Free && !self.links.stop.load(Ordering::Relaxed)
        {
            self.clock.sleep_until(self.clock.now_ns() + 100_000);
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
        let phase = if outcome.fault.is_some() { 2 } else { 1 };
        self.publish(phase);
        if let (Some(mut record), Some(log)) = (record, &self.links.log) {
            record.fill(tick, &self.input, outcome, &self.snapshot.state);
            record.missed_deadlines = self.missed;
            log.send(record);
        }
    }

    /// Fills the snapshot and hands a copy to the publisher.
    fn publish(&mut self, phase: u8) {
        self.snapshot.state.phase = phase;
        self.plant.fill(&mut self.snapshot);
        match self.links.snapshots.take_free() {
            Some(mut free) => {
                free.copy_from(&self.snapshot);
                self.links.snapshots.send(free);
            }
            None => self.snapshots_dropped += 1,
        }
    }

    fn ending(&self, outcome: &Outcome) -> Option<Ending> {
        if let Some(fault) = outcome.fault {
            return Some(Ending::Fault(fault));
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

    fn report_waiting(&self, outcome: &Outcome) {
        self.send_report(outcome, true, 0);
    }

    fn report(&self, outcome: &Outcome, begin_ns: u64) {
        self.send_report(outcome, false, self.clock.now_ns().saturating_sub(begin_ns));
    }

    fn send_report(&self, outcome: &Outcome, waiting: bool, tick_cost_ns: u64) {
        let (s, state) = (&self.snapshot.state, self.plant.state());
        let report = TickReport {
            tick: state.tick,
            waiting,
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
            base_height_m: state.q.p_WB.z,
            tilt_cos: self.plant.data().X_WB[0].R[(2, 2)],
            foot_normal_sum_n: s.foot_normal_n.iter().sum(),
            fault: outcome.fault,
            digest: state.digest,
            snapshots_dropped: self.snapshots_dropped,
            log_dropped: self.log_dropped,
        };
        // a monitor that sleeps loses reports, never time
        let _monitor_keeps_up = self.links.reports.try_send(report).is_ok();
    }
}

/// The outcome of a period of waiting in which nobody has sent anything.
const fn nothing_offered() -> Outcome {
    Outcome {
        authority: Authority::Zero,
        verdicts: [Verdict::Proving; OFFERS_MAX],
        offers: 0,
        pushes_refused: 0,
        fault: None,
    }
}
