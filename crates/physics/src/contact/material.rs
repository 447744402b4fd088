//! What a contact surface is made of: Simbody's `ContactMaterial`.

use crate::math;
use hardstand_error::{Error, ErrorKind, Result};

const NOT_NEGATIVE: &str = "finite and at least 0";

/// Material of a contact surface, for the Hertz, Hunt–Crossley and compliant contacts.
///
/// The rules are Simbody's, and beyond them nothing but finite numbers is accepted. A stiffness of
/// 0 can be set but is not [valid](Self::is_valid): contacts refuse it. The [`Default`] is such a
/// material, without stiffness, dissipation or friction.
///
/// ```
/// use hardstand_physics::contact::ContactMaterial;
///
/// let stiffness_pa = ContactMaterial::plane_strain_stiffness(5e6, 0.5)?;
/// let dissipation = ContactMaterial::dissipation_from_restitution(0.9, 0.2)?;
/// let rubber = ContactMaterial::new(stiffness_pa, dissipation, 0.9, 0.7, 0.0)?;
/// assert!(rubber.is_valid() && (rubber.dissipation_s_per_m() - 0.5).abs() < 1e-15);
///
/// let refused = ContactMaterial::new(-1.0, 0.0, 0.9, 0.7, 0.0).unwrap_err();
/// assert_eq!(refused.to_string(), "stiffness_pa is -1; it must be finite and at least 0");
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactMaterial {
    stiffness_pa: f64,
    stiffness23: f64,
    dissipation_s_per_m: f64,
    mu_static: f64,
    mu_dynamic: f64,
    mu_viscous_s_per_m: f64,
}

impl ContactMaterial {
    /// A material of stiffness `E` (pressure per strain, Pa; see
    /// [`plane_strain_stiffness`](Self::plane_strain_stiffness)), dissipation `c` (s/m: the slope
    /// of restitution over impact speed) and coefficients of friction, the viscous one in s/m.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] as the setters.
    pub fn new(
        stiffness_pa: f64,
        dissipation_s_per_m: f64,
        mu_static: f64,
        mu_dynamic: f64,
        mu_viscous_s_per_m: f64,
    ) -> Result<Self> {
        let mut material = Self::default();
        material.set_stiffness(stiffness_pa)?;
        material.set_dissipation(dissipation_s_per_m)?;
        material.set_friction(mu_static, mu_dynamic, mu_viscous_s_per_m)?;
        Ok(material)
    }

