//! Keys of a scenario that a test of a controller decides itself.

use crate::config::{key_of, keys_of};

const OWN_KEYS: [&str; 6] =
    ["sim.pace", "sim.speed", "sim.start", "sim.duration_s", "control.mode", "record.file"];

/// The key of a change in the form of `--set`, or a key alone, if it is one of these or of `more`.
#[must_use]
pub fn own_key<'a>(set: &'a str, more: &[&str]) -> Option<&'a str> {
    let key = key_of(set);
    let path = keys_of(key).join(".");
    OWN_KEYS.iter().chain(more).any(|own| *own == path).then_some(key)
}
