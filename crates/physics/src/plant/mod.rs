//! The plant: robot, drives, ground and sensors, advanced one tick at a time.
//!
//! [`Plant::step`] is a total, pure, deterministic function of (model, state, input). It knows no
//! time of day, thread, file or network; after start-up it does not allocate and cannot fail: bad
//! numbers end in a [`PlantFailure`], with the state frozen at the last good one.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod access;
mod collision;
mod constraint;
mod contact_result;
mod contact_state;
mod contacts;
mod digest;
mod drives;
mod failure;
mod flight;
mod forces;
mod guard;
mod impacts;
mod implicit;
mod imus;
mod inputs;
mod near;
mod place;
mod readings;
mod regions;
mod rigid;
mod rigid_points;
mod sensors;
mod simd;
mod simd_tick;
mod spec;
mod state;
mod step;
mod words;

pub use collision::{
    BodyState, Brick, Carrier, CollisionPoint, CollisionSet, CollisionShape, CollisionSpec,
    FreeBody, Mobility,
};
pub use constraint::{ConstraintSpec, ConstraintState};
pub use contact_result::ContactResult;
pub use contacts::ContactSet;
pub use digest::OwnerWords;
pub use drives::{DriveSet, DriveStates};
pub use failure::PlantFailure;
pub use flight::Flight;
pub use regions::FrictionRegion;
pub use sensors::{SensorSet, SensorStates};
pub use spec::{ContactModel, Foot, Integrator, PlantSpec, Station, StopSpec, layout_hash};
pub use state::{ActivePush, State};
pub use step::{ComputePath, Plant};
pub use words::{Walk, Word, WordBytes};
