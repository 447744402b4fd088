//! Faults on demand: from a request to an event, the faults that act, and their effects.
//!
//! A fault begins and ends as an [`Event`](hardstand_protocol::Event), at the start of a tick, and
//! is part of the state as long as it lasts: it is logged, replayed, saved and restored like
//! everything else. A [`PlantFailure`](hardstand_protocol::PlantFailure) is another thing: a plant
//! that has stopped.

mod effects;
mod request;
mod slots;

pub(super) use request::scope;
pub use request::{check_fault, fault_event, fault_part, part_named};
pub(super) use slots::Encoder;
pub use slots::InjectedFaults;
