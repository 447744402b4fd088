//! What the loop does with requests.

use std::sync::atomic::Ordering;

use crate::buffer_pool::{Run, StopTaken};
use crate::config::{Pace, StartRule};
use crate::limits::{EVENTS_MAX, LEASE_EVENTS};
use hardstand_protocol::{Event, VelocityCommand};

use super::request_queue::{Answer, Request, StateReset};
use super::state::LoopState;
use super::state::Trigger;
use super::{Clock, Executive};

impl<C: Clock> Executive<C> {
    /// Takes requests, then the events of the coming tick: planned ones before others.
    pub(super) fn take_requests(&mut self) {
        while self.has_room_for_leases()
            && let Some((number, request)) = self.links.requests.take_of_leases()
        {
            self.handle(number, request);
        }
        // also where the tick is full: one of these may be what lets it run
        while let Some((number, request)) = self.links.requests.take() {
            self.handle(number, request);
        }
        self.schedule.take_due(self.simulation.state().tick, &mut self.input.events);
        while self.input.events.len() < EVENTS_MAX - LEASE_EVENTS
            && let Some((number, event)) = self.links.requests.take_event()
        {
            self.handle(number, event);
        }
        self.take_stop();
        if self.input.events.iter().any(Event::is_of_leases) {
            self.note_owners();
        }
    }

    /// Takes the emergency stop, after everything else that came with it: no request ends it that
    /// was sent before it.
    pub(super) fn take_stop(&mut self) {
        if !self.links.emergency_stop.is_requested() {
            return;
        }
        if !self.leases().stopped {
            // in a pause one may follow another without end: the last one counts
            self.input.events.retain(|event| !matches!(event, Event::Stop | Event::Arm));
            self.input.events.push(Event::Stop);
        }
        let (run, tick) = (self.this_run(), self.simulation.state().tick);
        self.links.emergency_stop.take(StopTaken { run, tick });
        self.publish_at_once |= !matches!(self.state, LoopState::Running);
    }

    /// The velocity that holds in the coming tick, with what is asked for so far.
    fn velocity_command(&self) -> VelocityCommand {
        let velocity = |event: &Event| match event {
            Event::Velocity(v) => Some(*v),
            _ => None,
        };
        let asked = self.input.events.iter().rev().find_map(velocity);
        asked.unwrap_or_else(|| self.simulation.velocity_command())
    }

    fn handle(&mut self, number: u64, mut request: Request) {
        let (mut tick, mut acts) = (self.simulation.state().tick, true);
        match &mut request {
            // a stream of the same velocity is one event
            Request::Event(Event::Velocity(v)) if *v == self.velocity_command() => {}
            Request::Event(event) => {
                acts = self.simulation.has_room_for(event, &self.input.events);
                self.input.events.push(*event);
            }
            Request::Pause => self.change_state(Trigger::Pause),
            Request::Resume => self.change_state(Trigger::Resume),
            Request::Step(ticks) => tick = self.step_until(tick.saturating_add(*ticks)),
            Request::RunUntil(until) => tick = self.step_until(*until),
            Request::Join(join) => {
                let (join, answer) = join.as_mut();
                self.join(join, answer);
            }
            Request::Leave(session) => self.input.events.push(Event::Leave { session: *session }),
            Request::Arm { stops, void } => {
                *void = self.links.emergency_stop.requests() != *stops;
                if !*void && self.leases().stopped {
                    self.input.events.push(Event::Arm);
                }
            }
            Request::Speed(wall_period_ns) => self.set_speed(*wall_period_ns),
            Request::StateReset(reset) => {
                self.reset(reset);
                tick = self.simulation.state().tick;
            }
            Request::Snapshot(words) => {
                words.clear();
                self.simulation.write_words(words);
            }
        }
        self.links.requests.answer(Answer { number, run: self.this_run(), tick, acts, request });
    }

    const fn this_run(&self) -> Run {
        Run { id: self.run_id, begin_ns: self.time_offset_ns }
    }

    /// Runs, also without a controller, until so many ticks are done; the tick at which it pauses.
    fn step_until(&mut self, until: u64) -> u64 {
        let tick = self.simulation.state().tick;
        let trigger = if until > tick { Trigger::StepUntil(until) } else { Trigger::Pause };
        self.change_state(trigger);
        until.max(tick)
    }

    /// From the coming tick on; 0 for as fast as the machine allows.
    fn set_speed(&mut self, wall_period_ns: u64) {
        if wall_period_ns == 0 {
            self.pace = Pace::Free;
        } else {
            if self.pace == Pace::Free {
                self.wait_for_recorder();
            }
            self.pace = Pace::RealTime(self.limits.overrun);
            self.pacer.set_period(wall_period_ns, self.clock.now_ns());
        }
    }

    /// The next run begins with another state. What was meant for the run before is void.
    fn reset(&mut self, reset: &StateReset) {
        let (run, tick) = (self.this_run(), self.simulation.state().tick);
        while let Some((number, request)) = self.links.requests.take_event() {
            self.links.requests.answer(Answer { number, run, tick, acts: true, request });
        }
        // a period later, so that no two states have the same time
        let begin_ns = self.simulation.time_ns().wrapping_add(self.time_offset_ns);
        let begin_ns = begin_ns.wrapping_add(self.simulation.spec().period_ns);
        let stopped = self.leases().stopped;
        self.simulation.adopt(&reset.words);
        self.run_id = self.run_id.wrapping_add(1);
        self.links.run_id.store(self.run_id, Ordering::Relaxed);
        self.time_offset_ns =
            if reset.rewind { 0 } else { begin_ns.saturating_sub(self.simulation.time_ns()) };
        let await_controllers = reset.afresh && self.limits.start == StartRule::OnController;
        self.change_state(Trigger::Reset { await_controllers });
        self.input.events.clear();
        if stopped && !self.simulation.leases().stopped {
            self.input.events.push(Event::Stop); // only `arm` ends it
        }
        self.recycle_commands();
        while let Some(early) = self.admission.take_any() {
            self.links.commands.give_back(early);
        }
        self.admission.begin(self.simulation.state().tick);
        self.wait_budget.begin();
        self.link_faults.clear();
        self.state_faults.clear();
        self.schedule.go_to(self.simulation.state().tick);
        self.keyframe_due = true;
    }
}
