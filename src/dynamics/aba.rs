//! Articulated-body algorithm: generalized accelerations from forces, in O(n).
//!
//! Table 7.1 of the book, with two additions: the rotor's `armature` in `D`, and a floating base
//! (section 9.4). Gravity enters as an acceleration of the world by `−g`, so `A` is the
//! acceleration less gravity.

use crate::model::{Base, Model};
use crate::spatial::{ArticulatedInertia, Motion, Vec3};

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
    gather_to_base(model, data, tau);
    spread_accelerations(model, data, gravity_W, vdot);
}

/// Articulated inertias alone: passes 1 and 2 without velocities and forces. Leaves `data.I_A`,
/// `data.U` and `data.D`; needs [`kinematics`](super::kinematics()).
pub fn articulated_inertias(model: &Model, data: &mut Data) {
    start_from_rigid_bodies(model, data);
    for i in (1..model.bodies.len()).rev() {
        let I_a = through_joint(model, data, i);
        data.I_A[model.bodies[i].parent].add_assign(&I_a.to_parent(&data.X_PB[i]));
    }
}

/// `I_A = I`, `p_A = v ×* I v − f_ext`. (7.38 with 7.37 for a single body)
fn start_from_rigid_bodies(model: &Model, data: &mut Data) {
    for (i, body) in model.bodies.iter().enumerate() {
        let V = &data.V[i];
        data.I_A[i] = ArticulatedInertia::rigid(&body.inertia);
        data.p_A[i] = V.cross_force(&body.inertia.mul(V)) - data.f_ext[i];
    }
}

/// `U = I_A S`, `D = Sᵀ U + armature`, and what the parent feels, `I_a = I_A − U Uᵀ / D`. (7.43)
fn through_joint(model: &Model, data: &mut Data, i: usize) -> ArticulatedInertia {
    let U = data.I_A[i].mul(&data.S[i]);
    let D = data.S[i].dot(&U) + model.joints[i - 1].armature;
    data.U[i] = U;
    data.D[i] = D;
    data.I_A[i].minus_outer(&U, D)
}

/// Pass 2, from the tips to the base. (7.43 to 7.47)
fn gather_to_base(model: &Model, data: &mut Data, tau: &[f64]) {
    for i in (1..model.bodies.len()).rev() {
        let I_a = through_joint(model, data, i);
        let u = tau[i - 1] - data.S[i].dot(&data.p_A[i]);
        data.u[i] = u;
        let p_a = data.p_A[i] + I_a.mul(&data.c[i]) + data.U[i] * (u / data.D[i]);
        let parent = model.bodies[i].parent;
        data.I_A[parent].add_assign(&I_a.to_parent(&data.X_PB[i]));
        data.p_A[parent] += data.X_PB[i].force_to_parent(&p_a);
    }
}

/// Pass 3, from the base to the tips.
fn spread_accelerations(
    model: &Model,
    data: &mut Data,
    gravity_W: &Vec3,
    vdot: &mut Accelerations,
) {
    let R_WB = data.X_WB[0].R;
    match model.base {
        Base::Floating => {
            // nothing holds the base: I_A a + p_A = 0  (9.10)
            data.A[0] = data.I_A[0].solve(&-data.p_A[0]);
            let (alpha_W, a_W) = data.acceleration_W(0, &Vec3::zeros(), gravity_W);
            (vdot.w_WB, vdot.v_WB) = (alpha_W, a_W);
        }
        Base::Fixed => {
            data.A[0] = Motion::new(Vec3::zeros(), R_WB.tr_mul(&-gravity_W));
            (vdot.w_WB, vdot.v_WB) = (Vec3::zeros(), Vec3::zeros());
        }
    }
    for i in 1..model.bodies.len() {
        let parent = model.bodies[i].parent;
        let a = data.X_PB[i].motion_to_child(&data.A[parent]) + data.c[i];
        let qdd = (data.u[i] - data.U[i].dot(&a)) / data.D[i];
        data.A[i] = a + data.S[i] * qdd;
        vdot.joints[i - 1] = qdd;
    }
}
