//! Sine and cosine together, for any number of lanes.

use crate::simd::SimdReal;

const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;

/// `π/2` in three parts. The first two have 36 bits, so that their products with the number of
/// quarter turns are exact up to [`NEAR_RAD`].
const HALF_PI: [f64; 3] =
    [1.570_796_326_792_333_3, 2.563_344_151_583_955_8e-12, 1.056_299_906_698_742_8e-23];

/// A number added to this becomes a multiple of 4, the nearest.
const FOURS: f64 = 27_021_597_764_222_976.0; // 1.5 · 2⁵⁴

/// Up to here `x` is reduced in lanes.
const NEAR_RAD: f64 = 1e5;

/// `(r − sin r) / r³` as a polynomial in `r²`, lowest power first: minimax (Remez) with 1/6 given,
/// for `|r| ≤ π/4`. The sine is then off by less than 0.1 ulp.
const SINE: [f64; 6] = [
    0.166_666_666_666_666_66,
    -0.008_333_333_333_328_724,
    0.000_198_412_698_339_132_15,
    -2.755_731_490_245_871e-6,
    2.505_092_400_613_42e-8,
    -1.590_538_739_658_369_8e-10,
];

/// `(cos r − 1 + r²/2) / r⁴` in the same way. The cosine is then off by less than 0.02 ulp.
const COSINE: [f64; 6] = [
    0.041_666_666_666_666_595,
    -0.001_388_888_888_887_302_5,
    2.480_158_728_883_109_7e-5,
    -2.755_731_417_318_418e-7,
    2.087_569_999_033_807_6e-9,
    -1.135_849_139_003_351_2e-11,
];

/// `(sin x, cos x)` to within 0.9 ulp as measured (`crates/physics/tests/it/math.rs`), `x` in rad;
/// the same bits in every lane.
///
/// NaN for an infinite `x` and for NaN (which NaN is left open); the sine of −0 is −0. Beyond 10⁵
/// rad the crate `libm` computes lane by lane to within 1 ulp.
#[inline(always)]
#[must_use]
pub fn sin_cos<T: SimdReal>(x: T) -> (T, T) {
    if T::any(x.abs().above(T::splat(NEAR_RAD))) { lane_by_lane(x) } else { near(x) }
}

/// For `|x|` up to [`NEAR_RAD`], and for NaN.
#[inline(always)]
fn near<T: SimdReal>(x: T) -> (T, T) {
    let turns = (x * T::splat(TWO_OVER_PI)).nearest_whole();
    let (r, excess) = reduced(x, turns);
    let (s, c) = (sine(r, excess), cosine(r, excess));
    // Quarter turns modulo 4, from −2 to 2; both −2 and 2 are half a turn.
    let quarter = turns - ((turns + T::splat(FOURS)) - T::splat(FOURS));
    // Below 0 where the sine and the cosine are to be flipped: for 2, −2, −1 and for 1, 2, −2.
    let flip_sin = T::splat(1.0) - (quarter - T::splat(0.5)).abs();
    let flip_cos = T::splat(1.0) - (quarter + T::splat(0.5)).abs();
    let odd = T::splat(0.0).above(flip_sin * flip_cos);
    let (sin, cos) = (T::select(odd, c, s), T::select(odd, s, c));
    (sin.flipped_by(flip_sin), cos.flipped_by(flip_cos))
}

/// `x − turns π/2` as the difference of two numbers. Each step is exact or keeps what it lost.
#[inline(always)]
fn reduced<T: SimdReal>(x: T, turns: T) -> (T, T) {
    let second = turns * T::splat(HALF_PI[1]);
    let third = turns * T::splat(HALF_PI[2]);
    let coarse = x - turns * T::splat(HALF_PI[0]);
    let fine = coarse - second;
    // Exact even where `coarse` is the smaller one: then nothing was lost.
    let correction = third - ((coarse - fine) - second);
    let r = fine - correction;
    (r, correction - (fine - r))
}

/// `sin(r − excess)` for `|r| ≤ π/4`, `excess` below an ulp of `r`. −0 for −0.
#[inline(always)]
fn sine<T: SimdReal>(r: T, excess: T) -> T {
    let z = r * r;
    r - (polynomial(&SINE, z) * (z * r) + excess * (T::splat(1.0) - T::splat(0.5) * z))
}

/// `cos(r − excess)` for `|r| ≤ π/4`, `excess` below an ulp of `r`.
#[inline(always)]
fn cosine<T: SimdReal>(r: T, excess: T) -> T {
    let z = r * r;
    let half = T::splat(0.5) * z;
    let sum = T::splat(1.0) - half;
    let lost = (T::splat(1.0) - sum) - half;
    sum + (lost + (polynomial(&COSINE, z) * (z * z) + r * excess))
}

#[inline(always)]
fn polynomial<T: SimdReal>(c: &[f64; 6], z: T) -> T {
    let z2 = z * z;
    let first = T::splat(c[0]) + T::splat(c[1]) * z;
    let second = T::splat(c[2]) + T::splat(c[3]) * z;
    let third = T::splat(c[4]) + T::splat(c[5]) * z;
    (first + second * z2) + third * (z2 * z2)
}

/// For lanes of which some are beyond [`NEAR_RAD`]. Not inlined: it is rare.
#[cold]
#[inline(never)]
fn lane_by_lane<T: SimdReal>(x: T) -> (T, T) {
    let one = |i: usize| {
        let x = x.lane(i);
        if x.abs() > NEAR_RAD { libm::sincos(x) } else { near(x) }
    };
    (T::from_lanes(|i| one(i).0), T::from_lanes(|i| one(i).1))
}
