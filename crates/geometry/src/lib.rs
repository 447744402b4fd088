//! Contact geometry: which shapes are near each other, and where and how they touch.
//!
//! The way through the crate: a [`Shape`] is a rounded core, a [`Hull`] the core of a mesh. A
//! [`Scene`] says what carries which shape and what may not touch; a [`World`] is the scene
//! prepared for steps: [`World::update`] moves the bodies and finds the near pairs,
//! [`World::contacts`] compares them. [`contact`] compares two shapes without a world.
//! [`match_previous`] carries what a contact law remembers from step to step.
//!
//! # How two shapes are compared
//!
//! 1. The normal and the gap of the cores. Spheres and pairs of capsules have closed forms; boxes
//!    are compared along separating axes; for hulls and cylinders GJK gives the distance, and EPA
//!    the depth if the cores overlap. With rounded edges the cores are apart while bodies overlap
//!    less than their radii: then normal and depth change continuously with the poses. With sharp
//!    edges only the depth does, and the normal turns at once where one face takes over from
//!    another.
//! 2. The patch. Of each shape the face (of a capsule or the side of a cylinder: the line) that
//!    faces the other; the overlap of both as seen along the normal, as far as the gap is within
//!    the margin; of its corners the 8 that span most of its area, the deepest always among them.
//!    If rounding leaves no overlap, the patch is the nearest point alone.
//!
//! Polytopes are exact to 10⁻¹⁰ of their size, cylinders to 10⁻⁵ against boxes, hulls, capsules and
//! cylinders (whose search ends at a tolerance), exact against planes and spheres. The cap of a
//! cylinder is a polygon of 16 points and the point of its rim that is nearest to the other shape.
//!
//! # How a contact law uses a patch
//!
//! The depths are those of single points; the weights of [`Patch`] make a surface of them. Let
//! `f(depth, rate)` be the force of a law that was made for one contact:
//!
//! - The **exponential spring** gets one spring at each point, with `d1` (the force), `kxy`, `cxy`
//!   and the limit of the force multiplied by the weight. So a face on a beam has the stiffness of
//!   one spring however many corners the overlap has, and its resultant acts at the centroid of the
//!   overlap. The anchor of each spring follows its point through [`match_previous`]: a new point
//!   begins with its anchor below it and not sliding.
//! - **Hunt–Crossley** multiplies the force of the point by the weight. The radius of its Hertz
//!   contact has to be given for a patch without a sphere; energy and dissipated power are
//!   multiplied, too.
//! - **Rigid** contacts take the points as they are: the solver shares the load.
//! - Stations of a robot (points, spheres, tori at feet) and Simbody's brick with one spring at
//!   each corner stay as they are, with weight 1 each: their results are compared with Simbody's.
//!   They do not use this crate.
//!
//! Weights depend on the poses, so elastic forces with weights are not exactly conservative: a
//! motion around a loop may gain or lose a part of the elastic energy of the contact. While a
//! rectangle lies on a half-space and the gaps of its corners stay less than half-way from the
//! least gap to the margin, the weights are constant and the forces conservative.
//!
//! # Promises
//!
//! - The result is a function of the shapes and the poses alone: nothing is carried from one step
//!   to the next but the order of a sort.
//! - Only `+`, `−`, `×`, `÷` and the square root, in a fixed order: the same bits on every machine.
//! - No allocation after [`World::new`], [`World::new_contacts`] and [`Workspace::new`].
//! - No panic and no NaN, whatever the poses: see [`contact`].
#![allow(non_snake_case, reason = "monogram notation: a_W is a point a in the world W")]

mod aabb;
mod clip;
mod contact_point;
mod epa;
mod feature;
mod gjk;
mod hull;
mod merge;
mod narrow;
mod patch;
mod quickhull;
mod sat;
mod segments;
mod shape;
mod sweep;
mod tree;
mod vector;
mod world;

pub use contact_point::{ContactPoint, POINTS_MAX, Patch, fade, match_previous};
pub use hull::{HULL_VERTICES_MAX, Hull};
pub use narrow::contact;
pub use patch::Workspace;
pub use shape::{Outline, Shape};
pub use vector::{Mat3, Pose, Vec3};
pub use world::{Carrier, Collider, Contacts, Pair, Scene, ShapeId, World};
