//! What has happened, for subscribers to events.

use crate::config::ControllerNumbers;
use hardstand_protocol::{Event, PlantFailure};

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
    /// A controller was late for too long and has lost its joints.
    Lost {
        /// Number of its name; 0 if it has not joined.
        controller: u64,
        /// Public number of its session.
        session: u64,
    },
    /// The tick has waited for these controllers as long as the mode allows.
    GivenUp(ControllerNumbers),
    /// The plant has stopped itself.
    PlantFailure(PlantFailure),
}

/// What has happened, and in which tick.
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
    /// A value to touch memory with.
    pub const NONE: Self =
        Self { run_id: 0, tick: 0, time_ns: 0, happened: Happened::Event(Event::Arm) };
}
