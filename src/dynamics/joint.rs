//! What each kind of joint does: the only place that tells kinds apart.

use crate::model::{Joint, JointKind};
use crate::spatial::{Motion, Transform, Vec3, rotation};

/// The motion subspace `S` in the child's frame B: the spatial velocity for `q̇ = 1`. (table 4.1)
#[must_use]
pub fn motion_subspace(joint: &Joint) -> Motion {
    match joint.kind {
        JointKind::Revolute => Motion::new(joint.axis, Vec3::zeros()),
        JointKind::Prismatic => Motion::new(Vec3::zeros(), joint.axis),
    }
}

/// Pose `X_PB` of the child in the parent body at position `q` (rad or m).
#[must_use]
pub fn pose_in_parent(joint: &Joint, q: f64) -> Transform {
    let X_PJ = &joint.X_PJ;
    match joint.kind {
        JointKind::Revolute => Transform::new(X_PJ.R * rotation(&joint.axis, q), X_PJ.p),
        JointKind::Prismatic => Transform::new(X_PJ.R, X_PJ.p + X_PJ.R * (joint.axis * q)),
    }
}
