//! The exponential spring with checked parameters: one lane of the law.

use crate::spatial::Vec3;
use hardstand_error::Result;

use super::memory::FrictionMemory;
use super::spring_force::{Contact, SpringForce};
use super::spring_law::SpringLaw;
use super::{ContactSlopes, Friction, Memory, SoftForce, SpringParameters};

/// One exponential spring: checked parameters and the evaluation.
///
/// ```
/// use hardstand_physics::contact::{ExponentialSpring, Friction, SpringParameters};
/// use hardstand_physics::spatial::Vec3;
///
/// let spring = ExponentialSpring::new(SpringParameters::default())?;
/// let depth = Vec3::new(0.0, 0.0, -0.003);
/// let at_rest = Vec3::zeros();
/// let (friction, memory) = (Friction::new(0.7, 0.5), spring.new_memory());
/// let f = spring.evaluate(&friction, &memory, &depth, &at_rest, f64::NAN);
/// assert!((f.normal_n - 0.5336 * (1150.0_f64 * 0.0095905).exp()).abs() < 1e-9);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialSpring {
    parameters: SpringParameters,
    law: SpringLaw<f64>,
}

impl ExponentialSpring {
    /// A spring with checked parameters.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) with all parameters that are out of
    /// range.
    pub fn new(parameters: SpringParameters) -> Result<Self> {
        parameters.check()?;
        Ok(Self { parameters, law: SpringLaw::from_lanes(|_| &parameters) })
    }

    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &SpringParameters {
        &self.parameters
    }

    /// Memory of this spring before its first evaluation. Under Simbody's law it slides, so its
    /// anchor will follow the station; under the holding law it sticks where it is first evaluated.
    #[must_use]
    pub const fn new_memory(&self) -> Memory {
        Memory {
            anchor_P: [0.0; 2],
            sliding: self.parameters.stiction.initial_sliding(),
            committed_ns: None,
        }
    }

    /// Force on a station at `p_P` (m) with velocity `v_P` (m/s), both in P, from the committed
    /// `memory`; `age_s` is the time since its commit (NaN if there was none).
    #[must_use]
    pub fn evaluate(
        &self,
        friction: &Friction,
        memory: &Memory,
        p_P: &Vec3,
        v_P: &Vec3,
        age_s: f64,
    ) -> SpringForce {
        let contact = Contact {
            p_P: (*p_P),
            v_P: (*v_P),
            age_s,
            mu_static: friction.mu_static(),
            mu_kinetic: friction.mu_kinetic(),
        };
        let Memory { anchor_P, sliding, .. } = *memory;
        self.law.evaluate(&contact, &FrictionMemory { anchor_P, sliding })
    }

    /// [`evaluate`](Self::evaluate) with the normal force of soft ground in place of the spring's.
    pub(crate) fn evaluate_soft(
        &self,
        friction: &Friction,
        memory: &Memory,
        (p_P, v_P): (&Vec3, &Vec3),
        age_s: f64,
        soft: &SoftForce,
    ) -> SpringForce {
        let (mu_static, mu_kinetic) = (friction.mu_static(), friction.mu_kinetic());
        let contact = Contact { p_P: *p_P, v_P: *v_P, age_s, mu_static, mu_kinetic };
        let Memory { anchor_P, sliding, .. } = *memory;
        let damping_n = soft.normal_n - soft.elastic_n;
        let mut out = SpringForce {
            p_P: (*p_P).into(),
            v_P: (*v_P).into(),
            normal_elastic_n: soft.elastic_n,
            normal_damping_n: damping_n,
            normal_n: soft.normal_n,
            ..SpringForce::default()
        };
        let memory = FrictionMemory { anchor_P, sliding };
        self.law.with_friction(&contact, &memory, soft.stored_j, &mut out);
        // the power of damping along the normal is part of what the ground takes
        out.power_dissipation_w += soft.dissipated_w + damping_n * v_P.z;
        out
    }

    /// Simbody's potential energy of a force that [`evaluate`](Self::evaluate) gave, J. It is that
    /// of both springs except where the limit of the normal force acts: there Simbody divides what
    /// is left of the elastic part by d₂, which is no energy.
    #[must_use]
    pub fn simbody_potential_energy_j(&self, force: &SpringForce) -> f64 {
        let (x, y) = (force.p_P[0] - force.next_anchor_P[0], force.p_P[1] - force.next_anchor_P[1]);
        force.normal_elastic_n * (1.0 / self.parameters.d2_per_m)
            + 0.5 * self.parameters.kxy_n_per_m * (x * x + y * y)
    }

    /// How fast the force that [`evaluate`](Self::evaluate) gave would give way.
    #[must_use]
    pub fn slopes(&self, force: &SpringForce) -> ContactSlopes {
        self.law.slopes(force)
    }

    /// True if within the next `h_s` seconds the normal force may change by more than a factor of
    /// e^0.2: a step of that length is too long for this contact.
    #[must_use]
    pub fn needs_substep(&self, force: &SpringForce, h_s: f64) -> bool {
        self.law.needs_substep(force.p_P[2], force.v_P[2], h_s)
    }
}
