//! How busy a bus is.

/// The share of the bus's own time, which in slow motion passes slowly, in which it is busy.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// The bus's time and its busy time at the last call.
    last: (u64, u64),
}

impl Load {
    /// The load since the last call, at the bus's time `now_ns`, after it was busy for `busy_ns` in
    /// all. 0 if the bus stands still; at most 1000, for a frame counts whole where it begins.
    pub(super) fn permille(&mut self, now_ns: u64, busy_ns: u64) -> u64 {
        let (from_ns, before_ns) = std::mem::replace(&mut self.last, (now_ns, busy_ns));
        let passed_ns = now_ns.saturating_sub(from_ns);
        let permille = busy_ns.saturating_sub(before_ns).saturating_mul(1000) / passed_ns.max(1);
        if passed_ns > 0 { permille.min(1000) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::clock::BusClock;
    use super::Load;
    use hardstand_protocol::Phase;
    use hardstand_protocol::StateReading;

    const PERIOD_NS: u64 = 1_000_000;

    #[test]
    fn a_bus_is_at_most_always_busy() {
        let mut load = Load::default();
        assert_eq!(load.permille(1_000_000, 1_500_000), 1000);
        assert_eq!(load.permille(2_000_000, u64::MAX), 1000);
    }

    /// A master that keeps the wire busy for half of the time in which drives live.
    #[test]
    fn a_half_busy_bus_is_half_busy_in_slow_motion_too_and_idle_in_a_pause() {
        for slower in [1, 10] {
            let mut clock = BusClock::new(PERIOD_NS, slower * PERIOD_NS);
            let (mut load, begin) = (Load::default(), Instant::now());
            let mut loads = Vec::new();
            for tick in 0..400 {
                let at = begin + Duration::from_nanos(tick * slower * PERIOD_NS);
                let (phase, time_ns) = (Phase::Running.code(), tick * PERIOD_NS);
                clock.note(&StateReading { tick, time_ns, phase, ..Default::default() }, at);
                if tick % 100 == 0 {
                    loads.push(load.permille(clock.now(at), tick * PERIOD_NS / 2));
                }
            }
            assert_eq!(loads[1..], [500; 3], "{slower} times slower");
            let late = begin + Duration::from_nanos(399 * slower * PERIOD_NS);
            load.permille(clock.now(late), 0);
            assert_eq!(load.permille(clock.now(late), 0), 0);
        }
    }
}
