//! Rotations, transforms and spatial (6-D) vectors and inertias.
//!
//! Monogram notation, as Drake has it: the quantity first, then reference and target, then
//! `_expressed-in`. `p_AB` is the position of B's origin from A's, `R_AB` turns B components into
//! A components, `X_AB` is both, `V_WB_B` is the spatial velocity of B in W written in B. Spatial
//! vectors are `[angular; linear]`, taken at the origin of the frame they are written in
//! (Featherstone's Plücker coordinates). SI units.
#![allow(non_snake_case, reason = "monogram notation carries frames in capitals")]

mod convert;
mod inertia;
mod one_lane;
mod quaternion;
pub mod simd;

pub use inertia::SpatialInertia;
pub use quaternion::Quaternion;

/// Articulated-body inertia.
pub type ArticulatedInertia = simd::ArticulatedInertia<f64>;
/// A 3-vector.
pub type Vec3 = simd::Vec3<f64>;
/// A 3×3 matrix.
pub type Mat3 = simd::Mat3<f64>;
/// A spatial motion vector: a velocity or an acceleration, `[angular; linear]`.
pub type Motion = simd::Motion<f64>;
/// A spatial force vector: `[moment about the origin; force]`.
pub type Force = simd::Force<f64>;
/// A pose `X_AB`.
pub type Transform = simd::Transform<f64>;

/// The cross-product matrix: `skew(a) b = a × b`.
#[must_use]
pub fn skew(a: &Vec3) -> Mat3 {
    Mat3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Rotation by `angle_rad` about the unit vector `axis` (Rodrigues' formula).
#[must_use]
pub fn rotation(axis: &Vec3, angle_rad: f64) -> Mat3 {
    let (s, c) = crate::math::sin_cos(angle_rad);
    let k = 1.0 - c;
    let (x, y, z) = (axis.x, axis.y, axis.z);
    Mat3::new(
        c + x * x * k,
        x * y * k - z * s,
        x * z * k + y * s,
        y * x * k + z * s,
        c + y * y * k,
        y * z * k - x * s,
        z * x * k - y * s,
        z * y * k + x * s,
        c + z * z * k,
    )
}
