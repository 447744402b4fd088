//! What only a single number offers: elements by index, exact constructors, operators by reference.

use std::fmt;
use std::iter::Sum;
use std::ops::{
    Add, AddAssign, Div, DivAssign, Index, IndexMut, Mul, MulAssign, Neg, Sub, SubAssign,
};

use super::{Force, Mat3, Motion, Quaternion, Transform, Vec3};

impl Vec3 {
    /// Unit vector along x.
    #[must_use]
    pub const fn x() -> Self {
        Self { x: 1.0, y: 0.0, z: 0.0 }
    }

    /// Unit vector along y.
    #[must_use]
    pub const fn y() -> Self {
        Self { x: 0.0, y: 1.0, z: 0.0 }
    }

    /// Unit vector along z.
    #[must_use]
    pub const fn z() -> Self {
        Self { x: 0.0, y: 0.0, z: 1.0 }
    }

    /// `value` along axis `i`, 0 along the others.
    #[must_use]
    #[inline]
    pub fn ith(i: usize, value: f64) -> Self {
        Self::from_fn(|k| if k == i { value } else { 0.0 })
    }

    /// The same number in all components.
    #[must_use]
    pub const fn repeat(value: f64) -> Self {
        Self { x: value, y: value, z: value }
    }

    /// Component `i` is `f(i)`.
    #[must_use]
    #[inline(always)]
    pub fn from_fn(mut f: impl FnMut(usize) -> f64) -> Self {
        Self { x: f(0), y: f(1), z: f(2) }
    }

    /// The components.
    #[must_use]
    pub const fn to_array(&self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }

    /// The components, to change them.
    pub fn iter_mut(&mut self) -> std::array::IntoIter<&mut f64, 3> {
        [&mut self.x, &mut self.y, &mut self.z].into_iter()
    }

    /// The components.
    pub fn iter(&self) -> std::array::IntoIter<&f64, 3> {
        [&self.x, &self.y, &self.z].into_iter()
    }

    /// The part in the plane of x and y.
    #[must_use]
    pub const fn xy(&self) -> Self {
        Self { x: self.x, y: self.y, z: 0.0 }
    }

    /// `f` of each component.
    #[must_use]
    #[inline(always)]
    pub fn map(&self, mut f: impl FnMut(f64) -> f64) -> Self {
        Self { x: f(self.x), y: f(self.y), z: f(self.z) }
    }

    /// Square of the length.
    #[must_use]
    #[inline]
    pub fn norm_squared(&self) -> f64 {
        self.dot(self)
    }

    /// The unit vector in this direction; NaN for the zero vector.
    #[must_use]
    #[inline]
    pub fn normalize(&self) -> Self {
        self / self.norm()
    }

    /// Largest amount of a component.
    #[must_use]
    #[inline]
    pub fn amax(&self) -> f64 {
        self.x.abs().max(self.y.abs()).max(self.z.abs())
    }

    /// The axis of the component with the largest amount, the first of equals.
    #[must_use]
    #[inline]
    pub fn iamax(&self) -> usize {
        let [x, y, z] = self.map(f64::abs).to_array();
        let (axis, most) = if y > x { (1, y) } else { (0, x) };
        if z > most { 2 } else { axis }
    }

    /// `self oᵀ`.
    #[must_use]
    #[inline]
    pub fn outer(&self, o: &Self) -> Mat3 {
        Mat3 { x: o * self.x, y: o * self.y, z: o * self.z }
    }
}

impl From<[f64; 3]> for Vec3 {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self { x, y, z }
    }
}

impl From<Vec3> for [f64; 3] {
    fn from(v: Vec3) -> Self {
        v.to_array()
    }
}

/// `(x, y, z)`, each as the formatter asks.
impl fmt::Display for Vec3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (open, x) in ["(", ", ", ", "].into_iter().zip(self.iter()) {
            f.write_str(open)?;
            fmt::Display::fmt(x, f)?;
        }
        f.write_str(")")
    }
}

/// `[row; row; row]`.
impl fmt::Display for Mat3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}; {}; {}]", self.x, self.y, self.z)
    }
}

impl Index<usize> for Vec3 {
    type Output = f64;
    #[inline]
    fn index(&self, i: usize) -> &f64 {
        [&self.x, &self.y, &self.z][i]
    }
}

impl IndexMut<usize> for Vec3 {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut f64 {
        let Self { x, y, z } = self;
        match i {
            0 => x,
            1 => y,
            2 => z,
            _ => out_of_range(i),
        }
    }
}

#[cold]
#[allow(clippy::panic, reason = "as for a slice: an index out of range is a bug of the caller")]
fn out_of_range(i: usize) -> ! {
    panic!("index {i} is out of range for three components")
}

