//! Poses and velocities of all bodies, from the base outward.

use crate::model::Model;
use crate::spatial::lanes::{Motion, Transform};

use super::body::Placed;
use super::{Data, Positions, Velocities};

/// Computes `X_PB`, `X_WB`, `V` and `c` of every body. (table 7.1, pass 1)
pub fn kinematics(model: &Model, q: &Positions, v: &Velocities, data: &mut Data) {
    data.set_placed(0, &base_placed(q, v));
    for i in 1..model.bodies.len() {
        let parent = model.bodies[i].parent;
        let (X_WP, V_P) = (data.X_WB[parent].into(), data.V[parent].into());
        let (q_i, qd_i) = (q.joints[i - 1], v.joints[i - 1]);
        let placed = Placed::on_parent(&data.links[i - 1], q_i, qd_i, &X_WP, &V_P);
        data.set_placed(i, &placed);
    }
}

/// The base: `v` has its velocities in W.
#[inline(always)]
pub(crate) fn base_placed(q: &Positions, v: &Velocities) -> Placed<f64> {
    let X_WB = Transform::new(q.quat_WB.to_matrix().into(), q.p_WB.into());
    let V = Motion::new(X_WB.R.tr_mul(&v.w_WB.into()), X_WB.R.tr_mul(&v.v_WB.into()));
    Placed { X_PB: X_WB, X_WB, V, ..Placed::default() }
}
