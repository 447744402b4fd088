//! Learned locomotion policies: ONNX files with contracts.
//!
//! A *contract* is a TOML file that says what a policy was trained to see and to command. Before
//! the first step it is checked against the robot and the network, and every violated clause is
//! named. [`Policy::act`] then builds the observation, runs the network and gives target positions.
//!
//! The arithmetic is our own, so a whole walk has the same bits on x86-64, aarch64 and WebAssembly,
//! in debug and release builds and with any `target-cpu`:
//!
//! - the order of every sum is written in the code, and is the same with any width of vectors,
//! - `exp`, `tanh` and the like come from the crate `libm`, in pure Rust,
//! - nothing is fused into one rounding, and nothing depends on threads.
//!
//! This crate knows no transport, clock, thread or daemon. Its twin in Python is the module
//! `hardstand.policy`, which reads the same contracts; observations agree to rounding of `sin` and
//! `cos`, and networks to rounding of f32.

mod check;
mod clock;
mod compile;
mod contract;
mod form;
mod gains;
mod network;
mod numbers;
mod observation;
mod onnx;
mod policy;
mod program;
mod robot;
mod rotation;
mod state;

pub use contract::Contract;
pub use network::Network;
pub use policy::Policy;
pub use robot::{RobotFacts, Sensors, Truth};
