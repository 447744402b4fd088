//! The only transcendental functions in the crate.
//!
//! [`exp`], [`sin_cos`] and [`step_up`] are written here for one number or several side by side
//! (see [`SimdReal`]), the others come from the crate `libm`: all pure Rust, without fused
//! operations.
//! So a result has the same bits on every machine, with every `target-cpu`, in debug and release,
//! in every lane. Replay depends on that: nothing else in `src/` may call `f64::sin` and its kin
//! (`tests/it/tidy.rs` checks it). `sqrt`, `abs` and the like are exact in IEEE 754 and need no
//! wrapper.
//!
//! ```
//! let (sin, cos) = hardstand_physics::math::sin_cos(0.5);
//! assert!((sin * sin + cos * cos - 1.0).abs() < 1e-15);
//! ```

mod exp;
mod map;
mod sin_cos;

use crate::simd::SimdReal;

pub use exp::exp;
pub use map::{Program, map_lanes};
pub use sin_cos::sin_cos;

/// `x^y`.
#[inline]
#[must_use]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Natural logarithm.
#[inline]
#[must_use]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Logarithm to base 10.
#[inline]
#[must_use]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// Angle of the vector `(x, y)` from the x-axis, in rad, in `[−π, π]`.
#[inline]
#[must_use]
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// Arc sine in rad; the argument is clamped to `[−1, 1]` first.
#[inline]
#[must_use]
pub fn asin_clamped(x: f64) -> f64 {
    libm::asin(x.clamp(-1.0, 1.0))
}

/// Arc cosine in rad; the argument is clamped to `[−1, 1]` first.
#[inline]
#[must_use]
pub fn acos_clamped(x: f64) -> f64 {
    libm::acos(x.clamp(-1.0, 1.0))
}

/// The smooth step `10x³ − 15x⁴ + 6x⁵` for `x` clamped to `[0, 1]`: zero slope and curvature at
/// both ends. NaN for NaN.
#[inline(always)]
#[must_use]
pub fn step_up<T: SimdReal>(x: T) -> T {
    // In this order NaN passes both limits.
    let x = T::splat(1.0).smaller(T::splat(0.0).larger(x));
    x * x * x * (T::splat(10.0) + x * (T::splat(6.0) * x - T::splat(15.0)))
}
