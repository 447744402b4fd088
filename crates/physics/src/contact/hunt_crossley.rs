//! Hunt–Crossley contact: Simbody's `HuntCrossleyForce`, with Hollars' friction, and with the
//! friction of its `CompliantContactSubsystem`.

use crate::spatial::Vec3;
use hardstand_error::Result;

use super::compliant::Stribeck;
use super::hertz::{HUGE, RelativeVelocity};
use super::material::positive;
use super::{ContactForce, ContactSlopes, Friction, HertzPair, Overlap, SpringForce};

/// On a shorter way than this the chord of the force is its tangent, m.
const WAY_MIN_M: f64 = 1e-9;

/// The force law of one pair of surfaces. With depth `x`, approach `ẋ`, slip `vₛ` and
/// `r = vₛ / v_t`:
///
/// - `f = (4/3) k x √(R k x) · (1 + 1.5 c ẋ)`, and nothing where that is not positive;
/// - friction `f · (min(r, 1) (μ_d + 2 (μₛ − μ_d) / (1 + r²)) + μᵥ vₛ)` against the slip.
///
/// The friction is continuous in the slip: nothing sticks. A load below `μₛ f` creeps at a speed
/// below the transition velocity `v_t`.
///
/// **A difference from Simbody, on purpose.** Simbody leaves its loop over the contacts at the
/// first one whose force is not positive (`return` for `continue`), so all later contacts of the
/// set lose their force and energy. Here each contact is evaluated by itself and acts for itself.
/// What is kept: a contact that has been left faster than it can spring back has no force but
/// still counts its elastic energy.
///
/// ```
/// use hardstand_physics::contact::{ContactMaterial, HalfSpace, HertzPair, HuntCrossley, Overlap};
/// use hardstand_physics::spatial::Vec3;
///
/// let rubber = ContactMaterial::new(1e6, 0.5, 0.8, 0.6, 0.0)?;
/// let law = HuntCrossley::new(HertzPair::new(&rubber, &rubber)?, 0.01)?;
/// let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::z() };
/// let foot = Overlap::sphere_on_half_space(&floor, &Vec3::new(0.0, 0.0, 0.019), 0.02).unwrap();
/// // surface 1 is the floor: a foot that slides forward at 1 m/s
/// let f = law.evaluate(&law.initial_friction(), &foot, &Vec3::new(-1.0, 0.0, 0.0));
/// assert!(f.normal_n > 0.0 && f.friction.x < -0.59 * f.normal_n);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HuntCrossley {
    pair: HertzPair,
    transition_velocity_m_per_s: f64,
    curve: SlipCurve,
}

/// How friction grows with slip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlipCurve {
    /// That of Simbody's `HuntCrossleyForce`.
    #[default]
    Hollars,
    /// That of Simbody's `CompliantContactSubsystem`: see
    /// [`CompliantContact`](super::CompliantContact).
    Stribeck,
}

/// The parts of one evaluation, in the frame of the [`Overlap`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HuntCrossleyForce {
    /// Elastic part of the normal force, N; kept where the whole force is 0.
    pub normal_elastic_n: f64,
    /// Normal force, N; never negative.
    pub normal_n: f64,
    /// Normal force on surface 2, N.
    pub normal: Vec3,
    /// Friction force on surface 2, N.
    pub friction: Vec3,
    /// Speed of slip, m/s.
    pub slip_m_per_s: f64,
    /// The record: the whole force on surface 2 at the contact point, without moment; elastic
    /// energy; power of damping and friction (0 where the force is 0).
    pub contact: ContactForce,
}

impl HuntCrossley {
    /// The law for a pair of materials with a transition velocity `v_t` (m/s; Simbody's default is
    /// 0.01): the slip at which friction is fully there.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) unless it is finite and greater
    /// than 0.
    pub fn new(pair: HertzPair, transition_velocity_m_per_s: f64) -> Result<Self> {
        positive("transition_velocity_m_per_s", transition_velocity_m_per_s)?;
        Ok(Self { pair, transition_velocity_m_per_s, curve: SlipCurve::default() })
    }

    /// The same with another curve of friction.
    #[must_use]
    pub const fn with_curve(self, curve: SlipCurve) -> Self {
        Self { curve, ..self }
    }

    /// The combined materials.
    #[must_use]
    pub const fn pair(&self) -> &HertzPair {
        &self.pair
    }

    /// `v_t`, m/s.
    #[must_use]
    pub const fn transition_velocity_m_per_s(&self) -> f64 {
        self.transition_velocity_m_per_s
    }

    /// `μₛ` and `μ_d` of the combined materials, to start with.
    #[must_use]
    pub const fn initial_friction(&self) -> Friction {
        self.pair.friction()
    }

