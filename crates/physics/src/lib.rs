//! Multibody dynamics of legged robots with exponential-spring foot contacts.
//!
//! The way through the crate: [`model`] is the checked robot, [`dynamics`] its equations of motion,
//! [`contact`] the forces of the ground, [`actuator`] and [`sensor`] its drives and instruments;
//! [`plant`] advances all of them by one tick. [`spatial`], [`simd`] and [`math`] are the
//! arithmetic.
//!
//! The crate knows no file, thread, clock or network. The same inputs give the same bits on every
//! machine: only [`math`] has transcendental functions, and no operation is fused.

pub mod actuator;
pub mod contact;
pub mod dynamics;
pub mod limits;
pub mod math;
pub mod model;
pub mod plant;
pub mod sensor;
pub mod simd;
pub mod spatial;
