//! The simulation: arbitration of commands, faults on demand, and the plant, one tick at a time.
//!
//! [`Simulation::step`] is a total, deterministic function of (model, spec, state, input): the live
//! loop and a replay call the same one. It knows no time of day, thread, file or network; after
//! start-up it does not allocate.
//!
//! ```text
//!  TickInput ─► events ─► arbitration ─► faults ─► Plant::step ─► readings
//!              (leases,   (commands to   (what the  (references
//!               faults)    references)    encoders   to motion)
//!                                         show)
//! ```
#![allow(non_snake_case, reason = "a name says the frame of a vector: B the body, W the world")]

mod arbitration;
mod bodies;
mod claim;
mod description;
mod event_schedule;
mod events;
mod faults;
mod judge;
mod lease;
mod lease_words;
mod leases;
mod log_input;
mod part_names;
mod readings;
mod restore;
mod sensors;
mod snapshot;
mod solo;
mod solo_lease;
mod step;
mod watchdog;
mod word_ranges;

pub use claim::Claim;
pub use description::{describe, describe_ground};
pub use event_schedule::EventSchedule;
pub use faults::{InjectedFaults, check_fault, fault_event, fault_part, part_named};
pub use hardstand_physics::sensor::{chance, random};
pub use lease::{Denied, Lease};
pub use leases::Leases;
pub use log_input::input_of;
pub use part_names::PartNames;
pub use readings::{LimitedJoints, moving_poses, pose_of};
pub use snapshot::Snapshot;
pub use solo::{Solo, check_set_points};
pub use step::{Outcome, Simulation};
pub use watchdog::WatchdogSpec;
