//! ROS 2 as other people's programs see it: bytes, hashes, definitions; nodes that drive the robot.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

#[path = "ros2/bridged.rs"]
mod bridged;
#[path = "ros2/bridged_services.rs"]
mod bridged_services;
#[path = "ros2/bridged_unitree.rs"]
mod bridged_unitree;
#[path = "ros2/bytes.rs"]
mod bytes;
#[path = "ros2/commands.rs"]
mod commands;
#[path = "ros2/dds.rs"]
mod dds;
#[path = "ros2/names.rs"]
mod names;
#[path = "ros2/orders.rs"]
mod orders;
#[path = "ros2/others.rs"]
mod others;
#[path = "ros2/peer.rs"]
mod peer;
#[path = "common/process.rs"]
mod process;
#[path = "ros2/readings.rs"]
mod readings;
#[path = "ros2/services.rs"]
mod services;
#[path = "ros2/shipped.rs"]
mod shipped;
#[path = "ros2/topics.rs"]
mod topics;
#[path = "ros2/unitree.rs"]
mod unitree;
