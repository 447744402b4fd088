//! Vectors, transforms and inertias over any number type: one robot's or several limbs' at once.
//!
//! The same algebra as the types one level up, for the inner loops: every operation is inlined,
//! written out, and in one fixed order, so that each lane gives the bits of a single `f64`.
//! Letters and frames as there.

mod inertia;
mod matrix;
mod vector;

pub use inertia::{ArticulatedInertia, InertiaFactor, SpatialInertia};
pub use matrix::{Mat3, Sym3, Vec3};
pub use vector::{Force, Motion, Transform};
