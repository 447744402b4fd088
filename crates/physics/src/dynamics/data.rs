//! Generalized coordinates and the preallocated workspace.

use crate::model::Model;
use crate::spatial::{ArticulatedInertia, Force, Motion, Quaternion, Transform, Vec3, simd};

use super::Added;
use super::body::{AbaFactors, BodyKinematics};
use super::joint_rotation::JointRotation;
use super::limbs::{Limbs, joint_classes};
use super::link::{Link, motion_subspace};

/// Generalized positions `q`. For a fixed base the base pose is a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Positions {
    /// Orientation of the base B in the world W.
    pub quat_WB: Quaternion,
    /// Position of the base origin in W, m.
    pub p_WB: Vec3,
    /// Joint positions in the model's order, rad or m.
    pub joints: Vec<f64>,
}

/// Generalized velocities `v`. The base part is written in W; the linear part is the velocity of
/// the base origin (not a spatial velocity at the world's origin). It stays zero for a fixed base.
#[derive(Clone, Debug, PartialEq)]
pub struct Velocities {
    /// Angular velocity of the base in W, rad/s (or its time derivative).
    pub w_WB: Vec3,
    /// Velocity of the base origin in W, m/s (or its ordinary time derivative).
    pub v_WB: Vec3,
    /// Joint velocities in the model's order, rad/s or m/s (or their derivatives).
    pub joints: Vec<f64>,
}

/// Generalized accelerations `v̇`: ordinary time derivatives of [`Velocities`].
pub type Accelerations = Velocities;

impl Positions {
    /// Base at the world's origin, all joints at zero.
    #[must_use]
    pub fn zero(model: &Model) -> Self {
        Self {
            quat_WB: Quaternion::IDENTITY,
            p_WB: Vec3::zeros(),
            joints: vec![0.0; model.joint_count()],
        }
    }

    /// Copies without allocating; both belong to the same model.
    pub fn copy_from(&mut self, o: &Self) {
        self.quat_WB = o.quat_WB;
        self.p_WB = o.p_WB;
        self.joints.copy_from_slice(&o.joints);
    }
}

impl Velocities {
    /// At rest.
    #[must_use]
    pub fn zero(model: &Model) -> Self {
        Self { w_WB: Vec3::zeros(), v_WB: Vec3::zeros(), joints: vec![0.0; model.joint_count()] }
    }

    /// Copies without allocating; both belong to the same model.
    pub fn copy_from(&mut self, o: &Self) {
        self.w_WB = o.w_WB;
        self.v_WB = o.v_WB;
        self.joints.copy_from_slice(&o.joints);
    }
}

/// Everything that is computed from `(q, v, τ)`, allocated once for a model. One entry per body;
/// per joint `i` the entry is that of the body `i + 1` that it moves.
///
/// In debug builds the quantities start as NaN, so that use before computation shows at once.
#[derive(Clone, Debug)]
pub struct Data {
    /// Motion subspace `S` of the body's joint, in B; constant. Unused for the base.
    pub S: Vec<Motion>,
    /// Pose of B in the parent body's frame P; for the base, in W.
    pub X_PB: Vec<Transform>,
    /// Pose of B in W.
    pub X_WB: Vec<Transform>,
    /// Spatial velocity `V_WB_B`.
    pub V: Vec<Motion>,
    /// Velocity-product acceleration `c = v × S q̇`.
    pub c: Vec<Motion>,
    /// Sine and cosine of the body's joint.
    pub(super) turn: Vec<JointRotation<f64>>,
    /// External force on the body about B's origin, in B. Input of [`aba`](super::aba()) and
    /// [`rnea`](super::rnea()); [`clear_forces`](Self::clear_forces) zeroes it.
    pub f_ext: Vec<Force>,
    /// Spatial acceleration less gravity, in B: result of [`aba`](super::aba()).
    pub A: Vec<Motion>,
    /// Articulated-body inertia.
    pub I_A: Vec<ArticulatedInertia>,
    /// The base's articulated inertia, ready to be solved; zero for a base that is fixed.
    pub(crate) base: simd::InertiaFactor<f64>,
    /// Articulated bias force.
    pub p_A: Vec<Force>,
    /// `U = I_A S`.
    pub U: Vec<Force>,
    /// `D = Sᵀ U + armature`.
    pub D: Vec<f64>,
    /// `1 / D`.
    pub per_D: Vec<f64>,
    /// `u = τ − Sᵀ p_A`.
    pub u: Vec<f64>,
    /// Joint `i` with the body that it moves.
    pub(super) links: Vec<Link<f64>>,
    /// What a linearly implicit step adds to the inertias; other steps leave it alone.
    pub(crate) added: Added,
}

