//! Refusal of parameters that are out of range.

use hardstand_error::{Error, ErrorKind, Result};

/// Positions and heights are within this, m, either way: nothing overflows, and a double still
/// resolves 15 pm.
pub(super) const PLACE_MAX_M: f64 = 1e5;

/// Adds a mistake unless `low ≤ value ≤ high`; NaN is a mistake.
pub(super) fn require(mistakes: &mut Vec<String>, name: &str, value: f64, low: f64, high: f64) {
    if !(low..=high).contains(&value) {
        mistakes.push(format!("{name} is {value}; it must be {low} to {high}"));
    }
}

/// An error with all mistakes, if there are any.
pub(super) fn refuse(thing: &str, mistakes: &[String]) -> Result<()> {
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(Error::list(ErrorKind::Input, thing, mistakes))
}
