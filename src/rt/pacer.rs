//! The grid of deadlines and what happens when one is missed.

use crate::config::OverrunPolicy;

/// What to do after a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Wait for this deadline.
    Until(u64),
    /// Start the next tick at once: a missed one is being caught up.
    AtOnce,
    /// The policy ends the run.
    Stop,
    /// The clock went back, so the grid has lost its meaning.
    ClockWentBack,
}

/// The grid `first + k × period`. A pure state machine: the time is an argument.
///
/// ```
/// use hardstand::config::OverrunPolicy;
/// use hardstand::rt::{Pacer, Wait};
/// let mut pacer = Pacer::new(0, 1000, OverrunPolicy::Slip);
/// assert_eq!(pacer.after_tick(300), Wait::Until(1000));
/// assert_eq!(pacer.after_tick(4200), Wait::Until(5000)); // 2000, 3000 and 4000 have passed
/// assert_eq!(pacer.missed(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct Pacer {
    period_ns: u64,
    next_ns: u64,
    last_ns: u64,
    policy: OverrunPolicy,
    missed: u64,
    backlog: u64,
    caught_up: u64,
}

impl Pacer {
    /// A grid whose first deadline is one period after `now_ns`, when the first tick starts.
    ///
    /// `period_ns` must not be 0.
    #[must_use]
    pub fn new(now_ns: u64, period_ns: u64, policy: OverrunPolicy) -> Self {
        Self {
            period_ns,
            next_ns: now_ns + period_ns,
            last_ns: now_ns,
            policy,
            missed: 0,
            backlog: 0,
            caught_up: 0,
        }
    }

    /// The grid begins again at `now_ns`, as a new one; the counts stay.
    pub const fn begin_again(&mut self, now_ns: u64) {
        (self.next_ns, self.last_ns, self.backlog) = (now_ns + self.period_ns, now_ns, 0);
    }

    /// The time from `since_ns` to `now_ns` was spent on waiting for controllers or other robots:
    /// deadlines that have passed meanwhile do not count as missed. If one had passed before, all
    /// do.
    pub const fn forgive(&mut self, since_ns: u64, now_ns: u64) {
        if since_ns < self.next_ns && now_ns >= self.next_ns {
            self.begin_again(now_ns);
        }
    }

    /// Another length of a tick, from `now_ns` on.
    pub const fn set_period(&mut self, period_ns: u64, now_ns: u64) {
        self.period_ns = period_ns;
        self.begin_again(now_ns);
    }

    /// Length of a tick, ns.
    #[must_use]
    pub const fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// Deadlines missed so far.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }

    /// Ticks run at once to make up for missed deadlines.
    #[must_use]
    pub const fn caught_up(&self) -> u64 {
        self.caught_up
    }

    /// A tick has ended at `now_ns`: what next? Counts every deadline that has passed.
    pub fn after_tick(&mut self, now_ns: u64) -> Wait {
        if now_ns < self.last_ns {
            return Wait::ClockWentBack;
        }
        self.last_ns = now_ns;
        let mut passed = 0;
        if now_ns >= self.next_ns {
            passed = (now_ns - self.next_ns) / self.period_ns + 1;
            self.missed += passed;
        }
        match self.policy {
            OverrunPolicy::Stop if passed > 0 => return Wait::Stop,
            OverrunPolicy::CatchUp { ticks_max } => {
                self.next_ns += passed * self.period_ns;
                self.backlog = (self.backlog + passed).min(ticks_max);
                if self.backlog > 0 {
                    self.backlog -= 1;
                    self.caught_up += 1;
                    return Wait::AtOnce;
                }
            }
            OverrunPolicy::Slip | OverrunPolicy::Stop => self.next_ns += passed * self.period_ns,
        }
        let deadline = self.next_ns;
        self.next_ns += self.period_ns;
        Wait::Until(deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::{Pacer, Wait};
    use crate::config::OverrunPolicy;

    const P: u64 = 1_000_000;

    #[test]
    fn a_tick_in_time_waits_for_the_grid() {
        let mut pacer = Pacer::new(7, P, OverrunPolicy::Slip);
        for k in 1..1000 {
            assert_eq!(pacer.after_tick(7 + k * P - 1), Wait::Until(7 + k * P));
        }
        assert_eq!(pacer.missed(), 0);
    }

    #[test]
    fn slip_counts_every_stall_exactly_and_stays_on_the_grid() {
        for stalled in [1, 2, 10, 10_000] {
            let mut pacer = Pacer::new(0, P, OverrunPolicy::Slip);
            // the tick that should end before deadline 1 ends just after deadline `stalled`
            assert_eq!(pacer.after_tick(stalled * P + 5), Wait::Until((stalled + 1) * P));
            assert_eq!(pacer.missed(), stalled);
            assert_eq!(pacer.after_tick((stalled + 1) * P + 5), Wait::Until((stalled + 2) * P));
            assert_eq!(pacer.missed(), stalled);
        }
    }

    #[test]
    fn catch_up_runs_the_missed_ticks_and_no_more_than_allowed() {
        let mut pacer = Pacer::new(0, P, OverrunPolicy::CatchUp { ticks_max: 3 });
        let late = 10 * P + 5;
        let steps: Vec<Wait> = (0..5).map(|_| pacer.after_tick(late)).collect();
        let wait = |k: u64| Wait::Until(k * P);
        assert_eq!(steps, [Wait::AtOnce, Wait::AtOnce, Wait::AtOnce, wait(11), wait(12)]);
        assert_eq!((pacer.missed(), pacer.caught_up()), (10, 3));
    }

    #[test]
    fn a_clock_that_goes_back_is_reported() {
        let policies = [OverrunPolicy::Slip, OverrunPolicy::Stop];
        for policy in policies.into_iter().chain([OverrunPolicy::CatchUp { ticks_max: 3 }]) {
            let mut pacer = Pacer::new(7 * P, P, policy);
            assert_eq!(pacer.after_tick(7 * P), Wait::Until(8 * P), "{policy:?}");
            assert_eq!(pacer.after_tick(7 * P - 1), Wait::ClockWentBack, "{policy:?}");
        }
    }

    /// A robot that others held up is not late; one that was late before it met them is.
    #[test]
    fn only_deadlines_that_pass_during_a_wait_are_forgiven() {
        for (late_ns, missed) in [(P / 2, 0), (2 * P, 9)] {
            let mut pacer = Pacer::new(0, P, OverrunPolicy::Slip);
            assert_eq!(pacer.after_tick(P / 2), Wait::Until(P));
            pacer.forgive(P + late_ns, 10 * P + 5);
            pacer.after_tick(10 * P + 10);
            assert_eq!(pacer.missed(), missed);
        }
    }

    #[test]
    fn stop_stops_at_the_first_miss() {
        let mut pacer = Pacer::new(0, P, OverrunPolicy::Stop);
        assert_eq!(pacer.after_tick(P - 1), Wait::Until(P));
        assert_eq!(pacer.after_tick(2 * P), Wait::Stop);
        assert_eq!(pacer.missed(), 1);
    }
}
