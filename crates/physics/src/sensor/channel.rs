//! Laws of one number on its way through an instrument.

use core::f64::consts::TAU;

use crate::math;

/// `x` in whole steps; continuous for a step of 0.
#[must_use]
pub fn quantised(x: f64, step: f64) -> f64 {
    if step <= 0.0 { x } else { (x / step).round() * step }
}

/// `x` within ±`range`; unlimited for a range of 0.
#[must_use]
pub fn clipped(x: f64, range: f64) -> f64 {
    if range <= 0.0 { x } else { x.clamp(-range, range) }
}

/// Share of the way to its input that a low-pass of first order goes in `h_s`: `1 − exp(−2π f h)`;
/// the whole way without a cut-off.
#[must_use]
pub fn low_pass_share(cutoff_hz: f64, h_s: f64) -> f64 {
    if cutoff_hz <= 0.0 { 1.0 } else { 1.0 - math::exp(-TAU * cutoff_hz * h_s) }
}

/// Standard deviation of a sample that stands for `dt_s` of white noise of this one-sided density:
/// `N / √(2 dt)`. The Allan deviation is then `N / √(2 τ)`.
#[must_use]
pub fn white_noise(density: f64, dt_s: f64) -> f64 {
    density / (2.0 * dt_s).sqrt()
}

/// What an element with hysteresis of this `width` shows for `x`, after it has shown `before`: it
/// follows within half the width (the play operator), so that loading and unloading differ by the
/// whole.
#[must_use]
pub fn played(before: f64, x: f64, width: f64) -> f64 {
    if width <= 0.0 {
        return x;
    }
    let (low, high) = (x - 0.5 * width, x + 0.5 * width);
    // NaN passes
    if before < low {
        low
    } else if before > high {
        high
    } else {
        before
    }
}
