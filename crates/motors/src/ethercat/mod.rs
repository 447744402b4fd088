//! EtherCAT, IEC 61158 type 12: a chain of slaves with CiA 402 drives, as a master sees them.
//!
//! ```text
//! frame ─► EtherCatNetwork: line, faults ─► each Slave in turn: datagram ─► Esc: registers, memory
//!                                                                └─ AL states, SII, mailbox, drive
//! ```
//!
//! A frame passes the slaves in the order of the chain, each reads and writes it, and it returns to
//! the master. No claim of conformance is made; `docs/motors.md` lists what is missing.

mod al;
mod coe;
mod datagram;
mod esc;
mod information;
mod network;
mod pdo;
mod sii;
mod slave;

pub use network::{ETHER_TYPE, EtherCatNetwork, EtherCatStatistics};
pub use slave::Identity;

/// Lower and upper half of a 16-bit word come in this order everywhere.
fn word(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn double(bytes: &[u8], at: usize) -> u32 {
    u32::from(word(bytes, at)) | u32::from(word(bytes, at + 2)) << 16
}
