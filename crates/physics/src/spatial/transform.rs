//! Rigid transforms and their action on spatial vectors.

use super::{Force, Mat3, Motion, Quaternion, Vec3};

/// A pose `X_AB`: the point with B coordinates `p_B` has A coordinates `R p_B + p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// `R_AB`.
    pub R: Mat3,
    /// `p_AB_A`, m.
    pub p: Vec3,
}

impl Transform {
    /// A frame in place.
    #[must_use]
    pub fn identity() -> Self {
        Self { R: Mat3::identity(), p: Vec3::zeros() }
    }

    /// From rotation and position.
    #[must_use]
    pub const fn new(R: Mat3, p: Vec3) -> Self {
        Self { R, p }
    }

    /// From position in m and fixed-axis roll, pitch, yaw in rad, as URDF writes an `<origin>`.
    #[must_use]
    pub fn from_xyz_rpy(xyz: [f64; 3], rpy: [f64; 3]) -> Self {
        Self::new(Quaternion::from_rpy(rpy[0], rpy[1], rpy[2]).to_matrix(), Vec3::from(xyz))
    }

    /// `X_AC = X_AB X_BC`.
    #[must_use]
    pub fn compose(&self, X_BC: &Self) -> Self {
        Self::new(self.R * X_BC.R, self.R * X_BC.p + self.p)
    }

    /// `X_BA`.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let R = self.R.transpose();
        Self::new(R, -(R * self.p))
    }

    /// A coordinates of the point `p_B`.
    #[must_use]
    pub fn point(&self, p_B: &Vec3) -> Vec3 {
        self.R * p_B + self.p
    }

    /// B coordinates of the point `p_A`.
    #[must_use]
    pub fn point_inverse(&self, p_A: &Vec3) -> Vec3 {
        self.R.tr_mul(&(p_A - self.p))
    }

    /// A motion vector from A to B coordinates and origin: Featherstone's `ᴮX_A m`. (RBDA 2.24)
    #[must_use]
    pub fn motion_to_child(&self, m_A: &Motion) -> Motion {
        Motion::new(self.R.tr_mul(&m_A.ang), self.R.tr_mul(&(m_A.lin + m_A.ang.cross(&self.p))))
    }

    /// A motion vector from B to A coordinates and origin: the inverse of
    /// [`motion_to_child`](Self::motion_to_child).
    #[must_use]
    pub fn motion_to_parent(&self, m_B: &Motion) -> Motion {
        let ang = self.R * m_B.ang;
        Motion::new(ang, self.R * m_B.lin + self.p.cross(&ang))
    }

    /// A force vector from B to A coordinates and origin: Featherstone's `ᴮX_Aᵀ f`. (RBDA 2.25)
    #[must_use]
    pub fn force_to_parent(&self, f_B: &Force) -> Force {
        let lin = self.R * f_B.lin;
        Force::new(self.R * f_B.ang + self.p.cross(&lin), lin)
    }
}
