//! The search for an earlier state of the run.

use std::path::{Path, PathBuf};

use crate::ingress::Present;
use hardstand_error::Result;
use hardstand_protocol::{Refusal, Rejection, SavedState};

/// The log of this run, and how to find an earlier state in it.
pub(super) type Past = (PathBuf, fn(&Path, Present, u64) -> Result<SavedState>);

/// What has to be searched for. It takes as long as reading the log and replaying a part of it, so
/// it is done beside the desk.
#[derive(Debug)]
pub struct PastSearch {
    past: Past,
    now: Present,
    tick: u64,
}

impl PastSearch {
    pub(super) const fn new(past: Past, now: Present, tick: u64) -> Self {
        Self { past, now, tick }
    }

    /// The state, once it is found.
    ///
    /// # Errors
    /// Why there is none.
    pub fn run(self) -> std::result::Result<SavedState, Refusal> {
        let (log, past_state) = self.past;
        past_state(&log, self.now, self.tick)
            .map_err(|e| Refusal { reason: Rejection::OutOfRange, text: e.to_string() })
    }
}
