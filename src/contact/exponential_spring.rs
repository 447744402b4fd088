//! The exponential spring: normal force, friction, and the memory that lets a foot stick.

use crate::error::Result;
use crate::math;
use crate::spatial::Vec3;

use super::stiction::{self, Motion, Stiction};
use super::{ContactPlane, Friction, SpringParameters};

/// Elastic forces beyond this are cut off: far above any cap, far below overflow.
const ELASTIC_MAX_N: f64 = 1e200;

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

/// All quantities of one evaluation, in the frame P of the contact plane. Vectors in the plane are
/// `[x, y]`; methods give them as 3-vectors in P, and [`ContactPlane::vector_W`] turns them into W.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpringForce {
    /// Position of the station, m.
    pub p_P: [f64; 3],
    /// Velocity of the station, m/s.
    pub v_P: [f64; 3],
    /// Elastic part of the normal force, N. Negative only while the cap of the normal force acts.
    pub normal_elastic_n: f64,
    /// Damping part of the normal force, N.
    pub normal_damping_n: f64,
    /// Normal force, N; never negative.
    pub normal_n: f64,
    /// Coefficient of friction in use, from the committed sliding.
    pub mu: f64,
    /// Friction limit `μ f_z`, N.
    pub friction_limit_n: f64,
    /// Elastic part of the friction force, N.
    pub friction_elastic_P: [f64; 2],
    /// Damping part of the friction force, N.
    pub friction_damping_P: [f64; 2],
    /// Anchor proposed for the next commit, m. Simbody's `getAnchorPointPosition`.
    pub next_anchor_P: [f64; 2],
    /// Sliding proposed for the next commit. Simbody's `getSliding`.
    pub next_sliding: f64,
    /// Potential energy of both springs, J (with the proposed anchor, as in Simbody; meaningless
    /// while the cap of the normal force acts).
    pub potential_energy_j: f64,
    /// Power that the contact turns into heat, W: damping, and the anchor dragged along.
    pub power_dissipation_w: f64,
}

impl SpringForce {
    /// Normal force in P, N.
    #[must_use]
    pub fn normal_P(&self) -> Vec3 {
        Vec3::new(0.0, 0.0, self.normal_n)
    }

    /// Elastic part of the friction force in P, N.
    #[must_use]
    pub fn friction_elastic(&self) -> Vec3 {
        Vec3::new(self.friction_elastic_P[0], self.friction_elastic_P[1], 0.0)
    }

    /// Damping part of the friction force in P, N.
    #[must_use]
    pub fn friction_damping(&self) -> Vec3 {
        Vec3::new(self.friction_damping_P[0], self.friction_damping_P[1], 0.0)
    }

    /// Friction force in P, N: elastic plus damping part.
    #[must_use]
    pub fn friction_P(&self) -> Vec3 {
        self.friction_elastic() + self.friction_damping()
    }

    /// Whole force on the body in P, N.
    #[must_use]
    pub fn force_P(&self) -> Vec3 {
        let mut f = self.friction_P();
        f.z = self.normal_n;
        f
    }

    /// Whole force on the body in W, N.
    #[must_use]
    pub fn force_W(&self, plane: &ContactPlane) -> Vec3 {
        plane.vector_W(&self.force_P())
    }

    /// The proposed anchor as a point of P, m.
    #[must_use]
    pub fn anchor_P(&self) -> Vec3 {
        Vec3::new(self.next_anchor_P[0], self.next_anchor_P[1], 0.0)
    }
}

/// One exponential spring: checked parameters and the evaluation.
///
/// ```
/// use hardstand::contact::{ExponentialSpring, Friction, Memory, SpringParameters};
/// use hardstand::spatial::Vec3;
///
/// let spring = ExponentialSpring::new(SpringParameters::default())?;
/// let depth = Vec3::new(0.0, 0.0, -0.003);
/// let at_rest = Vec3::zeros();
/// let f = spring.evaluate(&Friction::new(0.7, 0.5), &Memory::new(), &depth, &at_rest, f64::NAN);
/// assert!((f.normal_n - 0.5336 * (1150.0_f64 * 0.0095905).exp()).abs() < 1e-9);
/// # Ok::<(), hardstand::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialSpring {
    parameters: SpringParameters,
}

impl ExponentialSpring {
    /// A spring with checked parameters.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) with all parameters that are out of range.
    pub fn new(parameters: SpringParameters) -> Result<Self> {
        parameters.check()?;
        Ok(Self { parameters })
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
        let par = &self.parameters;
        let mut out = SpringForce { p_P: (*p_P).into(), v_P: (*v_P).into(), ..Default::default() };
        self.normal(p_P.z, v_P.z, &mut out);

        let motion = Motion { p: [p_P.x, p_P.y], v: [v_P.x, v_P.y], age_s };
        let slip_loss_w = match par.stiction {
            Stiction::Simbody => stiction::simbody(par, friction, memory, &motion, &mut out),
            Stiction::Holding => stiction::holding(par, friction, memory, &motion, &mut out),
        };
        let [dx, dy] = out.friction_damping_P;
        out.power_dissipation_w =
            slip_loss_w - (dx * v_P.x + dy * v_P.y + out.normal_damping_n * v_P.z);
        let stretch = [p_P.x - out.next_anchor_P[0], p_P.y - out.next_anchor_P[1]];
        out.potential_energy_j = out.normal_elastic_n / par.d2_per_m
            + 0.5 * par.kxy_n_per_m * (stretch[0] * stretch[0] + stretch[1] * stretch[1]);
        out
    }

    /// `f_z = d₁ exp(−d₂ (p_z − d₀)) (1 − c_z v_z)`, kept within `[0, f_max]`.
    fn normal(&self, p_z: f64, v_z: f64, out: &mut SpringForce) {
        let par = &self.parameters;
        let mut elastic = par.d1_n * math::exp(-par.d2_per_m * (p_z - par.d0_m));
        // 0.6 m deep the exponential overflows, and inf − inf would be NaN
        if elastic > ELASTIC_MAX_N {
            elastic = ELASTIC_MAX_N;
        }
        let mut damping = -par.cz_s_per_m * v_z * elastic;
        let mut total = elastic + damping;
        // leaving faster than 1/c_z would pull; the elastic part is kept, the damping cancels it
        if total < 0.0 {
            total = 0.0;
            damping = -elastic;
        }
        // at the cap the damping is kept and the elastic part gives way, even below zero
        if total > par.force_z_max_n {
            total = par.force_z_max_n;
            elastic = total - damping;
        }
        out.normal_elastic_n = elastic;
        out.normal_damping_n = damping;
        out.normal_n = total;
    }
}
