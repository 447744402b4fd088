//! Vectors and matrices of three dimensions.

use std::ops::{Add, AddAssign, Neg, Sub};

use crate::simd::SimdReal;

/// A 3-vector.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "components")]
pub struct Vec3<T> {
    pub x: T,
    pub y: T,
    pub z: T,
}

/// A 3×3 matrix by rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "rows")]
pub struct Mat3<T> {
    pub x: Vec3<T>,
    pub y: Vec3<T>,
    pub z: Vec3<T>,
}

/// A symmetric 3×3 matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "elements")]
pub struct Sym3<T> {
    pub xx: T,
    pub xy: T,
    pub xz: T,
    pub yy: T,
    pub yz: T,
    pub zz: T,
}

impl<T: SimdReal> Vec3<T> {
    /// From components.
    #[inline(always)]
    #[must_use]
    pub const fn new(x: T, y: T, z: T) -> Self {
        Self { x, y, z }
    }

    /// Zero.
    #[inline(always)]
    #[must_use]
    pub fn zeros() -> Self {
        let zero = T::splat(0.0);
        Self::new(zero, zero, zero)
    }

    /// The same in every lane.
    #[inline(always)]
    #[must_use]
    pub fn splat(v: &Vec3<f64>) -> Self {
        Self::new(T::splat(v.x), T::splat(v.y), T::splat(v.z))
    }

    /// Lane `i` is `f(i)`.
    #[inline(always)]
    #[must_use]
    pub fn from_lanes(f: impl Fn(usize) -> Vec3<f64>) -> Self {
        Self::new(T::from_lanes(|i| f(i).x), T::from_lanes(|i| f(i).y), T::from_lanes(|i| f(i).z))
    }

    /// Lane `i`.
    #[inline(always)]
    #[must_use]
    pub fn lane(&self, i: usize) -> Vec3<f64> {
        Vec3 { x: self.x.lane(i), y: self.y.lane(i), z: self.z.lane(i) }
    }

    /// The lanes in another order: see [`SimdReal::reordered`].
    #[inline(always)]
    #[must_use]
    pub fn reordered(&self, order: [usize; 4]) -> Self {
        Self::new(self.x.reordered(order), self.y.reordered(order), self.z.reordered(order))
    }

    /// In each lane `yes` if the mask is set, else `no`.
    #[inline(always)]
    #[must_use]
    pub fn select(mask: T::Mask, yes: &Self, no: &Self) -> Self {
        Self::new(
            T::select(mask, yes.x, no.x),
            T::select(mask, yes.y, no.y),
            T::select(mask, yes.z, no.z),
        )
    }

    /// `self · o`.
    #[inline(always)]
    #[must_use]
    pub fn dot(&self, o: &Self) -> T {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    /// `self × o`.
    #[inline(always)]
    #[must_use]
    pub fn cross(&self, o: &Self) -> Self {
        Self::new(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )
    }

    /// `self s`.
    #[inline(always)]
    #[must_use]
    pub fn scaled(&self, s: T) -> Self {
        Self::new(self.x * s, self.y * s, self.z * s)
    }

    /// Length.
    #[inline(always)]
    #[must_use]
    pub fn norm(&self) -> T {
        self.dot(self).sqrt()
    }
}

impl<T: SimdReal> Add for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl<T: SimdReal> Sub for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl<T: SimdReal> Neg for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl<T: SimdReal> AddAssign for Vec3<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<T: SimdReal> Mat3<T> {
    /// From rows.
    #[inline(always)]
    #[must_use]
    pub const fn from_rows(x: Vec3<T>, y: Vec3<T>, z: Vec3<T>) -> Self {
        Self { x, y, z }
    }

    /// `skew(a) b = a × b`.
    #[inline(always)]
    #[must_use]
    pub fn skew(a: &Vec3<T>) -> Self {
        let zero = T::splat(0.0);
        Self::from_rows(
            Vec3::new(zero, -a.z, a.y),
            Vec3::new(a.z, zero, -a.x),
            Vec3::new(-a.y, a.x, zero),
        )
    }

    /// The lanes in another order: see [`SimdReal::reordered`].
    #[inline(always)]
    #[must_use]
    pub fn reordered(&self, order: [usize; 4]) -> Self {
        Self::from_rows(self.x.reordered(order), self.y.reordered(order), self.z.reordered(order))
    }

    /// The same in every lane.
    #[inline(always)]
    #[must_use]
    pub fn splat(m: &Mat3<f64>) -> Self {
        Self::from_rows(Vec3::splat(&m.x), Vec3::splat(&m.y), Vec3::splat(&m.z))
    }

    /// Lane `i` is `f(i)`.
    #[inline(always)]
    #[must_use]
    pub fn from_lanes(f: impl Fn(usize) -> Mat3<f64>) -> Self {
        Self::from_rows(
            Vec3::from_lanes(|i| f(i).x),
            Vec3::from_lanes(|i| f(i).y),
            Vec3::from_lanes(|i| f(i).z),
        )
    }

    /// Lane `i`.
    #[inline(always)]
    #[must_use]
    pub fn lane(&self, i: usize) -> Mat3<f64> {
        Mat3 { x: self.x.lane(i), y: self.y.lane(i), z: self.z.lane(i) }
    }

    /// Column x.
    #[inline(always)]
    #[must_use]
    pub fn column_x(&self) -> Vec3<T> {
        Vec3::new(self.x.x, self.y.x, self.z.x)
    }

