//! Between the types of one number and those of [`lanes`].

use super::{Force, Mat3, Motion, SpatialInertia, Transform, Vec3, lanes};

impl From<Vec3> for lanes::Vec3<f64> {
    #[inline]
    fn from(v: Vec3) -> Self {
        Self { x: v.x, y: v.y, z: v.z }
    }
}

impl From<lanes::Vec3<f64>> for Vec3 {
    #[inline]
    fn from(v: lanes::Vec3<f64>) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl From<Mat3> for lanes::Mat3<f64> {
    #[inline]
    fn from(m: Mat3) -> Self {
        let row = |r: usize| lanes::Vec3 { x: m[(r, 0)], y: m[(r, 1)], z: m[(r, 2)] };
        Self { x: row(0), y: row(1), z: row(2) }
    }
}

impl From<lanes::Mat3<f64>> for Mat3 {
    #[inline]
    fn from(m: lanes::Mat3<f64>) -> Self {
        Self::new(m.x.x, m.x.y, m.x.z, m.y.x, m.y.y, m.y.z, m.z.x, m.z.y, m.z.z)
    }
}

/// The upper triangle.
impl From<Mat3> for lanes::Sym3<f64> {
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

impl From<Motion> for lanes::Motion<f64> {
    #[inline]
    fn from(m: Motion) -> Self {
        Self { ang: m.ang.into(), lin: m.lin.into() }
    }
}

impl From<lanes::Motion<f64>> for Motion {
    #[inline]
    fn from(m: lanes::Motion<f64>) -> Self {
        Self::new(m.ang.into(), m.lin.into())
    }
}

impl From<Force> for lanes::Force<f64> {
    #[inline]
    fn from(f: Force) -> Self {
        Self { ang: f.ang.into(), lin: f.lin.into() }
    }
}

impl From<lanes::Force<f64>> for Force {
    #[inline]
    fn from(f: lanes::Force<f64>) -> Self {
        Self::new(f.ang.into(), f.lin.into())
    }
}

impl From<Transform> for lanes::Transform<f64> {
    #[inline]
    fn from(X: Transform) -> Self {
        Self { R: X.R.into(), p: X.p.into() }
    }
}

impl From<lanes::Transform<f64>> for Transform {
    #[inline]
    fn from(X: lanes::Transform<f64>) -> Self {
        Self::new(X.R.into(), X.p.into())
    }
}

impl From<SpatialInertia> for lanes::SpatialInertia<f64> {
    #[inline]
    fn from(I: SpatialInertia) -> Self {
        Self { mass: I.mass, h: I.h.into(), I: I.I.into() }
    }
}
