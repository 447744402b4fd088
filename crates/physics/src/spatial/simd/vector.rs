//! Spatial vectors, and poses that carry them between frames.

use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use crate::simd::SimdReal;

use super::{Mat3, Vec3};

/// A spatial motion vector `[angular; linear]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion<T> {
    /// Angular part, rad/s or rad/s².
    pub ang: Vec3<T>,
    /// Linear part at the origin of the frame, m/s or m/s².
    pub lin: Vec3<T>,
}

/// A spatial force vector `[moment; force]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Force<T> {
    /// Moment about the origin of the frame, N·m.
    pub ang: Vec3<T>,
    /// Force, N.
    pub lin: Vec3<T>,
}

macro_rules! spatial_vector {
    ($t:ident) => {
        impl<T: SimdReal> $t<T> {
            /// From both parts.
            #[inline(always)]
            #[must_use]
            pub const fn new(ang: Vec3<T>, lin: Vec3<T>) -> Self {
                Self { ang, lin }
            }

            /// Zero.
            #[inline(always)]
            #[must_use]
            pub fn zero() -> Self {
                Self::new(Vec3::zeros(), Vec3::zeros())
            }

            /// The same in every lane.
            #[inline(always)]
            #[must_use]
            pub fn splat(v: &$t<f64>) -> Self {
                Self::new(Vec3::splat(&v.ang), Vec3::splat(&v.lin))
            }

            /// Lane `i` is `f(i)`.
            #[inline(always)]
            #[must_use]
            pub fn from_lanes(f: impl Fn(usize) -> $t<f64>) -> Self {
                Self::new(Vec3::from_lanes(|i| f(i).ang), Vec3::from_lanes(|i| f(i).lin))
            }

            /// Lane `i`.
            #[inline(always)]
            #[must_use]
            pub fn lane(&self, i: usize) -> $t<f64> {
                $t { ang: self.ang.lane(i), lin: self.lin.lane(i) }
            }

            /// The lanes in another order: see [`SimdReal::reordered`].
            #[inline(always)]
            #[must_use]
            pub fn reordered(&self, order: [usize; 4]) -> Self {
                Self::new(self.ang.reordered(order), self.lin.reordered(order))
            }

            /// In each lane `yes` if the mask is set, else `no`.
            #[inline(always)]
            #[must_use]
            pub fn select(mask: T::Mask, yes: &Self, no: &Self) -> Self {
                Self::new(
                    Vec3::select(mask, &yes.ang, &no.ang),
                    Vec3::select(mask, &yes.lin, &no.lin),
                )
            }

            /// `self s`.
            #[inline(always)]
            #[must_use]
            pub fn scaled(&self, s: T) -> Self {
                Self::new(self.ang.scaled(s), self.lin.scaled(s))
            }
        }

        impl<T: SimdReal> Add for $t<T> {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                Self::new(self.ang + o.ang, self.lin + o.lin)
            }
        }

        impl<T: SimdReal> Sub for $t<T> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                Self::new(self.ang - o.ang, self.lin - o.lin)
            }
        }

        impl<T: SimdReal> Neg for $t<T> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self::new(-self.ang, -self.lin)
            }
        }

        impl<T: SimdReal> SubAssign for $t<T> {
            #[inline(always)]
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }

        impl<T: SimdReal> AddAssign for $t<T> {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
    };
}
spatial_vector!(Motion);
spatial_vector!(Force);

impl<T: SimdReal> Motion<T> {
    /// `v × m`. (RBDA 2.31)
    #[inline(always)]
    #[must_use]
    pub fn cross(&self, m: &Self) -> Self {
        Self::new(self.ang.cross(&m.ang), self.ang.cross(&m.lin) + self.lin.cross(&m.ang))
    }

    /// `v ×* f`. (RBDA 2.32)
    #[inline(always)]
    #[must_use]
    pub fn cross_force(&self, f: &Force<T>) -> Force<T> {
        Force::new(self.ang.cross(&f.ang) + self.lin.cross(&f.lin), self.ang.cross(&f.lin))
    }

    /// Power with a force.
    #[inline(always)]
    #[must_use]
    pub fn dot(&self, f: &Force<T>) -> T {
        self.ang.dot(&f.ang) + self.lin.dot(&f.lin)
    }

