//! Snapshots that are shown once more: the loop sends of a state that comes late, or again, the
//! state alone.

use std::collections::VecDeque;

use crate::simulation::Snapshot;

/// A state is under way for 400 ticks at most: 100 each by a delay, jitter, a burst and reordering.
const WITHHELD_MAX: usize = 512;

/// The last snapshot that has come, and those that a fault of the link has withheld.
#[derive(Debug, Default)]
pub(super) struct RecentSnapshots {
    shown: Snapshot,
    /// The oldest first.
    withheld: VecDeque<Snapshot>,
}

impl RecentSnapshots {
    /// Keeps a copy.
    pub(super) fn keep(&mut self, s: &Snapshot) {
        if !s.withheld {
            self.shown.copy_from(s);
            return;
        }
        // in a pause the same one comes again and again
        if self.withheld.back().is_some_and(|last| place(last) == place(s)) {
            return;
        }
        let is_full = self.withheld.len() >= WITHHELD_MAX;
        let free = if is_full { self.withheld.pop_front() } else { None };
        let mut free = free.unwrap_or_default();
        free.copy_from(s);
        self.withheld.push_back(free);
    }

    /// The whole snapshot of a state.
    pub(super) fn of(&self, s: &Snapshot) -> Option<&Snapshot> {
        self.withheld.iter().chain([&self.shown]).find(|kept| place(kept) == place(s))
    }
}

/// Run and tick.
const fn place(s: &Snapshot) -> (u32, u64) {
    (s.state.run_id, s.state.tick)
}
