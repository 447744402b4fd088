//! Parameters of the exponential spring, with their laws.

use hardstand_error::{Error, ErrorKind, Result};

use super::Stiction;
use crate::math;

/// Simbody's `SignificantReal`, ε^(7/8): forces and times below it count as zero.
pub const TINY: f64 = 2.009_718_347_115_232_2e-14;

/// Parameters of one exponential spring. [`Default`] gives Simbody's values and law; whatever is
/// changed passes [`check`](Self::check) when a spring is made of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringParameters {
    /// `d₀`, m: height at which the elastic normal force is `d₁`. Any finite value.
    pub d0_m: f64,
    /// `d₁`, N: elastic normal force at height `d₀`. Greater than 0.
    pub d1_n: f64,
    /// `d₂`, 1/m: how fast the force grows with depth. Greater than 0.
    pub d2_per_m: f64,
    /// `c_z`, s/m: damping in the normal direction, as a share of the elastic force. At least 0.
    pub cz_s_per_m: f64,
    /// Largest normal force, N. Greater than 0.
    pub force_z_max_n: f64,
    /// `k_xy`, N/m: elasticity of the friction spring. Greater than 0.
    pub kxy_n_per_m: f64,
    /// `c_xy`, N·s/m: viscosity of the friction spring. At least 0.
    pub cxy_n_s_per_m: f64,
    /// Settle velocity, m/s: the speed of the anchor below which a spring begins to stick. Greater
    /// than 0.
    pub v_settle_m_per_s: f64,
    /// Settle time, s: [`Stiction::Holding`] goes from static to kinetic friction and back in about
    /// this time, or over a slip of this times the settle velocity. Greater than 0.
    pub t_settle_s: f64,
    /// The law by which the spring sticks and slides.
    pub stiction: Stiction,
}

impl Default for SpringParameters {
    fn default() -> Self {
        Self {
            d0_m: 0.006_590_5,
            d1_n: 0.533_6,
            d2_per_m: 1150.0,
            cz_s_per_m: 0.5,
            force_z_max_n: 100_000.0,
            kxy_n_per_m: 20_000.0,
            cxy_n_s_per_m: 2.0 * 20_000.0_f64.sqrt(), // critical for 1 kg
            v_settle_m_per_s: 0.01,
            t_settle_s: 0.05,
            stiction: Stiction::Simbody,
        }
    }
}

impl SpringParameters {
    /// Sets the normal shape. `None` for `d1_n` or `d2_per_m` means the library's default, not the
    /// current value (as in Simbody).
    pub fn set_shape(&mut self, d0_m: f64, d1_n: Option<f64>, d2_per_m: Option<f64>) {
        let default = Self::default();
        self.d0_m = d0_m;
        self.d1_n = d1_n.unwrap_or(default.d1_n);
        self.d2_per_m = d2_per_m.unwrap_or(default.d2_per_m);
    }

    /// Sets `k_xy` and the viscosity that damps a point of `mass_kg` critically:
    /// `c_xy = 2 √(k_xy m)`. Setting `kxy_n_per_m` later does not change the viscosity.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if either value is not finite and greater than 0.
    pub fn set_critical_damping(&mut self, kxy_n_per_m: f64, mass_kg: f64) -> Result<()> {
        let mut mistakes = Vec::new();
        require(&mut mistakes, "kxy_n_per_m", kxy_n_per_m, Bound::Positive);
        require(&mut mistakes, "mass_kg", mass_kg, Bound::Positive);
        refuse(&mistakes)?;
        self.kxy_n_per_m = kxy_n_per_m;
        self.cxy_n_s_per_m = 2.0 * (kxy_n_per_m * mass_kg).sqrt();
        Ok(())
    }

    /// Height at which the elastic normal force reaches its limit, m.
    pub(crate) fn cap_height_m(&self) -> f64 {
        self.d0_m - math::ln(self.force_z_max_n / self.d1_n) / self.d2_per_m
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with all parameters that are out of range.
    pub fn check(&self) -> Result<()> {
        let mut m = Vec::new();
        require(&mut m, "d0_m", self.d0_m, Bound::Any);
        require(&mut m, "d1_n", self.d1_n, Bound::Positive);
        require(&mut m, "d2_per_m", self.d2_per_m, Bound::Positive);
        require(&mut m, "cz_s_per_m", self.cz_s_per_m, Bound::NotNegative);
        require(&mut m, "force_z_max_n", self.force_z_max_n, Bound::Positive);
        require(&mut m, "kxy_n_per_m", self.kxy_n_per_m, Bound::Positive);
        require(&mut m, "cxy_n_s_per_m", self.cxy_n_s_per_m, Bound::NotNegative);
        require(&mut m, "v_settle_m_per_s", self.v_settle_m_per_s, Bound::Positive);
        require(&mut m, "t_settle_s", self.t_settle_s, Bound::Positive);
        refuse(&m)
    }
}

#[derive(Clone, Copy)]
enum Bound {
    Any,
    NotNegative,
    Positive,
}

fn require(mistakes: &mut Vec<String>, name: &str, value: f64, bound: Bound) {
    let (ok, allowed) = match bound {
        Bound::Any => (true, "finite"),
        Bound::NotNegative => (value >= 0.0, "finite and at least 0"),
        Bound::Positive => (value > 0.0, "finite and greater than 0"),
    };
    if !ok || !value.is_finite() {
        mistakes.push(format!("{name} is {value}; it must be {allowed}"));
    }
}

fn refuse(mistakes: &[String]) -> Result<()> {
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(Error::list(ErrorKind::Input, "exponential spring", mistakes))
}
