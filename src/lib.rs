//! Hardstand: firm ground for legged-robot controllers.
//!
//! A daemon simulates the robot at a fixed rate on a pinned real-time thread. The controller under
//! test runs in its own process and exchanges messages with the daemon over zenoh. Runs repeat bit
//! for bit.
//!
//! Where to start reading: [`urdf`] reads a robot, `hardstand_physics` advances it, [`rt`] calls
//! the physics on time, `bus` publishes the results, `hardstand_log` writes and reads logs, and
//! [`replay`] runs them again.
//!
//! Four rules hold everywhere:
//! - The physics (`hardstand_physics`) knows no clock, thread, file or network.
//! - Simulated time is `tick × period` in integer nanoseconds and is never read from a clock.
//! - Only `bus` knows zenoh; only `hardstand_physics::math` has transcendental functions.
//! - Data from outside has its own type until it is checked.
//!
//! In WebAssembly the crate is scenarios, simulation and fits; the daemon and its tools need an
//! operating system.

#![cfg_attr(rtsan, feature(sanitize))]

#[cfg(not(target_family = "wasm"))]
pub mod buffer_pool;
#[cfg(feature = "zenoh")]
pub mod bus;
#[cfg(feature = "zenoh")]
pub mod buses;
pub mod calibrate;
#[cfg(feature = "zenoh")]
pub mod campaign;
#[cfg(feature = "zenoh")]
pub mod certify;
#[cfg(not(target_family = "wasm"))]
pub mod cli;
pub mod config;
#[cfg(not(target_family = "wasm"))]
pub mod daemon;
#[cfg(feature = "dds")]
pub mod dds;
#[cfg(not(target_family = "wasm"))]
pub mod desk;
#[cfg(not(target_family = "wasm"))]
pub mod doctor;
#[cfg(not(target_family = "wasm"))]
mod fault_point;
#[cfg(feature = "zenoh")]
pub mod hunt;
#[cfg(not(target_family = "wasm"))]
pub mod ingress;
#[cfg(not(target_family = "wasm"))]
pub mod inspect;
#[cfg(feature = "zenoh")]
pub mod lcm;
pub mod limits;

mod matrix;
pub mod mjcf;
pub mod optimize;
#[cfg(not(target_family = "wasm"))]
mod path_text;
#[cfg(feature = "zenoh")]
pub mod ports;
#[cfg(feature = "zenoh")]
pub mod process_harness;
#[cfg(not(target_family = "wasm"))]
pub mod replay;
pub mod robot_log;
#[cfg(not(target_family = "wasm"))]
pub mod ros2;
#[cfg(not(target_family = "wasm"))]
pub mod rt;
#[cfg(not(target_family = "wasm"))]
pub mod scaffold;
pub mod simulation;
mod student;
pub mod urdf;
#[cfg(feature = "view")]
pub mod view;

pub use hardstand_error::{Error, ErrorKind, Result};
