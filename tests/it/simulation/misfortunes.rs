//! What happens to controllers, publisher and bus, and what they do about it.

use hardstand::rt::Happened;
use hardstand_protocol::{CommandSchedule, Kind, StateReading, controller_number, public_session};

use super::faults::{Company, Faults};
use super::joiner::{Place, SimJoiner};
use super::world::{Happening, MAGIC_LATENCY_NS, World};
use crate::common::dice::Dice;

impl World {
    pub(super) fn tell_joiner(&mut self, i: usize, bytes: &[u8]) {
        let now_ns = self.now_ns;
        let Ok(state) = hardstand_protocol::decode(Kind::State, bytes) else { return };
        let state: StateReading = state;
        let joiner = &mut self.joiners[i];
        if now_ns < joiner.silent_until_ns {
            return;
        }
        if let Some(command) = joiner.answer(&state, now_ns) {
            return self.send(command, |bytes| Happening::Command("cmd", bytes));
        }
        match self.joiners[i].place {
            Place::Out(from_ns) if now_ns >= from_ns => self.ask_to_join(i),
            // no answer has come to any of its requests
            Place::Asking(nonce) if self.has_given_up(nonce) => {
                self.joiners[i].place = Place::Out(now_ns);
            }
            Place::In { .. } if self.dice.roll(600) == 0 => self.ask_to_leave(i),
            _ => {}
        }
    }

    fn has_given_up(&self, nonce: u64) -> bool {
        let waits = |h: &Happening| matches!(h, Happening::AskAgain(n) | Happening::Query(_, n) | Happening::Reply(n, _) if *n == nonce);
        !self.happenings.values().any(waits)
    }

    /// The events of the loop: a controller that was late asks to join again.
    pub(super) fn hear_events(&mut self) {
        let events: Vec<_> = self.bench.events.try_iter().collect();
        for event in events {
            let Happened::Lost { controller, .. } = event.happened else { continue };
            let now_ns = self.now_ns;
            let own = |j: &&mut SimJoiner| controller_number(&j.name) == controller;
            if let Some(joiner) = self.joiners.iter_mut().find(own)
                && matches!(joiner.place, Place::In { .. })
            {
                joiner.place = Place::Out(now_ns);
            }
        }
    }

    /// It crashes, and is there again after a while under another session.
    pub(super) fn restart_joiner(&mut self, i: usize, pause_ns: u64) {
        let (old, was_announced) = (self.joiners[i].secret, self.joiners[i].announced);
        if was_announced {
            let noticed_ns = self.now_ns + self.dice.roll(30_000_000);
            self.at(noticed_ns, Happening::Connection(public_session(old), false));
        }
        let (secret, announced) = (self.fresh_session(), self.dice.roll(4) > 0);
        if announced {
            self.at(self.now_ns + pause_ns, Happening::Connection(public_session(secret), true));
        }
        self.joiners[i].restart(secret, announced, self.now_ns + pause_ns);
    }

    pub(super) fn misfortunes(&mut self) {
        if !self.controllers.is_empty() {
            let i = self.dice.roll(self.controllers.len() as u64) as usize;
            if self.chance(self.faults.crash) {
                let session = self.fresh_session();
                self.controllers[i].restart(session);
                self.controllers[i].silent_until_ns = self.now_ns + self.dice.roll(300_000_000);
            }
            if self.chance(self.faults.freeze) {
                self.controllers[i].silent_until_ns = self.now_ns + self.dice.roll(100_000_000);
            }
        }
        if !self.joiners.is_empty() {
            let i = self.dice.roll(self.joiners.len() as u64) as usize;
            if self.chance(self.faults.crash) {
                let pause_ns = self.dice.roll(100_000_000);
                self.restart_joiner(i, pause_ns);
            }
            if self.chance(self.faults.freeze) {
                self.joiners[i].silent_until_ns = self.now_ns + self.dice.roll(300_000_000);
            }
        }
        if self.chance(self.faults.publisher_stall) {
            self.publisher_silent_until_ns = self.now_ns + self.dice.roll(100_000_000);
        }
        if self.chance(self.faults.bus_death) {
            let until_ns = self.now_ns + 20_000_000 + self.dice.roll(50_000_000);
            self.bus.die(until_ns);
        }
        if self.chance(self.faults.stranger) {
            let length = self.dice.roll(700);
            let bytes = (0..length).map(|_| self.dice.roll(256) as u8).collect();
            self.at(self.now_ns + MAGIC_LATENCY_NS, Happening::Command("cmd", bytes));
        }
        if self.chance(self.faults.order) {
            self.operate();
        }
        if self.chance(self.faults.imitation) {
            self.imitate();
        }
    }
}

/// The controllers that join: one for the whole robot, or several for some legs each.
pub fn joiners(dice: &mut Dice, faults: &Faults, joints: &[(String, f64)]) -> Vec<SimJoiner> {
    let whole = faults.company == Company::Flood || dice.roll(2) == 0;
    let of = |i: u64| {
        let own = joints.iter().enumerate().filter(|(j, _)| whole || *j as u64 / 3 % 3 == i);
        let own = own.map(|(_, joint)| joint.clone()).collect();
        let period = [1, 1, 2, 5][dice.roll(4) as usize];
        let (phase, offset) = (dice.roll(period), dice.roll(4).min(period * 2));
        let schedule = CommandSchedule { period, phase, offset };
        SimJoiner::new(format!("joiner-{i}"), own, schedule)
    };
    (0..faults.joiners).map(of).collect()
}
