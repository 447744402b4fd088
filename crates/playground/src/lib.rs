//! A simulation inside a web page: scenario, robot and a controller that holds the initial joint
//! angles, without daemon and bus. Each tick is the daemon's in lockstep, so the digests are too.
//!
//! `web/PROTOCOL.md` describes what the page calls.

// on other machines these names would take the place of the C library's
#[cfg(target_family = "wasm")]
pub mod module;
mod playground;

pub use playground::Playground;
