//! Rotations about coordinate axes: half of the general arithmetic multiplies by 0 and 1.

use crate::math;
use crate::simd::SimdReal;
use crate::spatial;
use crate::spatial::simd::{ArticulatedInertia, Force, Mat3, Motion, Sym3, Vec3};

/// A coordinate axis.
///
/// Whatever turns about one is written once, for z: [`Axis::z_last`] renames the components so that
/// the axis is z, which costs nothing, and [`Axis::z_back`] names them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    /// The axis along this unit vector, if it is exactly one.
    pub(super) fn of(v: &spatial::Vec3) -> Option<Self> {
        let unit = [spatial::Vec3::x(), spatial::Vec3::y(), spatial::Vec3::z()];
        let axes = [Self::X, Self::Y, Self::Z];
        axes.into_iter().zip(unit).find(|(_, u)| u == v).map(|(axis, _)| axis)
    }

    #[inline(always)]
    const fn z_last<U: Copy>(self, [x, y, z]: [U; 3]) -> [U; 3] {
        match self {
            Self::X => [y, z, x],
            Self::Y => [z, x, y],
            Self::Z => [x, y, z],
        }
    }

    #[inline(always)]
    const fn z_back<U: Copy>(self, [a, b, k]: [U; 3]) -> [U; 3] {
        match self {
            Self::X => [k, a, b],
            Self::Y => [b, k, a],
            Self::Z => [a, b, k],
        }
    }

    /// The angle about this axis of a rotation about it, rad.
    pub(super) fn angle_of(self, R: &spatial::Mat3) -> f64 {
        let [first, ..] = self.z_last([R.x, R.y, R.z]);
        let [cos, minus_sin, _] = self.z_last([first.x, first.y, first.z]);
        math::atan2(-minus_sin, cos)
    }

    /// The component of `v` along this axis.
    #[inline(always)]
    pub(super) fn component<T: SimdReal>(self, v: &Vec3<T>) -> T {
        self.z_last([v.x, v.y, v.z])[2]
    }

    /// The row of `m` that belongs to this axis.
    #[inline(always)]
    pub(super) fn row<T: SimdReal>(self, m: &Mat3<T>) -> Vec3<T> {
        self.z_last([m.x, m.y, m.z])[2]
    }

    /// `v` and `s` times this axis.
    #[inline(always)]
    pub(super) fn plus<T: SimdReal>(self, v: Vec3<T>, s: T) -> Vec3<T> {
        let [a, b, k] = self.z_last([v.x, v.y, v.z]);
        let [x, y, z] = self.z_back([a, b, k + s]);
        Vec3::new(x, y, z)
    }

    /// `v ×` (this axis times `s`).
    #[inline(always)]
    pub(super) fn cross_from<T: SimdReal>(self, v: &Vec3<T>, s: T) -> Vec3<T> {
        let [a, b, _] = self.z_last([v.x, v.y, v.z]);
        let [x, y, z] = self.z_back([b * s, -(a * s), T::splat(0.0)]);
        Vec3::new(x, y, z)
    }

    /// `I_A m` for an `m` without components along this axis.
    #[inline(always)]
    pub(super) fn times_across<T: SimdReal>(
        self,
        I_A: &ArticulatedInertia<T>,
        m: &Motion<T>,
    ) -> Force<T> {
        let (I, H, M) = (I_A.I.full(), I_A.H, I_A.M.full());
        let [wa, wb, _] = self.z_last([m.ang.x, m.ang.y, m.ang.z]);
        let [va, vb, _] = self.z_last([m.lin.x, m.lin.y, m.lin.z]);
        let [Ia, Ib, _] = self.z_last([I.x, I.y, I.z]);
        let [Ma, Mb, _] = self.z_last([M.x, M.y, M.z]);
        let [Ha, Hb, _] = self.z_last([H.x, H.y, H.z]); // rows
        let [Ca, Cb, _] = self.z_last([H.column_x(), H.column_y(), H.column_z()]);
        Force::new(
            (Ia.scaled(wa) + Ib.scaled(wb)) + (Ca.scaled(va) + Cb.scaled(vb)),
            (Ha.scaled(wa) + Hb.scaled(wb)) + (Ma.scaled(va) + Mb.scaled(vb)),
        )
    }
}

