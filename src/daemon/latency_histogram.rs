//! Numbers that come tick by tick: percentiles with bounded memory, and counts between edges.

use hdrhistogram::Histogram;

use hardstand_protocol::Distribution;

/// Whole numbers up to a minute in nanoseconds, longer ones count as a minute.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    histogram: Histogram<u64>,
    edges: &'static [u64],
    counts: Vec<u64>,
    max: u64,
}

const LARGEST: u64 = 60_000_000_000;

/// Three digits: 42.1 µs and 42.2 µs fall into different buckets.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LARGEST, 3).unwrap_or_else(|_bounds_are_valid| {
        Histogram::new_with_max(u64::MAX, 1).unwrap_or_else(|_| std::process::abort())
    })
}

impl LatencyHistogram {
    /// Nothing yet; bins lie between `edges`, which rise.
    #[must_use]
    pub fn new(edges: &'static [u64]) -> Self {
        Self { histogram: histogram(), edges, counts: vec![0; edges.len() + 1], max: 0 }
    }

    /// Takes in one number.
    pub fn record(&mut self, value: u64) {
        self.histogram.saturating_record(value);
        self.counts[self.edges.partition_point(|edge| *edge <= value)] += 1;
        self.max = self.max.max(value);
    }

    /// Forgets all numbers.
    pub fn reset(&mut self) {
        self.histogram.reset();
        self.counts.fill(0);
        self.max = 0;
    }

    /// How many numbers there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The largest, exactly; 0 if there is none.
    #[must_use]
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// The number that the share `q` does not exceed, to three digits and never beyond the
    /// largest; 0 if there is none.
    #[must_use]
    pub fn quantile(&self, q: f64) -> u64 {
        self.histogram.value_at_quantile(q).min(self.max)
    }

    /// How many numbers are between `low` and `high`, both included, to three digits.
    #[must_use]
    pub fn count_between(&self, low: u64, high: u64) -> u64 {
        self.histogram.count_between(low, high)
    }

    /// In short, for the bus.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        Distribution {
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            p99_9: self.quantile(0.999),
            p99_99: self.quantile(0.9999),
            max: self.max,
            counts: self.counts.clone(),
        }
    }
}