    /// Velocity of the point at `p`: `v + ω × p`.
    #[inline(always)]
    #[must_use]
    pub fn at_point(&self, p: &Vec3<T>) -> Vec3<T> {
        self.lin + self.ang.cross(p)
    }
}

impl<T: SimdReal> Force<T> {
    /// Power with a motion.
    #[inline(always)]
    #[must_use]
    pub fn dot(&self, m: &Motion<T>) -> T {
        m.dot(self)
    }

    /// The force `f` at the point `p`.
    #[inline(always)]
    #[must_use]
    pub fn at_point(f: Vec3<T>, p: &Vec3<T>) -> Self {
        Self::new(p.cross(&f), f)
    }
}

/// A pose `X_AB`: the point with B coordinates `p_B` has A coordinates `R p_B + p`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transform<T> {
    /// `R_AB`.
    pub R: Mat3<T>,
    /// `p_AB_A`, m.
    pub p: Vec3<T>,
}

impl<T: SimdReal> Transform<T> {
    /// From rotation and position.
    #[inline(always)]
    #[must_use]
    pub const fn new(R: Mat3<T>, p: Vec3<T>) -> Self {
        Self { R, p }
    }

    /// The same in every lane.
    #[inline(always)]
    #[must_use]
    pub fn splat(X: &Transform<f64>) -> Self {
        Self::new(Mat3::splat(&X.R), Vec3::splat(&X.p))
    }

    /// Lane `i` is `f(i)`.
    #[inline(always)]
    #[must_use]
    pub fn from_lanes(f: impl Fn(usize) -> Transform<f64>) -> Self {
        Self::new(Mat3::from_lanes(|i| f(i).R), Vec3::from_lanes(|i| f(i).p))
    }

    /// Lane `i`.
    #[inline(always)]
    #[must_use]
    pub fn lane(&self, i: usize) -> Transform<f64> {
        Transform { R: self.R.lane(i), p: self.p.lane(i) }
    }

    /// The lanes in another order: see [`SimdReal::reordered`].
    #[inline(always)]
    #[must_use]
    pub fn reordered(&self, order: [usize; 4]) -> Self {
        Self::new(self.R.reordered(order), self.p.reordered(order))
    }

    /// `X_AC = X_AB X_BC`.
    #[inline(always)]
    #[must_use]
    pub fn compose(&self, X_BC: &Self) -> Self {
        Self::new(self.R.product(&X_BC.R), self.point(&X_BC.p))
    }

    /// A coordinates of the point `p_B`.
    #[inline(always)]
    #[must_use]
    pub fn point(&self, p_B: &Vec3<T>) -> Vec3<T> {
        self.R.mul(p_B) + self.p
    }

    /// B coordinates of the point `p_A`.
    #[inline(always)]
    #[must_use]
    pub fn point_inverse(&self, p_A: &Vec3<T>) -> Vec3<T> {
        self.R.tr_mul(&(*p_A - self.p))
    }

    /// `ᴮX_A m`. (RBDA 2.24)
    #[inline(always)]
    #[must_use]
    pub fn motion_to_child(&self, m_A: &Motion<T>) -> Motion<T> {
        let lin = m_A.lin + m_A.ang.cross(&self.p);
        Motion::new(self.R.tr_mul(&m_A.ang), self.R.tr_mul(&lin))
    }

    /// `ᴬX_B m`, the inverse of [`motion_to_child`](Self::motion_to_child).
    #[inline(always)]
    #[must_use]
    pub fn motion_to_parent(&self, m_B: &Motion<T>) -> Motion<T> {
        let ang = self.R.mul(&m_B.ang);
        Motion::new(ang, self.R.mul(&m_B.lin) + self.p.cross(&ang))
    }

    /// `ᴮX_Aᵀ f`. (RBDA 2.25)
    #[inline(always)]
    #[must_use]
    pub fn force_to_parent(&self, f_B: &Force<T>) -> Force<T> {
        let lin = self.R.mul(&f_B.lin);
        Force::new(self.R.mul(&f_B.ang) + self.p.cross(&lin), lin)
    }
}