impl Mat3 {
    /// By rows: `m11, m12, m13, m21, …`.
    #[allow(clippy::too_many_arguments, reason = "nine elements")]
    #[must_use]
    pub const fn new(
        xx: f64,
        xy: f64,
        xz: f64,
        yx: f64,
        yy: f64,
        yz: f64,
        zx: f64,
        zy: f64,
        zz: f64,
    ) -> Self {
        Self {
            x: Vec3 { x: xx, y: xy, z: xz },
            y: Vec3 { x: yx, y: yy, z: yz },
            z: Vec3 { x: zx, y: zy, z: zz },
        }
    }

    /// The unit matrix.
    #[must_use]
    pub const fn identity() -> Self {
        Self { x: Vec3::x(), y: Vec3::y(), z: Vec3::z() }
    }

    /// Zero.
    #[must_use]
    pub const fn zeros() -> Self {
        let zero = Vec3::repeat(0.0);
        Self { x: zero, y: zero, z: zero }
    }

    /// `d` on the diagonal.
    #[must_use]
    #[inline]
    pub fn from_diagonal(d: &Vec3) -> Self {
        Self { x: Vec3::x() * d.x, y: Vec3::y() * d.y, z: Vec3::z() * d.z }
    }

    /// The same number in all elements of the diagonal.
    #[must_use]
    #[inline]
    pub fn from_diagonal_element(d: f64) -> Self {
        Self::from_diagonal(&Vec3::repeat(d))
    }

    /// The element in row `r`, column `c` is `f(r, c)`.
    #[must_use]
    #[inline(always)]
    pub fn from_fn(mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut row = |r| Vec3 { x: f(r, 0), y: f(r, 1), z: f(r, 2) };
        Self { x: row(0), y: row(1), z: row(2) }
    }

    /// From columns.
    #[must_use]
    #[inline]
    pub fn from_columns([x, y, z]: &[Vec3; 3]) -> Self {
        Self { x: *x, y: *y, z: *z }.transpose()
    }

    /// The transposed matrix.
    #[must_use]
    #[inline]
    pub fn transpose(&self) -> Self {
        Self { x: self.column_x(), y: self.column_y(), z: self.column_z() }
    }

    /// Column `c`.
    #[must_use]
    #[inline]
    pub fn column(&self, c: usize) -> Vec3 {
        self.transpose()[c]
    }

    /// The elements, row by row.
    pub fn iter(&self) -> impl Iterator<Item = &f64> {
        [&self.x, &self.y, &self.z].into_iter().flat_map(Vec3::iter)
    }

    /// Largest amount of an element.
    #[must_use]
    #[inline]
    pub fn amax(&self) -> f64 {
        self.x.amax().max(self.y.amax()).max(self.z.amax())
    }

    /// Sum of the squares of all elements.
    #[must_use]
    #[inline]
    pub fn norm_squared(&self) -> f64 {
        self.x.norm_squared() + self.y.norm_squared() + self.z.norm_squared()
    }

    /// Sum of the diagonal.
    #[must_use]
    #[inline]
    pub fn trace(&self) -> f64 {
        self.x.x + self.y.y + self.z.z
    }

    /// The inverse, by cofactors; `None` if the determinant is 0.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Option<Self> {
        let det = self.determinant();
        if det == 0.0 {
            return None;
        }
        let Self { x, y, z } = self;
        Some(Self::new(
            (y.y * z.z - z.y * y.z) / det,
            (x.z * z.y - z.z * x.y) / det,
            (x.y * y.z - y.y * x.z) / det,
            -(y.x * z.z - z.x * y.z) / det,
            (x.x * z.z - z.x * x.z) / det,
            (x.z * y.x - y.z * x.x) / det,
            (y.x * z.y - z.x * y.y) / det,
            (x.y * z.x - z.y * x.x) / det,
            (x.x * y.y - y.x * x.y) / det,
        ))
    }

    /// Determinant.
    #[must_use]
    #[inline]
    pub fn determinant(&self) -> f64 {
        let Self { x, y, z } = self;
        let minor_x = y.y * z.z - z.y * y.z;
        let minor_y = y.x * z.z - z.x * y.z;
        let minor_z = y.x * z.y - z.x * y.y;
        x.x * minor_x - x.y * minor_y + x.z * minor_z
    }
}

/// Row `i`.
impl Index<usize> for Mat3 {
    type Output = Vec3;
    #[inline]
    fn index(&self, i: usize) -> &Vec3 {
        [&self.x, &self.y, &self.z][i]
    }
}

