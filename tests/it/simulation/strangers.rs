//! Programs that mean harm, or do it: they know all that is published, and no secret.

use hardstand_protocol::{
    ClaimedCommand, ControlRequest, JointCommand, LeaveRequest, Order, encode_command,
    public_session,
};

use super::asker::{damaged, forged};
use super::book::From;
use super::joiner::Place;
use super::world::{Happening, World};

/// The gain that only commands of strangers have.
pub const STRANGE_KP: f64 = 77.0;

impl World {
    /// One try to take the robot, or to disturb it.
    pub(super) fn imitate(&mut self) {
        let published = self.published_session();
        match self.dice.roll(8) {
            0 => {
                let bytes = self.strange_command(published, u64::MAX);
                self.send(bytes, |bytes| Happening::Command("cmd", bytes));
            }
            1 => {
                let leave = LeaveRequest { session: published };
                self.ask_as(From::Stranger, Order::Leave, &leave, None);
            }
            2 => self.join_as_another(),
            3 | 4 => self.ask_everything(),
            5 => {
                let bytes = self.strange_command(published, 1);
                self.send(bytes, |bytes| Happening::Command("*", bytes));
            }
            6 => {
                let (at, bad) = (self.dice.roll(1 << 30), self.dice.roll(3) as usize);
                if let Some(saved) = self.saved.as_ref().map(|saved| forged(saved, at, bad)) {
                    self.ask_as(From::Forger, Order::Restore, &saved, None);
                }
            }
            _ => {
                let at = self.dice.roll(1 << 30);
                if let Some(saved) = self.saved.as_ref().map(|saved| damaged(saved, at)) {
                    self.ask_as(From::Stranger, Order::Restore, &saved, None);
                }
            }
        }
    }

    /// A number of a session that everybody can see.
    fn published_session(&mut self) -> u64 {
        let count = self.joiners.len() as u64;
        match self.dice.roll(3) {
            0 if count > 0 => public_session(self.joiners[self.dice.roll(count) as usize].secret),
            1 if count > 0 => {
                let name = &self.joiners[self.dice.roll(count) as usize].name;
                hardstand_protocol::controller_number(name)
            }
            _ => self.seen.last_state.command_session,
        }
    }

    /// A command that is well formed, for the whole robot.
    pub(super) fn strange_command(&self, session: u64, seq: u64) -> Vec<u8> {
        let state = self.seen.last_state;
        let hold = |&q: &f64| JointCommand { q, kp: STRANGE_KP, kd: 3.0, ..Default::default() };
        let claim = ClaimedCommand {
            layout_hash: self.layout_hash,
            run_id: state.run_id,
            session,
            seq,
            answers_tick: state.tick,
            applies_tick: state.tick,
            joints: self.q.iter().map(hold).collect(),
        };
        let mut out = Vec::new();
        encode_command(&claim, &mut out).unwrap();
        out
    }

    /// Asks to join under the name of a controller that is there.
    fn join_as_another(&mut self) {
        let there =
            |j: &&super::joiner::SimJoiner| j.announced && matches!(j.place, Place::In { .. });
        let Some(other) = self.joiners.iter().find(there) else { return };
        let mut request = other.request(self.layout_hash);
        request.session = 1 + self.dice.roll(u64::MAX / 2);
        let name = request.controller.clone();
        let nonce = self.note_order(From::Stranger, Order::Join, &request, None);
        // at once: who is there a moment later is another question
        let has_it = self.bus.joined.controller(self.secret_of(&name)).is_some();
        if has_it {
            let key = self.keys.order(Order::Join).to_string();
            self.arrive(&key, nonce);
        }
    }

    fn secret_of(&self, name: &str) -> u64 {
        self.joiners.iter().find(|j| j.name == name).map_or(0, |j| j.secret)
    }

    /// As a tool that looks for what there is: a pattern of keys, or every key without a payload.
    fn ask_everything(&mut self) {
        let pattern = ["**", "hardstand/*/*", "hardstand/**", "hardstand/*/s$*"];
        let pattern = pattern[self.dice.roll(4) as usize].to_string();
        let (by_pattern, empty) = (self.dice.roll(2) == 0, self.dice.roll(2) == 0);
        if !by_pattern && !empty {
            return;
        }
        for order in Order::ALL {
            if by_pattern && pattern.ends_with("s$*") && !order.name().starts_with('s') {
                continue;
            }
            let nonce = self.note_order(From::Stranger, order, &ControlRequest::default(), None);
            if empty {
                self.bus.book.asked.get_mut(&nonce).unwrap().bytes.clear();
            }
            let own = self.keys.order(order).to_string();
            self.arrive(if by_pattern { &pattern } else { &own }, nonce);
        }
    }

    /// A period of a flood: every session sends its commands.
    pub(super) fn flood(&mut self) {
        let [sessions, commands] = self.faults.flood;
        let tick = self.seen.last_state.tick;
        for session in 0..sessions {
            for n in 0..commands {
                let bytes = self.strange_command(1_000_000 + session, tick * 1000 + n);
                let _refused = self.desk.take_in(&bytes).is_err();
            }
        }
    }
}
