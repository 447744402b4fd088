//! Featherstone's algorithms for kinematic trees: kinematics, ABA, RNEA, CRBA, energy, integrators.
//!
//! Numbers like (7.43) and "table 7.1" are those of Featherstone, *Rigid Body Dynamics Algorithms*
//! (Springer 2008), whose letters are kept. Frames: W world, P the parent body's frame, B the
//! body's frame. Spatial vectors are `[angular; linear]` about the origin of B and written in B
//! unless a suffix says otherwise. SI units.
//!
//! The model is never changed, everything that is computed lives in a [`Data`] that is allocated
//! once: no function of this module allocates.
//!
//! ```
//! use hardstand_physics::dynamics::{aba, kinematics, Data, Positions, Velocities};
//! use hardstand_physics::model::{Base, BodySpec, Builder};
//! use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
//!
//! let mut one = Builder::new("brick", Base::Floating);
//! let inertia = SpatialInertia::from_com(2.0, &Vec3::zeros(), &Mat3::identity());
//! one.bodies.push(BodySpec { name: "brick".into(), inertia });
//! let model = one.build()?;
//!
//! let (q, v) = (Positions::zero(&model), Velocities::zero(&model));
//! let (mut data, mut vdot) = (Data::new(&model), Velocities::zero(&model));
//! kinematics(&model, &q, &v, &mut data);
//! aba(&model, &mut data, &[], &Vec3::new(0.0, 0.0, -9.81), &mut vdot);
//! assert!((vdot.v_WB.z + 9.81).abs() < 1e-14); // it falls
//! # Ok::<(), hardstand_error::Error>(())
//! ```
#![allow(non_snake_case, reason = "the book's letters and monogram notation")]
#![allow(clippy::many_single_char_names, reason = "the book's letters")]

mod aba;
mod body;
mod constraints;
mod crba;
mod data;
mod energy;
mod implicit;
mod impulse;
mod integrate;
mod joint_rotation;
mod kinematics;
mod least_squares;
mod limbs;
mod link;
mod point_on_plane;
mod point_response;
mod projection;
mod rnea;
mod rows;

pub use aba::{aba, articulated_inertias};
pub(crate) use aba::{aba_implicit, free_base, held_base};
pub(crate) use body::{AbaFactors, BodyKinematics, bias_force};
pub use constraints::Constraints;
pub use crba::{MassMatrix, crba};
pub(crate) use data::links;
pub use data::{Accelerations, Data, Positions, Velocities};
pub use energy::{Momentum, center_of_mass, kinetic_energy, momentum, potential_energy};
pub(crate) use implicit::{Added, least_inertia, point_inertia, spin_inertia};
pub(crate) use impulse::base_jump;
pub use impulse::{ImpulseWorkspace, impulse_response, spread_jump};
pub use integrate::{Rk4, advance_positions, advance_velocities};
pub(crate) use integrate::{advance_base, advance_base_by_mean, advance_by_mean, turn_and_move};
pub(crate) use joint_rotation::Axis;
pub use kinematics::kinematics;
pub(crate) use kinematics::{base_kinematics, base_velocity, velocities};
pub use least_squares::LeastSquares;
pub use link::motion_subspace;
pub(crate) use link::{JointClass, Link, by_joint_class};

pub use limbs::{LimbGroup, Limbs};
pub use point_on_plane::PointOnPlane;
pub use point_response::{PointAxes, PointResponses, VelocityChange};
pub use projection::Projection;
pub use rnea::{GeneralizedForces, rnea};
