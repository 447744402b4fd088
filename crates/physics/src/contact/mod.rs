//! Contact models: what pushes a foot away from the ground.
//!
//! The exponential spring is Simbody's `ExponentialSpringForce`, after Anderson & Pandy (1999),
//! with its words: *station* (a point of a body), *contact plane* (z is the normal), *anchor* (the
//! zero of the friction spring), *sliding* (0 sticks, 1 slides), *settle velocity*. Frames: W
//! world, P contact plane. SI units.
//!
//! Beside it stand Simbody's contacts between elastic bodies: [`ContactMaterial`] says what a
//! surface is made of, [`Overlap`] how deep two surfaces overlap, and [`HuntCrossley`],
//! [`CompliantContact`] and [`BrickContact`] turn both into a [`ContactForce`]. They have no memory
//! and no stiction: any tangential load makes them creep. All their vectors are in one frame of the
//! caller's choice.
//!
//! [`Surface`] is a piece of ground (frame S), [`Touch`] a station against it (frame C, z is the
//! normal), [`solve_rigid`] finds the impulses of rigid contacts with dry friction, and
//! [`solve_impact`] those of impacts that bounce.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod active_set;
mod brick;
mod compliant;
mod contact_force;
mod exponential_spring;
mod friction;
mod heightfield;
mod held;
mod hermite;
mod hertz;
mod hunt_crossley;
mod impact;
mod low_rank;
mod material;
mod memory;
mod mesh;
mod nearest;
mod parameters;
mod plane;
mod platform;
mod polytope;
mod prints;
mod range;
mod response_factor;
mod restitution;
mod rigid;
mod rolling;
mod row;
mod slopes;
mod soft_ground;
mod solid;
mod spring_changes;
mod spring_force;
mod spring_law;
mod station_shape;
mod stiction;
mod surface;

pub use brick::{BrickContact, BrickForce, VertexForce};
pub use compliant::CompliantContact;
pub use contact_force::ContactForce;
pub use exponential_spring::ExponentialSpring;
pub use friction::Friction;
pub use heightfield::Heightfield;
pub use held::solve_held;
pub use hertz::{HalfSpace, HertzPair, Overlap};
pub use hunt_crossley::{HuntCrossley, HuntCrossleyForce, SlipCurve};
pub use impact::{ImpactContact, SLIP_M_PER_S, solve_impact};
pub use material::ContactMaterial;
pub use memory::Memory;
pub(crate) use memory::{FrictionMemory, RollingMemory, stretched};
pub use mesh::Mesh;
pub use nearest::Nearest;
pub use parameters::{SpringParameters, TINY};
pub use plane::ContactPlane;
pub use platform::PlatformMotion;
pub(crate) use prints::Print;
pub use prints::Prints;
pub use response_factor::BodyPoint;
pub use restitution::Restitution;
pub use rigid::{Convergence, RigidContact, RigidRoom, solve_on_bodies, solve_rigid};
pub use rolling::RollingFriction;
pub use slopes::ContactSlopes;
pub use soft_ground::{SoftForce, SoftGround};
pub use solid::{ConvexSolid, stairs};
pub use spring_changes::SpringChanges;
pub(crate) use spring_force::Contact;
pub use spring_force::SpringForce;
pub(crate) use spring_law::SpringLaw;
pub use station_shape::StationShape;
pub use stiction::Stiction;
pub use surface::{Platform, Surface, SurfacePose, SurfaceShape, Touch, level_axes};