    /// Force for an overlap, with the coefficients of friction of this moment. `v_12` is the
    /// velocity of surface 1 minus that of surface 2 at the
    /// [contact point](HertzPair::contact_point), m/s, in the frame of the overlap.
    #[must_use]
    pub fn evaluate(
        &self,
        friction: &Friction,
        overlap: &Overlap,
        v_12: &Vec3,
    ) -> HuntCrossleyForce {
        let (elastic_n, potential_energy_j) = self.pair.elastic(overlap);
        let v = RelativeVelocity::new(v_12, &overlap.normal);
        let mut out = HuntCrossleyForce {
            normal_elastic_n: elastic_n,
            slip_m_per_s: v.slip_m_per_s,
            contact: ContactForce {
                point: self.pair.contact_point(overlap),
                potential_energy_j,
                ..ContactForce::default()
            },
            ..HuntCrossleyForce::default()
        };
        if elastic_n <= 0.0 {
            return out;
        }
        let damping_n = self.pair.damping_n(elastic_n, v.approach_m_per_s);
        let normal_n = elastic_n + damping_n;
        if normal_n <= 0.0 {
            return out;
        }
        out.normal_n = normal_n;
        out.normal = overlap.normal * normal_n;
        let mut power_w = damping_n * v.approach_m_per_s;
        if v.slip_m_per_s > 0.0 {
            let friction_n = (normal_n * self.mu(friction, v.slip_m_per_s)).min(HUGE);
            out.friction = v.slip * (friction_n / v.slip_m_per_s);
            power_w += friction_n * v.slip_m_per_s;
        }
        out.contact.force = out.normal + out.friction;
        out.contact.power_dissipation_w = power_w;
        out
    }

    /// How fast a force of this law gives way at `depth_m`: exactly along the normal; its friction
    /// as a damper of friction over slip.
    #[must_use]
    pub fn slopes(&self, force: &HuntCrossleyForce, depth_m: f64) -> ContactSlopes {
        if !(force.normal_n > 0.0 && depth_m > 0.0) {
            return ContactSlopes::default();
        }
        let slips = force.slip_m_per_s > 0.0;
        let damper = if slips { force.friction.norm() / force.slip_m_per_s } else { 0.0 };
        ContactSlopes {
            normal_n_per_m: 1.5 * force.normal_n / depth_m,
            normal_n_s_per_m: 1.5 * self.pair.dissipation_s_per_m() * force.normal_elastic_n,
            friction_n_per_m: 0.0,
            friction_n_s_per_m: damper,
        }
    }

    /// The slopes of a linearly implicit step of `h_s` seconds that begins `depth_m` deep (negative
    /// for a gap), with this approach, m/s. Along the normal it is not the tangent of the elastic
    /// force but the chord to its mean over the way that lies ahead. With `U` the elastic energy
    /// and `w = h ẋ`,
    ///
    /// ```text
    /// k = 2 ((U(x + w) − U(x)) / w − f(x)) / w
    /// ```
    ///
    /// The mean force of the step is then a chord of the convex function
    /// `(U(x⁺) − U(x)) / (x⁺ − x)` of the depth `x⁺` that is reached: above it while the contact
    /// brakes, below it where it throws back. So the step takes out at least what the contact
    /// stores, and gives back at most what it has; and a contact that begins within the step acts
    /// in it.
    pub(crate) fn step_slopes(
        &self,
        of: &ContactSlopes,
        force: &SpringForce,
        radius_m: f64,
        h_s: f64,
    ) -> ContactSlopes {
        let (depth_m, approach) = (-force.p_P[2], -force.v_P[2]);
        let way_m = approach * h_s;
        if way_m.abs() < WAY_MIN_M || (depth_m > 0.0 && force.normal_n <= 0.0) {
            return *of;
        }
        let energy_j = |depth_m: f64| {
            let (point, normal) = (Vec3::zeros(), Vec3::z());
            self.pair.elastic(&Overlap { depth_m, point, normal, radius_m }).1
        };
        let mean_n = (energy_j(depth_m + way_m) - energy_j(depth_m)) / way_m;
        let chord = 2.0 * (mean_n - force.normal_elastic_n) / way_m;
        let damped = 1.0 + 1.5 * self.pair.dissipation_s_per_m() * approach;
        if !(chord > 0.0 && damped > 0.0) {
            return *of;
        }
        ContactSlopes { normal_n_per_m: chord * damped, ..*of }
    }

    fn stribeck(&self, friction: &Friction) -> Stribeck {
        Stribeck {
            friction: *friction,
            mu_viscous_s_per_m: self.pair.mu_viscous_s_per_m(),
            transition_velocity_m_per_s: self.transition_velocity_m_per_s,
        }
    }

    /// Coefficient of friction at a slip in m/s.
    fn mu(&self, friction: &Friction, slip_m_per_s: f64) -> f64 {
        if self.curve == SlipCurve::Stribeck {
            return self.stribeck(friction).mu(slip_m_per_s);
        }
        let (mu_s, mu_d) = (friction.mu_static(), friction.mu_kinetic());
        let r = slip_m_per_s / self.transition_velocity_m_per_s;
        r.min(1.0) * (mu_d + 2.0 * (mu_s - mu_d) / (1.0 + r * r))
            + self.pair.mu_viscous_s_per_m() * slip_m_per_s
    }
}
