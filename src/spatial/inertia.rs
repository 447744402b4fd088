//! Inertias of single bodies, and the solution for one that nothing holds.

use super::{ArticulatedInertia, Force, Mat3, Motion, Transform, Vec3, lanes, skew};

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
        lanes::SpatialInertia::from(*self).articulated()
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

impl ArticulatedInertia {
    /// Solves `I_A m = f` by an LDLᵀ factorisation. `I_A` must be positive definite; otherwise the
    /// result is not finite, which the plant's guard reports.
    #[inline(always)]
    #[must_use]
    pub fn solve(&self, f: &Force) -> Motion {
        let (I, H, M): (Mat3, Mat3, Mat3) =
            (self.I.full().into(), self.H.into(), self.M.full().into());
        let mut a = [[0.0; 6]; 6];
        for r in 0..3 {
            for c in 0..3 {
                a[r][c] = I[(r, c)];
                a[r + 3][c] = H[(c, r)];
                a[r + 3][c + 3] = M[(r, c)];
            }
        }
        let mut x = [f.ang.x, f.ang.y, f.ang.z, f.lin.x, f.lin.y, f.lin.z];
        ldl_solve(&mut a, &mut x);
        Motion::new(Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]))
    }
}

/// Solves `a x = b` in place for a symmetric positive-definite `a`; only its lower triangle is
/// read.
#[inline(always)]
fn ldl_solve(a: &mut [[f64; 6]; 6], x: &mut [f64; 6]) {
    let mut per_d = [0.0; 6];
    for j in 0..6 {
        for k in 0..j {
            let t = a[j][k] * a[k][k];
            for row in &mut a[j..] {
                row[j] -= row[k] * t;
            }
        }
        per_d[j] = 1.0 / a[j][j];
        for row in &mut a[j + 1..] {
            row[j] *= per_d[j];
        }
    }
    for i in 0..6 {
        for k in 0..i {
            x[i] -= a[i][k] * x[k];
        }
    }
    for i in (0..6).rev() {
        x[i] *= per_d[i];
        for k in i + 1..6 {
            x[i] -= a[k][i] * x[k];
        }
    }
}
