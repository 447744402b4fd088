//! What has happened that others want to hear of at once.

use hardstand_protocol::{Event, PlantFailure};

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
    PlantFailure(PlantFailure),
}

/// The same, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopEvent {
    /// Run number.
    pub run_id: u32,
    /// The tick in which it happened: the state before it has this number.
    pub tick: u64,
    /// Time of that state, as published, ns.
    pub time_ns: u64,
    /// What.
    pub happened: Happened,
}

impl LoopEvent {
    /// One to touch memory with.
    pub const NONE: Self =
        Self { run_id: 0, tick: 0, time_ns: 0, happened: Happened::Event(Event::Arm) };
}
