//! How a rigid contact bounces.

use hardstand_error::Result;

use super::range::{refuse, require};

/// Share of its normal impulse that a rigid contact gives back, as Simbody's
/// `ConditionalConstraint` has it: nothing up to a capture speed, from there a share that falls in
/// a line from 1 at rest to `least` at `least_at_m_per_s`, and `least` beyond. The default never
/// bounces.
///
/// ```
/// use hardstand_physics::contact::Restitution;
/// let bounces = Restitution::new(0.3, 0.01, 0.1)?;
/// assert_eq!(bounces.at(0.005), 0.0);
/// assert!((bounces.at(0.05) - 0.65).abs() < 1e-15);
/// assert_eq!(bounces.at(2.0), 0.3);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Restitution {
    least: f64,
    capture_m_per_s: f64,
    least_at_m_per_s: f64,
}

impl Default for Restitution {
    fn default() -> Self {
        Self { least: 0.0, capture_m_per_s: 0.01, least_at_m_per_s: 0.01 }
    }
}

impl Restitution {
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) unless `least` is 0 to 1, and
    /// `0 ≤ capture_m_per_s ≤ least_at_m_per_s`.
    pub fn new(least: f64, capture_m_per_s: f64, least_at_m_per_s: f64) -> Result<Self> {
        let mut m = Vec::new();
        require(&mut m, "restitution", least, 0.0, 1.0);
        require(&mut m, "capture_m_per_s", capture_m_per_s, 0.0, least_at_m_per_s);
        require(&mut m, "least_at_m_per_s", least_at_m_per_s, 0.0, 1e3);
        refuse("restitution", &m)?;
        Ok(Self { least, capture_m_per_s, least_at_m_per_s })
    }

    /// The share at an approach of this speed, m/s.
    #[must_use]
    pub fn at(&self, approach_m_per_s: f64) -> f64 {
        if self.least <= 0.0 || approach_m_per_s <= self.capture_m_per_s {
            0.0
        } else if approach_m_per_s >= self.least_at_m_per_s {
            self.least
        } else {
            1.0 - (1.0 - self.least) / self.least_at_m_per_s * approach_m_per_s
        }
    }
}
