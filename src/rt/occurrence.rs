//! What has happened that others want to hear of at once.

use crate::plant::{Event, Fault};

use super::gate::Missing;

/// Something that has happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happened {
    /// An event of a tick.
    Event(Event),
    /// A controller has answered a state again, and differently; the first answer stands.
    Conflict {
        /// Number of its name.
        controller: u64,
        /// Tick of the state.
        answers_tick: u64,
    },
    /// The tick has waited for these controllers for as long as the mode allows.
    GivenUp(Missing),
    /// The plant has stopped itself.
    Fault(Fault),
}

/// The same, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occurrence {
    /// Run number.
    pub epoch: u32,
    /// The tick in which it happened: the state before it has this number.
    pub tick: u64,
    /// Time of that state, as published, ns.
    pub time_ns: u64,
    /// What.
    pub happened: Happened,
}

impl Occurrence {
    /// One to touch memory with.
    pub const NONE: Self =
        Self { epoch: 0, tick: 0, time_ns: 0, happened: Happened::Event(Event::Arm) };
}
