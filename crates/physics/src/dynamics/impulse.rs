//! Response of the tree to impulses: the jump of velocities at a fixed configuration, in O(n).
//!
//! The articulated-body algorithm without velocities, gravity and efforts, and with momenta in the
//! place of forces. (section 7.3; impulses: 11.7)

use crate::model::Model;
use crate::spatial::{Force, Motion, Vec3, simd};

use super::point_response::VelocityChange;
use super::{Data, Velocities};

/// The workspace of [`impulse_response`]; one entry per body.
#[derive(Clone, Debug)]
pub struct ImpulseWorkspace {
    /// Result: jump of the body's spatial velocity, about its origin in its axes, rad/s and m/s.
    pub dV: Vec<Motion>,
    /// Articulated bias momentum, about the body's origin in its axes, N·m·s and N·s.
    p_A: Vec<Force>,
    /// `−Sᵀ p_A`.
    u: Vec<f64>,
}

impl ImpulseWorkspace {
    /// A workspace for `model`.
    ///
    /// ```
    /// use hardstand_physics::dynamics::ImpulseWorkspace;
    /// use hardstand_physics::model::{Base, BodySpec, Builder};
    /// use hardstand_physics::spatial::SpatialInertia;
    ///
    /// let mut one = Builder::new("brick", Base::Floating);
    /// one.bodies.push(BodySpec { name: "brick".into(), inertia: SpatialInertia::zero() });
    /// assert_eq!(ImpulseWorkspace::new(&one.build()?).dV.len(), 1);
    /// # Ok::<(), hardstand_error::Error>(())
    /// ```
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let n = model.bodies.len();
        Self { dV: vec![Motion::zero(); n], p_A: vec![Force::zero(); n], u: vec![0.0; n] }
    }
}

/// The jump `dv = H⁻¹ Σ Jᵀ impulse` of the generalized velocities under the impulses `impulses_B`
/// (one per body: N·m·s about the body's origin and N·s, in the body's axes). Leaves the jump of
/// every body's spatial velocity in `work.dV`.
///
/// Needs `X_PB`, `X_WB`, `U`, `D` and the base's inertia in `data`, as [`aba`](super::aba()) or
/// [`articulated_inertias`](super::articulated_inertias()) leave them. Forces in the place of
/// impulses give the accelerations that they add.
pub fn impulse_response(
    model: &Model,
    data: &Data,
    impulses_B: &[Force],
    work: &mut ImpulseWorkspace,
    dv: &mut Velocities,
) {
    for (p, impulse) in work.p_A.iter_mut().zip(impulses_B) {
        *p = -*impulse;
    }
    for i in (1..model.bodies.len()).rev() {
        let u = -data.S[i].dot(&work.p_A[i]);
        work.u[i] = u;
        let p_a = work.p_A[i] + data.U[i] * (u * data.per_D[i]);
        work.p_A[model.bodies[i].parent] += data.X_PB[i].force_to_parent(&p_a);
    }
    work.dV[0] = data.base.solve(&(-work.p_A[0]));
    let R_WB = &data.X_WB[0].R;
    (dv.w_WB, dv.v_WB) = (R_WB * work.dV[0].ang, R_WB * work.dV[0].lin);
    for i in 1..model.bodies.len() {
        let dV = data.X_PB[i].motion_to_child(&work.dV[model.bodies[i].parent]);
        let dqd = (work.u[i] - data.U[i].dot(&dV)) * data.per_D[i];
        work.dV[i] = dV + data.S[i] * dqd;
        dv.joints[i - 1] = dqd;
    }
}

/// Spreads a jump that starts at the base over the tree, the other half of [`impulse_response`]: to
/// the generalized velocities, `dv`, and to every body's spatial velocity, `dV`, about its origin
/// in its axes, rad/s and m/s. Needs in `data` what the other half needs.
pub fn spread_jump(
    model: &Model,
    data: &Data,
    jump: &VelocityChange,
    dV: &mut [Motion],
    dv: &mut Velocities,
) {
    dV[0] = jump.dV_base;
    (dv.w_WB, dv.v_WB) = base_jump(&data.X_WB[0].R, &jump.dV_base);
    for i in 1..model.bodies.len() {
        let dV_P = dV[model.bodies[i].parent];
        let (link, kin) = (&data.links[i - 1], data.kin(i));
        let (dqd, dV_B) = data.factors(i).jump_by(link.joint_class, link, &kin, jump.u[i], &dV_P);
        dV[i] = dV_B;
        dv.joints[i - 1] = dqd;
    }
}

/// The base's part of a jump of the generalized velocities.
#[inline(always)]
pub(crate) fn base_jump(R_WB: &simd::Mat3<f64>, dV: &simd::Motion<f64>) -> (Vec3, Vec3) {
    (R_WB.mul(&dV.ang), R_WB.mul(&dV.lin))
}
