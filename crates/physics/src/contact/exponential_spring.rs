//! The exponential spring: normal force, friction, and the memory that lets a foot stick.

use crate::spatial::Vec3;
use hardstand_error::Result;

use super::spring_law::{Committed, Contact, SpringForce, SpringLaw};
use super::{ContactSlopes, Friction, SpringParameters};

/// What a spring remembers from one step to the next. A checkpoint holds exactly this.
///
/// The memory is *committed* once per integration step: all forces of a step come from the memory
/// committed before, and each evaluation only proposes the next one
/// ([`SpringForce::next_anchor_P`], [`SpringForce::next_sliding`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Anchor `p₀`: zero of the friction spring, x and y in P, m.
    pub anchor_P: [f64; 2],
    /// Sliding `K`: 0 sticks, 1 slides.
    pub sliding: f64,
    /// Simulated time of the last commit, ns; `None` before the first.
    pub committed_ns: Option<u64>,
}

impl Memory {
    /// A spring of Simbody's law that has never been evaluated: it slides, so its anchor will
    /// follow the station. [`ExponentialSpring::new_memory`] gives the one that suits the spring.
    #[must_use]
    pub const fn new() -> Self {
        Self { anchor_P: [0.0; 2], sliding: 1.0, committed_ns: None }
    }

    /// Puts the anchor under the station at `p_P`; `sliding` stays as it is.
    pub fn reset_anchor(&mut self, p_P: &Vec3, now_ns: u64) {
        self.anchor_P = [p_P.x, p_P.y];
        self.committed_ns = Some(now_ns);
    }

    /// Seconds from the last commit to `now_ns`; NaN before the first commit.
    #[must_use]
    pub fn age_s(&self, now_ns: u64) -> f64 {
        match self.committed_ns {
            Some(t) => now_ns.wrapping_sub(t) as f64 / 1e9,
            None => f64::NAN,
        }
    }

    /// Takes over what `force` proposes.
    pub fn commit(&mut self, force: &SpringForce, now_ns: u64) {
        *self = Self {
            anchor_P: force.next_anchor_P,
            sliding: force.next_sliding,
            committed_ns: Some(now_ns),
        };
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// One exponential spring: checked parameters and the evaluation.
///
/// ```
/// use hardstand_physics::contact::{ExponentialSpring, Friction, Memory, SpringParameters};
/// use hardstand_physics::spatial::Vec3;
///
/// let spring = ExponentialSpring::new(SpringParameters::default())?;
/// let depth = Vec3::new(0.0, 0.0, -0.003);
/// let at_rest = Vec3::zeros();
/// let f = spring.evaluate(&Friction::new(0.7, 0.5), &Memory::new(), &depth, &at_rest, f64::NAN);
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
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) with all parameters that are out of range.
    pub fn new(parameters: SpringParameters) -> Result<Self> {
        parameters.check()?;
        Ok(Self { parameters, law: SpringLaw::from_lanes(|_| &parameters) })
    }

    /// The parameters.
    #[must_use]
    pub const fn parameters(&self) -> &SpringParameters {
        &self.parameters
    }

    /// Memory of this spring before its first evaluation.
    #[must_use]
    pub const fn new_memory(&self) -> Memory {
        Memory { sliding: self.parameters.stiction.initial_sliding(), ..Memory::new() }
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
            p_P: (*p_P).into(),
            v_P: (*v_P).into(),
            age_s,
            mu_static: friction.mu_static(),
            mu_kinetic: friction.mu_kinetic(),
        };
        self.law
            .evaluate(&contact, &Committed { anchor_P: memory.anchor_P, sliding: memory.sliding })
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
