//! Vectors, rotations and poses: plain products and sums in one fixed order.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A vector of three numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3 {
    /// Component along x.
    pub x: f64,
    /// Component along y.
    pub y: f64,
    /// Component along z.
    pub z: f64,
}

impl Vec3 {
    /// The zero vector.
    pub const ZERO: Self = Self::new(0.0, 0.0, 0.0);
    /// The unit vector along x.
    pub const X: Self = Self::new(1.0, 0.0, 0.0);
    /// The unit vector along y.
    pub const Y: Self = Self::new(0.0, 1.0, 0.0);
    /// The unit vector along z.
    pub const Z: Self = Self::new(0.0, 0.0, 1.0);

    /// A vector of its components.
    #[must_use]
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }

    /// The components.
    #[must_use]
    pub const fn to_array(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }

    /// Inner product.
    #[inline(always)]
    #[must_use]
    pub fn dot(self, o: Self) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    /// Vector product.
    #[inline(always)]
    #[must_use]
    pub fn cross(self, o: Self) -> Self {
        Self::new(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )
    }

    /// Square of the length.
    #[inline(always)]
    #[must_use]
    pub fn norm_squared(self) -> f64 {
        self.dot(self)
    }

    /// Length.
    #[inline(always)]
    #[must_use]
    pub fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The amounts of the components.
    #[inline(always)]
    #[must_use]
    pub fn abs(self) -> Self {
        Self::new(self.x.abs(), self.y.abs(), self.z.abs())
    }

    /// Whether all components are finite.
    #[inline(always)]
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }

    /// The unit vector in this direction, or `other` for a vector without one.
    #[inline(always)]
    #[must_use]
    pub(crate) fn unit_or(self, other: Self) -> Self {
        let square = self.norm_squared();
        if square > 1e-280 && square < 1e280 { self * (1.0 / square.sqrt()) } else { other }
    }

    /// A unit vector across this one, which is a unit vector.
    #[must_use]
    pub(crate) fn across(self) -> Self {
        let helper = if self.x.abs() < 0.6 { Self::X } else { Self::Y };
        self.cross(helper).unit_or(Self::Z)
    }
}

impl From<[f64; 3]> for Vec3 {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self { x, y, z }
    }
}

impl Add for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Neg for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl Mul<f64> for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: f64) -> Self {
        Self::new(self.x * s, self.y * s, self.z * s)
    }
}

impl AddAssign for Vec3 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

/// A 3×3 matrix by rows. In a [`Pose`] it is a proper rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3 {
    /// First row.
    pub x: Vec3,
    /// Second row.
    pub y: Vec3,
    /// Third row.
    pub z: Vec3,
}

impl Mat3 {
    /// The unit matrix.
    pub const IDENTITY: Self = Self { x: Vec3::X, y: Vec3::Y, z: Vec3::Z };

    /// The matrix of a quaternion `[w, x, y, z]`, which is normalized first; the unit matrix if its
    /// length is 0.
    #[must_use]
    pub fn from_quaternion(q: [f64; 4]) -> Self {
        let square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if !(square > 0.0 && square.is_finite()) {
            return Self::IDENTITY;
        }
        let s = 1.0 / square.sqrt();
        let [w, x, y, z] = q.map(|c| c * s);
        Self {
            x: Vec3::new(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
            y: Vec3::new(2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
            z: Vec3::new(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
        }
    }

    /// The transposed matrix.
    #[inline(always)]
    #[must_use]
    pub fn transpose(&self) -> Self {
        let Self { x, y, z } = self;
        Self {
            x: Vec3::new(x.x, y.x, z.x),
            y: Vec3::new(x.y, y.y, z.y),
            z: Vec3::new(x.z, y.z, z.z),
        }
    }

    /// `M v`.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.x.dot(v), self.y.dot(v), self.z.dot(v))
    }

    /// `Mᵀ v`.
    #[inline(always)]
    #[must_use]
    pub fn tr_mul(&self, v: Vec3) -> Vec3 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }

    /// `M N`.
    #[inline(always)]
    #[must_use]
    pub fn product(&self, n: &Self) -> Self {
        Self { x: n.tr_mul(self.x), y: n.tr_mul(self.y), z: n.tr_mul(self.z) }
    }

    /// The amounts of the elements, times `v`.
    #[inline(always)]
    #[must_use]
    pub(crate) fn abs_mul(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.x.abs().dot(v), self.y.abs().dot(v), self.z.abs().dot(v))
    }
}

/// The pose `X_AB` of a frame B in a frame A: `p_A = R p_B + p`.
#[allow(non_snake_case, reason = "monogram notation")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rotation: turns B's components into A's.
    pub R: Mat3,
    /// B's origin in A, m.
    pub p: Vec3,
}

impl Pose {
    /// No rotation, no translation.
    pub const IDENTITY: Self = Self { R: Mat3::IDENTITY, p: Vec3::ZERO };

    /// A translation.
    #[must_use]
    pub const fn at(p: Vec3) -> Self {
        Self { R: Mat3::IDENTITY, p }
    }

    /// A point of B in A.
    #[inline(always)]
    #[must_use]
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.R.mul(p) + self.p
    }

    /// A point of A in B.
    #[inline(always)]
    #[must_use]
    pub fn point_inverse(&self, p: Vec3) -> Vec3 {
        self.R.tr_mul(p - self.p)
    }

    /// `X_AB · X_BC`.
    #[inline(always)]
    #[must_use]
    pub fn compose(&self, o: &Self) -> Self {
        Self { R: self.R.product(&o.R), p: self.point(o.p) }
    }

    /// `X_WA⁻¹ · X_WB`, for `self` = `X_WA`.
    #[inline(always)]
    #[must_use]
    pub fn inverse_compose(&self, o: &Self) -> Self {
        Self { R: self.R.transpose().product(&o.R), p: self.point_inverse(o.p) }
    }

    /// Whether all numbers are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let Mat3 { x, y, z } = self.R;
        x.is_finite() && y.is_finite() && z.is_finite() && self.p.is_finite()
    }
}

/// The larger of two numbers, `b` if one of them is NaN. In place of `f64::max`, whose result for
/// NaN and signed zeros is not pinned down.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers, `b` if one of them is NaN.
#[inline(always)]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// `x` limited to `low … high`, without a panic for limits in the wrong order.
#[inline(always)]
pub(crate) fn limited(x: f64, low: f64, high: f64) -> f64 {
    smaller(larger(x, low), high)
}