    /// Whether there is a stiffness: greater than 0.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.stiffness_pa > 0.0
    }

    /// `E`, Pa.
    #[must_use]
    pub const fn stiffness_pa(&self) -> f64 {
        self.stiffness_pa
    }

    /// `E^(2/3)`, Pa^(2/3): what Hertz contacts combine.
    #[must_use]
    pub const fn stiffness23(&self) -> f64 {
        self.stiffness23
    }

    /// `c`, s/m.
    #[must_use]
    pub const fn dissipation_s_per_m(&self) -> f64 {
        self.dissipation_s_per_m
    }

    /// `μₛ`.
    #[must_use]
    pub const fn mu_static(&self) -> f64 {
        self.mu_static
    }

    /// `μ_d`, at most `μₛ`.
    #[must_use]
    pub const fn mu_dynamic(&self) -> f64 {
        self.mu_dynamic
    }

    /// `μᵥ`, s/m.
    #[must_use]
    pub const fn mu_viscous_s_per_m(&self) -> f64 {
        self.mu_viscous_s_per_m
    }

    /// Sets `E`, Pa.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] unless it is finite and at least 0; then nothing changes.
    pub fn set_stiffness(&mut self, stiffness_pa: f64) -> Result<()> {
        self.stiffness_pa = not_negative("stiffness_pa", stiffness_pa)?;
        self.stiffness23 = math::pow(stiffness_pa, 2.0 / 3.0);
        Ok(())
    }

    /// Sets `c`, s/m.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] unless it is finite and at least 0; then nothing changes.
    pub fn set_dissipation(&mut self, dissipation_s_per_m: f64) -> Result<()> {
        self.dissipation_s_per_m = not_negative("dissipation_s_per_m", dissipation_s_per_m)?;
        Ok(())
    }

    /// Sets the coefficients of friction, the viscous one in s/m.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] unless all are finite and at least 0 and `mu_dynamic` is at most
    /// `mu_static`; then nothing changes.
    pub fn set_friction(
        &mut self,
        mu_static: f64,
        mu_dynamic: f64,
        mu_viscous_s_per_m: f64,
    ) -> Result<()> {
        not_negative("mu_static", mu_static)?;
        let range = "finite, at least 0 and at most mu_static";
        checked("mu_dynamic", mu_dynamic, (0.0..=mu_static).contains(&mu_dynamic), range)?;
        not_negative("mu_viscous_s_per_m", mu_viscous_s_per_m)?;
        (self.mu_static, self.mu_dynamic) = (mu_static, mu_dynamic);
        self.mu_viscous_s_per_m = mu_viscous_s_per_m;
        Ok(())
    }

    /// Plane-strain modulus `E = Y / (1 − ν²)`, Pa, from Young's modulus (Pa) and Poisson's ratio:
    /// the stiffness of a body that may bulge under pressure.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] unless `Y` is finite and at least 0, `−1 < ν ≤ 0.5` and the result is
    /// finite.
    pub fn plane_strain_stiffness(young_pa: f64, poisson: f64) -> Result<f64> {
        not_negative("young_pa", young_pa)?;
        let range = "greater than -1 and at most 0.5";
        checked("poisson", poisson, poisson > -1.0 && poisson <= 0.5, range)?;
        not_negative("the plane-strain stiffness", young_pa / (1.0 - poisson * poisson))
    }

    /// Confined-compression modulus `E = Y (1 − ν) / ((1 + ν)(1 − 2ν))`, Pa: the stiffness of a
    /// body that must lose volume under pressure. It grows without bound towards `ν = 0.5`.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] unless `Y` is finite and at least 0, `−1 < ν < 0.5` and the result is
    /// finite.
    pub fn confined_compression_stiffness(young_pa: f64, poisson: f64) -> Result<f64> {
        not_negative("young_pa", young_pa)?;
        let range = "greater than -1 and less than 0.5";
        checked("poisson", poisson, poisson > -1.0 && poisson < 0.5, range)?;
        let volume = (1.0 + poisson) * (1.0 - 2.0 * poisson);
        not_negative("the confined-compression stiffness", young_pa * (1.0 - poisson) / volume)
    }

    /// Dissipation `c = (1 − e) / v`, s/m, from a restitution `e` (the share of the speed that is
    /// *kept* on rebound) seen at a low impact speed, m/s. A restitution of 1 gives 0 whatever the
    /// speed is, even one that is no number.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] unless `0 ≤ e ≤ 1` and, for `e < 1`, the speed is finite and greater
    /// than 0 and the result is finite.
    pub fn dissipation_from_restitution(
        restitution: f64,
        impact_speed_m_per_s: f64,
    ) -> Result<f64> {
        if restitution == 1.0 {
            return Ok(0.0);
        }
        let possible = (0.0..=1.0).contains(&restitution);
        checked("restitution", restitution, possible, "at least 0 and at most 1")?;
        let speed = positive("impact_speed_m_per_s", impact_speed_m_per_s)?;
        not_negative("the dissipation", (1.0 - restitution) / speed)
    }
}

/// `value` if it is finite and `ok`; otherwise the error that says what it must be.
fn checked(name: &str, value: f64, ok: bool, range: &str) -> Result<f64> {
    if ok && value.is_finite() {
        return Ok(value);
    }
    Err(Error::new(ErrorKind::Input, format!("{name} is {value}; it must be {range}")))
}

fn not_negative(name: &str, value: f64) -> Result<f64> {
    checked(name, value, value >= 0.0, NOT_NEGATIVE)
}

/// `value` if it is finite and greater than 0.
pub(super) fn positive(name: &str, value: f64) -> Result<f64> {
    checked(name, value, value > 0.0, "finite and greater than 0")
}
