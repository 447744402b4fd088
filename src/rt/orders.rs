//! What the loop does with orders.

use std::sync::atomic::Ordering;

use crate::limits::{EVENTS_MAX, LEASE_EVENTS};
use hardstand_protocol::Event;

use super::order_line::{Answer, Order, StateReset};
use super::{Clock, Executive, Pace, StartRule};

impl<C: Clock> Executive<C> {
    /// True if no tick may be run until an order comes.
    pub(super) fn is_paused(&self) -> bool {
        self.plant.state().tick >= self.pause_at
    }

    /// Orders from outside, then the events of the coming tick: planned ones before others.
    pub(super) fn collect_orders(&mut self) {
        while self.input.events.len() < EVENTS_MAX
            && let Some((number, order)) = self.links.orders.take()
        {
            self.obey(number, order);
        }
        self.schedule.take_due(self.plant.state().tick, &mut self.input.events);
        while self.input.events.len() < EVENTS_MAX - LEASE_EVENTS
            && let Some((number, event)) = self.links.orders.take_event()
        {
            self.obey(number, event);
        }
    }

    fn obey(&mut self, number: u64, mut order: Order) {
        let mut tick = self.plant.state().tick;
        match &mut order {
            Order::Event(event) => self.input.events.push(*event),
            Order::Pause => self.pause_at = tick,
            Order::Resume => self.run_to(u64::MAX),
            Order::Step(ticks) => {
                tick = tick.saturating_add(*ticks);
                self.run_to(tick);
            }
            Order::RunUntil(until) => {
                tick = tick.max(*until);
                self.run_to(tick);
            }
            Order::Join(join) => {
                let (join, answer) = join.as_mut();
                self.join(join, answer);
            }
            Order::Leave(session) => self.input.events.push(Event::Leave { session: *session }),
            Order::Stop => self.input.events.push(Event::Stop),
            Order::Arm => self.input.events.push(Event::Arm),
            Order::Speed(wall_period_ns) => self.set_speed(*wall_period_ns),
            Order::StateReset(jump) => {
                self.jump(jump);
                tick = self.plant.state().tick;
            }
            Order::Snapshot(words) => {
                words.clear();
                self.plant.write_words(words);
            }
        }
        self.links.orders.answer(Answer { number, run_id: self.run_id, tick, order });
    }

    /// From the coming tick on; 0 for as fast as the machine allows.
    const fn set_speed(&mut self, wall_period_ns: u64) {
        self.new_pace = true;
        if wall_period_ns == 0 {
            self.pace = Pace::Free;
        } else {
            self.pace = Pace::RealTime(self.limits.overrun);
            self.wall_period_ns = wall_period_ns;
        }
    }

    /// Runs, also without a controller, until so many ticks are done.
    const fn run_to(&mut self, tick: u64) {
        (self.pause_at, self.waiting) = (tick, false);
    }

    /// The next run begins with another state. What was meant for the run before is void.
    fn jump(&mut self, jump: &StateReset) {
        let (paused, run_id, tick) = (self.is_paused(), self.run_id, self.plant.state().tick);
        while let Some((number, order)) = self.links.orders.take_event() {
            self.links.orders.answer(Answer { number, run_id, tick, order });
        }
        let now_ns = self.plant.time_ns().wrapping_add(self.time_offset_ns);
        self.plant.adopt(&jump.words);
        self.run_id = self.run_id.wrapping_add(1);
        self.links.run_id.store(self.run_id, Ordering::Relaxed);
        self.time_offset_ns =
            if jump.rewind { 0 } else { now_ns.saturating_sub(self.plant.time_ns()) };
        self.pause_at = if paused { self.plant.state().tick } else { u64::MAX };
        self.waiting = jump.afresh && self.limits.start == StartRule::OnController;
        self.input.events.clear();
        self.recycle_offers();
        while let Some(early) = self.gate.take_any() {
            self.links.commands.give_back(early);
        }
        self.gate.begin(self.plant.state().tick);
        self.given_up = None;
        self.link_faults.clear();
        self.schedule.go_to(self.plant.state().tick);
        self.keyframe_due = true;
    }
}
