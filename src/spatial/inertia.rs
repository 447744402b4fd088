//! Rigid-body and articulated-body inertias.

use super::{Force, Mat3, Motion, Transform, Vec3, skew};

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

/// A symmetric 6×6 inertia `[I H; Hᵀ M]` that need not be a rigid body's. (RBDA 7.1)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia {
    /// Angular block.
    pub I: Mat3,
    /// Coupling block.
    pub H: Mat3,
    /// Linear block.
    pub M: Mat3,
}

impl ArticulatedInertia {
    /// Nothing there.
    #[must_use]
    pub fn zero() -> Self {
        Self { I: Mat3::zeros(), H: Mat3::zeros(), M: Mat3::zeros() }
    }

    /// A rigid body's inertia.
    #[must_use]
    pub fn rigid(I: &SpatialInertia) -> Self {
        Self { I: I.I, H: skew(&I.h), M: Mat3::from_diagonal_element(I.mass) }
    }

    /// `I_A m`.
    #[must_use]
    pub fn mul(&self, m: &Motion) -> Force {
        Force::new(self.I * m.ang + self.H * m.lin, self.H.tr_mul(&m.ang) + self.M * m.lin)
    }

    /// Sum of two inertias about the same origin.
    pub fn add_assign(&mut self, o: &Self) {
        self.I += o.I;
        self.H += o.H;
        self.M += o.M;
    }

    /// `I_A − U Uᵀ / D`: what is left after a joint lets motion along `S` through. (RBDA 7.44)
    #[must_use]
    pub fn minus_outer(&self, U: &Force, D: f64) -> Self {
        let a = U.ang / D;
        let l = U.lin / D;
        Self {
            I: self.I - a * U.ang.transpose(),
            H: self.H - a * U.lin.transpose(),
            M: self.M - l * U.lin.transpose(),
        }
    }

    /// The same inertia about the parent's origin and axes: `ᴮX_Aᵀ I_A ᴮX_A`. (RBDA 2.66)
    #[must_use]
    pub fn to_parent(&self, X_AB: &Transform) -> Self {
        let R = &X_AB.R;
        let Rt = R.transpose();
        let I = R * self.I * Rt;
        let H = R * self.H * Rt;
        let M = R * self.M * Rt;
        let px = skew(&X_AB.p);
        let pM = px * M;
        let Hp = H * px;
        Self { I: I - Hp + px * H.transpose() - pM * px, H: H + pM, M }
    }

    /// Solves `I_A m = f` by an LDLᵀ factorisation. `I_A` must be positive definite; otherwise the
    /// result is not finite, which the plant's guard reports.
    #[must_use]
    pub fn solve(&self, f: &Force) -> Motion {
        let mut a = [[0.0; 6]; 6];
        for r in 0..3 {
            for c in 0..3 {
                a[r][c] = self.I[(r, c)];
                a[r][c + 3] = self.H[(r, c)];
                a[r + 3][c] = self.H[(c, r)];
                a[r + 3][c + 3] = self.M[(r, c)];
            }
        }
        let mut x = [f.ang.x, f.ang.y, f.ang.z, f.lin.x, f.lin.y, f.lin.z];
        ldl_solve(&mut a, &mut x);
        Motion::new(Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]))
    }
}

/// Solves `a x = b` in place for a symmetric positive-definite `a`; only its lower triangle is
/// read.
fn ldl_solve(a: &mut [[f64; 6]; 6], x: &mut [f64; 6]) {
    for j in 0..6 {
        for k in 0..j {
            let t = a[j][k] * a[k][k];
            for row in a.iter_mut().skip(j) {
                row[j] -= row[k] * t;
            }
        }
        let d = a[j][j];
        for row in a.iter_mut().skip(j + 1) {
            row[j] /= d;
        }
    }
    for i in 0..6 {
        for k in 0..i {
            x[i] -= a[i][k] * x[k];
        }
    }
    for i in 0..6 {
        x[i] /= a[i][i];
    }
    for i in (0..6).rev() {
        for k in i + 1..6 {
            x[i] -= a[k][i] * x[k];
        }
    }
}
