//! What acts in a joint: the motor's drive, and the joint's own damping, friction and end stops.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod drive;
mod passive;
mod slopes;

pub use drive::{MotorLimits, Reference};
pub use passive::PassiveJoint;
pub use slopes::JointSlopes;
