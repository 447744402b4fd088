//! Where the links are at the start, before the robot is placed above the ground.

use hardstand_physics::dynamics::{Data, Positions, Velocities, kinematics};
use hardstand_physics::model::{Frame, Model};
use hardstand_physics::spatial::{Motion, Transform, Vec3};

/// The initial posture of a robot whose joints are at rest.
pub(super) struct Posture {
    X_WB: Vec<Transform>,
    /// Velocity of the base.
    v: Velocities,
    up_W: Vec3,
}

impl Posture {
    pub(super) fn of(model: &Model, (q, v): (&Positions, &Velocities), up_W: Vec3) -> Self {
        let mut data = Data::new(model);
        kinematics(model, q, &Velocities::zero(model), &mut data);
        Self { X_WB: data.X_WB, v: v.clone(), up_W }
    }

    /// Pose of a link.
    pub(super) fn X_WF(&self, frame: &Frame) -> Transform {
        self.X_WB[frame.body].compose(&frame.X_BF)
    }

    /// Which way is up, in the axes of a link.
    pub(super) fn up_F(&self, frame: &Frame) -> Vec3 {
        self.X_WF(frame).R.tr_mul(&self.up_W)
    }

    /// Velocity of the robot where it has the point `p_W`.
    pub(super) fn velocity_at(&self, p_W: &Vec3) -> Motion {
        let arm_W = *p_W - self.X_WB[0].p;
        Motion::new(self.v.w_WB, self.v.v_WB + self.v.w_WB.cross(&arm_W))
    }
}
