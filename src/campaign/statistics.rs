//! Statistics of paired runs. Only sums, products, roots and `student`: the same bits on every
//! machine.

use serde::Serialize;

use crate::student::student;

/// A mean of paired differences, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedMean {
    /// Pairs.
    pub pairs: usize,
    /// Mean of the differences.
    pub mean: f64,
    /// Half of the interval's width; `None` of a single pair, which has no interval.
    pub half_width: Option<f64>,
}

impl PairedMean {
    /// Student's interval of these differences, which are taken as independent. `None` of none.
    #[must_use]
    pub fn of(differences: &[f64], confidence: f64) -> Option<Self> {
        let pairs = differences.len();
        let n = pairs as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let half_width = (pairs > 1).then(|| {
            let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
            student(confidence, pairs - 1) * (squares / (n - 1.0) / n).sqrt()
        });
        (pairs > 0).then_some(Self { pairs, mean, half_width })
    }

    /// True if the interval does not contain 0.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.half_width.is_some_and(|half| self.mean.abs() > half)
    }
}

/// Exact two-sided sign test (McNemar's, of pairs that changed one way or the other): the
/// probability that a fair coin divides `a + b` throws at least as unevenly.
#[must_use]
pub fn sign_test(a: usize, b: usize) -> f64 {
    let (n, k) = (a + b, a.min(b));
    // the binomial coefficient, halved on the way so that it stays a small number
    let (mut term, mut halves) = (1.0_f64, n);
    for i in 1..=k {
        term *= (n - k + i) as f64 / i as f64;
        while term > 1.0 && halves > 0 {
            term *= 0.5;
            halves -= 1;
        }
    }
    // 2^−1100 is 0 already
    (0..halves.min(1100)).for_each(|_| term *= 0.5);
    let mut sum = 0.0;
    for i in (0..=k).rev() {
        sum += term;
        term *= i as f64 / (n - i + 1) as f64;
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{PairedMean, sign_test};

    /// By hand: 2 · (1 + 5) / 2⁵, and so on.
    #[test]
    fn the_sign_test_counts_throws_of_a_coin() {
        let coin = |k: i32| (0..k).fold(1.0, |p, _| 0.5 * p);
        for (a, b, expected) in [
            (0, 0, 1.0),
            (1, 0, 1.0),
            (0, 5, 2.0 * coin(5)),
            (4, 1, 12.0 * coin(5)),
            (2, 8, 2.0 * 56.0 * coin(10)),
            (7, 7, 1.0),
            (0, 1000, 2.0 * coin(1000)),
        ] {
            let found = sign_test(a, b);
            assert!((found - expected).abs() <= 1e-12 * expected, "{a}, {b}: {found}");
            assert_eq!(found.to_bits(), sign_test(b, a).to_bits());
        }
        assert!((sign_test(950, 1050) - 0.026_824).abs() < 1e-5, "{}", sign_test(950, 1050));
        assert!(sign_test(0, 5000) == 0.0);
    }

    /// Five pairs by hand: mean 2, variance 2.5, t = 2.776.
    #[test]
    fn an_interval_is_that_of_the_differences() {
        let found = PairedMean::of(&[0.0, 1.0, 2.0, 3.0, 4.0], 0.95).unwrap();
        assert_eq!((found.pairs, found.mean), (5, 2.0));
        let half = found.half_width.unwrap();
        assert!((half - 2.776 * 0.5_f64.sqrt()).abs() < 1e-3, "{half}");
        assert!(found.differs());
        assert_eq!(PairedMean::of(&[3.0], 0.95).unwrap().half_width, None);
        assert!(!PairedMean::of(&[3.0], 0.95).unwrap().differs());
        assert_eq!(PairedMean::of(&[], 0.95), None);
        assert!(!PairedMean::of(&[-1.0, 1.5], 0.95).unwrap().differs());
    }
}
