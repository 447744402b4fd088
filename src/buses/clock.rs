//! The clock of a bus: simulated time, continued between two ticks.

use std::time::{Duration, Instant};

use hardstand_protocol::{Phase, StateReading};

/// How far the clock runs ahead of the newest state, periods. A loop that stands still stops the
/// clock, so that no drive's watchdog expires in a pause.
const AHEAD_PERIODS: u64 = 2;

/// Nanoseconds since the daemon's start that never go back: not through a reset either.
#[derive(Debug)]
pub(super) struct BusClock {
    period_ns: u64,
    wall_period_ns: u64,
    /// Time of the newest state.
    state_ns: u64,
    now_ns: u64,
    /// Run and published time of the newest state, and when it came.
    last: Option<(u32, u64, Instant)>,
}

impl BusClock {
    pub(super) fn new(period_ns: u64, wall_period_ns: u64) -> Self {
        Self { period_ns, wall_period_ns, state_ns: 0, now_ns: 0, last: None }
    }

    /// A state has come. While the run has not begun, each one stands for a period.
    pub(super) fn note(&mut self, state: &StateReading, at: Instant) {
        let passed_ns = match self.last {
            Some((run_id, time_ns, _)) if run_id == state.run_id => {
                state.time_ns.saturating_sub(time_ns)
            }
            _ => self.period_ns,
        };
        let waits = state.phase == Phase::Waiting.code();
        self.state_ns += if waits { self.period_ns } else { passed_ns };
        let paused = state.phase == Phase::Paused.code();
        let at = match self.last {
            // a paused state comes again and again, and no time passes
            Some((.., before)) if paused => before,
            _ => at,
        };
        self.last = Some((state.run_id, state.time_ns, at));
    }

    /// The time at the wall time `at`.
    pub(super) fn now(&mut self, at: Instant) -> u64 {
        let Some((.., since)) = self.last else { return 0 };
        let wall_ns = at.saturating_duration_since(since).min(Duration::from_secs(1)).as_nanos();
        let scale = self.period_ns as f64 / self.wall_period_ns.max(1) as f64;
        let ahead_ns = (wall_ns as f64 * scale) as u64;
        let time_ns = self.state_ns + ahead_ns.min(AHEAD_PERIODS * self.period_ns);
        self.now_ns = self.now_ns.max(time_ns);
        self.now_ns
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::BusClock;
    use hardstand_protocol::Phase;
    use hardstand_protocol::StateReading;

    const PERIOD_NS: u64 = 1_000_000;

    fn state(run_id: u32, tick: u64, phase: Phase) -> StateReading {
        let (time_ns, phase) = (tick * PERIOD_NS, phase.code());
        StateReading { run_id, tick, time_ns, phase, ..Default::default() }
    }

    #[test]
    fn it_follows_the_loop_and_stops_with_it() {
        let mut clock = BusClock::new(PERIOD_NS, PERIOD_NS);
        let begin = Instant::now();
        assert_eq!(clock.now(begin), 0);
        for tick in 0..10 {
            clock.note(&state(1, tick, Phase::Running), begin);
        }
        assert_eq!(clock.now(begin), 10 * PERIOD_NS);
        assert_eq!(clock.now(begin + Duration::from_micros(300)), 10 * PERIOD_NS + 300_000);
        let late = begin + Duration::from_secs(5);
        assert_eq!(clock.now(late), 12 * PERIOD_NS, "a loop that stands still stops the clock");
        for _ in 0..100 {
            clock.note(&state(1, 9, Phase::Paused), late);
        }
        assert_eq!(clock.now(late), 12 * PERIOD_NS, "no time passes in a pause");
    }

    #[test]
    fn it_runs_before_the_run_begins_and_never_goes_back() {
        let mut clock = BusClock::new(PERIOD_NS, 2 * PERIOD_NS);
        let begin = Instant::now();
        for _ in 0..50 {
            clock.note(&state(1, 0, Phase::Waiting), begin);
        }
        assert_eq!(clock.now(begin), 50 * PERIOD_NS);
        let half = clock.now(begin + Duration::from_nanos(PERIOD_NS)) - 50 * PERIOD_NS;
        assert_eq!(half, PERIOD_NS / 2, "in slow motion the bus is slow, too");
        clock.note(&state(2, 0, Phase::Running), begin);
        assert_eq!(clock.now(begin), 51 * PERIOD_NS, "a reset does not set it back");
    }
}
