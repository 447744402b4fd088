//! ROS 2 as other people's programs see it: bytes, hashes, definitions; nodes that drive the robot.

mod action;
mod bridged;
mod bridged_services;
mod bridged_unitree;
mod bytes;
pub(crate) mod commands;
mod dds;
mod entity_state;
mod floods;
mod late_states;
mod lockstep;
mod names;
#[cfg(feature = "dds")]
mod native_dds;
mod orders;
mod others;
pub(crate) mod peer;
mod readings;
#[cfg(feature = "dds")]
mod remote;
pub(crate) mod services;
mod shipped;
mod stamps;
mod topics;
mod unitree;
