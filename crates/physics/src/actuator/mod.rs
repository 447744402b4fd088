//! What acts in a joint: the motor's drive, and the joint's own damping, friction and end stops.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

pub mod drive;
mod ideal;
mod passive;
mod slopes;

pub use ideal::{MotorLimits, Reference};
pub use passive::PassiveJoint;
pub use slopes::JointSlopes;
