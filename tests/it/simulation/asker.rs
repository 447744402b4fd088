//! Orders on their way to the daemon: what operators and controllers want, and that they ask again
//! when no answer comes.

use hardstand::desk::Reply;
use hardstand_protocol::{
    AnchorsRequest, ClearFaultsRequest, ConstraintRequest, ControlRequest, FaultRequest,
    FrictionRequest, LeaveRequest, Order, OrderHead, PushRequest, SavedState, Scope, SpeedRequest,
    VelocityCommand, encode_order,
};
use serde::Serialize;

use super::book::{Asked, From, asker};
use super::faults::Company;
use super::joiner::Place;
use super::world::{Happening, World};

/// An asker waits so long for an answer before it asks again, ns.
const AGAIN_NS: u64 = 150_000_000;
const TRIES: u32 = 6;

/// A constraint of the robot.
pub const CONSTRAINT: &str = "gantry";

/// What operators want, some of it more often.
const WISHES: [Order; 26] = [
    Order::Friction,
    Order::Friction,
    Order::Friction,
    Order::Push,
    Order::Push,
    Order::Velocity,
    Order::Velocity,
    Order::Fault,
    Order::ClearFaults,
    Order::Constraint,
    Order::Anchors,
    Order::Pause,
    Order::Step,
    Order::Step,
    Order::RunUntil,
    Order::Resume,
    Order::Resume,
    Order::Resume,
    Order::Reset,
    Order::Snapshot,
    Order::Restore,
    Order::Speed,
    Order::Speed,
    Order::Stop,
    Order::Arm,
    Order::Arm,
];

impl World {
    /// An operator gives an order.
    pub(super) fn operate(&mut self) {
        let mut order = WISHES[self.dice.roll(WISHES.len() as u64) as usize];
        if self.faults.company != Company::Busy {
            order = Order::Friction;
        }
        // a daemon that stands still, or crawls, is asked to go on
        let state = self.seen.last_state;
        if state.phase == 3 && self.dice.roll(3) == 0 {
            order = Order::Resume;
        } else if state.slow && self.dice.roll(2) == 0 {
            order = Order::Speed;
        } else if state.stopped && self.dice.roll(3) == 0 {
            order = Order::Arm;
        }
        let number = [1, 2, 10, 60][self.dice.roll(4) as usize];
        let control = |number, rewind| ControlRequest { number, rewind };
        match order {
            Order::Friction => self.order_friction(),
            Order::Push => {
                let mark = self.next_mark();
                let force_world_n = [mark, 0.0, 1.0];
                let push = PushRequest {
                    link: "trunk".into(),
                    point_link_m: [0.0; 3],
                    force_world_n,
                    ticks: 1 + self.dice.roll(30),
                };
                self.ask(From::Operator, order, &push, Some(mark));
            }
            Order::Velocity => {
                let mark = self.next_mark();
                let velocity = VelocityCommand { vx_m_per_s: mark, ..Default::default() };
                self.ask(From::Operator, order, &velocity, Some(mark));
            }
            Order::Fault => self.order_fault(),
            Order::ClearFaults => {
                self.ask(From::Operator, order, &ClearFaultsRequest::default(), None);
            }
            Order::Constraint => {
                let active = self.dice.roll(2) as u8;
                let request = ConstraintRequest { name: CONSTRAINT.into(), active };
                self.ask(From::Operator, order, &request, None);
            }
            Order::Anchors => {
                let scopes = [Scope::All, Scope::Foot(self.dice.roll(4) as u32)];
                let scope = scopes[self.dice.roll(2) as usize];
                let request = AnchorsRequest::new(self.layout_hash, scope);
                self.ask(From::Operator, order, &request, None);
            }
            Order::Step => self.ask(From::Operator, order, &control(number, 0), None),
            Order::RunUntil => {
                self.ask(From::Operator, order, &control(state.tick + number, 0), None);
            }
            Order::Reset => {
                let rewind = self.dice.roll(2) as u8;
                self.ask(From::Operator, order, &control(0, rewind), None);
            }
            Order::Restore => {
                if let Some(saved) = self.saved.clone() {
                    self.ask(From::Operator, order, &saved, None);
                }
            }
            Order::Speed => self.order_speed(state.slow),
            Order::Arm => {
                self.ask(From::Operator, order, &control(0, 0), None);
                // another operator stops the robot at the same time
                if self.dice.roll(3) == 0 {
                    self.ask(From::Operator, Order::Stop, &control(0, 0), None);
                }
            }
            _ => self.ask(From::Operator, order, &control(0, 0), None),
        }
    }

    fn order_friction(&mut self) {
        let mark = self.next_mark();
        let scope = [Scope::All, Scope::Foot(self.dice.roll(4) as u32)][self.dice.roll(2) as usize];
        let request = FrictionRequest::new(self.layout_hash, scope, mark, mark * 0.9);
        self.seen.friction_sent += 1;
        self.ask(From::Operator, Order::Friction, &request, Some(mark));
    }

