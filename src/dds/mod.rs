//! The daemon's DDS participant, by RustDDS: topics whose messages are bytes of CDR.
//!
//! - [`Participant`]: one in a domain, on one network interface.
//! - [`Writer`]: publishes; knows whether it has readers.
//! - [`Readers`], [`Received`]: messages of all topics, on one thread.
//!
//! I/O threads use it; the physics thread never does. RustDDS has two threads of its own;
//! a panic of one of them ends the session like one of ours.

mod participant;
mod payload;
mod readers;
mod thread_panics;
mod writer;

pub use participant::Participant;
pub use readers::{Readers, Received, Receiving};
pub use writer::Writer;

/// What a writer offers, or a reader requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Reliable, volatile, the last 10 messages: a stream that may not have gaps.
    Reliable,
    /// Reliable, transient local, the last message: for late readers.
    Latched,
    /// Best effort, volatile, the last message. A reader of this kind matches every writer.
    BestEffort,
}
