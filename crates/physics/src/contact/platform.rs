//! Ground that moves as prescribed: a treadmill, a shaking table.

use std::f64::consts::{PI, TAU};

use crate::math;
use crate::spatial::{Motion, Quaternion, Transform, Vec3};
use hardstand_error::Result;

use super::range::{refuse, require};

const NS_PER_S: u64 = 1_000_000_000;
/// 2⁶⁴: one period in the fixed-point count of periods.
const PERIOD: f64 = 18_446_744_073_709_551_616.0;

/// Prescribed motion of a piece of ground: how its frame P moves against its rest frame P0.
///
/// With `r(t)` = [`math::step_up`]`(t / ramp_s)` (1 at once if `ramp_s` is 0) and the swing
/// `s(t) = r(t) sin(2π f t + phase)`, at time `t`
///
/// - `p_P0P = velocity · ∫₀ᵗ r + amplitude · s`,
/// - `R_P0P` turns by `|rocking| · s` about the fixed axis of `rocking`, through P's origin.
///
/// A treadmill has a velocity, a shaking table an amplitude. The [`Default`] stands still. All
/// vectors are in the axes of P0. Whatever is set passes [`check`](Self::check) before it is used.
///
/// ```
/// use hardstand_physics::contact::PlatformMotion;
/// let belt = PlatformMotion {
///     velocity_m_per_s: [-0.5, 0.0, 0.0],
///     ramp_s: 2.0,
///     ..PlatformMotion::default()
/// };
/// belt.check()?;
/// let t_ns = 3_000_000_000;
/// assert_eq!(belt.displacement(t_ns).p.x, -0.5 * (3.0 - 1.0)); // the ramp costs half of itself
/// assert_eq!(belt.velocity(t_ns).lin.x, -0.5);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlatformMotion {
    /// Constant velocity, m/s. Each within ±100.
    pub velocity_m_per_s: [f64; 3],
    /// Amplitude of the oscillation of P's origin, m. Each within ±100.
    pub amplitude_m: [f64; 3],
    /// Amplitude of the rocking, rad: axis times angle. Each within ±π.
    pub rocking_rad: [f64; 3],
    /// Frequency `f` of oscillation and rocking, Hz. 0 to 1000; used to 2⁻⁶⁴ Hz.
    pub frequency_hz: f64,
    /// Phase of both, rad. Within ±2π. If it is not 0 and there is no ramp, the motion starts
    /// with a jump.
    pub phase_rad: f64,
    /// Time to get going, s. 0 to 10⁶. Without it a velocity is there at once.
    pub ramp_s: f64,
}

/// Everything that depends on time alone, with its rate.
struct Course {
    /// `∫₀ᵗ r`, s.
    run_s: f64,
    /// `r`.
    ramp: f64,
    /// `s`.
    swing: f64,
    /// `ds/dt`, 1/s.
    swing_rate: f64,
}

impl PlatformMotion {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`Input`](hardstand_error::ErrorKind::Input) with all parameters that are out of range.
    pub fn check(&self) -> Result<()> {
        let mut m = Vec::new();
        for i in 0..3 {
            let v = self.velocity_m_per_s[i];
            require(&mut m, &format!("velocity_m_per_s[{i}]"), v, -100.0, 100.0);
            let a = self.amplitude_m[i];
            require(&mut m, &format!("amplitude_m[{i}]"), a, -100.0, 100.0);
            require(&mut m, &format!("rocking_rad[{i}]"), self.rocking_rad[i], -PI, PI);
        }
        require(&mut m, "frequency_hz", self.frequency_hz, 0.0, 1000.0);
        require(&mut m, "phase_rad", self.phase_rad, -TAU, TAU);
        require(&mut m, "ramp_s", self.ramp_s, 0.0, 1e6);
        refuse("platform motion", &m)
    }

    /// `X_P0P` at simulated time `t_ns`.
    #[must_use]
    pub fn displacement(&self, t_ns: u64) -> Transform {
        let c = self.course(t_ns);
        let turn = Vec3::from(self.rocking_rad) * c.swing;
        Transform::new(
            Quaternion::from_rotation_vector(&turn).to_matrix(),
            Vec3::from(self.velocity_m_per_s) * c.run_s + Vec3::from(self.amplitude_m) * c.swing,
        )
    }

    /// Angular velocity of P in P0 and velocity of P's origin, in P0 axes: the exact derivative of
    /// [`displacement`](Self::displacement). The point of P at `p` from P's origin (P0 axes) has
    /// the velocity [`Motion::at_point`]`(p)`.
    #[must_use]
    pub fn velocity(&self, t_ns: u64) -> Motion {
        let c = self.course(t_ns);
        let run = Vec3::from(self.velocity_m_per_s) * c.ramp;
        Motion::new(
            Vec3::from(self.rocking_rad) * c.swing_rate, // the axis is fixed
            run + Vec3::from(self.amplitude_m) * c.swing_rate,
        )
    }

    fn course(&self, t_ns: u64) -> Course {
        let t_s = t_ns as f64 / NS_PER_S as f64;
        let (run_s, ramp, ramp_rate) = if t_s < self.ramp_s {
            let u = t_s / self.ramp_s;
            let run = u * u * u * u * (2.5 + u * (u - 3.0));
            let rate = 30.0 * u * u * (1.0 - u) * (1.0 - u);
            (self.ramp_s * run, math::step_up(u), rate / self.ramp_s)
        } else {
            (t_s - 0.5 * self.ramp_s, 1.0, 0.0)
        };
        let angle = TAU * period_fraction(self.frequency_hz, t_ns) + self.phase_rad;
        let (sin, cos) = math::sin_cos(angle);
        Course {
            run_s,
            ramp,
            swing: ramp * sin,
            swing_rate: ramp_rate * sin + ramp * TAU * self.frequency_hz * cos,
        }
    }
}

/// The fractional part of `frequency_hz · t`, in periods.
///
/// Whole periods are dropped in integers, in units of 2⁻⁶⁴ periods, so the sine is as exact after
/// a year as after a second. The frequency is cut to 2⁻⁶⁴ Hz, which is all of it from 2⁻¹¹ Hz up.
fn period_fraction(frequency_hz: f64, t_ns: u64) -> f64 {
    let per_s = (frequency_hz * PERIOD) as u128; // below 2⁷⁴
    let whole = per_s.wrapping_mul(u128::from(t_ns / NS_PER_S)); // below 2¹⁰⁹
    let rest = per_s.wrapping_mul(u128::from(t_ns % NS_PER_S)) / u128::from(NS_PER_S);
    whole.wrapping_add(rest) as u64 as f64 / PERIOD
}
