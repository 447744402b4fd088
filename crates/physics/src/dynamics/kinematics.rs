//! Poses and velocities of all bodies, from the base outward.

use crate::model::Model;
use crate::spatial::simd::{Mat3, Motion, Transform};

use super::body::BodyKinematics;
use super::{Data, Positions, Velocities};

/// Computes `X_PB`, `X_WB`, `V` and `c` of every body. (table 7.1, pass 1)
pub fn kinematics(model: &Model, q: &Positions, v: &Velocities, data: &mut Data) {
    data.set_placed(0, &base_kinematics(q, v));
    for i in 1..model.bodies.len() {
        let parent = model.bodies[i].parent;
        let (X_WP, V_P) = (data.X_WB[parent], data.V[parent]);
        let (q_i, qd_i) = (q.joints[i - 1], v.joints[i - 1]);
        let kin = BodyKinematics::on_parent(&data.links[i - 1], q_i, qd_i, &X_WP, &V_P);
        data.set_placed(i, &kin);
    }
}

/// The base: `v` has its velocities in W.
#[inline(always)]
pub(crate) fn base_kinematics(q: &Positions, v: &Velocities) -> BodyKinematics<f64> {
    let X_WB = Transform::new(q.quat_WB.to_matrix(), q.p_WB);
    let V = base_velocity(&X_WB.R, v);
    BodyKinematics { X_PB: X_WB, X_WB, V, ..BodyKinematics::default() }
}

/// Spatial velocity of the base.
#[inline(always)]
pub(crate) fn base_velocity(R_WB: &Mat3<f64>, v: &Velocities) -> Motion<f64> {
    Motion::new(R_WB.tr_mul(&v.w_WB), R_WB.tr_mul(&v.v_WB))
}

/// The velocities `V` alone, for other speeds in the same place: needs [`kinematics`] and leaves
/// `c` as it was.
pub(crate) fn velocities(model: &Model, v: &Velocities, data: &mut Data) {
    data.V[0] = base_velocity(&data.X_WB[0].R, v);
    for i in 1..model.bodies.len() {
        let V_P = data.V[model.bodies[i].parent];
        let (X_PB, link) = (data.X_PB[i], &data.links[i - 1]);
        let V = link.velocity(link.joint_class, (&X_PB, &data.turn[i]), &V_P, v.joints[i - 1]);
        data.V[i] = V;
    }
}
