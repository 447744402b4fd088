//! The daemon's side of the bus: where queries arrive and answers leave. It dies now and then, and
//! with it the desk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, bounded};
use hardstand::buffer_pool::EmergencyStop;
use hardstand::config::{Mode, Scenario};
use hardstand::desk::{
    Incoming, OrderDesk, OrderGate, OrderMemory, Reply, RequestValidator, SharedOrders,
};
use hardstand::ingress::{AcceptedOrder, ArrivalCounters, ControllerRegistry, JoinedSessions};
use hardstand::rt::RequestSender;
use hardstand_protocol::{Order, OrderReply, is_exact};

use super::book::{Asked, Book};
use crate::common::bench::Bench;

/// An order that the loop does not take is taken back after this, and answered.
const ANSWERED_WITHIN_NS: u64 = 520_000_000;
pub struct SimBus {
    desk: OrderDesk<u64>,
    gate: OrderGate,
    orders: SharedOrders,
    scenario: Scenario,
    pub stop: EmergencyStop,
    pub joined: JoinedSessions,
    pub directory: ControllerRegistry,
    pub time_ns: Arc<AtomicU64>,
    accepted: Receiver<AcceptedOrder>,
    tickets: BTreeMap<u64, Ticket>,
    next_ticket: u64,
    stops: Vec<StopAsked>,
    pub stops_taken: Vec<(u32, u64)>,
    pub dead_until_ns: u64,
    pub book: Book,
}

/// A query that waits for its answer.
struct Ticket {
    nonce: u64,
    since_ns: u64,
}

struct StopAsked {
    number: u64,
    nonce: u64,
}

impl SimBus {
    pub fn new(bench: &Bench, outbox: RequestSender, time_ns: Arc<AtomicU64>) -> Self {
        let orders: SharedOrders = Arc::new(std::sync::Mutex::new(OrderMemory::new(outbox)));
        let (accepted_out, accepted) = bounded(1000);
        let (run_id, counters) = (Arc::clone(&bench.run_id), Arc::<ArrivalCounters>::default());
        let gate = OrderGate::new(&bench.scenario.bus.robot, run_id, counters, accepted_out);
        let joined = JoinedSessions::timed_by(Arc::clone(&time_ns));
        let directory = ControllerRegistry::default();
        let stop = bench.emergency_stop.clone();
        let scenario = bench.scenario.clone();
        let desk = desk(&scenario, &orders, &gate, (&directory, &joined), &stop);
        Self {
            desk,
            gate,
            orders,
            scenario,
            stop,
            joined,
            directory,
            time_ns,
            accepted,
            tickets: BTreeMap::new(),
            next_ticket: 0,
            stops: Vec::new(),
            stops_taken: Vec::new(),
            dead_until_ns: 0,
            book: Book::default(),
        }
    }

    pub fn is_dead(&self, now_ns: u64) -> bool {
        now_ns < self.dead_until_ns
    }

    /// Everything that the bus knew is gone; what outlives it does.
    pub fn die(&mut self, until_ns: u64) {
        self.dead_until_ns = until_ns;
        let memory = (&self.directory, &self.joined);
        self.desk = desk(&self.scenario, &self.orders, &self.gate, memory, &self.stop);
        self.tickets.clear();
        self.stops.clear();
        self.book.asked.values_mut().filter(|a| a.open).for_each(|a| a.orphan = true);
    }

