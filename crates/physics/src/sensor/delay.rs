//! Readings that arrive late.

use crate::actuator::drive::to_ns;

/// A delay as whole ticks and a share of one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delay {
    /// Whole ticks.
    pub ticks: u64,
    /// What is left, as a share of a tick: 0 to below 1.
    pub share: f64,
}

impl Delay {
    /// Of `delay_us` with ticks of `period_ns`.
    #[must_use]
    pub fn new(delay_us: f64, period_ns: u64) -> Self {
        let (ns, period_ns) = (to_ns(delay_us), period_ns.max(1));
        Self { ticks: ns / period_ns, share: (ns % period_ns) as f64 / period_ns as f64 }
    }

    /// Number of past ticks that have to be kept, the present one included; 0 without a delay.
    #[must_use]
    pub fn slots(&self) -> usize {
        let whole = self.ticks as usize + usize::from(self.share > 0.0);
        if whole == 0 { 0 } else { whole + 1 }
    }
}

/// The values of the last ticks, a ring; without words if nothing is delayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelayLine {
    values: Vec<f64>,
    width: usize,
}

impl DelayLine {
    /// Room for `width` values in each of the last `slots` ticks.
    #[must_use]
    pub fn new(width: usize, slots: usize) -> Self {
        Self { values: vec![0.0; width * slots], width }
    }

    /// True if nothing is delayed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn slot(&self, tick: u64) -> usize {
        let slots = (self.values.len() / self.width.max(1)).max(1);
        (tick % slots as u64) as usize * self.width
    }

    /// Takes the values of `tick`.
    pub fn push(&mut self, tick: u64, values: impl Iterator<Item = f64>) {
        let first = self.slot(tick);
        for (slot, value) in self.values.iter_mut().skip(first).zip(values).take(self.width) {
            *slot = value;
        }
    }

    /// Lets the values of `tick` count for all ticks before it.
    pub fn settle(&mut self, tick: u64) {
        let first = self.slot(tick);
        let slots = self.values.len() / self.width.max(1);
        for i in 0..slots {
            self.values.copy_within(first..first + self.width, i * self.width);
        }
    }

    /// Value `i` so many whole ticks before `tick`.
    fn past(&self, tick: u64, ticks: u64, i: usize) -> f64 {
        let slots = (self.values.len() / self.width.max(1)).max(1) as u64;
        // a ring: before the first tick, its slots hold what was settled
        let at = self.slot((tick % slots + slots - ticks % slots) % slots);
        self.values.get(at + i).copied().unwrap_or_default()
    }

    /// Value `i` a `delay` before `tick`, on a line between the ticks on both sides.
    #[must_use]
    pub fn line(&self, tick: u64, delay: Delay, i: usize) -> f64 {
        let newer = self.past(tick, delay.ticks, i);
        if delay.share <= 0.0 {
            return newer;
        }
        let older = self.past(tick, delay.ticks + 1, i);
        newer + delay.share * (older - newer)
    }

    /// Value `i` a `delay` before `tick` of an output that holds its value within a tick.
    #[must_use]
    pub fn held(&self, tick: u64, delay: Delay, i: usize) -> f64 {
        self.past(tick, delay.ticks + u64::from(delay.share > 0.0), i)
    }

    /// The numbers.
    pub fn iter(&self) -> impl Iterator<Item = &f64> {
        self.values.iter()
    }

    /// Visits every number.
    #[inline(always)]
    pub fn walk(&mut self, visit: &mut impl FnMut(&mut f64)) {
        for x in &mut self.values {
            visit(x);
        }
    }
}
