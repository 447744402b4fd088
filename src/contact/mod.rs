//! Contact models: what pushes a foot away from the ground.
//!
//! The exponential spring is Simbody's `ExponentialSpringForce`, after Anderson & Pandy (1999),
//! with its words: *station* (a point of a body), *contact plane* (z is the normal), *anchor* (the
//! zero of the friction spring), *sliding* (0 sticks, 1 slides), *settle velocity*. Frames: W
//! world, P contact plane. SI units.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod exponential_spring;
mod friction;
mod parameters;
mod plane;

pub use exponential_spring::{ExponentialSpring, Memory, SpringForce};
pub use friction::Friction;
pub use parameters::{SpringParameters, TINY};
pub use plane::ContactPlane;
