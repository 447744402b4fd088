//! ROS 2 as other people's programs see it: bytes, hashes, definitions; nodes that drive the robot.

mod bridged;
mod bridged_services;
mod bridged_unitree;
mod bytes;
mod commands;
mod dds;
mod entity_state;
mod lockstep;
mod names;
#[cfg(feature = "dds")]
mod native_dds;
mod orders;
mod others;
mod peer;
mod readings;
mod services;
mod shipped;
mod stamps;
mod topics;
mod unitree;
