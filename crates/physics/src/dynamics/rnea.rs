//! Recursive Newton–Euler algorithm: forces from accelerations, in O(n). (table 5.1)

use crate::model::{Base, Model};
use crate::spatial::{Force, Motion, Vec3};

use super::{Accelerations, Data};

/// Generalized forces that belong to [`Velocities`](super::Velocities).
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralizedForces {
    /// Moment and force on a floating base at its origin, in W; zero for a fixed base.
    pub base_W: Force,
    /// Joint efforts in the model's order, N·m or N.
    pub joints: Vec<f64>,
}

impl GeneralizedForces {
    /// No force.
    #[must_use]
    pub fn zero(model: &Model) -> Self {
        Self { base_W: Force::zero(), joints: vec![0.0; model.joint_count()] }
    }
}

/// Inverse dynamics: the forces `tau` that give `vdot` in the presence of `data.f_ext` and gravity.
/// With `vdot = 0` these are the bias forces (Coriolis, centrifugal, gravity). Needs
/// [`kinematics`](super::kinematics()) of the same state; uses `data.A` and `data.p_A`.
pub fn rnea(
    model: &Model,
    data: &mut Data,
    vdot: &Accelerations,
    gravity_W: &Vec3,
    tau: &mut GeneralizedForces,
) {
    let R_WB = data.X_WB[0].R;
    // from ordinary to spatial acceleration, less gravity  (2.49)
    let V = data.V[0];
    let a_W = if model.base == Base::Floating { vdot.v_WB } else { Vec3::zeros() } - gravity_W;
    let alpha_W = if model.base == Base::Floating { vdot.w_WB } else { Vec3::zeros() };
    data.A[0] = Motion::new(R_WB.tr_mul(&alpha_W), R_WB.tr_mul(&a_W) - V.ang.cross(&V.lin));

    for i in 0..model.bodies.len() {
        if i > 0 {
            let parent = model.bodies[i].parent;
            let a = data.X_PB[i].motion_to_child(&data.A[parent]) + data.c[i];
            data.A[i] = a + data.S[i] * vdot.joints[i - 1];
        }
        let (I, V) = (&model.bodies[i].inertia, &data.V[i]);
        data.p_A[i] = I.mul(&data.A[i]) + V.cross_force(&I.mul(V)) - data.f_ext[i];
    }
    for i in (1..model.bodies.len()).rev() {
        let f = data.p_A[i];
        tau.joints[i - 1] = data.S[i].dot(&f) + model.joints[i - 1].armature * vdot.joints[i - 1];
        data.p_A[model.bodies[i].parent] += data.X_PB[i].force_to_parent(&f);
    }
    tau.base_W = match model.base {
        Base::Floating => Force::new(R_WB * data.p_A[0].ang, R_WB * data.p_A[0].lin),
        Base::Fixed => Force::zero(),
    };
}
