//! Payloads of Hardstand's bus and log: their types, and the numbers by which they are written.
//!
//! Every enum that is sent, logged or kept in a state has its numbers written down beside its
//! variants. There is one numbering for each notion, and no number depends on the order of a
//! declaration. On the wire an enum is one byte, its number, followed by the fields of the variant.

#[macro_use]
mod numbered;

mod authority;
mod command;
mod event;
mod fault;
mod fault_table;
mod lease;
pub mod limits;
mod reading;
mod rejection;

pub use authority::{Authority, PlantFailure};
pub use command::{Command, JointCommand, TickInput, check_joints};
pub use event::{Event, Scope};
pub use fault::{FaultError, FaultKind, InjectedFault, Part, UNTIL_CLEARED};
pub use fault_table::{FaultSpec, Parameter, Place};
pub use lease::{
    CommandSchedule, Grant, Join, JointSet, Role, SCHEDULE_TICKS_MAX, controller_number,
    is_controller_name,
};
pub use reading::{ContactsReading, FootReading, JointReading, StateReading, StationReading};
pub use rejection::{Rejection, Verdict};
