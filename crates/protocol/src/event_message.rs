//! What the daemon says as soon as it happens.

use serde::{Deserialize, Serialize};

/// Something that has happened in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventReading {
    /// Run number.
    pub run_id: u32,
    /// The tick in which it happened: the state before it has this number.
    pub tick: u64,
    /// Time of that state, ns.
    pub time_ns: u64,
    /// One word: join, leave, stop, arm, push, friction, fault, clear, conflict, `gave_up`,
    /// `plant_failure`, lost (a controller was late for too long), refused (messages with commands
    /// are), or order: an order was accepted.
    pub kind: String,
    /// The controller that it is about; empty if it is about none.
    pub controller: String,
    /// Who gave the order, as its sender says; empty for anything else.
    pub asker: String,
    /// For people.
    pub text: String,
}