/// Sine and cosine of the angle by which B is turned in P.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JointRotation<T> {
    pub(super) sin: T,
    pub(super) cos: T,
}

impl<T: SimdReal> JointRotation<T> {
    #[inline(always)]
    pub(super) const fn new((sin, cos): (T, T)) -> Self {
        Self { sin, cos }
    }

    pub(super) fn from_lanes(f: impl Fn(usize) -> JointRotation<f64>) -> Self {
        Self { sin: T::from_lanes(|i| f(i).sin), cos: T::from_lanes(|i| f(i).cos) }
    }

    /// `R_PB`.
    #[inline(always)]
    pub(super) fn matrix(&self, axis: Axis) -> Mat3<T> {
        let (zero, one) = (T::splat(0.0), T::splat(1.0));
        let (s, c) = (self.sin, self.cos);
        match axis {
            Axis::X => Mat3::from_rows(
                Vec3::new(one, zero, zero),
                Vec3::new(zero, c, -s),
                Vec3::new(zero, s, c),
            ),
            Axis::Y => Mat3::from_rows(
                Vec3::new(c, zero, s),
                Vec3::new(zero, one, zero),
                Vec3::new(-s, zero, c),
            ),
            Axis::Z => Mat3::from_rows(
                Vec3::new(c, -s, zero),
                Vec3::new(s, c, zero),
                Vec3::new(zero, zero, one),
            ),
        }
    }

    /// `R_PB v`.
    #[inline(always)]
    pub(super) fn forth(&self, axis: Axis, v: &Vec3<T>) -> Vec3<T> {
        let [a, b, k] = axis.z_last([v.x, v.y, v.z]);
        let turned = [self.cos * a - self.sin * b, self.sin * a + self.cos * b, k];
        let [x, y, z] = axis.z_back(turned);
        Vec3::new(x, y, z)
    }

    /// `R_PBᵀ v`.
    #[inline(always)]
    pub(super) fn back(&self, axis: Axis, v: &Vec3<T>) -> Vec3<T> {
        Self { sin: -self.sin, cos: self.cos }.forth(axis, v)
    }

    /// `R_WP R_PB`.
    #[inline(always)]
    pub(super) fn after(&self, axis: Axis, R_WP: &Mat3<T>) -> Mat3<T> {
        Mat3::from_rows(
            self.back(axis, &R_WP.x),
            self.back(axis, &R_WP.y),
            self.back(axis, &R_WP.z),
        )
    }

    /// `I_A` in the axes of P.
    #[inline(always)]
    pub(super) fn inertia(&self, axis: Axis, I_A: &ArticulatedInertia<T>) -> ArticulatedInertia<T> {
        let H = &I_A.H;
        // first the columns, then the rows
        let left = Mat3::from_rows(
            self.forth(axis, &H.column_x()),
            self.forth(axis, &H.column_y()),
            self.forth(axis, &H.column_z()),
        );
        let H = Mat3::from_rows(
            self.forth(axis, &left.column_x()),
            self.forth(axis, &left.column_y()),
            self.forth(axis, &left.column_z()),
        );
        ArticulatedInertia { I: self.symmetric(axis, &I_A.I), H, M: self.symmetric(axis, &I_A.M) }
    }

    /// `R m Rᵀ` of a symmetric matrix.
    #[inline(always)]
    fn symmetric(&self, axis: Axis, m: &Sym3<T>) -> Sym3<T> {
        let (s, c) = (self.sin, self.cos);
        let [aa, bb, kk] = axis.z_last([m.xx, m.yy, m.zz]);
        // named by the axis that an element does not touch
        let [bk, ka, ab] = axis.z_last([m.yz, m.xz, m.xy]);
        let (ca, cb) = (c * aa - s * ab, c * ab - s * bb);
        let (sa, sb) = (s * aa + c * ab, s * ab + c * bb);
        let diagonal = [ca * c - cb * s, sa * s + sb * c, kk];
        let across = [s * ka + c * bk, c * ka - s * bk, ca * s + cb * c];
        let [xx, yy, zz] = axis.z_back(diagonal);
        let [yz, xz, xy] = axis.z_back(across);
        Sym3 { xx, xy, xz, yy, yz, zz }
    }
}
