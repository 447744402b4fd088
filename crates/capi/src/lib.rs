//! `libhardstand`: the client of a Hardstand daemon for C and C++.
//!
//! `include/hardstand.h` is written from this source, and `include/hardstand.hpp` is a C++17 layer
//! on it. `docs/c-and-cpp.md` describes both. Everything here calls [`hardstand_client`], so a
//! controller in C takes the same path as one in Rust, in lockstep and in real time.
//!
//! Each handle has its own connection to the daemon. A handle of a controller or of events has one
//! user at a time, and a second one is refused. No panic crosses the interface, and a null pointer
//! or a wrong length is an error.

mod buffers;
mod description;
mod failure;
pub mod ffi;
mod names;
mod settings;
mod structs;

pub use description::HardstandModel;
pub use names::*;
pub use structs::*;
