//! Unit quaternions, stored `w, x, y, z`.

use super::{Mat3, Vec3};
use crate::math;

/// An orientation `R_AB`: turns B components into A components. The order of the fields is the
/// order on the wire.
///
/// Written out here because the order of operations is part of the
/// determinism contract.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quaternion {
    /// Scalar part.
    pub w: f64,
    /// Vector part, x.
    pub x: f64,
    /// Vector part, y.
    pub y: f64,
    /// Vector part, z.
    pub z: f64,
}

/// Half angles whose square is below this are taken from a series: steps turn by less.
const SMALL_HALF_ANGLE_SQ: f64 = 1.0 / 64.0;

/// `sin x / x` and `cos x`.
#[cold]
fn sinc_cos(x: f64) -> (f64, f64) {
    let (s, c) = math::sin_cos(x);
    (s / x, c)
}

impl Quaternion {
    /// No rotation.
    pub const IDENTITY: Self = Self { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };

    /// From `[w, x, y, z]`, not normalised.
    #[must_use]
    pub const fn from_wxyz(q: [f64; 4]) -> Self {
        Self { w: q[0], x: q[1], y: q[2], z: q[3] }
    }

    /// As `[w, x, y, z]`.
    #[must_use]
    pub const fn wxyz(&self) -> [f64; 4] {
        [self.w, self.x, self.y, self.z]
    }

    /// Rotation by the vector `phi` (axis times angle in rad): the exponential map.
    #[inline(always)]
    #[must_use]
    pub fn from_rotation_vector(phi: &Vec3) -> Self {
        let x = 0.25 * phi.dot(phi);
        let (s, c) = if x < SMALL_HALF_ANGLE_SQ {
            // sin(√x)/√x and cos(√x): the next terms are below 3e-17
            let s = 1.0 / 120.0 + x * (-1.0 / 5040.0 + x * (1.0 / 362_880.0));
            let c = -1.0 / 720.0 + x * (1.0 / 40_320.0 + x * (-1.0 / 3_628_800.0));
            (1.0 + x * (-1.0 / 6.0 + x * s), 1.0 + x * (-0.5 + x * (1.0 / 24.0 + x * c)))
        } else {
            sinc_cos(x.sqrt())
        };
        let k = 0.5 * s;
        Self { w: c, x: k * phi.x, y: k * phi.y, z: k * phi.z }
    }

    /// From fixed-axis roll, pitch, yaw in rad (URDF, REP-103): `Rz(yaw) Ry(pitch) Rx(roll)`.
    #[must_use]
    pub fn from_rpy(roll: f64, pitch: f64, yaw: f64) -> Self {
        let (sr, cr) = math::sin_cos(0.5 * roll);
        let (sp, cp) = math::sin_cos(0.5 * pitch);
        let (sy, cy) = math::sin_cos(0.5 * yaw);
        Self {
            w: cy * cp * cr + sy * sp * sr,
            x: cy * cp * sr - sy * sp * cr,
            y: cy * sp * cr + sy * cp * sr,
            z: sy * cp * cr - cy * sp * sr,
        }
    }

    /// The product `self ∘ o`: first `o`, then `self`.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, o: &Self) -> Self {
        Self {
            w: self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            x: self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            y: self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            z: self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        }
    }

    /// Length; 1 for an orientation.
    #[must_use]
    pub fn norm(&self) -> f64 {
        (self.w * self.w + self.x * self.x + self.y * self.y + self.z * self.z).sqrt()
    }

    /// Scaled to length 1. A zero quaternion becomes NaN, which the plant's guard reports.
    #[cold]
    #[must_use]
    pub fn normalised(&self) -> Self {
        self.scaled(1.0 / self.norm())
    }

    /// The same without a root or a quotient if the length is 1 but for rounding.
    #[inline(always)]
    #[must_use]
    pub fn renormalised(&self) -> Self {
        let off = self.w * self.w + self.x * self.x + self.y * self.y + self.z * self.z - 1.0;
        // the series of 1/√(1 + off): the next term is below 4e-17
        if off.abs() < 1e-8 { self.scaled(1.0 - 0.5 * off) } else { self.normalised() }
    }

    #[inline(always)]
    fn scaled(&self, k: f64) -> Self {
        Self { w: k * self.w, x: k * self.x, y: k * self.y, z: k * self.z }
    }

    /// The rotation matrix of the normalised quaternion.
    #[inline(always)]
    #[must_use]
    pub fn to_matrix(&self) -> Mat3 {
        let Self { w, x, y, z } = self.renormalised();
        Mat3::new(
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        )
    }

    /// The quaternion of a rotation matrix, with `w ≥ 0` (Shepperd's method: the largest component
    /// first).
    #[must_use]
    pub fn from_matrix(R: &Mat3) -> Self {
        let (xx, yy, zz) = (R[(0, 0)], R[(1, 1)], R[(2, 2)]);
        let trace = xx + yy + zz;
        let q = if trace >= xx && trace >= yy && trace >= zz {
            let w = 1.0 + trace;
            Self { w, x: R[(2, 1)] - R[(1, 2)], y: R[(0, 2)] - R[(2, 0)], z: R[(1, 0)] - R[(0, 1)] }
        } else if xx >= yy && xx >= zz {
            let x = 1.0 + xx - yy - zz;
            Self { w: R[(2, 1)] - R[(1, 2)], x, y: R[(0, 1)] + R[(1, 0)], z: R[(0, 2)] + R[(2, 0)] }
        } else if yy >= zz {
            let y = 1.0 - xx + yy - zz;
            Self { w: R[(0, 2)] - R[(2, 0)], x: R[(0, 1)] + R[(1, 0)], y, z: R[(1, 2)] + R[(2, 1)] }
        } else {
            let z = 1.0 - xx - yy + zz;
            Self { w: R[(1, 0)] - R[(0, 1)], x: R[(0, 2)] + R[(2, 0)], y: R[(1, 2)] + R[(2, 1)], z }
        };
        let q = q.normalised();
        if q.w < 0.0 { Self { w: -q.w, x: -q.x, y: -q.y, z: -q.z } } else { q }
    }

    /// Rate of change for the angular velocity `w_AB_A` (written in the reference frame A):
    /// `½ [0, w] ∘ q`.
    #[must_use]
    pub fn derivative(&self, w_AB_A: &Vec3) -> Self {
        let w = Self { w: 0.0, x: w_AB_A.x, y: w_AB_A.y, z: w_AB_A.z };
        let d = w.mul(self);
        Self { w: 0.5 * d.w, x: 0.5 * d.x, y: 0.5 * d.y, z: 0.5 * d.z }
    }

    /// `self + h·d`, component by component; the caller normalises.
    #[must_use]
    pub fn plus_scaled(&self, h: f64, d: &Self) -> Self {
        Self { w: self.w + h * d.w, x: self.x + h * d.x, y: self.y + h * d.y, z: self.z + h * d.z }
    }

    /// Fixed-axis roll, pitch, yaw in rad.
    #[must_use]
    pub fn to_rpy(&self) -> [f64; 3] {
        let Self { w, x, y, z } = self.normalised();
        [
            math::atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
            math::asin_clamped(2.0 * (w * y - z * x)),
            math::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
        ]
    }
}
