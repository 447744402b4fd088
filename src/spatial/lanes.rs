//! Vectors, transforms and inertias over any number type: one robot's or several limbs' at once.
//!
//! The same algebra as the types one level up, for the inner loops: every operation is inlined,
//! written out, and in one fixed order, so that each lane gives the bits of a single `f64`.
//! Letters and frames as there.

use std::ops::{Add, AddAssign, Neg, Sub};

use crate::math::Lanes;

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

impl<T: Lanes> Vec3<T> {
    /// From components.
    #[inline(always)]
    #[must_use]
    pub const fn new(x: T, y: T, z: T) -> Self {
        Self { x, y, z }
    }

    /// Zero.
    #[inline(always)]
    #[must_use]
    pub fn zero() -> Self {
        let zero = T::splat(0.0);
        Self::new(zero, zero, zero)
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

impl<T: Lanes> Add for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl<T: Lanes> Sub for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl<T: Lanes> Neg for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl<T: Lanes> AddAssign for Vec3<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<T: Lanes> Mat3<T> {
    /// From rows.
    #[inline(always)]
    #[must_use]
    pub const fn new(x: Vec3<T>, y: Vec3<T>, z: Vec3<T>) -> Self {
        Self { x, y, z }
    }

    /// `skew(a) b = a × b`.
    #[inline(always)]
    #[must_use]
    pub fn skew(a: &Vec3<T>) -> Self {
        let zero = T::splat(0.0);
        Self::new(
            Vec3::new(zero, -a.z, a.y),
            Vec3::new(a.z, zero, -a.x),
            Vec3::new(-a.y, a.x, zero),
        )
    }

    /// Lane `i` is `f(i)`.
    #[inline(always)]
    #[must_use]
    pub fn from_lanes(f: impl Fn(usize) -> Mat3<f64>) -> Self {
        Self::new(
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
        Self::new(o.tr_mul(&self.x), o.tr_mul(&self.y), o.tr_mul(&self.z))
    }

    /// `self s`.
    #[inline(always)]
    #[must_use]
    pub fn scaled(&self, s: T) -> Self {
        Self::new(self.x.scaled(s), self.y.scaled(s), self.z.scaled(s))
    }

    /// `R self Rᵀ`.
    #[inline(always)]
    #[must_use]
    pub fn turned(&self, R: &Self) -> Self {
        let left = R.product(self);
        Self::new(R.mul(&left.x), R.mul(&left.y), R.mul(&left.z))
    }
}

impl<T: Lanes> Add for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl<T: Lanes> Sym3<T> {
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
        Mat3::new(
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

impl<T: Lanes> Add for Sym3<T> {
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

/// A spatial motion vector `[angular; linear]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "as in spatial::Motion")]
pub struct Motion<T> {
    pub ang: Vec3<T>,
    pub lin: Vec3<T>,
}

/// A spatial force vector `[moment; force]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "as in spatial::Force")]
pub struct Force<T> {
    pub ang: Vec3<T>,
    pub lin: Vec3<T>,
}

macro_rules! spatial_vector {
    ($t:ident) => {
        impl<T: Lanes> $t<T> {
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
                Self::new(Vec3::zero(), Vec3::zero())
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

            /// `self s`.
            #[inline(always)]
            #[must_use]
            pub fn scaled(&self, s: T) -> Self {
                Self::new(self.ang.scaled(s), self.lin.scaled(s))
            }
        }

        impl<T: Lanes> Add for $t<T> {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                Self::new(self.ang + o.ang, self.lin + o.lin)
            }
        }

        impl<T: Lanes> Sub for $t<T> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                Self::new(self.ang - o.ang, self.lin - o.lin)
            }
        }

        impl<T: Lanes> AddAssign for $t<T> {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
    };
}
spatial_vector!(Motion);
spatial_vector!(Force);

impl<T: Lanes> Motion<T> {
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

impl<T: Lanes> Force<T> {
    /// The force `f` at the point `p`.
    #[inline(always)]
    #[must_use]
    pub fn at_point(f: Vec3<T>, p: &Vec3<T>) -> Self {
        Self::new(p.cross(&f), f)
    }
}

/// A pose `X_AB`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "as in spatial::Transform")]
pub struct Transform<T> {
    pub R: Mat3<T>,
    pub p: Vec3<T>,
}

impl<T: Lanes> Transform<T> {
    /// From rotation and position.
    #[inline(always)]
    #[must_use]
    pub const fn new(R: Mat3<T>, p: Vec3<T>) -> Self {
        Self { R, p }
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

    /// `ᴮX_Aᵀ f`. (RBDA 2.25)
    #[inline(always)]
    #[must_use]
    pub fn force_to_parent(&self, f_B: &Force<T>) -> Force<T> {
        let lin = self.R.mul(&f_B.lin);
        Force::new(self.R.mul(&f_B.ang) + self.p.cross(&lin), lin)
    }
}

/// A symmetric 6×6 inertia `[I H; Hᵀ M]` that need not be a rigid body's. (RBDA 7.1)
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArticulatedInertia<T> {
    /// Angular block.
    pub I: Sym3<T>,
    /// Coupling block.
    pub H: Mat3<T>,
    /// Linear block.
    pub M: Sym3<T>,
}

impl<T: Lanes> ArticulatedInertia<T> {
    /// Lane `i`.
    #[inline(always)]
    #[must_use]
    pub fn lane(&self, i: usize) -> ArticulatedInertia<f64> {
        ArticulatedInertia { I: self.I.lane(i), H: self.H.lane(i), M: self.M.lane(i) }
    }

    /// `I_A m`.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, m: &Motion<T>) -> Force<T> {
        Force::new(
            self.I.mul(&m.ang) + self.H.mul(&m.lin),
            self.H.tr_mul(&m.ang) + self.M.mul(&m.lin),
        )
    }

    /// `I_A − Ud Uᵀ`, where `Ud = U / D`: what is left after a joint lets motion through. (RBDA
    /// 7.44)
    #[inline(always)]
    #[must_use]
    pub fn minus_outer(&self, Ud: &Force<T>, U: &Force<T>) -> Self {
        Self {
            I: self.I.minus_outer(&Ud.ang, &U.ang),
            H: Mat3::new(
                self.H.x - U.lin.scaled(Ud.ang.x),
                self.H.y - U.lin.scaled(Ud.ang.y),
                self.H.z - U.lin.scaled(Ud.ang.z),
            ),
            M: self.M.minus_outer(&Ud.lin, &U.lin),
        }
    }

    /// The same inertia about the parent's origin and axes: `ᴮX_Aᵀ I_A ᴮX_A`. (RBDA 2.66)
    #[inline(always)]
    #[must_use]
    pub fn to_parent(&self, X_AB: &Transform<T>) -> Self {
        let R = &X_AB.R;
        Self { I: self.I.turned(R), H: self.H.turned(R), M: self.M.turned(R) }.shifted(&X_AB.p)
    }

    /// The same inertia about a point, where `p` leads from there to the present origin, in the
    /// same axes: `H′ = H + p̂ M` and `I′ = I + p̂ H′ᵀ + (p̂ Hᵀ)ᵀ`.
    #[inline(always)]
    #[must_use]
    pub fn shifted(&self, p: &Vec3<T>) -> Self {
        let Self { I, H, M } = *self;
        // row i of p̂ M is −(M p̂)ᵀ's: p × (column of M), and M is symmetric
        let full = M.full();
        let (cx, cy, cz) = (p.cross(&full.x), p.cross(&full.y), p.cross(&full.z));
        let shifted = Mat3::new(
            H.x + Vec3::new(cx.x, cy.x, cz.x),
            H.y + Vec3::new(cx.y, cy.y, cz.y),
            H.z + Vec3::new(cx.z, cy.z, cz.z),
        );
        // column j of p̂ Hᵀ is p × (row j of H)
        let (kx, ky, kz) = (p.cross(&H.x), p.cross(&H.y), p.cross(&H.z));
        let (lx, ly, lz) = (p.cross(&shifted.x), p.cross(&shifted.y), p.cross(&shifted.z));
        let I = Sym3 {
            xx: I.xx + lx.x + kx.x,
            xy: I.xy + ly.x + kx.y,
            xz: I.xz + lz.x + kx.z,
            yy: I.yy + ly.y + ky.y,
            yz: I.yz + lz.y + ky.z,
            zz: I.zz + lz.z + kz.z,
        };
        Self { I, H: shifted, M }
    }
}

impl<T: Lanes> AddAssign for ArticulatedInertia<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = Self { I: self.I + o.I, H: self.H + o.H, M: self.M + o.M };
    }
}

/// Inertia of a rigid body about the origin of its frame. (RBDA 2.63)
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "as in spatial::SpatialInertia")]
pub struct SpatialInertia<T> {
    pub mass: T,
    pub h: Vec3<T>,
    pub I: Sym3<T>,
}

impl<T: Lanes> SpatialInertia<T> {
    /// Lane `i` is `f(i)`.
    #[inline(always)]
    #[must_use]
    pub fn from_lanes(f: impl Fn(usize) -> SpatialInertia<f64>) -> Self {
        Self {
            mass: T::from_lanes(|i| f(i).mass),
            h: Vec3::from_lanes(|i| f(i).h),
            I: Sym3::from_lanes(|i| f(i).I),
        }
    }

    /// Momentum `I v`.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, v: &Motion<T>) -> Force<T> {
        Force::new(
            self.I.mul(&v.ang) + self.h.cross(&v.lin),
            v.lin.scaled(self.mass) - self.h.cross(&v.ang),
        )
    }

    /// As an articulated inertia.
    #[inline(always)]
    #[must_use]
    pub fn articulated(&self) -> ArticulatedInertia<T> {
        ArticulatedInertia { I: self.I, H: Mat3::skew(&self.h), M: Sym3::diagonal(self.mass) }
    }
}
