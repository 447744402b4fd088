//! Between the types of one number and those of [`simd`].

use super::{Force, Mat3, Motion, SpatialInertia, Transform, Vec3, simd};

impl From<Vec3> for simd::Vec3<f64> {
    #[inline]
    fn from(v: Vec3) -> Self {
        Self { x: v.x, y: v.y, z: v.z }
    }
}

impl From<simd::Vec3<f64>> for Vec3 {
    #[inline]
    fn from(v: simd::Vec3<f64>) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl From<Mat3> for simd::Mat3<f64> {
    #[inline]
    fn from(m: Mat3) -> Self {
        let row = |r: usize| simd::Vec3 { x: m[(r, 0)], y: m[(r, 1)], z: m[(r, 2)] };
        Self { x: row(0), y: row(1), z: row(2) }
    }
}

impl From<simd::Mat3<f64>> for Mat3 {
    #[inline]
    fn from(m: simd::Mat3<f64>) -> Self {
        Self::new(m.x.x, m.x.y, m.x.z, m.y.x, m.y.y, m.y.z, m.z.x, m.z.y, m.z.z)
    }
}

/// The upper triangle.
impl From<Mat3> for simd::Sym3<f64> {
    #[inline]
    fn from(m: Mat3) -> Self {
        Self {
            xx: m[(0, 0)],
            xy: m[(0, 1)],
            xz: m[(0, 2)],
            yy: m[(1, 1)],
            yz: m[(1, 2)],
            zz: m[(2, 2)],
        }
    }
}

impl From<Motion> for simd::Motion<f64> {
    #[inline]
    fn from(m: Motion) -> Self {
        Self { ang: m.ang.into(), lin: m.lin.into() }
    }
}

impl From<simd::Motion<f64>> for Motion {
    #[inline]
    fn from(m: simd::Motion<f64>) -> Self {
        Self::new(m.ang.into(), m.lin.into())
    }
}

impl From<Force> for simd::Force<f64> {
    #[inline]
    fn from(f: Force) -> Self {
        Self { ang: f.ang.into(), lin: f.lin.into() }
    }
}

impl From<simd::Force<f64>> for Force {
    #[inline]
    fn from(f: simd::Force<f64>) -> Self {
        Self::new(f.ang.into(), f.lin.into())
    }
}

impl From<Transform> for simd::Transform<f64> {
    #[inline]
    fn from(X: Transform) -> Self {
        Self { R: X.R.into(), p: X.p.into() }
    }
}

impl From<simd::Transform<f64>> for Transform {
    #[inline]
    fn from(X: simd::Transform<f64>) -> Self {
        Self::new(X.R.into(), X.p.into())
    }
}

impl From<SpatialInertia> for simd::SpatialInertia<f64> {
    #[inline]
    fn from(I: SpatialInertia) -> Self {
        Self { mass: I.mass, h: I.h.into(), I: I.I.into() }
    }
}
