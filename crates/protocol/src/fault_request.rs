//! Requests to inject faults, and to clear them.

use serde::{Deserialize, Serialize};

/// A fault that an operator requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultRequest {
    /// Name of the kind; docs/faults.md lists them.
    pub kind: String,
    /// What it affects: `joint`, `foot`, `link`, `station` or `region`; empty for all there is.
    pub part: String,
    /// The name of that; empty for all there is.
    pub name: String,
    /// The numbers of the kind's parameters, one after the other.
    pub values: Vec<f64>,
    /// Duration, ticks; 0 until it is cleared.
    pub ticks: u64,
}

/// The end of faults that an operator requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClearFaultsRequest {
    /// Faults of which kind; empty for all.
    pub kind: String,
    /// What they affect; empty for whatever it is.
    pub part: String,
    /// The name of that; empty for whatever it is.
    pub name: String,
}
