//! Coefficients of friction that may change while the simulation runs.

/// Static and kinetic coefficient of one spring, `0 ≤ μₖ ≤ μₛ`.
///
/// The setters follow Simbody: a negative value becomes 0, and the coefficient that is set wins
/// over the other one. So lowering μₛ drags μₖ down, and raising μₛ again does not raise μₖ.
///
/// ```
/// use hardstand_physics::contact::Friction;
/// let mut f = Friction::new(0.7, 0.5);
/// f.set_static(0.2);
/// assert_eq!((f.mu_static(), f.mu_kinetic()), (0.2, 0.2));
/// f.set_static(0.7);
/// assert_eq!((f.mu_static(), f.mu_kinetic()), (0.7, 0.2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    mu_static: f64,
    mu_kinetic: f64,
}

impl Friction {
    /// Ice: both coefficients 0.
    pub const NONE: Self = Self { mu_static: 0.0, mu_kinetic: 0.0 };

    /// Initial coefficients: negative values become 0, and `mu_kinetic` is at most `mu_static`.
    ///
    /// NaN is not a coefficient: the scenario and the bus refuse it; here it becomes 0.
    #[must_use]
    pub fn new(mu_static: f64, mu_kinetic: f64) -> Self {
        let mu_static = at_least_zero(mu_static);
        Self { mu_static, mu_kinetic: at_least_zero(mu_kinetic).min(mu_static) }
    }

    /// μₛ.
    #[must_use]
    pub const fn mu_static(&self) -> f64 {
        self.mu_static
    }

    /// μₖ.
    #[must_use]
    pub const fn mu_kinetic(&self) -> f64 {
        self.mu_kinetic
    }

    /// Sets μₛ; μₖ is lowered to it if it was larger.
    pub fn set_static(&mut self, mu_static: f64) {
        self.mu_static = at_least_zero(mu_static);
        self.mu_kinetic = self.mu_kinetic.min(self.mu_static);
    }

    /// Sets μₖ; μₛ is raised to it if it was smaller.
    pub fn set_kinetic(&mut self, mu_kinetic: f64) {
        self.mu_kinetic = at_least_zero(mu_kinetic);
        self.mu_static = self.mu_static.max(self.mu_kinetic);
    }
}

/// Also for NaN and −0. `f64::max` may return either zero, which would be bits of the state.
fn at_least_zero(mu: f64) -> f64 {
    if mu > 0.0 { mu } else { 0.0 }
}
