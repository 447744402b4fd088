//! Composite-rigid-body algorithm: the joint-space inertia matrix. (table 6.2, section 9.3)

use crate::model::{Base, Model};
use crate::spatial::{Force, Mat3, Vec3};

use super::Data;

/// The symmetric matrix `H` (Featherstone) or `M` (Drake) of `H v̇ + C = τ`, in the order of
/// [`Velocities`](super::Velocities): base angular, base linear (both in W, only for a floating
/// base), joints. Units kg, kg·m, kg·m².
#[derive(Clone, Debug, PartialEq)]
pub struct MassMatrix {
    n: usize,
    h: Vec<f64>,
}

impl MassMatrix {
    /// A zero matrix for `model`.
    #[must_use]
    pub fn zero(model: &Model) -> Self {
        let n = model.nv();
        Self { n, h: vec![0.0; n * n] }
    }

    /// Number of rows: [`Model::nv`].
    #[must_use]
    pub fn size(&self) -> usize {
        self.n
    }

    /// The element in row `r`, column `c`.
    ///
    /// # Panics
    /// If `r` or `c` is not less than [`size`](Self::size).
    #[must_use]
    pub fn at(&self, r: usize, c: usize) -> f64 {
        self.h[r * self.n + c]
    }

    fn set(&mut self, r: usize, c: usize, value: f64) {
        self.h[r * self.n + c] = value;
        self.h[c * self.n + r] = value;
    }
}

/// Computes `H`. Needs [`kinematics`](super::kinematics()); uses `data.I_A` for the composite
/// inertias `I_c`.
pub fn crba(model: &Model, data: &mut Data, H: &mut MassMatrix) {
    for (i, body) in model.bodies.iter().enumerate() {
        data.I_A[i] = body.inertia.articulated();
    }
    for i in (1..model.bodies.len()).rev() {
        let I_c = data.I_A[i].to_parent(&data.X_PB[i]);
        data.I_A[model.bodies[i].parent] += I_c;
    }
    H.h.fill(0.0);
    let first = model.nv() - model.joint_count();
    for i in 1..model.bodies.len() {
        let mut F = Force::from(data.I_A[i].mul(&data.S[i]));
        let row = first + i - 1;
        H.set(row, row, data.S[i].dot(&F) + model.joints[i - 1].armature);
        let mut j = i;
        while j > 0 {
            F = data.X_PB[j].force_to_parent(&F); // the base's X_PB is its pose in the world
            j = model.bodies[j].parent;
            if j > 0 {
                H.set(row, first + j - 1, data.S[j].dot(&F));
            }
        }
        if model.base == Base::Floating {
            set_base_column(H, row, &data.X_WB[0].R, &F);
        }
    }
    if model.base == Base::Floating {
        set_base_block(data, H);
    }
}

/// `F` is in base axes about the base origin; the base coordinates are in W axes.
fn set_base_column(H: &mut MassMatrix, row: usize, R_WB: &Mat3, F: &Force) {
    let (ang, lin): (Vec3, Vec3) = (R_WB * F.ang, R_WB * F.lin);
    for k in 0..3 {
        H.set(row, k, ang[k]);
        H.set(row, 3 + k, lin[k]);
    }
}

fn set_base_block(data: &Data, H: &mut MassMatrix) {
    let (I_c, R) = (&data.I_A[0], &data.X_WB[0].R);
    let (I, C) = (Mat3::from(I_c.I.full()), Mat3::from(I_c.H));
    let (I, C, M) = (R * I * R.transpose(), R * C * R.transpose(), Mat3::from(I_c.M.full()));
    for r in 0..3 {
        for c in 0..3 {
            if c >= r {
                H.set(r, c, I[(r, c)]);
                H.set(3 + r, 3 + c, if r == c { M[(r, c)] } else { 0.0 });
            }
            H.set(r, 3 + c, C[(r, c)]);
        }
    }
}
