//! The plant: robot, drives, ground and sensors, advanced one tick at a time.
//!
//! [`Plant::step`] is a total, pure, deterministic function of (model, state, input). It knows no
//! time of day, thread, file or network; after start-up it does not allocate and cannot fail: bad
//! numbers end in a [`PlantFailure`], with the state frozen at the last good one.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod access;
mod command;
mod contact_result;
mod contact_state;
mod contacts;
mod digest;
mod events;
mod failure;
mod faults;
mod guard;
mod implicit;
mod lease;
mod obey;
mod place;
mod reading;
mod regions;
mod rigid;
mod sense;
mod simd;
mod simd_tick;
mod spec;
mod state;
mod step;
mod watchdog;
mod words;

pub use command::{Command, Event, JointCommand, Scope, TickInput, check_joints};
pub use contact_result::ContactResult;
pub use contacts::ContactSet;
pub use digest::Digest;
pub use failure::PlantFailure;
pub use faults::{
    FaultError, FaultKind, FaultSpec, InjectedFault, InjectedFaults, Parameter, Part, Place,
    UNTIL_CLEARED, chance, part_named, random,
};
pub use lease::{
    Denied, GRID_TICKS_MAX, Grant, Grid, Join, JointSet, Lease, Leases, Role, controller_number,
    is_controller_name,
};
pub use reading::{
    ContactsReading, FootReading, JointReading, Snapshot, StateReading, StationReading,
};
pub use regions::FrictionRegion;
pub use spec::{ContactModel, Foot, Integrator, PlantSpec, Station, StopSpec, layout_hash};
pub use state::{ActivePush, State, Word};
pub use step::{ComputePath, Outcome, Plant};
pub use watchdog::{Authority, Rejection, Verdict, Watchdog, WatchdogSpec};
