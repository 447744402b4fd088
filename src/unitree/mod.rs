//! Unitree's low-level messages over ROS 2, for robots of twelve joints as the Go2 has them.
//!
//! - [`LowCmd`], [`LowState`]: `unitree_go/msg`, field by field, and their checksum.
//! - [`Motors`]: which joint is which motor; from commands to set-points, from states to messages.
//! - `Guard`: nothing is said or obeyed where a real robot may listen.

mod crc;
#[cfg(feature = "zenoh")]
mod guard;
mod messages;
mod motors;

pub use crc::{Checked, has_its_crc, set_crc};
#[cfg(feature = "zenoh")]
pub(crate) use guard::{Guard, watch};
pub use messages::{BmsCmd, BmsState, ImuState, LowCmd, LowState, MotorCmd, MotorState};
pub use motors::{Motors, POS_STOP, VEL_STOP};

/// Motors of the robot, in the order of the messages.
pub const MOTORS: usize = 12;
/// Feet and legs in the order of the messages, three motors each: hip, thigh, calf.
pub const LEGS: [&str; 4] = ["FR", "FL", "RR", "RL"];
