//! Statistics of paired runs. Only sums, products, roots and `math::atan2`: the same bits on every
//! machine.

use hardstand_physics::math;
use serde::Serialize;

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

/// More degrees of freedom are taken as so many, which makes an interval 0.01 % wider at most.
const FREEDOM_MAX: usize = 10_000;

/// The number that Student's variable of so many degrees of freedom, at least 1, exceeds neither
/// way with the probability `confidence`, between 0 and 1.
fn student(confidence: f64, freedom: usize) -> f64 {
    let freedom = freedom.clamp(1, FREEDOM_MAX);
    let (mut low, mut high) = (0.0, 1.0);
    while student_within(high, freedom) < confidence && high < 1e12 {
        high *= 2.0;
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if student_within(middle, freedom) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// P(|T| < t): Abramowitz & Stegun (1964), 26.7.3 and 26.7.4.
fn student_within(t: f64, freedom: usize) -> f64 {
    let n = freedom as f64;
    let (sin, cos) = (t / (n + t * t).sqrt(), n.sqrt() / (n + t * t).sqrt());
    let odd = freedom % 2 == 1;
    // terms of cosᵏ for k = 1, 3, … or 0, 2, … to freedom − 2
    let (mut term, mut sum) = (if odd { cos } else { 1.0 }, 0.0);
    let mut k = if odd { 1.0 } else { 0.0 };
    while k <= n - 2.0 {
        sum += term;
        term *= cos * cos * (k + 1.0) / (k + 2.0);
        k += 2.0;
    }
    if odd {
        (math::atan2(t, n.sqrt()) + sin * sum) / std::f64::consts::FRAC_PI_2
    } else {
        sin * sum
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{PairedMean, sign_test, student};

    /// Published tables: two-sided 95 % and 99 %.
    #[test]
    fn students_numbers_are_those_of_the_tables() {
        for (freedom, at_95, at_99) in [
            (1, 12.706, 63.657),
            (2, 4.303, 9.925),
            (3, 3.182, 5.841),
            (10, 2.228, 3.169),
            (29, 2.045, 2.756),
            (120, 1.980, 2.617),
            (1_000_000, 1.960, 2.576),
        ] {
            for (confidence, expected) in [(0.95, at_95), (0.99, at_99)] {
                let found = student(confidence, freedom);
                assert!((found - expected).abs() < 6e-4, "{freedom}, {confidence}: {found}");
            }
        }
    }

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
