//! Runs to be looked at: a log as the frames of a page.

mod recorded;

pub use recorded::{Recorded, recorded};
