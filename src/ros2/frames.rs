//! Frames: their names, the edges between them, and their poses.
//!
//! REP-105: `odom` is the simulated world, and the base link is its child. Links have the names in
//! the URDF (REP-120 for humanoids depends on the URDF). Axes follow REP-103.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use super::messages::{
    Header, Quaternion as RosQuaternion, Time, TransformMsg, TransformStamped, Vector3,
};
use crate::config::TfEdges;
use hardstand_physics::model::{JointKind, Model};
use hardstand_physics::plant::PlantSpec;
use hardstand_physics::spatial::{Quaternion, Transform, Vec3, rotation};
use hardstand_protocol::StateReading;

/// A frame fixed to a body.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub(super) name: String,
    pub(super) body: usize,
    pub(super) X_BF: Transform,
}

/// The frames of a robot.
#[derive(Clone, Debug)]
pub struct Frames {
    model: Model,
    pub(super) world: String,
    pub(super) imu: Fixed,
    pub(super) feet: Vec<Fixed>,
    /// Poses of the bodies in the world.
    X_WB: Vec<Transform>,
    /// Poses of the bodies in their parents.
    X_PB: Vec<Transform>,
}

impl Frames {
    pub(super) fn new(model: &Model, spec: &PlantSpec) -> Self {
        let is_link = |name: &str| model.frame(name).is_some();
        let world = ["odom", "world", "hardstand_world"].into_iter().find(|n| !is_link(n));
        let foot = |f: &hardstand_physics::plant::Foot| {
            named(model, f.body, &f.X_BF, &format!("{}_contact_frame", f.name))
        };
        let count = model.bodies.len();
        Self {
            world: world.unwrap_or("hardstand_world").into(),
            imu: named(model, spec.imu.body, &spec.imu.X_BI, "imu_frame"),
            feet: spec.feet.iter().map(foot).collect(),
            model: model.clone(),
            X_WB: vec![Transform::identity(); count],
            X_PB: vec![Transform::identity(); count],
        }
    }

    /// Name of the base link.
    pub(super) fn base(&self) -> &str {
        &self.model.bodies[0].name
    }

    /// Sets the poses of all bodies from `state`.
    pub(super) fn place(&mut self, state: &StateReading) {
        let R = Quaternion::from_wxyz(state.truth_base_quat_wxyz).to_matrix();
        self.X_WB[0] = Transform::new(R, Vec3::from(state.truth_base_position_m));
        for (i, (joint, reading)) in self.model.joints.iter().zip(&state.joints).enumerate() {
            let X_JB = match joint.kind {
                JointKind::Revolute => {
                    Transform::new(rotation(&joint.axis, reading.q), Vec3::zeros())
                }
                JointKind::Prismatic => {
                    Transform::new(Transform::identity().R, joint.axis * reading.q)
                }
            };
            let body = i + 1;
            self.X_PB[body] = joint.X_PJ.compose(&X_JB);
            self.X_WB[body] = self.X_WB[self.model.bodies[body].parent].compose(&self.X_PB[body]);
        }
    }

    /// The pose of a frame, after [`place`](Self::place).
    pub(super) fn X_WF(&self, frame: &Fixed) -> Transform {
        self.X_WB[frame.body].compose(&frame.X_BF)
    }

    /// Moving edges without values: world to base, then each joint.
    pub(super) fn moving_edges(&self, which: TfEdges) -> Vec<TransformStamped> {
        let bodies = &self.model.bodies;
        let base = (which != TfEdges::Links).then(|| edge(&self.world, self.base()));
        let links = bodies.iter().skip(1).map(|b| edge(&bodies[b.parent].name, &b.name));
        let links = links.take(if which == TfEdges::Base { 0 } else { bodies.len() });
        base.into_iter().chain(links).collect()
    }

    /// Fills the edges that [`moving_edges`](Self::moving_edges) made, after
    /// [`place`](Self::place).
    pub(super) fn fill(&self, which: TfEdges, stamp: &Time, edges: &mut [TransformStamped]) {
        let base = (which != TfEdges::Links).then_some(&self.X_WB[0]);
        for (edge, X) in edges.iter_mut().zip(base.into_iter().chain(&self.X_PB[1..])) {
            edge.header.stamp = stamp.clone();
            edge.transform = transform(X);
        }
    }

    /// Fixed edges: links without a moving joint, and frames that are not links.
    pub(super) fn fixed_edges(&self) -> Vec<TransformStamped> {
        let own = |f: &Fixed| !self.model.bodies.iter().any(|b| b.name == f.name);
        let links = self.model.frames.iter().map(|f| Fixed {
            name: f.name.clone(),
            body: f.body,
            X_BF: f.X_BF,
        });
        let mut all: Vec<Fixed> = Vec::new();
        for frame in links.chain(self.feet.iter().cloned()).chain([self.imu.clone()]) {
            if own(&frame) && !all.iter().any(|f| f.name == frame.name) {
                all.push(frame);
            }
        }
        let edge = |f: Fixed| TransformStamped {
            transform: transform(&f.X_BF),
            ..edge(&self.model.bodies[f.body].name, &f.name)
        };
        all.into_iter().map(edge).collect()
    }
}

/// The link that has this frame; without one, a frame with the name `other`.
fn named(model: &Model, body: usize, X_BF: &Transform, other: &str) -> Fixed {
    let same = |f: &&hardstand_physics::model::Frame| f.body == body && f.X_BF == *X_BF;
    let link = model.frames.iter().find(same).map(|f| f.name.as_str());
    Fixed { name: link.unwrap_or(other).into(), body, X_BF: *X_BF }
}

fn edge(parent: &str, child: &str) -> TransformStamped {
    TransformStamped {
        header: Header { frame_id: parent.into(), ..Default::default() },
        child_frame_id: child.into(),
        transform: TransformMsg::default(),
    }
}

fn transform(X: &Transform) -> TransformMsg {
    let quat_wxyz = Quaternion::from_matrix(&X.R).wxyz();
    TransformMsg { translation: vector(&X.p.into()), rotation: quaternion(quat_wxyz) }
}

pub(super) const fn vector(v: &[f64; 3]) -> Vector3 {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

/// ROS has the scalar last.
pub(super) const fn quaternion([w, x, y, z]: [f64; 4]) -> RosQuaternion {
    RosQuaternion { x, y, z, w }
}
