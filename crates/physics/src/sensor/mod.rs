//! What the robot measures: inertial measurement unit and foot switches. Encoders are exact, unless
//! a fault on demand misleads them (`plant::faults`).
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod foot_switch;
mod imu;

pub use foot_switch::{FootSwitch, FootSwitchSpec};
pub use imu::{ImuReading, ImuSpec};
