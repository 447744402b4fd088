//! Unitree's low-level messages, for quadrupeds such as the Go2 and humanoids such as the G1.
//!
//! - [`LowCmd`], [`LowState`]: `unitree_go/msg`, field by field, and their checksum; [`HgLowCmd`],
//!   [`HgLowState`]: `unitree_hg/msg`.
//! - [`Request`], [`Response`]: calls of Unitree's services.
//! - [`set_points`], [`fill`]: read set-points from commands and fill state messages.
//! - [`Arms`]: set-points of `arm_sdk`.
//! - `Guard`: blocks messages while a real robot may be on the domain.

mod api;
mod arms;
mod crc;
#[cfg(feature = "zenoh")]
mod guard;
mod hg;
mod messages;
mod motors;
mod remote;
mod sport;

pub use api::{Request, RequestHeader, Response, ResponseHeader, Status};
pub use arms::Arms;
pub use crc::{Checked, has_its_crc, set_crc};
#[cfg(feature = "zenoh")]
pub(crate) use guard::{Guard, WRITERS, watch};
pub use hg::{HgImuState, HgLowCmd, HgLowState};
pub use messages::{BmsCmd, BmsState, ImuState, LowCmd, LowState, MotorCmd, MotorState};
pub use motors::{
    MODE_AB, POS_STOP, VEL_STOP, arms, fill, fill_hg, fill_sport, hg_imu, hg_set_points,
    remote_bytes, set_points, sticks,
};
pub use remote::{KEYS, joy_of, remote_of, resting, within_ends};
pub use sport::{SportModeState, WirelessController};
