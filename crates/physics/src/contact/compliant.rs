//! Hertz contact with Stribeck friction: round contacts of Simbody's `CompliantContactSubsystem`.

use crate::math;
use crate::spatial::Vec3;
use hardstand_error::Result;

use super::hertz::{HUGE, RelativeVelocity};
use super::material::positive;
use super::{ContactForce, Friction, HertzPair, Overlap, TINY};

/// A sphere on a half-space or on a sphere. The normal force is that of
/// [`HuntCrossley`](super::HuntCrossley); the friction is another curve, with `S` =
/// [`math::step_up`] and `r` the slip over the transition velocity: `μₛ S(r)` up to `r = 1`, from
/// there down to `μ_d` at `r = 3`, plus `μᵥ` times the slip.
///
/// Where the surfaces part faster than they can spring back ("yanking"), the record says 0 in
/// force, energy and power.
///
/// ```
/// use hardstand_physics::contact::{CompliantContact, ContactMaterial, HertzPair, Overlap};
/// use hardstand_physics::spatial::Vec3;
///
/// let rubber = ContactMaterial::new(1e6, 0.5, 0.8, 0.6, 0.0)?;
/// let law = CompliantContact::new(HertzPair::new(&rubber, &rubber)?, 0.01)?;
/// let balls = Overlap::sphere_on_sphere(&Vec3::zeros(), 0.1, &Vec3::new(0.199, 0.0, 0.0), 0.1);
/// let f = law.evaluate(&law.initial_friction(), &balls.unwrap(), &Vec3::zeros());
/// assert!(f.force.x > 0.0 && f.power_dissipation_w == 0.0);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompliantContact {
    pair: HertzPair,
    transition_velocity_m_per_s: f64,
}

impl CompliantContact {
    /// The law for a pair of materials with a transition velocity (m/s; Simbody's default is 0.01).
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) unless it is finite and greater
    /// than 0.
    pub fn new(pair: HertzPair, transition_velocity_m_per_s: f64) -> Result<Self> {
        positive("transition_velocity_m_per_s", transition_velocity_m_per_s)?;
        Ok(Self { pair, transition_velocity_m_per_s })
    }

    /// The combined materials.
    #[must_use]
    pub const fn pair(&self) -> &HertzPair {
        &self.pair
    }

    /// `μₛ` and `μ_d` of the combined materials, to start with.
    #[must_use]
    pub const fn initial_friction(&self) -> Friction {
        self.pair.friction()
    }

    /// Record for an overlap, in its frame. `v_12` is the velocity of surface 1 minus that of
    /// surface 2 at the [contact point](HertzPair::contact_point), m/s.
    #[must_use]
    pub fn evaluate(&self, friction: &Friction, overlap: &Overlap, v_12: &Vec3) -> ContactForce {
        let (elastic_n, potential_energy_j) = self.pair.elastic(overlap);
        let v = RelativeVelocity::new(v_12, &overlap.normal);
        let mut out =
            ContactForce { point: self.pair.contact_point(overlap), ..ContactForce::default() };
        if elastic_n <= 0.0 {
            return out;
        }
        let damping_n = self.pair.damping_n(elastic_n, v.approach_m_per_s);
        let normal_n = elastic_n + damping_n;
        if normal_n <= 0.0 {
            return out;
        }
        let law = Stribeck {
            friction: *friction,
            mu_viscous_s_per_m: self.pair.mu_viscous_s_per_m(),
            transition_velocity_m_per_s: self.transition_velocity_m_per_s,
        };
        let (friction, friction_w) = law.force(normal_n, &v);
        out.force = overlap.normal * normal_n + friction;
        out.potential_energy_j = potential_energy_j;
        out.power_dissipation_w = damping_n * v.approach_m_per_s + friction_w;
        out
    }
}

/// The friction of the compliant contacts.
pub(super) struct Stribeck {
    pub(super) friction: Friction,
    pub(super) mu_viscous_s_per_m: f64,
    pub(super) transition_velocity_m_per_s: f64,
}

impl Stribeck {
    /// Friction force on surface 2, N, and the power that it takes, W.
    pub(super) fn force(&self, normal_n: f64, v: &RelativeVelocity) -> (Vec3, f64) {
        if v.slip_m_per_s < TINY {
            return (Vec3::zeros(), 0.0);
        }
        let friction_n = (normal_n * self.mu(v.slip_m_per_s)).min(HUGE);
        (v.slip * (friction_n / v.slip_m_per_s), friction_n * v.slip_m_per_s)
    }

    pub(super) fn mu(&self, slip_m_per_s: f64) -> f64 {
        let (mu_s, mu_d) = (self.friction.mu_static(), self.friction.mu_kinetic());
        let r = slip_m_per_s / self.transition_velocity_m_per_s;
        let dry = if r < 1.0 {
            mu_s * math::step_up(r)
        } else {
            mu_s - (mu_s - mu_d) * math::step_up(0.5 * (r - 1.0))
        };
        dry + self.mu_viscous_s_per_m * slip_m_per_s
    }
}
