//! Where the links are at the start, before the robot is placed above the ground.

use hardstand_physics::dynamics::{Data, Positions, Velocities, kinematics};
use hardstand_physics::model::{Frame, Model};
use hardstand_physics::spatial::{Transform, Vec3};

/// The initial posture of a robot whose joints are at rest.
pub(super) struct Posture {
    X_WB: Vec<Transform>,
    up_W: Vec3,
}

impl Posture {
    pub(super) fn of(model: &Model, q: &Positions, up_W: Vec3) -> Self {
        let mut data = Data::new(model);
        kinematics(model, q, &Velocities::zero(model), &mut data);
        Self { X_WB: data.X_WB, up_W }
    }

    /// Pose of a link.
    fn X_WF(&self, frame: &Frame) -> Transform {
        self.X_WB[frame.body].compose(&frame.X_BF)
    }

    /// Which way is up, in the axes of a link.
    pub(super) fn up_F(&self, frame: &Frame) -> Vec3 {
        self.X_WF(frame).R.tr_mul(&self.up_W)
    }
}
