//! States and commands as packets with fixed offsets, and shared memory for them.
//!
//! [`packet`] has the packets, [`Slots`] the memory that both ends map, and [`SharedMemory`] is a
//! controller's end. The daemon's ends of shared memory and UDP are its own. `docs/port.md`
//! describes both for other languages.

mod bus_error;
mod mapped;
pub mod packet;
mod peer;
mod slots;

pub use peer::SharedMemory;
pub use slots::Slots;