impl Data {
    /// A workspace for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let n = model.bodies.len();
        let unset = if cfg!(debug_assertions) { f64::NAN } else { 0.0 };
        let motion = Motion::new(Vec3::repeat(unset), Vec3::repeat(unset));
        let force = Force::new(Vec3::repeat(unset), Vec3::repeat(unset));
        let mut S = vec![Motion::zero(); n];
        for (i, joint) in model.joints.iter().enumerate() {
            S[i + 1] = motion_subspace(joint);
        }
        Self {
            S,
            X_PB: vec![Transform::identity(); n],
            X_WB: vec![Transform::identity(); n],
            V: vec![motion; n],
            c: vec![motion; n],
            turn: vec![JointRotation::default(); n],
            f_ext: vec![Force::zero(); n],
            A: vec![motion; n],
            I_A: vec![ArticulatedInertia::default(); n],
            base: simd::InertiaFactor::default(),
            p_A: vec![force; n],
            U: vec![force; n],
            D: vec![unset; n],
            per_D: vec![unset; n],
            u: vec![unset; n],
            links: links(model, &Limbs::find(model)),
            added: Added::new(model),
        }
    }

    /// What [`kinematics`](super::kinematics()) leaves for body `i`.
    #[inline(always)]
    pub(crate) fn kin(&self, i: usize) -> BodyKinematics<f64> {
        BodyKinematics {
            X_PB: self.X_PB[i],
            X_WB: self.X_WB[i],
            V: self.V[i],
            c: self.c[i],
            turn: self.turn[i],
        }
    }

    /// Stores pose and velocity of body `i`.
    #[inline(always)]
    pub(crate) fn set_placed(&mut self, i: usize, kin: &BodyKinematics<f64>) {
        self.X_PB[i] = kin.X_PB;
        self.X_WB[i] = kin.X_WB;
        self.V[i] = kin.V;
        self.c[i] = kin.c;
        self.turn[i] = kin.turn;
    }

    /// What pass 2 of [`aba`](super::aba()) leaves for the joint of body `i`.
    pub(super) fn factors(&self, i: usize) -> AbaFactors<f64> {
        AbaFactors { U: self.U[i], D: self.D[i], per_D: self.per_D[i], u: self.u[i] }
    }

    #[inline(always)]
    pub(super) fn set_through(&mut self, i: usize, factors: &AbaFactors<f64>) {
        self.U[i] = factors.U;
        (self.D[i], self.per_D[i], self.u[i]) = (factors.D, factors.per_D, factors.u);
    }

    /// Stores the velocity of body `i`, and how it gives way to impulses.
    #[inline(always)]
    pub(crate) fn set_response(
        &mut self,
        i: usize,
        V: &simd::Motion<f64>,
        factors: &AbaFactors<f64>,
    ) {
        self.V[i] = *V;
        self.set_through(i, factors);
    }

    /// The same of the base.
    pub(crate) fn set_base_response(
        &mut self,
        V: &simd::Motion<f64>,
        inertia: &simd::InertiaFactor<f64>,
    ) {
        (self.V[0], self.base) = ((*V), *inertia);
    }

    /// Zeroes the external forces.
    pub fn clear_forces(&mut self) {
        self.f_ext.fill(Force::zero());
    }

    /// Adds the force `f_W` (in W) that acts on `body` at the point `p_B` (from B's origin, in B).
    pub fn apply_force(&mut self, body: usize, f_W: &Vec3, p_B: &Vec3) {
        let f_B = self.X_WB[body].R.tr_mul(f_W);
        self.f_ext[body] += Force::at_point(f_B, p_B);
    }

    /// Adds the moment `m_W` (in W) on `body`.
    pub fn apply_moment(&mut self, body: usize, m_W: &Vec3) {
        self.f_ext[body].ang += self.X_WB[body].R.tr_mul(m_W);
    }

    /// Position in W of the point `p_B` of `body`, m.
    #[must_use]
    pub fn point_W(&self, body: usize, p_B: &Vec3) -> Vec3 {
        self.X_WB[body].point(p_B)
    }

    /// Velocity in W of the point `p_B` of `body`, m/s.
    #[must_use]
    pub fn point_velocity_W(&self, body: usize, p_B: &Vec3) -> Vec3 {
        self.X_WB[body].R * self.V[body].at_point(p_B)
    }

    /// Angular acceleration of `body` and ordinary acceleration of its point `p_B`, both in W, from
    /// the last [`aba`](super::aba()) with this gravity.
    #[must_use]
    pub fn acceleration_W(&self, body: usize, p_B: &Vec3, gravity_W: &Vec3) -> (Vec3, Vec3) {
        let (V, A, R) = (&self.V[body], &self.A[body], &self.X_WB[body].R);
        let centripetal = V.ang.cross(&V.at_point(p_B));
        (R * A.ang, R * (A.at_point(p_B) + centripetal) + gravity_W)
    }
}

/// All joints of `model` with the bodies that they move.
pub(crate) fn links(model: &Model, limbs: &Limbs) -> Vec<Link<f64>> {
    let moved = model.joints.iter().zip(&model.bodies[1..]).zip(joint_classes(model, limbs));
    moved.map(|((joint, body), class)| Link::new(class, joint, &body.inertia)).collect()
}
