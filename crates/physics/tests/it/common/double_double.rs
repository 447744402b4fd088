//! Numbers of about 32 digits as the unevaluated sum of two `f64`, and Taylor series with them: a
//! reference for elementary functions that shares nothing with `src/math`.

use std::f64::consts::{FRAC_PI_2, LN_2};

/// `hi + lo`, where `lo` is at most half an ulp of `hi`.
#[derive(Clone, Copy, Debug)]
pub struct Double {
    pub hi: f64,
    pub lo: f64,
}

fn two_sum(a: f64, b: f64) -> Double {
    let hi = a + b;
    let part = hi - a;
    Double { hi, lo: (a - (hi - part)) + (b - part) }
}

/// Halves of 26 bits, whose products are exact.
fn split(a: f64) -> (f64, f64) {
    let shifted = 134_217_729.0 * a; // 2²⁷ + 1
    let high = shifted - (shifted - a);
    (high, a - high)
}

fn two_product(a: f64, b: f64) -> Double {
    let hi = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    Double { hi, lo: ((ah * bh - hi) + ah * bl + al * bh) + al * bl }
}

/// `2^k` for `k` from −1074 to 1023.
pub fn power_of_two(k: i32) -> f64 {
    f64::from_bits(if k < -1022 { 1 << (k + 1074) } else { ((k + 1023) as u64) << 52 })
}

impl Double {
    pub const fn new(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }

    pub fn plus(self, o: Self) -> Self {
        let (high, low) = (two_sum(self.hi, o.hi), two_sum(self.lo, o.lo));
        let sum = two_sum(high.hi, high.lo + low.hi);
        two_sum(sum.hi, sum.lo + low.lo)
    }

    pub fn minus(self, o: Self) -> Self {
        self.plus(Self { hi: -o.hi, lo: -o.lo })
    }

    pub fn times(self, o: Self) -> Self {
        let product = two_product(self.hi, o.hi);
        two_sum(product.hi, product.lo + (self.hi * o.lo + self.lo * o.hi))
    }

    fn over(self, whole: f64) -> Self {
        let quotient = self.hi / whole;
        let rest = self.minus(two_product(quotient, whole));
        two_sum(quotient, (rest.hi + rest.lo) / whole)
    }

    /// `1 + x/n₀ (1 + x/n₁ (1 + …))` for the given divisors.
    fn series(self, divisors: impl DoubleEndedIterator<Item = f64>) -> Self {
        let one = Self::new(1.0);
        divisors.rev().fold(one, |sum, n| one.plus(self.over(n).times(sum)))
    }
}

/// `x − k (p₀ + p₁ + …)` and `k`, where `k` is the whole number next to `x / p₀`.
fn remainder(x: f64, parts: &[f64]) -> (Double, f64) {
    let k = (x / parts[0]).round();
    let less = |rest: Double, part: &f64| rest.minus(two_product(k, *part));
    (parts.iter().fold(Double::new(x), less), k)
}

/// `e^x` as a number near 1 and a power of two that it is to be multiplied with; `|x| ≤ 1000`.
pub fn exp(x: f64) -> (Double, i32) {
    let parts = [LN_2, 2.319_046_813_846_299_6e-17, 5.707_708_438_416_212e-34];
    let (r, k) = remainder(x, &parts);
    (r.series((1..32).map(f64::from)), k as i32)
}

/// `(sin x, cos x)`; `|x| ≤ 10⁹`.
pub fn sin_cos(x: f64) -> (Double, Double) {
    if x.abs() < 1e-100 {
        return (Double::new(x), Double::new(1.0));
    }
    let parts = [
        FRAC_PI_2,
        6.123_233_995_736_766e-17,
        -1.497_384_904_859_169_8e-33,
        5.562_271_104_316_826e-50,
    ];
    let (r, k) = remainder(x, &parts);
    let z = r.times(r);
    let divisors = |first: i32| (0..18).map(move |i| f64::from(first + 2 * i));
    let steps = |first: i32| divisors(first).map(|n| -n * (n + 1.0));
    let (s, c) = (r.times(z.series(steps(2))), z.series(steps(1)));
    let minus = |x: Double| Double { hi: -x.hi, lo: -x.lo };
    match k.rem_euclid(4.0) as u8 {
        0 => (s, c),
        1 => (c, minus(s)),
        2 => (minus(s), minus(c)),
        _ => (minus(c), s),
    }
}

/// `found − exact` in ulp of `exact`, which stands for `exact · 2^power`, as `found` does for
/// itself; where the result is subnormal, an ulp is the smallest `f64`.
pub fn ulp(found: f64, exact: Double, power: i32) -> f64 {
    // In steps that neither overflow nor lose bits.
    let mut scaled = found;
    let mut left = power;
    while left != 0 {
        let step = left.clamp(-500, 500);
        scaled *= power_of_two(-step);
        left -= step;
    }
    let exponent = ((exact.hi.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let of_last_bit = (exponent - 52).max(-1074 - power);
    let error = (scaled - exact.hi) - exact.lo;
    if error == 0.0 { 0.0 } else { error / power_of_two(of_last_bit) }
}