/// Row and column.
impl Index<(usize, usize)> for Mat3 {
    type Output = f64;
    #[inline]
    fn index(&self, (r, c): (usize, usize)) -> &f64 {
        &self[r][c]
    }
}

impl IndexMut<(usize, usize)> for Mat3 {
    #[inline]
    fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut f64 {
        let Self { x, y, z } = self;
        let row = match r {
            0 => x,
            1 => y,
            2 => z,
            _ => out_of_range(r),
        };
        &mut row[c]
    }
}

/// An operator for values and references alike.
macro_rules! operator {
    ($trait:ident $method:ident: |$a:ident: $l:ty, $b:ident: $r:ty| -> $out:ty $body:block) => {
        impl $trait<$r> for $l {
            type Output = $out;
            #[inline]
            fn $method(self, $b: $r) -> $out {
                let $a = self;
                $body
            }
        }
        operator!(by_reference $trait $method: $l, $r, $out);
    };
    (by_reference $trait:ident $method:ident: $l:ty, $r:ty, $out:ty) => {
        impl $trait<&$r> for $l {
            type Output = $out;
            #[inline]
            fn $method(self, b: &$r) -> $out {
                $trait::$method(self, *b)
            }
        }
        impl $trait<$r> for &$l {
            type Output = $out;
            #[inline]
            fn $method(self, b: $r) -> $out {
                $trait::$method(*self, b)
            }
        }
        impl $trait<&$r> for &$l {
            type Output = $out;
            #[inline]
            fn $method(self, b: &$r) -> $out {
                $trait::$method(*self, *b)
            }
        }
    };
}
operator!(by_reference Add add: Vec3, Vec3, Vec3);
operator!(by_reference Sub sub: Vec3, Vec3, Vec3);
operator!(by_reference Add add: Mat3, Mat3, Mat3);
operator!(Sub sub: |a: Mat3, b: Mat3| -> Mat3 {
    Mat3 { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z }
});
operator!(Mul mul: |v: Vec3, s: f64| -> Vec3 { v.scaled(s) });
operator!(Mul mul: |s: f64, v: Vec3| -> Vec3 { v.scaled(s) });
operator!(Div div: |v: Vec3, s: f64| -> Vec3 { Vec3 { x: v.x / s, y: v.y / s, z: v.z / s } });
operator!(Div div: |m: Mat3, s: f64| -> Mat3 { Mat3 { x: m.x / s, y: m.y / s, z: m.z / s } });
operator!(Mul mul: |m: Mat3, s: f64| -> Mat3 { m.scaled(s) });
operator!(Mul mul: |m: Mat3, v: Vec3| -> Vec3 { Mat3::mul(&m, &v) });
operator!(Mul mul: |m: Mat3, o: Mat3| -> Mat3 { m.product(&o) });
operator!(Mul mul: |m: Motion, s: f64| -> Motion { m.scaled(s) });
operator!(Mul mul: |f: Force, s: f64| -> Force { f.scaled(s) });

impl Neg for &Vec3 {
    type Output = Vec3;
    #[inline]
    fn neg(self) -> Vec3 {
        -*self
    }
}

impl SubAssign for Vec3 {
    #[inline]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl AddAssign<&Self> for Vec3 {
    #[inline]
    fn add_assign(&mut self, o: &Self) {
        *self = *self + *o;
    }
}

impl SubAssign<&Self> for Vec3 {
    #[inline]
    fn sub_assign(&mut self, o: &Self) {
        *self = *self - *o;
    }
}

impl MulAssign<f64> for Vec3 {
    #[inline]
    fn mul_assign(&mut self, s: f64) {
        *self = *self * s;
    }
}

impl DivAssign<f64> for Vec3 {
    #[inline]
    fn div_assign(&mut self, s: f64) {
        *self = *self / s;
    }
}

impl AddAssign for Mat3 {
    #[inline]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl Sum for Vec3 {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::zeros(), |sum, v| sum + v)
    }
}

impl Transform {
    /// A frame in place.
    #[must_use]
    pub const fn identity() -> Self {
        Self { R: Mat3::identity(), p: Vec3::repeat(0.0) }
    }

    /// From position in m and fixed-axis roll, pitch, yaw in rad, as URDF writes an `<origin>`.
    #[must_use]
    pub fn from_xyz_rpy(xyz: [f64; 3], rpy: [f64; 3]) -> Self {
        Self::new(Quaternion::from_rpy(rpy[0], rpy[1], rpy[2]).to_matrix(), Vec3::from(xyz))
    }

    /// `X_BA`.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        let R = self.R.transpose();
        Self::new(R, -(R * self.p))
    }
}
