//! What was asked of the daemon, and what it answered.

use std::collections::BTreeMap;

use hardstand::desk::Reply;
use hardstand::ingress::AcceptedOrder;
use hardstand_protocol::Order;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Operator,
    Joiner(usize),
    /// Whatever it asks for must be refused.
    Stranger,
    /// It has the right to ask, and sends numbers that would end the run.
    Forger,
}

/// An order that was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    pub order: Order,
    pub from: From,
    pub bytes: Vec<u8>,
    /// A number that only the event of this order has.
    pub mark: Option<u64>,
    pub tries: u32,
    /// The asker has the answer.
    pub heard: bool,
    /// The daemon has it, and has not answered.
    pub open: bool,
    /// The emergency stops before the daemon took it in.
    pub stops: u64,
    /// The desk that took it in has died.
    pub orphan: bool,
    /// The last answer that left the daemon.
    pub reply: Option<Reply>,
    /// Run and tick from which on it holds.
    pub holds: Vec<(u32, u64)>,
}

#[derive(Default)]
pub struct Book {
    pub asked: BTreeMap<u64, Asked>,
    pub answers: u64,
    pub joins: u64,
    pub refused: u64,
}

/// The name of the asker of the order `nonce`.
pub fn asker(nonce: u64) -> String {
    format!("asker-{nonce:x}")
}

impl Book {
    /// An answer leaves the daemon.
    pub fn note_reply(&mut self, nonce: u64, reply: &Reply, stops: u64) {
        let Some(asked) = self.asked.get_mut(&nonce) else {
            panic!("an answer to an order that was not asked for: {nonce:x}");
        };
        self.answers += 1;
        let order = asked.order;
        let accepted = reply.accepted().is_some();
        assert!(!accepted || asked.from != From::Stranger, "a stranger's {order:?} was obeyed");
        match &asked.reply {
            // each arrival of a stop is one, and a state is asked for again
            Some(before)
                if before.accepted().is_some()
                    && ![Order::Snapshot, Order::Stop].contains(&order) =>
            {
                assert_eq!(before, reply, "{order:?} was answered twice, and differently");
            }
            _ => asked.reply = Some(reply.clone()),
        }
        if accepted && order == Order::Arm && asked.open && !asked.orphan {
            assert_eq!(asked.stops, stops, "armed in spite of a stop that came later");
        }
        self.joins += u64::from(accepted && order == Order::Join && asked.open);
        self.refused += u64::from(!accepted);
        asked.open = false;
    }

    /// The daemon publishes that an order was accepted.
    pub fn note_accepted(&mut self, accepted: &AcceptedOrder) {
        let nonce = accepted.asker.strip_prefix("asker-");
        let nonce = nonce.and_then(|n| u64::from_str_radix(n, 16).ok());
        let Some(asked) = nonce.and_then(|n| self.asked.get_mut(&n)) else {
            panic!("an order of nobody: {accepted:?}");
        };
        assert_ne!(asked.from, From::Stranger, "a stranger's order was accepted: {accepted:?}");
        asked.holds.push((accepted.run.id, accepted.tick));
        let once = asked.holds.len() == 1 || asked.order == Order::Snapshot;
        assert!(once || asked.order == Order::Stop, "accepted twice: {asked:?}");
    }
}
