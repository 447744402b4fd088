//! The inertia of a model's body as the inner loops take it: the one seam of the spatial algebra.

use super::{Mat3, SpatialInertia, simd};

/// The upper triangle.
impl From<Mat3> for simd::Sym3<f64> {
    #[inline]
    fn from(m: Mat3) -> Self {
        Self { xx: m.x.x, xy: m.x.y, xz: m.x.z, yy: m.y.y, yz: m.y.z, zz: m.z.z }
    }
}

impl From<SpatialInertia> for simd::SpatialInertia<f64> {
    #[inline]
    fn from(I: SpatialInertia) -> Self {
        Self { mass: I.mass, h: I.h, I: I.I.into() }
    }
}
