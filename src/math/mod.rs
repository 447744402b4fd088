//! The only transcendental functions in the crate.
//!
//! Every function here is pure Rust (crate `libm`), so its result has the same bits on every
//! machine, with every `target-cpu`, in debug and release. Replay depends on that: nothing else in
//! `src/` may call `f64::sin` and its kin (`tests/tidy.rs` checks it). `sqrt`, `abs`, `min` and the
//! like are exact in IEEE 754 and need no wrapper.
//!
//! ```
//! let (sin, cos) = hardstand::math::sin_cos(0.5);
//! assert!((sin * sin + cos * cos - 1.0).abs() < 1e-15);
//! ```

mod lanes;
mod map;

pub use lanes::{F64x2, F64x4, Lanes};
pub use map::{Program, map_lanes};
#[cfg(target_arch = "x86_64")]
pub(crate) use lanes::{Avx2x4, Work, has_avx2, with_avx2};

/// `e^x`.
#[inline]
#[must_use]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// `x^y`.
#[inline]
#[must_use]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// `(sin x, cos x)`, `x` in rad.
#[inline]
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
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
/// both ends.
#[inline]
#[must_use]
pub fn step_up(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (10.0 + x * (6.0 * x - 15.0))
}
