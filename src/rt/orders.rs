//! What the loop does with orders.

use std::sync::atomic::Ordering;

use crate::limits::EVENTS_MAX;

use super::order_line::{Answer, Jump, Order};
use super::{Clock, Executive, StartRule};

impl<C: Clock> Executive<C> {
    /// True if no tick may be run until an order comes.
    pub(super) fn is_paused(&self) -> bool {
        self.plant.state().tick >= self.pause_at
    }

    /// Orders from outside, then the events of the coming tick: planned ones before others.
    pub(super) fn collect_orders(&mut self) {
        while let Some((number, order)) = self.links.orders.take() {
            self.obey(number, order);
        }
        self.schedule.take_due(self.plant.state().tick, &mut self.input.events);
        while self.input.events.len() < EVENTS_MAX
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
            Order::Jump(jump) => {
                self.jump(jump);
                tick = self.plant.state().tick;
            }
            Order::Snapshot(words) => {
                words.clear();
                self.plant.write_words(words);
            }
        }
        self.links.orders.answer(Answer { number, epoch: self.epoch, tick, order });
    }

    /// Runs, also without a controller, until so many ticks are done.
    const fn run_to(&mut self, tick: u64) {
        (self.pause_at, self.waiting) = (tick, false);
    }

    /// The next run begins with another state. What was meant for the run before is void.
    fn jump(&mut self, jump: &Jump) {
        let (paused, epoch, tick) = (self.is_paused(), self.epoch, self.plant.state().tick);
        while let Some((number, order)) = self.links.orders.take_event() {
            self.links.orders.answer(Answer { number, epoch, tick, order });
        }
        let now_ns = self.plant.time_ns().wrapping_add(self.time_offset_ns);
        self.plant.adopt(&jump.words);
        self.epoch = self.epoch.wrapping_add(1);
        self.links.epoch.store(self.epoch, Ordering::Relaxed);
        self.time_offset_ns =
            if jump.rewind { 0 } else { now_ns.saturating_sub(self.plant.time_ns()) };
        self.pause_at = if paused { self.plant.state().tick } else { u64::MAX };
        self.waiting = jump.afresh && self.limits.start == StartRule::OnController;
        self.input.events.clear();
        self.recycle_offers();
        self.link_faults.clear();
        self.schedule.go_to(self.plant.state().tick);
        self.keyframe_due = true;
    }
}
