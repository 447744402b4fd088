//! Parameters of exponential springs that a surface sets.

use hardstand_error::Result;

use super::{ExponentialSpring, SpringParameters};

/// Parameters that replace those of every spring on one surface; `None` leaves the spring its own.
///
/// ```
/// use hardstand_physics::contact::{ExponentialSpring, SpringChanges, SpringParameters};
///
/// let foot = ExponentialSpring::new(SpringParameters::default())?;
/// let lawn = SpringChanges { d2_per_m: Some(300.0), ..SpringChanges::default() };
/// let on_lawn = lawn.applied_to(&foot)?;
/// assert_eq!(on_lawn.parameters().d2_per_m, 300.0);
/// assert_eq!(on_lawn.parameters().kxy_n_per_m, foot.parameters().kxy_n_per_m);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpringChanges {
    /// See [`SpringParameters::d0_m`].
    pub d0_m: Option<f64>,
    /// See [`SpringParameters::d1_n`].
    pub d1_n: Option<f64>,
    /// See [`SpringParameters::d2_per_m`].
    pub d2_per_m: Option<f64>,
    /// See [`SpringParameters::cz_s_per_m`].
    pub cz_s_per_m: Option<f64>,
    /// See [`SpringParameters::force_z_max_n`].
    pub force_z_max_n: Option<f64>,
    /// See [`SpringParameters::kxy_n_per_m`].
    pub kxy_n_per_m: Option<f64>,
    /// See [`SpringParameters::cxy_n_s_per_m`].
    pub cxy_n_s_per_m: Option<f64>,
    /// See [`SpringParameters::v_settle_m_per_s`].
    pub v_settle_m_per_s: Option<f64>,
    /// See [`SpringParameters::t_settle_s`].
    pub t_settle_s: Option<f64>,
}

impl SpringChanges {
    /// Whether every spring keeps its own parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The spring that acts where this one meets the surface.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) with all parameters that are out of
    /// range.
    pub fn applied_to(&self, spring: &ExponentialSpring) -> Result<ExponentialSpring> {
        if self.is_empty() {
            return Ok(*spring);
        }
        let own = spring.parameters();
        ExponentialSpring::new(SpringParameters {
            d0_m: self.d0_m.unwrap_or(own.d0_m),
            d1_n: self.d1_n.unwrap_or(own.d1_n),
            d2_per_m: self.d2_per_m.unwrap_or(own.d2_per_m),
            cz_s_per_m: self.cz_s_per_m.unwrap_or(own.cz_s_per_m),
            force_z_max_n: self.force_z_max_n.unwrap_or(own.force_z_max_n),
            kxy_n_per_m: self.kxy_n_per_m.unwrap_or(own.kxy_n_per_m),
            cxy_n_s_per_m: self.cxy_n_s_per_m.unwrap_or(own.cxy_n_s_per_m),
            v_settle_m_per_s: self.v_settle_m_per_s.unwrap_or(own.v_settle_m_per_s),
            t_settle_s: self.t_settle_s.unwrap_or(own.t_settle_s),
            stiction: own.stiction,
        })
    }
}