    fn order_fault(&mut self) {
        let mark = self.next_mark();
        let rows: [(&str, &str, &str, Vec<f64>); 4] = [
            ("battery_sag", "", "", vec![mark]),
            ("encoder_offset", "joint", "FL_calf_joint", vec![mark * 0.01]),
            ("encoder_noise", "", "", vec![mark * 0.01, 7.0]),
            ("link_drop", "", "", vec![mark * 0.1, 1.0, 7.0]),
        ];
        let (kind, part, name, values) = rows[self.dice.roll(4) as usize].clone();
        let first = values[0];
        let request = FaultRequest {
            kind: kind.into(),
            part: part.into(),
            name: name.into(),
            values,
            ticks: 1 + self.dice.roll(200),
        };
        self.ask(From::Operator, Order::Fault, &request, Some(first));
    }

    /// Never as fast as possible: that pace does not wait for anything here.
    fn order_speed(&mut self, slow: bool) {
        let speeds = [0.001, 0.05, 0.5, 1.0, 1.0, 4.0];
        let speed = if slow { 1.0 } else { speeds[self.dice.roll(6) as usize] };
        self.seen.last_state.slow = speed < 0.1;
        self.ask(From::Operator, Order::Speed, &SpeedRequest { speed }, None);
    }

    /// A number between 0.3 and 0.9 that no other order has.
    fn next_mark(&mut self) -> f64 {
        self.marks += 1;
        0.3 + self.marks as f64 * 1e-5
    }

    /// A controller asks to join, or to leave.
    pub(super) fn ask_to_join(&mut self, i: usize) {
        let request = self.joiners[i].request(self.layout_hash);
        let nonce = self.ask_as(From::Joiner(i), Order::Join, &request, None);
        self.joiners[i].place = Place::Asking(nonce);
    }

    pub(super) fn ask_to_leave(&mut self, i: usize) {
        let session = self.joiners[i].secret;
        self.joiners[i].place = Place::Out(self.now_ns + 20_000_000);
        self.ask_as(From::Joiner(i), Order::Leave, &LeaveRequest { session }, None);
    }

    fn ask<T: Serialize>(&mut self, from: From, order: Order, body: &T, mark: Option<f64>) {
        self.ask_as(from, order, body, mark);
    }

    /// Sends an order under its key; its nonce.
    pub(super) fn ask_as<T: Serialize>(
        &mut self,
        from: From,
        order: Order,
        body: &T,
        mark: Option<f64>,
    ) -> u64 {
        let nonce = self.note_order(from, order, body, mark);
        self.send_query(nonce);
        nonce
    }

    /// Writes an order into the book without sending it.
    pub(super) fn note_order<T: Serialize>(
        &mut self,
        from: From,
        order: Order,
        body: &T,
        mark: Option<f64>,
    ) -> u64 {
        let nonce = 1 + self.dice.roll(u64::MAX - 1);
        // a stop may mean whichever run there is
        let any_run = order == Order::Stop && self.dice.roll(4) > 0;
        let run_id = if any_run { 0 } else { self.seen.last_state.run_id };
        let robot = self.bench.scenario.bus.robot.clone();
        let head = OrderHead { robot, run_id, nonce, asker: asker(nonce) };
        let mut bytes = Vec::new();
        encode_order(order, &head, body, &mut bytes).unwrap();
        let asked = Asked {
            order,
            from,
            bytes,
            mark: mark.map(f64::to_bits),
            tries: 0,
            heard: false,
            open: false,
            stops: 0,
            orphan: false,
            reply: None,
            holds: Vec::new(),
        };
        self.bus.book.asked.insert(nonce, asked);
        nonce
    }

    fn send_query(&mut self, nonce: u64) {
        let asked = self.bus.book.asked.get_mut(&nonce).unwrap();
        asked.tries += 1;
        let (key, tries) = (self.keys.order(asked.order).to_string(), asked.tries);
        self.send(Vec::new(), |_| Happening::Query(key.clone(), nonce));
        let again_ns = self.now_ns + AGAIN_NS + self.dice.roll(AGAIN_NS);
        if tries < TRIES {
            self.at(again_ns, Happening::AskAgain(nonce));
        }
    }

    /// The same order once more, with the same nonce, if no answer has come.
    pub(super) fn ask_again(&mut self, nonce: u64) {
        let asked = &self.bus.book.asked[&nonce];
        if !asked.heard {
            self.send_query(nonce);
        }
    }

    /// An answer arrives at its asker.
    pub(super) fn hear(&mut self, nonce: u64, reply: &Reply) {
        let asked = self.bus.book.asked.get_mut(&nonce).unwrap();
        asked.heard = true;
        match (asked.from, reply) {
            (From::Operator, Reply::Saved(saved)) => self.saved = Some(saved.clone()),
            (From::Joiner(i), Reply::Joined(joined)) => {
                self.joiners[i].hear(nonce, joined, self.now_ns);
            }
            _ => {}
        }
    }
}

/// A saved state with one bit of its words changed.
pub fn damaged(saved: &SavedState, at: u64) -> SavedState {
    let mut damaged = saved.clone();
    let word = at as usize % damaged.words.len();
    damaged.words[word] ^= 1 << (at / 64 % 64);
    damaged
}

/// A saved state with a number that no simulation can go on from, and a checksum that is right.
pub fn forged(saved: &SavedState, at: u64, bad: usize) -> SavedState {
    let mut forged = saved.clone();
    let word = at as usize % forged.words.len();
    forged.words[word] = [f64::NAN, f64::INFINITY, -1e300][bad].to_bits();
    forged.summed()
}
