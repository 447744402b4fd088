//! The bus against those who should not be there: credentials, access list, sizes, counts, secrets.
//! Real daemons and real sessions, on loopback only.

mod files;
mod floods;
pub mod guarded;
mod matrix;
mod places;
mod ros2;
#[cfg(target_os = "linux")]
mod sandbox;
mod strangers;
#[cfg(feature = "tls")]
pub(crate) mod tls;
