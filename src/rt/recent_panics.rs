//! Counts panics, to give up what panics again and again.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Panics within [`WINDOW`] after which no restart helps.
const PANICS_MAX: usize = 5;
const WINDOW: Duration = Duration::from_secs(60);

/// The panics of the last minute.
#[derive(Clone, Debug, Default)]
pub struct RecentPanics(VecDeque<Instant>);

impl RecentPanics {
    /// Adds one that has just happened. Returns how many there were within a minute if those are
    /// too many for another restart.
    pub fn add(&mut self) -> Option<usize> {
        let now = Instant::now();
        self.0.push_back(now);
        self.0.retain(|&panic| now.duration_since(panic) < WINDOW);
        (self.0.len() > PANICS_MAX).then_some(self.0.len())
    }
}