    /// A query arrives under a key expression, as the bus takes it.
    pub fn query(&mut self, expression: &str, nonce: u64, now_ns: u64, out: &mut Answers) {
        if self.is_dead(now_ns) || !is_exact(expression) {
            return;
        }
        let stops = self.stop.requests();
        let Some(asked) = self.book.asked.get_mut(&nonce) else { return };
        if !asked.open {
            (asked.open, asked.stops, asked.orphan) = (true, stops, false);
        }
        let Asked { order, bytes: payload, .. } = asked.clone();
        if order == Order::Stop {
            return self.take_stop(nonce, &payload, out);
        }
        let (ticket, mut replies) = (self.next_ticket, Vec::new());
        self.next_ticket += 1;
        self.tickets.insert(ticket, Ticket { nonce, since_ns: now_ns });
        let incoming = Incoming { order, payload, waiter: Some(ticket), since_ns: now_ns };
        self.desk.take_in(now_ns, incoming, &mut |ticket, reply| replies.push((ticket, reply)));
        self.pass_on(replies, out);
    }

    fn take_stop(&mut self, nonce: u64, payload: &[u8], out: &mut Answers) {
        match self.gate.request_stop(&self.stop, payload, true) {
            Ok((number, _)) => {
                self.stops.push(StopAsked { number, nonce });
            }
            Err(refusal) => {
                let reply = Reply::Order(OrderReply::from(refusal));
                self.book.note_reply(nonce, &reply, 0);
                out.push((nonce, reply));
            }
        }
    }

    /// The loop is about to sleep: it has taken every stop that was requested before.
    pub fn check_stops(&self) {
        assert!(!self.stop.is_requested(), "the loop sleeps on in spite of an emergency stop");
    }

    /// What the threads of the daemon do meanwhile.
    pub fn look(&mut self, now_ns: u64, out: &mut Answers) {
        self.time_ns.store(now_ns, Ordering::Relaxed);
        if self.is_dead(now_ns) {
            return;
        }
        let mut replies = Vec::new();
        self.desk.look(now_ns, &mut |ticket, reply| replies.push((ticket, reply)));
        self.pass_on(replies, out);
        self.answer_stops(out);
        for accepted in self.accepted.try_iter() {
            self.book.note_accepted(&accepted);
        }
        let late = self.tickets.values().find(|t| now_ns - t.since_ns > ANSWERED_WITHIN_NS);
        if let Some(Ticket { nonce, .. }) = late {
            let order = self.book.asked[nonce].order;
            panic!("{order:?} has waited for an answer for more than {ANSWERED_WITHIN_NS} ns");
        }
    }

    fn answer_stops(&mut self, out: &mut Answers) {
        let (stop, gate) = (&self.stop, &self.gate);
        let mut taken = Vec::new();
        self.stops.retain(|asked| {
            let Some(held) = stop.taken(asked.number) else { return true };
            let order = &self.book.asked[&asked.nonce];
            let reply = gate.stop_taken(held, &super::book::asker(asked.nonce));
            assert_eq!(order.order, Order::Stop);
            self.stops_taken.push((held.run.id, held.tick));
            taken.push((asked.nonce, Reply::Order(reply)));
            false
        });
        for (nonce, reply) in taken {
            self.book.note_reply(nonce, &reply, 0);
            out.push((nonce, reply));
        }
    }

    fn pass_on(&mut self, replies: Answers, out: &mut Answers) {
        for (ticket, reply) in replies {
            let Some(Ticket { nonce, .. }) = self.tickets.remove(&ticket) else {
                panic!("a query was answered twice: {reply:?}");
            };
            self.book.note_reply(nonce, &reply, self.stop.requests());
            out.push((nonce, reply));
        }
    }
}

/// Nonces of orders, or tickets, and what is answered.
pub type Answers = Vec<(u64, Reply)>;

fn desk(
    scenario: &Scenario,
    orders: &SharedOrders,
    gate: &OrderGate,
    (directory, joined): (&ControllerRegistry, &JoinedSessions),
    stop: &EmergencyStop,
) -> OrderDesk<u64> {
    let memory = (directory.clone(), joined.clone());
    let (simulation, hash) = (scenario.simulation(), scenario.physics_hash);
    let validator = RequestValidator::new(simulation, hash, Mode::RealTime, memory, stop.clone());
    OrderDesk::new(Arc::clone(orders), validator, gate.clone())
}