    /// Column y.
    #[inline(always)]
    #[must_use]
    pub fn column_y(&self) -> Vec3<T> {
        Vec3::new(self.x.y, self.y.y, self.z.y)
    }

    /// Column z.
    #[inline(always)]
    #[must_use]
    pub fn column_z(&self) -> Vec3<T> {
        Vec3::new(self.x.z, self.y.z, self.z.z)
    }

    /// `self v`.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, v: &Vec3<T>) -> Vec3<T> {
        Vec3::new(self.x.dot(v), self.y.dot(v), self.z.dot(v))
    }

    /// `selfᵀ v`.
    #[inline(always)]
    #[must_use]
    pub fn tr_mul(&self, v: &Vec3<T>) -> Vec3<T> {
        Vec3::new(
            self.x.x * v.x + self.y.x * v.y + self.z.x * v.z,
            self.x.y * v.x + self.y.y * v.y + self.z.y * v.z,
            self.x.z * v.x + self.y.z * v.y + self.z.z * v.z,
        )
    }

    /// `self o`.
    #[inline(always)]
    #[must_use]
    pub fn product(&self, o: &Self) -> Self {
        Self::from_rows(o.tr_mul(&self.x), o.tr_mul(&self.y), o.tr_mul(&self.z))
    }

    /// `self s`.
    #[inline(always)]
    #[must_use]
    pub fn scaled(&self, s: T) -> Self {
        Self::from_rows(self.x.scaled(s), self.y.scaled(s), self.z.scaled(s))
    }

    /// `R self Rᵀ`.
    #[inline(always)]
    #[must_use]
    pub fn turned(&self, R: &Self) -> Self {
        let left = R.product(self);
        Self::from_rows(R.mul(&left.x), R.mul(&left.y), R.mul(&left.z))
    }
}

impl<T: SimdReal> Add for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::from_rows(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl<T: SimdReal> Sym3<T> {
    /// `s 1`.
    #[inline(always)]
    #[must_use]
    pub fn diagonal(s: T) -> Self {
        let zero = T::splat(0.0);
        Self { xx: s, xy: zero, xz: zero, yy: s, yz: zero, zz: s }
    }

    /// Lane `i` is `f(i)`.
    #[inline(always)]
    #[must_use]
    pub fn from_lanes(f: impl Fn(usize) -> Sym3<f64>) -> Self {
        Self {
            xx: T::from_lanes(|i| f(i).xx),
            xy: T::from_lanes(|i| f(i).xy),
            xz: T::from_lanes(|i| f(i).xz),
            yy: T::from_lanes(|i| f(i).yy),
            yz: T::from_lanes(|i| f(i).yz),
            zz: T::from_lanes(|i| f(i).zz),
        }
    }

    /// Lane `i`.
    #[inline(always)]
    #[must_use]
    pub fn lane(&self, i: usize) -> Sym3<f64> {
        Sym3 {
            xx: self.xx.lane(i),
            xy: self.xy.lane(i),
            xz: self.xz.lane(i),
            yy: self.yy.lane(i),
            yz: self.yz.lane(i),
            zz: self.zz.lane(i),
        }
    }

    /// The whole matrix.
    #[inline(always)]
    #[must_use]
    pub fn full(&self) -> Mat3<T> {
        Mat3::from_rows(
            Vec3::new(self.xx, self.xy, self.xz),
            Vec3::new(self.xy, self.yy, self.yz),
            Vec3::new(self.xz, self.yz, self.zz),
        )
    }

    /// `self v`.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, v: &Vec3<T>) -> Vec3<T> {
        self.full().mul(v)
    }

    /// The inverse, by cofactors; not finite if there is none.
    #[inline(always)]
    #[must_use]
    pub fn inverse(&self) -> Self {
        let Self { xx, xy, xz, yy, yz, zz } = *self;
        let first = Vec3::new(yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
        let per_det = T::splat(1.0) / first.dot(&Vec3::new(xx, xy, xz));
        let first = first.scaled(per_det);
        Self {
            xx: first.x,
            xy: first.y,
            xz: first.z,
            yy: (xx * zz - xz * xz) * per_det,
            yz: (xy * xz - xx * yz) * per_det,
            zz: (xx * yy - xy * xy) * per_det,
        }
    }

    /// `self − a bᵀ`, for `a` and `b` with a symmetric product.
    #[inline(always)]
    #[must_use]
    pub fn minus_outer(&self, a: &Vec3<T>, b: &Vec3<T>) -> Self {
        Self {
            xx: self.xx - a.x * b.x,
            xy: self.xy - a.x * b.y,
            xz: self.xz - a.x * b.z,
            yy: self.yy - a.y * b.y,
            yz: self.yz - a.y * b.z,
            zz: self.zz - a.z * b.z,
        }
    }

    /// `R self Rᵀ`.
    #[inline(always)]
    #[must_use]
    pub fn turned(&self, R: &Mat3<T>) -> Self {
        let left = R.product(&self.full());
        Self {
            xx: left.x.dot(&R.x),
            xy: left.x.dot(&R.y),
            xz: left.x.dot(&R.z),
            yy: left.y.dot(&R.y),
            yz: left.y.dot(&R.z),
            zz: left.z.dot(&R.z),
        }
    }
}

impl<T: SimdReal> Add for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self {
            xx: self.xx + o.xx,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yy: self.yy + o.yy,
            yz: self.yz + o.yz,
            zz: self.zz + o.zz,
        }
    }
}
