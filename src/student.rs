//! Quantiles of Student's distribution. Only sums, products, roots and `math::atan2`: the same bits
//! on every machine.

use hardstand_physics::math;

/// More degrees of freedom are taken as so many, which makes an interval 0.01 % wider at most.
const FREEDOM_MAX: usize = 10_000;

/// The number that Student's variable of so many degrees of freedom, at least 1, exceeds neither
/// way with the probability `confidence`, between 0 and 1.
pub(crate) fn student(confidence: f64, freedom: usize) -> f64 {
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
mod tests {
    use super::student;

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
}
