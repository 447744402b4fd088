//! ROS 2 over the bus: messages, topics and services.
//!
//! - [`cdr`], [`messages`]: bytes and message types.
//! - [`Readings`]: fills messages from a snapshot; frames and units as in `docs/ros2.md`.
//! - [`Orders`]: reads commands from messages: named joints, trajectories.
//! - [`sources`], [`latched`]: the topics, for the bus and for the log.
//! - `Node`: all topics and services, and their threads.

#[cfg(feature = "zenoh")]
mod action;
pub mod cdr;
#[cfg(feature = "zenoh")]
mod command_subscriber;
mod counters;
#[cfg(feature = "dds")]
mod dds_wires;
mod diagnostics;
mod field;
mod frames;
#[cfg(feature = "zenoh")]
mod goal;
#[cfg(feature = "zenoh")]
mod joined;
mod log_channels;
#[cfg(feature = "zenoh")]
mod low_level;
pub mod messages;
#[cfg(feature = "zenoh")]
mod naming;
#[cfg(feature = "zenoh")]
mod node;
mod orders;
#[cfg(feature = "zenoh")]
mod postures;
mod readings;
#[cfg(feature = "zenoh")]
mod remote;
#[cfg(feature = "zenoh")]
mod service_entry;
#[cfg(feature = "zenoh")]
mod services;
#[cfg(feature = "zenoh")]
mod sessions;
#[cfg(feature = "zenoh")]
mod simulator;
#[cfg(feature = "zenoh")]
mod stamps;
#[cfg(feature = "zenoh")]
mod timed_velocity;
#[cfg(feature = "zenoh")]
mod topic_publisher;
mod topics;
mod trajectory;
pub mod unitree;
#[cfg(feature = "zenoh")]
mod unitree_services;
#[cfg(feature = "zenoh")]
mod unitree_sport;
#[cfg(feature = "zenoh")]
mod walk;
#[cfg(feature = "zenoh")]
mod wires;

#[cfg(feature = "zenoh")]
pub use command_subscriber::{COMMAND_TOPICS, CommandSubscriber};
pub use counters::{RosCounters, RosRejection};
pub use diagnostics::diagnostics;
pub use field::{Byte, Definition, Field};
pub use frames::Frames;
#[cfg(feature = "zenoh")]
pub use joined::Joined;
pub use log_channels::{RosChannels, offered_qos};
#[cfg(feature = "zenoh")]
pub(crate) use naming::dds_type;
#[cfg(feature = "zenoh")]
pub use naming::{End, Naming, Wire};
#[cfg(feature = "zenoh")]
pub use node::{Node, NodeEnds};
pub use orders::{Orders, Refused};
pub use readings::{Readings, STATE_INTERFACES, VARIANCE, time};
#[cfg(feature = "zenoh")]
pub use sessions::Sender;
#[cfg(feature = "zenoh")]
pub use stamps::Stamps;
pub use topics::{Encode, Latched, MessageType, Source, full_name, latched, sources};
pub use trajectory::Trajectory;
