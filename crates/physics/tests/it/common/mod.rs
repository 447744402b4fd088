//! Helpers of the tests.

pub mod bodies;
pub mod dense;
pub mod dice;
pub mod double_double;
pub mod robots;
pub mod trees;
