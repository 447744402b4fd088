//! Contact of shapes: links and free bodies against the ground and against each other.
//!
//! Stations are points and round shapes at feet, and meet the ground alone: see
//! [`ContactSet`](super::ContactSet). Everything else that touches is a pair of convex shapes: each
//! gives a patch of points, and each point is a contact whose force acts with its share (*weight*)
//! of the patch. The force of a point acts on both bodies, equal and opposite, at one place.
//!
//! Which pairs may touch within a tick is decided at its start, from the poses: those whose boxes
//! are at most [`reach_m`](CollisionSpec::reach_m) apart.

mod bodies;
mod brick;
mod evaluate;
mod forces;
mod ground;
mod memory;
mod point;
mod scene;
mod set;
mod spin_limit;
mod weights;

pub use bodies::{BodyState, FreeBody, Mobility};
pub(super) use evaluate::{Around, pose_of};
pub(super) use memory::CollisionMemory;
pub use point::CollisionPoint;
pub use set::CollisionSet;

use crate::contact::{BrickContact, Friction, RollingFriction};
use crate::spatial::Transform;
use hardstand_geometry::{Pose, Shape};

use super::ContactModel;

/// What carries a collision shape, or is one side of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carrier {
    /// A surface of the ground, by its index.
    Surface(usize),
    /// A body of the robot, by its index.
    Link(usize),
    /// A free body, by its index.
    Body(usize),
}

/// A convex shape of a link or a free body.
#[derive(Clone, Debug, PartialEq)]
pub struct CollisionShape {
    /// The link or the free body that carries it.
    pub carrier: Carrier,
    /// Its pose in the carrier's frame.
    pub X_BS: Transform,
    /// The shape.
    pub shape: Shape,
    /// Whether it meets the ground; shapes of feet with stations do not.
    pub meets_ground: bool,
    /// Force law. Of two shapes the softer law counts. Hunt–Crossley has one law for each surface,
    /// and one for other shapes as the last.
    pub model: ContactModel,
    /// Coefficients of friction; of two shapes the smaller ones count.
    pub friction: Friction,
    /// Moments against rolling and spinning, likewise; a rigid contact has none.
    pub rolling: RollingFriction,
}

impl CollisionShape {
    /// Its pose in the world, as the geometry takes it, where its carrier is at `X_WB`.
    #[must_use]
    pub fn pose_W(&self, X_WB: &Transform) -> Pose {
        ground::into_pose(&X_WB.compose(&self.X_BS))
    }
}

/// All shapes that may touch, and the free bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollisionSpec {
    /// Shapes of links and free bodies.
    pub shapes: Vec<CollisionShape>,
    /// Carriers whose shapes never touch: links that a joint connects, say, or a link and a
    /// surface, in this order; surfaces at rest that are no height fields count as one.
    pub apart: Vec<(Carrier, Carrier)>,
    /// Shapes that never touch each other, whatever else their carriers have: by their numbers.
    pub apart_shapes: Vec<(usize, usize)>,
    /// Bodies that are not part of the robot.
    pub bodies: Vec<FreeBody>,
    /// Gap from which a point is a contact, m: beyond it the forces count as none.
    pub margin_m: f64,
    /// Gap between boxes up to which a pair may touch within a tick, m; at least the margin.
    pub reach_m: f64,
    /// Pairs that may be near at the same time.
    pub pairs_max: usize,
    /// Points that may touch at the same time.
    pub points_max: usize,
    /// Radius of curvature that Hertz' law takes for faces and edges, m.
    pub face_radius_m: f64,
    /// Boxes with Hunt and Crossley's law that meet planes as Simbody's bricks do.
    pub bricks: Vec<Brick>,
}

/// A box that meets planes with the corners of one face.
#[derive(Clone, Debug, PartialEq)]
pub struct Brick {
    /// Number of the shape; its edges are sharp.
    pub shape: usize,
    /// Its law on each surface; `None` for those that are no planes.
    pub laws: Vec<Option<BrickContact>>,
}

impl CollisionSpec {
    /// No shapes and no bodies.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty() && self.bodies.is_empty()
    }
}
