//! What a bus does to frames: time, order, errors, loss.

pub mod bit_time;
mod can_bus;
mod error_counters;
mod network;
mod random;
mod serial;

pub use bit_time::BitRates;
pub use can_bus::{BusStatistics, CanBus, Delivery, NODES_MAX, NodeFaults};
pub use error_counters::{ErrorCounters, ErrorState};
pub use network::{CanDrive, CanNetwork};
pub(crate) use random::Random;
pub use serial::{SerialDrive, SerialFaults, SerialLine, SerialNetwork, Split};
