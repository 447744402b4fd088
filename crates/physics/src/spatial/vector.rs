//! Spatial motion and force vectors.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use super::Vec3;

/// A spatial motion vector: a velocity or an acceleration, `[angular; linear]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Angular part, rad/s or rad/s².
    pub ang: Vec3,
    /// Linear part at the origin of the frame, m/s or m/s².
    pub lin: Vec3,
}

/// A spatial force vector: `[moment about the origin; force]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Force {
    /// Moment about the origin of the frame, N·m.
    pub ang: Vec3,
    /// Force, N.
    pub lin: Vec3,
}

impl Motion {
    /// A motion vector from its two parts.
    #[must_use]
    pub const fn new(ang: Vec3, lin: Vec3) -> Self {
        Self { ang, lin }
    }

    /// The zero vector.
    #[must_use]
    pub fn zero() -> Self {
        Self::default()
    }

    /// Featherstone's `v × m` (`crm`): the rate of change of `m` carried by `self`. (RBDA 2.31)
    #[must_use]
    pub fn cross(&self, m: &Self) -> Self {
        Self::new(self.ang.cross(&m.ang), self.ang.cross(&m.lin) + self.lin.cross(&m.ang))
    }

    /// Featherstone's `v ×* f` (`crf`): the rate of change of `f` carried by `self`. (RBDA 2.32)
    #[must_use]
    pub fn cross_force(&self, f: &Force) -> Force {
        Force::new(self.ang.cross(&f.ang) + self.lin.cross(&f.lin), self.ang.cross(&f.lin))
    }

    /// Scalar product with a force: power, W.
    #[must_use]
    pub fn dot(&self, f: &Force) -> f64 {
        self.ang.dot(&f.ang) + self.lin.dot(&f.lin)
    }

    /// Velocity of the point at `p` (from the origin, same axes): `v + ω × p`.
    #[must_use]
    pub fn at_point(&self, p: &Vec3) -> Vec3 {
        self.lin + self.ang.cross(p)
    }
}

impl Force {
    /// A force vector from moment and force.
    #[must_use]
    pub const fn new(ang: Vec3, lin: Vec3) -> Self {
        Self { ang, lin }
    }

    /// The zero vector.
    #[must_use]
    pub fn zero() -> Self {
        Self::default()
    }

    /// The pure force `f` that acts at the point `p` (from the origin, same axes).
    #[must_use]
    pub fn at_point(f: Vec3, p: &Vec3) -> Self {
        Self::new(p.cross(&f), f)
    }

    /// Scalar product with a motion: power, W.
    #[must_use]
    pub fn dot(&self, m: &Motion) -> f64 {
        m.dot(self)
    }
}

// The two kinds share their linear structure and nothing else: a sum of a motion and a force must
// not compile.
macro_rules! linear_space {
    ($t:ty) => {
        impl Add for $t {
            type Output = Self;
            fn add(self, o: Self) -> Self {
                Self::new(self.ang + o.ang, self.lin + o.lin)
            }
        }
        impl Sub for $t {
            type Output = Self;
            fn sub(self, o: Self) -> Self {
                Self::new(self.ang - o.ang, self.lin - o.lin)
            }
        }
        impl Neg for $t {
            type Output = Self;
            fn neg(self) -> Self {
                Self::new(-self.ang, -self.lin)
            }
        }
        impl Mul<f64> for $t {
            type Output = Self;
            fn mul(self, s: f64) -> Self {
                Self::new(self.ang * s, self.lin * s)
            }
        }
        impl AddAssign for $t {
            fn add_assign(&mut self, o: Self) {
                self.ang += o.ang;
                self.lin += o.lin;
            }
        }
        impl SubAssign for $t {
            fn sub_assign(&mut self, o: Self) {
                self.ang -= o.ang;
                self.lin -= o.lin;
            }
        }
    };
}
linear_space!(Motion);
linear_space!(Force);
