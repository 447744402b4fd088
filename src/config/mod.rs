//! Scenarios: read from TOML, checked as a whole, turned into what the other rooms need.
//!
//! `config/default.toml` documents every key and is itself the source of the defaults. All mistakes
//! are reported at once, each with key, value and what is allowed.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod events;
mod ground;
mod merge;
mod robot;
mod scenario;
mod section;

pub use merge::DEFAULT_TOML;
#[cfg(feature = "zenoh")]
pub(crate) use scenario::is_endpoint;
pub use scenario::{BusSettings, RecordSettings, Scenario};
