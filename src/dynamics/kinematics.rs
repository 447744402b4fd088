//! Poses and velocities of all bodies, from the base outward.

use crate::model::Model;
use crate::spatial::{Motion, Transform};

use super::joint::pose_in_parent;
use super::{Data, Positions, Velocities};

/// Computes `X_PB`, `X_WB`, `V` and `c` of every body. (table 7.1, pass 1)
pub fn kinematics(model: &Model, q: &Positions, v: &Velocities, data: &mut Data) {
    let X_WB = Transform::new(q.quat_WB.to_matrix(), q.p_WB);
    data.X_PB[0] = X_WB;
    data.X_WB[0] = X_WB;
    data.V[0] = Motion::new(X_WB.R.tr_mul(&v.w_WB), X_WB.R.tr_mul(&v.v_WB));
    data.c[0] = Motion::zero();

    for i in 1..model.bodies.len() {
        let parent = model.bodies[i].parent;
        let (joint, q_i, qd_i) = (&model.joints[i - 1], q.joints[i - 1], v.joints[i - 1]);
        let X_PB = pose_in_parent(joint, q_i);
        let v_J = data.S[i] * qd_i;
        let V = X_PB.motion_to_child(&data.V[parent]) + v_J;
        data.c[i] = V.cross(&v_J);
        data.V[i] = V;
        data.X_WB[i] = data.X_WB[parent].compose(&X_PB);
        data.X_PB[i] = X_PB;
    }
}
