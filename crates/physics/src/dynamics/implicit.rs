//! What a linearly implicit step adds to the articulated-body algorithm.
//!
//! Forces that give way with the acceleration `a` they cause, `f(a) = f₀ − B a`, turn `M a = f`
//! into `(M + B) a = f₀`. Where `B` comes from joints and from points of bodies it has the form of
//! a rotor's armature and of masses: the algorithm stays what it is, in O(n).

use crate::model::Model;
use crate::simd::SimdReal;
use crate::spatial::simd::{ArticulatedInertia, Mat3, Sym3, Vec3};

/// `B`, by bodies and joints. A step that is not implicit leaves it alone.
#[derive(Clone, Debug)]
pub(crate) struct Added {
    /// Inertia about the body's origin, in its axes.
    pub(crate) bodies: Vec<ArticulatedInertia<f64>>,
    /// Armature, kg·m² or kg, in the model's order.
    pub(crate) joints: Vec<f64>,
    /// With how much each body resists turning by itself, at least, kg·m².
    pub(crate) own: Vec<f64>,
}

impl Added {
    pub(crate) fn new(model: &Model) -> Self {
        Self {
            bodies: vec![ArticulatedInertia::default(); model.bodies.len()],
            joints: vec![0.0; model.joint_count()],
            own: model.bodies.iter().map(|b| least_inertia(&b.inertia.about_com())).collect(),
        }
    }

    pub(crate) fn clear_bodies(&mut self) {
        self.bodies.fill(ArticulatedInertia::default());
    }
}

/// At most the smallest principal value of an inertia, kg·m².
pub(crate) fn least_inertia(inertia: &Mat3<f64>) -> f64 {
    let Some(inverse) = inertia.inverse() else { return 0.0 };
    let rows = [inverse.x, inverse.y, inverse.z].map(|row| row.norm_squared());
    1.0 / (rows[0] + rows[1] + rows[2]).sqrt()
}

/// The inertia of a point at `p` with the mass `along` the unit vector `n` and `across` it in all
/// other directions.
#[inline(always)]
pub(crate) fn point_inertia<T: SimdReal>(
    across: T,
    along: T,
    n: &Vec3<T>,
    p: &Vec3<T>,
) -> ArticulatedInertia<T> {
    let more = along - across;
    let (m, n_more) = (p.cross(n), n.scaled(more));
    let m_more = m.scaled(more);
    let sphere = across * p.dot(p);
    let (p_across, less) = (p.scaled(across), p.scaled(-across));
    let skew = Mat3::skew(&p_across);
    ArticulatedInertia {
        I: plus_outer(plus_outer(Sym3::diagonal(sphere), &less, p), &m_more, &m),
        H: Mat3::from_rows(
            skew.x + n_more.scaled(m.x),
            skew.y + n_more.scaled(m.y),
            skew.z + n_more.scaled(m.z),
        ),
        M: plus_outer(Sym3::diagonal(across), &n_more, n),
    }
}

/// What resists angular acceleration alone: `along` about the unit vector `n`, `across` about all
/// axes normal to it, kg·m².
pub(crate) fn spin_inertia(across: f64, along: f64, n: &Vec3<f64>) -> ArticulatedInertia<f64> {
    ArticulatedInertia {
        I: plus_outer(Sym3::diagonal(across), &n.scaled(along - across), n),
        H: Mat3::zeros(),
        M: Sym3::diagonal(0.0),
    }
}

/// `S + a bᵀ`, for `a` and `b` with a symmetric product.
#[inline(always)]
fn plus_outer<T: SimdReal>(S: Sym3<T>, a: &Vec3<T>, b: &Vec3<T>) -> Sym3<T> {
    S.minus_outer(&-*a, b)
}
