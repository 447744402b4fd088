//! Unitree's low-level messages over ROS 2, for robots with twelve joints such as the Go2.
//!
//! - [`LowCmd`], [`LowState`]: `unitree_go/msg`, field by field, and their checksum.
//! - [`set_points`], [`fill`]: read set-points from commands and fill state messages.
//! - `Guard`: blocks messages while a real robot may be on the domain.

mod crc;
#[cfg(feature = "zenoh")]
mod guard;
mod messages;
mod motors;

pub use crc::{Checked, has_its_crc, set_crc};
#[cfg(feature = "zenoh")]
pub(crate) use guard::{Guard, watch};
pub use messages::{BmsCmd, BmsState, ImuState, LowCmd, LowState, MotorCmd, MotorState};
pub use motors::{POS_STOP, VEL_STOP, fill, set_points};
