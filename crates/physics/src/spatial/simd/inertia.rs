//! Rigid-body and articulated-body inertias.

use std::ops::AddAssign;

use crate::simd::SimdReal;

use super::{Force, Mat3, Motion, Sym3, Transform, Vec3};

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

impl<T: SimdReal> ArticulatedInertia<T> {
    /// Lane `i` is `f(i)`.
    #[inline(always)]
    #[must_use]
    pub fn from_lanes(f: impl Fn(usize) -> ArticulatedInertia<f64>) -> Self {
        Self {
            I: Sym3::from_lanes(|i| f(i).I),
            H: Mat3::from_lanes(|i| f(i).H),
            M: Sym3::from_lanes(|i| f(i).M),
        }
    }

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
            H: Mat3::from_rows(
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
        let shifted = Mat3::from_rows(
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

/// An inertia ready to be solved for the motion under a force, by its blocks: with `G = H M⁻¹`
/// and `S = I − G Hᵀ`, a moment `n` and a force `f` give `w = S⁻¹ (n − G f)` and
/// `v = M⁻¹ f − Gᵀ w`. Two short divisions instead of the six that wait for each other in a
/// factorisation by columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InertiaFactor<T> {
    G: Mat3<T>,
    per_S: Sym3<T>,
    per_M: Sym3<T>,
}

impl<T: SimdReal> ArticulatedInertia<T> {
    /// Prepares to solve. `I_A` must be positive definite; otherwise what comes out is not finite,
    /// which the plant's guard reports.
    #[inline(always)]
    #[must_use]
    pub fn factor(&self) -> InertiaFactor<T> {
        let per_M = self.M.inverse();
        let G = self.H.product(&per_M.full());
        // rows of G times rows of H
        let S = Sym3 {
            xx: self.I.xx - G.x.dot(&self.H.x),
            xy: self.I.xy - G.x.dot(&self.H.y),
            xz: self.I.xz - G.x.dot(&self.H.z),
            yy: self.I.yy - G.y.dot(&self.H.y),
            yz: self.I.yz - G.y.dot(&self.H.z),
            zz: self.I.zz - G.z.dot(&self.H.z),
        };
        InertiaFactor { G, per_S: S.inverse(), per_M }
    }
}

impl<T: SimdReal> InertiaFactor<T> {
    /// The motion under the force `f`.
    #[inline(always)]
    #[must_use]
    pub fn solve(&self, f: &Force<T>) -> Motion<T> {
        self.whole(&self.weigh(&self.half(f)))
    }

    /// Lane `i` is `f(i)`.
    #[inline(always)]
    #[must_use]
    pub fn from_lanes(f: impl Fn(usize) -> InertiaFactor<f64>) -> Self {
        Self {
            G: Mat3::from_lanes(|i| f(i).G),
            per_S: Sym3::from_lanes(|i| f(i).per_S),
            per_M: Sym3::from_lanes(|i| f(i).per_M),
        }
    }

    /// The first half of [`solve`](Self::solve), `y = [n − G f; f]`: the inverse inertia is
    /// `yᵀ diag(S⁻¹, M⁻¹) y` of the halves of two forces.
    #[inline(always)]
    #[must_use]
    pub fn half(&self, f: &Force<T>) -> Force<T> {
        Force::new(f.ang - self.G.mul(&f.lin), f.lin)
    }

    /// `diag(S⁻¹, M⁻¹) y`.
    #[inline(always)]
    #[must_use]
    pub fn weigh(&self, y: &Force<T>) -> Motion<T> {
        Motion::new(self.per_S.mul(&y.ang), self.per_M.mul(&y.lin))
    }

    /// The motion, from [`weigh`](Self::weigh).
    #[inline(always)]
    #[must_use]
    pub fn whole(&self, z: &Motion<T>) -> Motion<T> {
        Motion::new(z.ang, z.lin - self.G.tr_mul(&z.ang))
    }
}

impl<T: SimdReal> AddAssign for ArticulatedInertia<T> {
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

impl<T: SimdReal> SpatialInertia<T> {
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
