//! The grid of deadlines as it should be, and what a late loop does, told from its sleeps alone.

use hardstand::config::OverrunPolicy;
use hardstand::rt::{Ending, TickReport};

use crate::common::bench::PERIOD_NS;

pub struct PaceCheck {
    policy: OverrunPolicy,
    last_deadline_ns: Option<u64>,
    /// When the loop woke up last.
    pub woken_ns: u64,
    pub missed: u64,
    pub caught_up: u64,
    pub stalls: u64,
    pub overruns: u64,
}

impl PaceCheck {
    pub fn new(policy: OverrunPolicy) -> Self {
        Self {
            policy,
            last_deadline_ns: None,
            woken_ns: 0,
            missed: 0,
            caught_up: 0,
            stalls: 0,
            overruns: 0,
        }
    }

    /// Ticks that may be run without a sleep between them, beyond the first.
    pub fn burst_max(&self) -> u64 {
        match self.policy {
            OverrunPolicy::CatchUp { ticks_max } => ticks_max,
            OverrunPolicy::Slip | OverrunPolicy::Stop => 0,
        }
    }

    /// The loop sleeps until `deadline_ns`, after `ticks` ticks since it slept last, of which the
    /// last has `told`.
    pub fn check(
        &mut self,
        deadline_ns: u64,
        now_ns: u64,
        begun: bool,
        ticks: u64,
        told: &TickReport,
    ) {
        assert!(deadline_ns > now_ns, "a deadline that is over");
        let usual = match self.last_deadline_ns {
            Some(last) if !begun => last + PERIOD_NS,
            // the grid begins a period after the first tick
            _ => deadline_ns - (deadline_ns - now_ns) / PERIOD_NS * PERIOD_NS,
        };
        assert!((deadline_ns - usual).is_multiple_of(PERIOD_NS), "not on the grid");
        let skipped = (deadline_ns - usual) / PERIOD_NS;
        assert!(skipped == 0 || deadline_ns - PERIOD_NS <= now_ns, "skipped too many");
        if self.policy == OverrunPolicy::Stop {
            assert_eq!(skipped, 0, "it went on after a miss");
        }
        // those that had passed when it woke up; the others passed during a tick
        let at_first = (self.woken_ns + PERIOD_NS).saturating_sub(usual) / PERIOD_NS;
        let burst = ticks - 1;
        let least = at_first.min(skipped).min(self.burst_max());
        let most = if at_first == skipped { least } else { skipped.min(2 * self.burst_max()) };
        assert!((least..=most).contains(&burst), "{burst} ticks at once for {skipped} misses");
        // a tick tells what was counted before it
        let counted = if burst > 0 { at_first.min(skipped)..=skipped } else { 0..=0 };
        let told_missed = told.missed_deadlines - self.missed;
        assert!(counted.contains(&told_missed), "{told_missed} misses told, not {counted:?}");
        assert_eq!(told.caught_up_ticks, self.caught_up + burst, "ticks that were run at once");
        self.missed += skipped;
        self.caught_up += burst;
        self.last_deadline_ns = Some(deadline_ns);
    }

    /// `stop` ends the run at the first miss, and nothing else does.
    pub fn check_end(&mut self, ending: Ending, now_ns: u64) {
        if ending != Ending::Overrun {
            return;
        }
        assert_eq!(self.policy, OverrunPolicy::Stop, "only this policy ends a run");
        let next_ns = self.last_deadline_ns.expect("a first sleep") + PERIOD_NS;
        assert!(now_ns >= next_ns, "ended before the deadline had passed");
        self.overruns += 1;
    }
}
