//! The plant: robot, drives, ground and sensors, advanced one tick at a time.
//!
//! [`Plant::step`] is a total, pure, deterministic function of (model, state, input). It knows no
//! time of day, thread, file or network; after start-up it does not allocate and cannot fail: bad
//! numbers end in a [`PlantFailure`], with the state frozen at the last good one.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod access;
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

pub use contact_result::ContactResult;
pub use contacts::ContactSet;
pub use digest::Digest;
pub use faults::{
    InjectedFaults, chance, check_fault, fault_event, fault_part, part_named, random,
};
pub use hardstand_protocol::{
    Authority, Command, CommandSchedule, CommandSchedule as Grid, ContactsReading, Event,
    FaultError, FaultKind, FaultSpec, FootReading, Grant, InjectedFault, Join, JointCommand,
    JointReading, JointSet, Parameter, Part, Place, PlantFailure, Rejection, Role,
    SCHEDULE_TICKS_MAX, Scope, StateReading, StationReading, TickInput, UNTIL_CLEARED, Verdict,
    check_joints, controller_number, is_controller_name,
};
pub use lease::{Denied, Lease, Leases};
pub use reading::Snapshot;
pub use regions::FrictionRegion;
pub use spec::{ContactModel, Foot, Integrator, PlantSpec, Station, StopSpec, layout_hash};
pub use state::{ActivePush, State, Word};
pub use step::{ComputePath, Outcome, Plant};
pub use watchdog::{Watchdog, WatchdogSpec};
