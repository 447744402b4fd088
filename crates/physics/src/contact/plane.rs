//! The contact plane.

use crate::spatial::{Transform, Vec3};

/// A plane fixed in the world at any place and angle: the x- and y-axis of its frame P lie in it,
/// the z-axis is the normal and points to the free side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPlane {
    /// Pose of P in W.
    pub X_WP: Transform,
}

impl ContactPlane {
    /// The plane `z = 0` of the world.
    #[must_use]
    pub fn floor() -> Self {
        Self { X_WP: Transform::identity() }
    }

    /// Position in P of a world point.
    #[must_use]
    pub fn position_P(&self, p_W: &Vec3) -> Vec3 {
        self.X_WP.point_inverse(p_W)
    }

    /// A velocity or force from W to P axes.
    #[must_use]
    pub fn vector_P(&self, v_W: &Vec3) -> Vec3 {
        self.X_WP.R.tr_mul(v_W)
    }

    /// A velocity or force from P to W axes.
    #[must_use]
    pub fn vector_W(&self, v_P: &Vec3) -> Vec3 {
        self.X_WP.R * v_P
    }

    /// The world position of a point of P.
    #[must_use]
    pub fn position_W(&self, p_P: &Vec3) -> Vec3 {
        self.X_WP.point(p_P)
    }
}
