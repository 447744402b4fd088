//! ROS 2 over the bus: messages, and what of the robot goes into them.
//!
//! - [`cdr`], [`messages`]: bytes and message types.

pub mod cdr;
mod field;
pub mod messages;

pub use field::{Byte, Definition, Field};
