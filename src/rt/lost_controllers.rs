//! Reports controllers that have lost their joints because they were late.

use crate::buffer_pool::OWNERS;
use crate::simulation::Lease;
use hardstand_protocol::Authority;

use super::loop_event::Happened;
use super::{Clock, Executive};

/// Sessions whose commands are held or fresh; 0 for none.
pub(super) type Held = [u64; OWNERS];

impl<C: Clock> Executive<C> {
    /// Sends an event for each session that had joints before this tick and is too late now. One
    /// that has left, or that was stopped, has not lost them.
    pub(super) fn report_lost(&mut self) {
        let (tick, spec) = (self.simulation.tick(), self.simulation.watchdog());
        let leases = self.simulation.leases();
        let is_held =
            |l: &Lease| !l.left && l.session != 0 && l.authority(spec, tick) == Authority::Held;
        let all = || leases.places().iter().chain([leases.implicit()]);
        let mut held = Held::default();
        for (slot, lease) in held.iter_mut().zip(all()) {
            *slot = if is_held(lease) { lease.session } else { 0 };
        }
        if held != self.held && !leases.stopped {
            for &session in self.held.iter().filter(|s| **s != 0 && !held.contains(*s)) {
                let lost = all().find(|l| l.session == session && !l.left);
                if let Some(&Lease { controller, session, .. }) = lost {
                    self.send_event(tick, Happened::Lost { controller, session });
                }
            }
        }
        self.held = held;
    }
}
