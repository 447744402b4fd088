//! Motor drives as they are on the wire, without I/O: what a drive answers to each frame, which
//! set-point follows from the frames so far, and what the bus in between does to them.
//!
//! - [`drives`]: one file per motor. A [`Drive`] takes frames and the reading of its joint, and
//!   gives answers and a [`SetPoint`]. Its watchdog and error registers are the maker's.
//! - [`wires`]: bytes of adapters to frames and back: fdcanusb, slcan, socketcand, Damiao's own,
//!   SocketCAN.
//! - [`buses`]: bit times, arbitration, error counters, loss. [`CanNetwork`] and [`SerialNetwork`]
//!   connect one master with drives.
//! - [`ethercat`]: a chain of slaves, [`EtherCatNetwork`], with CiA 402 drives.
//! - [`odri`]: a [`MasterBoard`] of the Open Dynamic Robot Initiative with its µDrivers.
//!
//! Time is an integer number of nanoseconds that the caller counts. Nothing here reads a clock or
//! allocates per frame beyond the vectors that the caller owns. Random faults follow from a seed.
//! `docs/motors.md` lists what is modelled and what is not.
//!
//! ```
//! # use hardstand_motors::{CanFrame, CanId, Drive, JointReading, SetPoint, drives::Moteus};
//! let mut drive = Moteus::new(1);
//! let reading = JointReading { q_rad: 0.0, dq_rad_s: 0.0, tau_nm: 0.0 };
//! // mode 10 (position), position 0.0096 rev: the maker's example without its query
//! let data = [0x01, 0x00, 0x0a, 0x07, 0x20, 0x60, 0x00, 0x20, 0x01, 0x50, 0xff];
//! let frame = CanFrame::fd(CanId::extended(0x0001), true, &data, 0x50).unwrap();
//! let mut answers = Vec::new();
//! drive.on_frame(0, &frame, &reading, &mut answers);
//! assert!(answers.is_empty(), "no answer was asked for");
//! let SetPoint::Follow { tau_ff_nm, .. } = drive.set_point(0, &reading) else { panic!() };
//! assert!((tau_ff_nm + 1.76).abs() < 1e-6);
//! ```

pub mod buses;
mod drive;
pub mod drives;
pub mod ethercat;
mod frame;
pub mod odri;
mod trajectory; // how a drive moves its own set-point towards a target
pub mod wires;

pub(crate) use buses::Random;
pub use buses::{CanNetwork, NodeFaults, SerialNetwork};
pub use drive::{Condition, Conditions, Drive, Environment, JointReading, SetPoint, Watchdog};
pub use ethercat::EtherCatNetwork;
pub use frame::{CanFrame, CanId, FD_LENGTHS, Packet};
pub use odri::MasterBoard;
