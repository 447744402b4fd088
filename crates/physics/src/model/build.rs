//! Puts bodies and joints into depth-first order.

use super::{Base, Body, Coupling, Frame, Joint, Model};
use crate::spatial::{SpatialInertia, Transform};
use hardstand_error::{Error, ErrorKind, Result};

/// A body by name, in any order.
#[derive(Clone, Debug)]
pub struct BodySpec {
    /// Name, unique.
    pub name: String,
    /// Inertia about the body frame's origin.
    pub inertia: SpatialInertia,
}

/// A joint by the names of the two bodies it connects.
#[derive(Clone, Debug)]
pub struct JointSpec {
    /// Parent body.
    pub parent: String,
    /// Child body.
    pub child: String,
    /// The joint itself.
    pub joint: Joint,
}

/// A [`Coupling`] by the names of its joints.
#[derive(Clone, Debug)]
pub struct CouplingSpec {
    /// The joint that follows.
    pub follower: String,
    /// The joint that it follows; `None` if it stays at the offset.
    pub leader: Option<String>,
    /// Units of the follower for each of the leader.
    pub multiplier: f64,
    /// Position of the follower where the leader is at 0, rad or m.
    pub offset: f64,
}

/// Collects bodies, joints and frames by name; [`build`](Self::build) orders them into a [`Model`].
///
/// It checks what the order needs (names, one root, no cycle). Whether masses and limits make sense
/// is the concern of the reader of the file they come from.
#[derive(Clone, Debug)]
pub struct Builder {
    /// Robot name.
    pub name: String,
    /// Floating or fixed.
    pub base: Base,
    /// Bodies.
    pub bodies: Vec<BodySpec>,
    /// Joints. Children of one body keep this order.
    pub joints: Vec<JointSpec>,
    /// Frames: name, body, pose in it, in the order of the model's. A body without a frame of its
    /// own name here gets one before them.
    pub frames: Vec<(String, String, Transform)>,
    /// Joints that follow others.
    pub couplings: Vec<CouplingSpec>,
}

impl Builder {
    /// An empty robot.
    #[must_use]
    pub fn new(name: &str, base: Base) -> Self {
        Self {
            name: name.into(),
            base,
            bodies: Vec::new(),
            joints: Vec::new(),
            frames: Vec::new(),
            couplings: Vec::new(),
        }
    }

    /// The model in depth-first order.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a joint or frame names an unknown body, a body has two parents, or
    /// there is not exactly one root that reaches every body; if a coupling names an unknown
    /// joint, is not finite, or lets a joint follow two others or itself.
    pub fn build(self) -> Result<Model> {
        let index = |name: &str| self.bodies.iter().position(|b| b.name == name);
        let mut parent_joint: Vec<Option<usize>> = vec![None; self.bodies.len()];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.bodies.len()];
        for (j, spec) in self.joints.iter().enumerate() {
            let (Some(p), Some(c)) = (index(&spec.parent), index(&spec.child)) else {
                return Err(input(format!(
                    "joint \"{}\" connects \"{}\" and \"{}\", of which one does not exist",
                    spec.joint.name, spec.parent, spec.child
                )));
            };
            if parent_joint[c].replace(j).is_some() {
                return Err(input(format!("body \"{}\" has two parent joints", spec.child)));
            }
            children[p].push(j);
        }
        let mut roots = (0..self.bodies.len()).filter(|&b| parent_joint[b].is_none());
        let (Some(root), None) = (roots.next(), roots.next()) else {
            return Err(input("a robot must have exactly one root body".into()));
        };

        let mut order = vec![(root, 0usize, None)];
        let mut stack: Vec<(usize, usize)> = Vec::new();
        push_children(&children[root], 0, &mut stack);
        while let Some((j, parent)) = stack.pop() {
            let Some(b) = index(&self.joints[j].child) else { continue };
            order.push((b, parent, Some(j)));
            push_children(&children[b], order.len() - 1, &mut stack);
        }
        if order.len() != self.bodies.len() {
            return Err(input("some bodies form a cycle that the root does not reach".into()));
        }
        self.assemble(&order)
    }

    fn assemble(&self, order: &[(usize, usize, Option<usize>)]) -> Result<Model> {
        let mut bodies = Vec::with_capacity(order.len());
        let mut joints = Vec::with_capacity(order.len().saturating_sub(1));
        for &(b, parent, j) in order {
            let spec = &self.bodies[b];
            bodies.push(Body { name: spec.name.clone(), parent, inertia: spec.inertia });
            joints.extend(j.map(|j| self.joints[j].joint.clone()));
        }
        let mut frames: Vec<Frame> = bodies
            .iter()
            .enumerate()
            .filter(|(_, b)| self.frames.iter().all(|(name, ..)| *name != b.name))
            .map(|(i, b)| Frame { name: b.name.clone(), body: i, X_BF: Transform::identity() })
            .collect();
        for (name, body, X_BF) in &self.frames {
            let Some(body) = bodies.iter().position(|b| b.name == *body) else {
                return Err(input(format!("frame \"{name}\" is on the unknown body \"{body}\"")));
            };
            frames.push(Frame { name: name.clone(), body, X_BF: *X_BF });
        }
        let couplings = self.couplings(&joints)?;
        Ok(Model { name: self.name.clone(), base: self.base, bodies, joints, frames, couplings })
    }

    fn couplings(&self, joints: &[Joint]) -> Result<Vec<Coupling>> {
        let index = |name: &str| {
            let unknown = || input(format!("a coupling names the unknown joint \"{name}\""));
            joints.iter().position(|j| j.name == name).ok_or_else(unknown)
        };
        let mut leaders: Vec<Option<usize>> = vec![None; joints.len()];
        let mut out: Vec<Coupling> = Vec::new();
        for spec in &self.couplings {
            let (name, multiplier, offset) = (&spec.follower, spec.multiplier, spec.offset);
            let follower = index(name)?;
            let leader = spec.leader.as_deref().map(index).transpose()?;
            if !(multiplier.is_finite() && offset.is_finite()) {
                let text = "multiplier and offset must be finite";
                return Err(input(format!("joint \"{name}\" follows by {multiplier}; {text}")));
            }
            if out.iter().any(|c| c.follower == follower) {
                return Err(input(format!("joint \"{name}\" follows two joints")));
            }
            leaders[follower] = leader;
            let mut above = leader;
            while let Some(joint) = above.filter(|&joint| joint != follower) {
                above = leaders[joint];
            }
            if above.is_some() {
                return Err(input(format!("joint \"{name}\" follows itself")));
            }
            out.push(Coupling { follower, leader, multiplier, offset });
        }
        out.sort_by_key(|c| c.follower);
        Ok(out)
    }
}

/// Last child first, so that the first is popped first.
fn push_children(joints: &[usize], parent: usize, stack: &mut Vec<(usize, usize)>) {
    stack.extend(joints.iter().rev().map(|&j| (j, parent)));
}

fn input(message: String) -> Error {
    Error::new(ErrorKind::Input, message)
}
