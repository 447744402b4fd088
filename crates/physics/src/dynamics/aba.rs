//! Articulated-body algorithm: generalized accelerations from forces, in O(n).
//!
//! Table 7.1 of the book, with two additions: the rotor's `armature` in `D`, and a floating base
//! (section 9.4). Gravity enters as an acceleration of the world by `−g`, so `A` is the
//! acceleration less gravity.
//!
//! One body after another. This is the definition: the plant's fast path, which takes limbs
//! side by side, gives the same bits.

use crate::model::{Base, Model};
use crate::spatial::simd::InertiaFactor;
use crate::spatial::{Force, Vec3, simd};

use super::body::{AbaFactors, BodyKinematics, bias_force};
use super::{Accelerations, Data};

/// Forward dynamics: `vdot` from the joint efforts `tau` (model's order), `data.f_ext`, and
/// `gravity_W`. Needs [`kinematics`](super::kinematics()) of the same state. Leaves `data.A`.
///
/// A model that has mass on every moving body has `D > 0` and a regular base inertia; otherwise
/// the result is not finite.
pub fn aba(
    model: &Model,
    data: &mut Data,
    tau: &[f64],
    gravity_W: &Vec3,
    vdot: &mut Accelerations,
) {
    start_from_rigid_bodies(model, data);
    gather_to_base(model, data, tau, |i, data| data.links[i - 1].armature);
    spread_accelerations(model, data, gravity_W, vdot);
}

/// [`aba`] with the inertia of `data.added`.
pub(crate) fn aba_implicit(
    model: &Model,
    data: &mut Data,
    tau: &[f64],
    gravity_W: &Vec3,
    vdot: &mut Accelerations,
) {
    start_from_rigid_bodies(model, data);
    for (I_A, added) in data.I_A.iter_mut().zip(&data.added.bodies) {
        *I_A += *added;
    }
    let armature = |i: usize, data: &Data| data.links[i - 1].armature + data.added.joints[i - 1];
    gather_to_base(model, data, tau, armature);
    spread_accelerations(model, data, gravity_W, vdot);
}

/// Articulated inertias alone: passes 1 and 2 without velocities and forces. Leaves `data.I_A`,
/// `data.U` and `data.D`; needs [`kinematics`](super::kinematics()).
pub fn articulated_inertias(model: &Model, data: &mut Data) {
    start_from_rigid_bodies(model, data);
    for i in (1..model.bodies.len()).rev() {
        let link = &data.links[i - 1];
        let (factors, I_a) = AbaFactors::inertia(link, link.armature, &data.I_A[i]);
        data.set_through(i, &factors);
        let I_P = I_a.to_parent(&data.X_PB[i]);
        data.I_A[model.bodies[i].parent] += I_P;
    }
    prepare_base(model, data);
}

/// The base's inertia, ready to be solved.
fn prepare_base(model: &Model, data: &mut Data) {
    data.base = match model.base {
        Base::Floating => data.I_A[0].factor(),
        Base::Fixed => InertiaFactor::default(),
    };
}

/// `I_A = I`, `p_A = v ×* I v − f_ext`. (7.38 with 7.37 for a single body)
fn start_from_rigid_bodies(model: &Model, data: &mut Data) {
    for (i, body) in model.bodies.iter().enumerate() {
        data.I_A[i] = body.inertia.articulated();
        data.p_A[i] = bias_force(&body.inertia.into(), &data.V[i], &data.f_ext[i]);
    }
}

/// Pass 2, from the tips to the base. (7.43 to 7.47)
fn gather_to_base(
    model: &Model,
    data: &mut Data,
    tau: &[f64],
    armature: impl Fn(usize, &Data) -> f64,
) {
    for i in (1..model.bodies.len()).rev() {
        let (link, kin) = (&data.links[i - 1], data.kin(i));
        let p_A = data.p_A[i];
        let effort = (tau[i - 1], armature(i, data));
        let (factors, I_P, p_P) = AbaFactors::joint(link, &kin, effort, &data.I_A[i], &p_A);
        data.set_through(i, &factors);
        let parent = model.bodies[i].parent;
        data.I_A[parent] += I_P;
        data.p_A[parent] += Force::from(p_P);
    }
    prepare_base(model, data);
}

/// Pass 3, from the base to the tips.
fn spread_accelerations(
    model: &Model,
    data: &mut Data,
    gravity_W: &Vec3,
    vdot: &mut Accelerations,
) {
    let base = data.kin(0);
    let (A, alpha_W, a_W) = match model.base {
        Base::Floating => free_base(&base, &data.base, &data.p_A[0], gravity_W),
        Base::Fixed => (held_base(&base, gravity_W), Vec3::zeros(), Vec3::zeros()),
    };
    (data.A[0], vdot.w_WB, vdot.v_WB) = (A, alpha_W, a_W);
    for i in 1..model.bodies.len() {
        let A_P = data.A[model.bodies[i].parent];
        let (link, kin, factors) = (&data.links[i - 1], data.kin(i), data.factors(i));
        let (qdd, A) = factors.accelerate(link, &kin, &A_P);
        data.A[i] = A;
        vdot.joints[i - 1] = qdd;
    }
}

/// Nothing holds the base: `I_A a + p_A = 0`. Its spatial acceleration less gravity, in B, and the
/// ordinary angular and linear acceleration in W. (9.10)
#[inline(always)]
pub(crate) fn free_base(
    base: &BodyKinematics<f64>,
    inertia: &InertiaFactor<f64>,
    p_A: &simd::Force<f64>,
    gravity_W: &Vec3,
) -> (simd::Motion<f64>, Vec3, Vec3) {
    let A = inertia.solve(&(simd::Force::zero() - *p_A));
    let (R_WB, V) = (&base.X_WB.R, &base.V);
    let a_W = Vec3::from(R_WB.mul(&(A.lin + V.ang.cross(&V.lin)))) + gravity_W;
    (A, R_WB.mul(&A.ang), a_W)
}

/// The acceleration less gravity, in B, of a base that is fixed to the world.
#[inline(always)]
pub(crate) fn held_base(base: &BodyKinematics<f64>, gravity_W: &Vec3) -> simd::Motion<f64> {
    simd::Motion::new(simd::Vec3::zeros(), base.X_WB.R.tr_mul(&(-gravity_W)))
}
