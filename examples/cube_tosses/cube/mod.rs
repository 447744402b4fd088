//! What predicts the tosses: data, first states, laws, predictions and their errors.

pub(crate) mod data;
pub(crate) mod fitted;
pub(crate) mod laws;
pub(crate) mod predict;
pub(crate) mod score;
pub(crate) mod start;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
