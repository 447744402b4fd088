//! The functions of the interface.

pub mod client;
pub mod controller;
pub mod events;
pub mod faults;
pub mod orders;
mod pointers;
