//! The state [`Paused`](super::LoopState::Paused).

use super::outputs::no_outcome;
use super::state::{LoopState, Trigger};
use super::{Clock, Executive};
use hardstand_protocol::Phase;

/// In a pause the state is published again after this, for subscribers that come late, ns.
const PUBLISHED_EVERY_NS: u64 = 100_000_000;

impl<C: Clock> Executive<C> {
    /// Looks for requests once a period. Commands stay in their queue, where the newest win.
    pub(super) fn stay_paused(&mut self) {
        let (run_id, mut published_ns) = (self.run_id, None);
        while self.state == LoopState::Paused && self.run_id == run_id {
            if let Some(ending) = self.asked_to_end() {
                return self.change_state(Trigger::End(ending));
            }
            let now_ns = self.clock.now_ns();
            let due = |at: u64| now_ns.saturating_sub(at) >= PUBLISHED_EVERY_NS;
            if std::mem::take(&mut self.publish_at_once) || published_ns.is_none_or(due) {
                published_ns = Some(now_ns);
                self.publish(Phase::Paused);
                self.send_report(self.report(&no_outcome(), Phase::Paused));
            }
            self.sleep_until(now_ns, now_ns + self.simulation.spec().period_ns);
            self.take_requests();
        }
    }
}
