//! Rolling and torsional friction: moments against rolling and spinning.

use hardstand_error::{Error, ErrorKind, Result};

use crate::spatial::Vec3;

/// Moments of a contact against the rates at which its body rolls and spins, each at most a length
/// times the normal force (MuJoCo's coefficients of `condim` 6). With `ω` of the body less that of
/// the ground, in C, and the normal force `f`:
///
/// ```text
/// m_z  = −torsional f ω_z  / max(|ω_z|,  ω_settle)
/// m_xy = −rolling   f ω_xy / max(|ω_xy|, ω_settle)
/// ```
///
/// A body that rolls or spins faster than `ω_settle` is slowed down by a constant moment, as by dry
/// friction. Below, the moment is a damper: nothing is held, and a load `m` below the limit creeps
/// at `ω_settle m / (rolling f)`.
///
/// ```
/// use hardstand_physics::contact::RollingFriction;
/// use hardstand_physics::spatial::Vec3;
///
/// let tyre = RollingFriction::new(0.002, 0.01, 0.1)?;
/// let m = tyre.moment_C(100.0, &Vec3::new(5.0, 0.0, 0.05));
/// assert!((m - Vec3::new(-0.2, 0.0, -0.5)).norm() < 1e-12);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RollingFriction {
    rolling_m: f64,
    torsional_m: f64,
    settle_rad_per_s: f64,
}

impl Default for RollingFriction {
    fn default() -> Self {
        Self::NONE
    }
}

impl RollingFriction {
    /// No moments.
    pub const NONE: Self = Self { rolling_m: 0.0, torsional_m: 0.0, settle_rad_per_s: 0.1 };

    /// Coefficients of rolling and of torsion, m, and the rate below which the moments fade, rad/s.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] unless the coefficients are finite and at least 0, and the rate is
    /// finite and greater than 0.
    pub fn new(rolling_m: f64, torsional_m: f64, settle_rad_per_s: f64) -> Result<Self> {
        let check = |name: &str, value: f64, ok: bool, range: &str| {
            if ok && value.is_finite() {
                return Ok(());
            }
            Err(Error::new(ErrorKind::Input, format!("{name} is {value}; it must be {range}")))
        };
        check("rolling_m", rolling_m, rolling_m >= 0.0, "finite and at least 0")?;
        check("torsional_m", torsional_m, torsional_m >= 0.0, "finite and at least 0")?;
        let above = "finite and greater than 0";
        check("settle_rad_per_s", settle_rad_per_s, settle_rad_per_s > 0.0, above)?;
        Ok(Self { rolling_m, torsional_m, settle_rad_per_s })
    }

    /// Coefficient of rolling, m.
    #[must_use]
    pub const fn rolling_m(&self) -> f64 {
        self.rolling_m
    }

    /// Coefficient of torsion, m.
    #[must_use]
    pub const fn torsional_m(&self) -> f64 {
        self.torsional_m
    }

    /// Whether there is a moment at all.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.rolling_m > 0.0 || self.torsional_m > 0.0
    }

    /// What counts between two bodies: the smaller of each.
    #[must_use]
    pub fn between(&self, other: &Self) -> Self {
        Self {
            rolling_m: self.rolling_m.min(other.rolling_m),
            torsional_m: self.torsional_m.min(other.torsional_m),
            settle_rad_per_s: self.settle_rad_per_s.max(other.settle_rad_per_s),
        }
    }

    /// Moment on the body in C, N·m, under the normal force `normal_n`, for the angular velocity
    /// `w_C` of the body less that of the ground, rad/s.
    #[must_use]
    pub fn moment_C(&self, normal_n: f64, w_C: &Vec3) -> Vec3 {
        let [across, along] = self.damping(normal_n, w_C);
        Vec3::new(-across * w_C.x, -across * w_C.y, -along * w_C.z)
    }

    /// Moment over rate against rolling and against spinning, N·m·s/rad.
    #[must_use]
    pub fn damping(&self, normal_n: f64, w_C: &Vec3) -> [f64; 2] {
        let rolls = (w_C.x * w_C.x + w_C.y * w_C.y).sqrt();
        let at_least =
            |rate: f64| if rate > self.settle_rad_per_s { rate } else { self.settle_rad_per_s };
        [
            self.rolling_m * normal_n / at_least(rolls),
            self.torsional_m * normal_n / at_least(w_C.z.abs()),
        ]
    }
}
