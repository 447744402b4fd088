//! What the robot measures: inertial measurement unit, joints, feet.
//!
//! Without errors a reading is the truth. [`ImuErrors`], [`JointSensor`] and [`FootSensor`] have
//! the numbers of real instruments, all 0 by default, by name
//! ([`Key`](crate::actuator::drive::Key)). [`ImuUnit`], [`JointUnit`] and [`FootUnit`] are
//! specimens of them: what is drawn once comes from the seed alone, what is drawn for a reading
//! from seed and tick ([`Dice`]). docs/sensors.md has the laws.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod chance;
mod channel;
mod delay;
mod foot_sensor;
mod foot_switch;
mod foot_unit;
mod imu;
mod imu_errors;
mod imu_unit;
mod joint_sensor;
mod triaxial;
mod vibration;

pub use chance::{Dice, chance, random};
pub use channel::{clipped, low_pass_share, played, quantised, white_noise};
pub use delay::{Delay, DelayLine};
pub use foot_sensor::{FootChannel, FootSensor};
pub use foot_switch::{FootSwitch, FootSwitchSpec};
pub use foot_unit::{FootLoad, FootSensed, FootUnit, LOAD_NUMBERS};
pub use imu::{ImuReading, ImuSpec};
pub use imu_errors::ImuErrors;
pub use imu_unit::{ImuState, ImuUnit, OrientationError};
pub use joint_sensor::{JointSensed, JointSensor, JointUnit, TorqueSensor};
pub use triaxial::{FLOOR_OF_PROCESS, Triaxial, TriaxialState, TriaxialUnit};
pub use vibration::{Ringing, Vibration};
