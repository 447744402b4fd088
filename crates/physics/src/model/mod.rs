//! The robot: read from URDF, checked, then immutable arrays in depth-first order.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod build;

pub use build::{BodySpec, Builder, CouplingSpec, JointSpec};

use crate::spatial::{SpatialInertia, Transform, Vec3};

/// How the root of the tree is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Free in space: six degrees of freedom before the joints.
    Floating,
    /// Welded to the world.
    Fixed,
}

/// What a joint lets through. URDF's `continuous` is a [`Revolute`](Self::Revolute) without
/// position limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Rotation about the axis; `q` in rad.
    Revolute,
    /// Translation along the axis; `q` in m.
    Prismatic,
}

/// A joint and everything that acts in it. Position in rad or m, effort in N·m or N.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name in the URDF.
    pub name: String,
    /// Revolute or prismatic.
    pub kind: JointKind,
    /// Unit axis in the joint frame J, which is the child's frame at `q = 0`.
    pub axis: Vec3,
    /// Pose of the joint frame J in the parent body's frame P.
    pub X_PJ: Transform,
    /// Lower position limit; `−∞` for none.
    pub q_min: f64,
    /// Upper position limit; `+∞` for none.
    pub q_max: f64,
    /// Largest motor effort; `+∞` for none.
    pub effort_max: f64,
    /// Speed above which the motor no longer pushes; `+∞` for none.
    pub velocity_max: f64,
    /// Viscous damping, N·m·s/rad or N·s/m.
    pub damping: f64,
    /// Coulomb friction, N·m or N.
    pub friction: f64,
    /// Rotor inertia seen at the joint, kg·m² or kg.
    pub armature: f64,
}

/// A joint that another one moves: `q = multiplier · q_leader + offset`. URDF's `<mimic>`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// The joint that follows.
    pub follower: usize,
    /// The joint that it follows; `None` if `q = offset`.
    pub leader: Option<usize>,
    /// Units of the follower for each of the leader.
    pub multiplier: f64,
    /// Position of the follower where the leader is at 0, rad or m.
    pub offset: f64,
}

impl Coupling {
    /// What the follower is too far, too fast or accelerates too much, of these values of all
    /// joints; without the offset, which only positions have.
    #[must_use]
    pub fn excess(&self, joints: &[f64]) -> f64 {
        let led = self.leader.map_or(0.0, |leader| self.multiplier * joints[leader]);
        joints[self.follower] - led
    }

    /// The error of the positions `q`, rad or m.
    #[must_use]
    pub fn position_error(&self, q: &[f64]) -> f64 {
        self.excess(q) - self.offset
    }
}

/// A body: everything rigidly connected between joints, in the frame of the link that the joint
/// moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name of the link whose frame this is.
    pub name: String,
    /// Index of the parent body, less than this body's. The base (index 0) is its own parent.
    pub parent: usize,
    /// Inertia of the body and of all links fixed to it.
    pub inertia: SpatialInertia,
}

/// A named frame fixed to a body: one for every URDF link, also for those merged into another body.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Link name.
    pub name: String,
    /// The body that carries it.
    pub body: usize,
    /// Pose in that body.
    pub X_BF: Transform,
}

/// A robot, ready for dynamics. Bodies are in depth-first order: a parent comes before its
/// children, and a limb's bodies follow one another. Body `i ≥ 1` is moved by joint `i − 1`; body 0
/// is the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Robot name.
    pub name: String,
    /// Floating or fixed.
    pub base: Base,
    /// Bodies in depth-first order.
    pub bodies: Vec<Body>,
    /// Joints; joint `i` moves body `i + 1`.
    pub joints: Vec<Joint>,
    /// All link frames, in the order of the URDF.
    pub frames: Vec<Frame>,
    /// Joints that follow others, in the order of the joints; no joint follows itself, by however
    /// many others.
    pub couplings: Vec<Coupling>,
}

impl Model {
    /// Number of joints.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.joints.len()
    }

    /// Name of the body with this index.
    #[must_use]
    pub fn body_name(&self, body: u32) -> Option<&str> {
        self.bodies.get(body as usize).map(|body| body.name.as_str())
    }

    /// Number of generalized velocities: the joints, and six for a floating base.
    #[must_use]
    pub fn nv(&self) -> usize {
        self.joints.len() + if self.base == Base::Floating { 6 } else { 0 }
    }

    /// Sum of all masses, kg.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.inertia.mass).sum()
    }

    /// Puts the joints that follow others where their leaders want them.
    pub fn couple(&self, q: &mut [f64]) {
        // a chain of followers is no longer than there are
        for _ in &self.couplings {
            for coupling in &self.couplings {
                q[coupling.follower] -= coupling.position_error(q);
            }
        }
    }

    /// The frame of the link `name`.
    #[must_use]
    pub fn frame(&self, name: &str) -> Option<&Frame> {
        self.frames.iter().find(|f| f.name == name)
    }

    /// Index of the joint `name`.
    #[must_use]
    pub fn joint_index(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|j| j.name == name)
    }
}
