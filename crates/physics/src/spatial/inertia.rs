//! Inertias of single bodies.

use super::{ArticulatedInertia, Force, Mat3, Motion, Transform, Vec3, simd, skew};

/// Inertia of a rigid body about the origin of its frame, in its axes. (RBDA 2.63)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialInertia {
    /// Mass, kg.
    pub mass: f64,
    /// First moment `h = m c`, kg·m, with `c` the centre of mass.
    pub h: Vec3,
    /// Rotational inertia about the origin, kg·m².
    pub I: Mat3,
}

impl SpatialInertia {
    /// Nothing there.
    #[must_use]
    pub fn zero() -> Self {
        Self { mass: 0.0, h: Vec3::zeros(), I: Mat3::zeros() }
    }

    /// From mass (kg), centre of mass `c` (m) and inertia about the centre of mass (kg·m²), all in
    /// one set of axes.
    #[must_use]
    pub fn from_com(mass: f64, c: &Vec3, I_com: &Mat3) -> Self {
        let cx = skew(c);
        Self { mass, h: *c * mass, I: I_com + (cx * cx.transpose()) * mass }
    }

    /// Centre of mass, m; the origin for a massless body.
    #[must_use]
    pub fn com(&self) -> Vec3 {
        if self.mass > 0.0 { self.h / self.mass } else { Vec3::zeros() }
    }

    /// Rotational inertia about the centre of mass, kg·m².
    #[must_use]
    pub fn about_com(&self) -> Mat3 {
        let cx = skew(&self.com());
        self.I - (cx * cx.transpose()) * self.mass
    }

    /// The same body seen from A, where `X_AB` is the pose of this inertia's frame.
    #[must_use]
    pub fn to_parent(&self, X_AB: &Transform) -> Self {
        let I_com = X_AB.R * self.about_com() * X_AB.R.transpose();
        let mut out = Self::from_com(self.mass, &X_AB.point(&self.com()), &I_com);
        out.I = (out.I + out.I.transpose()) * 0.5;
        out
    }

    /// Two bodies welded together, both about the same origin.
    #[must_use]
    pub fn plus(&self, o: &Self) -> Self {
        Self { mass: self.mass + o.mass, h: self.h + o.h, I: self.I + o.I }
    }

    /// As an articulated inertia.
    #[must_use]
    pub fn articulated(&self) -> ArticulatedInertia {
        simd::SpatialInertia::from(*self).articulated()
    }

    /// Momentum `I v`.
    #[must_use]
    pub fn mul(&self, v: &Motion) -> Force {
        Force::new(self.I * v.ang + self.h.cross(&v.lin), v.lin * self.mass - self.h.cross(&v.ang))
    }

    /// Kinetic energy `½ vᵀ I v`, J.
    #[must_use]
    pub fn kinetic_energy(&self, v: &Motion) -> f64 {
        0.5 * v.dot(&self.mul(v))
    }
}
