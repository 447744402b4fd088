//! The motors. Each file is one motor or one family; `docs/motors.md` says how to add one.

mod cia402;
mod cia402_config;
pub(crate) mod cia402_objects; // its object dictionary
mod cybergear;
mod damiao;
mod go_m8010;
mod mini_cheetah;
mod mit;
mod moteus;
mod moteus_registers;
mod multiplex; // the register protocol of moteus
mod odrive;
pub(crate) mod udriver; // the dual motor board of the Open Dynamic Robot Initiative

pub use cia402::Cia402;
pub use cia402_config::Cia402Config;
pub use cybergear::CyberGear;
pub use damiao::Damiao;
pub use go_m8010::{GoM8010, crc_kermit, split_requests};
pub use mini_cheetah::MiniCheetah;
pub use mit::MitRanges;
pub use moteus::{Moteus, MoteusConfig};
pub use odrive::{ODrive, ODriveConfig};
