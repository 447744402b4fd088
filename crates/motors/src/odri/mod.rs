//! The master board of the Open Dynamic Robot Initiative, as in Solo: raw Ethernet between a
//! computer and a board that speaks with six µDrivers a thousand times a second.
//!
//! The packets are those of protocol version 3, as in PyPI `master-board` 1.0.

mod board;
mod packet;

pub use board::{MasterBoard, MasterBoardStatistics, MotorSpec};
pub use packet::{ETHER_TYPE, ImuReading};
