//! `e^x` for any number of lanes.

use crate::simd::SimdReal;

const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// `ln 2` in two parts. The upper one has 40 bits, so that its product with any exponent is exact.
const LN_2: [f64; 2] = [0.693_147_180_559_208_2, 7.371_002_565_167_799e-13];

/// Beyond these the result is 0 and infinite.
const RANGE: [f64; 2] = [-746.0, 710.0];

/// `(eʳ − 1 − r) / r²` is this polynomial, lowest power first: minimax (Remez) with 1/2 given, for
/// `|r| ≤ ln 2 / 2`. The result is then off by less than 0.06 ulp.
const TAIL: [f64; 10] = [
    0.5,
    0.166_666_666_666_664_33,
    0.041_666_666_666_603_9,
    0.008_333_333_333_500_071,
    0.001_388_888_892_682_244_5,
    0.000_198_412_694_662_504_08,
    2.480_150_864_594_732_4e-5,
    2.755_764_073_364_306_7e-6,
    2.762_520_280_677_852_4e-7,
    2.497_845_687_888_016_2e-8,
];

/// `e^x` to within 0.8 ulp as measured (`crates/physics/tests/it/math.rs`), 1 ulp where the result
/// is subnormal; the same bits in every lane.
///
/// Infinite from 709.79 on, 0 below −745.14, 1 for ±0, NaN for NaN (which NaN is left open).
#[inline(always)]
#[must_use]
pub fn exp<T: SimdReal>(x: T) -> T {
    // In this order NaN passes both limits.
    let x = T::splat(RANGE[1]).smaller(T::splat(RANGE[0]).larger(x));
    let exponent = (x * T::splat(LOG2_E)).nearest_whole();
    let upper = x - exponent * T::splat(LN_2[0]);
    let lower = exponent * T::splat(LN_2[1]);
    // e^(upper − lower) = 1 + upper + (tail − lower), where 1 + upper is kept in two numbers.
    let sum = T::splat(1.0) + upper;
    let lost = upper - (sum - T::splat(1.0));
    let mantissa = sum + (lost + (tail(upper - lower) - lower));
    // In two steps, since 2^exponent alone may be subnormal or infinite where the result is not.
    let half = (exponent * T::splat(0.5)).nearest_whole();
    mantissa * half.two_to_the() * (exponent - half).two_to_the()
}

/// `eʳ − 1 − r` for `|r| ≤ ln 2 / 2`.
#[inline(always)]
fn tail<T: SimdReal>(r: T) -> T {
    let r2 = r * r;
    let r4 = r2 * r2;
    let first = pair(0, r) + pair(2, r) * r2;
    let second = pair(4, r) + pair(6, r) * r2;
    r2 * ((first + second * r4) + pair(8, r) * (r4 * r4))
}

/// Two terms of [`TAIL`], over the power of the first.
#[inline(always)]
fn pair<T: SimdReal>(i: usize, r: T) -> T {
    T::splat(TAIL[i]) + T::splat(TAIL[i + 1]) * r
}
