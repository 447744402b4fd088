//! ROS 2 as other people's programs see it: bytes, hashes, definitions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

#[path = "ros2/bytes.rs"]
mod bytes;
