//! The wall time that ticks spend on waiting for controllers.

use crate::config::Budget;

/// What ticks have spent of a [`Budget`], and which tick goes on without its commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitBudget {
    window: u64,
    in_window_ns: u64,
    /// The tick whose wait is over although commands are missing.
    given_up: Option<u64>,
}

impl WaitBudget {
    /// What may still be spent in `tick`, ns.
    pub(super) fn left_ns(&mut self, budget: &Budget, tick: u64) -> u64 {
        let window = tick / budget.window_ticks.max(1);
        if window != self.window {
            (self.window, self.in_window_ns) = (window, 0);
        }
        budget.per_tick_ns.min(budget.per_window_ns.saturating_sub(self.in_window_ns))
    }

    pub(super) const fn spend(&mut self, ns: u64) {
        self.in_window_ns = self.in_window_ns.saturating_add(ns);
    }

    /// `tick` does not wait any longer.
    pub(super) const fn give_up(&mut self, tick: u64) {
        self.given_up = Some(tick);
    }

    pub(super) fn is_given_up(&self, tick: u64) -> bool {
        self.given_up == Some(tick)
    }

    /// Another run begins, in which the same tick may come again.
    pub(super) const fn begin(&mut self) {
        self.given_up = None;
    }
}

#[cfg(test)]
mod tests {
    use super::WaitBudget;
    use crate::config::Budget;

    #[test]
    fn a_budget_is_for_a_tick_and_for_a_window() {
        let budget = Budget { per_tick_ns: 5, per_window_ns: 12, window_ticks: 10 };
        let mut spending = WaitBudget::default();
        let mut left = Vec::new();
        for tick in [0, 1, 2, 3, 9, 10] {
            let ns = spending.left_ns(&budget, tick);
            spending.spend(ns);
            left.push(ns);
        }
        assert_eq!(left, [5, 5, 2, 0, 0, 5]);
    }
}
