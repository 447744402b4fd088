//! Welds the links at fixed joints into bodies and passes the bodies to the [`Builder`].

use urdf_rs::{Geometry, JointType};

use super::base::Held;
use super::report::Report;
use super::source::{Source, link_inertia, pose};
use super::tree::Tree;
use super::{Collision, FreeLink, Shape};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::model::{
    BodySpec, Builder, CouplingSpec, Joint, JointKind, JointSpec, Model,
};
use hardstand_physics::spatial::{SpatialInertia, Transform, Vec3};

/// Place of a link L on a body B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The link whose frame is the body's frame.
    pub(super) body: usize,
    /// Pose of the link in the body.
    pub(super) X_BL: Transform,
}

/// Links sorted into bodies. A body has the index of the link whose frame it has.
#[derive(Debug)]
pub(super) struct Merged {
    /// The place of each link; `None` on a ring of fixed joints, which `tree` reports.
    pub(super) places: Vec<Option<Place>>,
    /// For each body its links, in the order of the file; empty for other links.
    pub(super) links_of: Vec<Vec<usize>>,
    /// For each body its inertia about its origin.
    pub(super) inertia: Vec<SpatialInertia>,
}

/// Sorts links into bodies and sums their inertias, in the order of the file.
pub(super) fn bodies(source: &Source, tree: &Tree, held: &Held) -> Merged {
    let links = &source.robot.links;
    let is_rigid = |j: usize| match source.robot.joints[j].joint_type {
        JointType::Fixed => true,
        JointType::Floating => held.welded == Some(j),
        _ => false,
    };
    let mut places: Vec<Option<Place>> = vec![None; links.len()];
    for body in 0..links.len() {
        if tree.joint_above[body].is_some_and(is_rigid) {
            continue;
        }
        let mut stack = vec![(body, Transform::identity())];
        while let Some((link, X_BL)) = stack.pop() {
            places[link] = Some(Place { body, X_BL });
            for &j in tree.joints_below[link].iter().filter(|&&j| is_rigid(j)) {
                if let Some((_, child)) = tree.ends[j] {
                    stack.push((child, X_BL.compose(&pose(&source.robot.joints[j].origin))));
                }
            }
        }
    }
    let mut links_of = vec![Vec::new(); links.len()];
    let mut inertia = vec![SpatialInertia::zero(); links.len()];
    for (l, place) in places.iter().enumerate() {
        let Some(Place { body, X_BL }) = place else { continue };
        links_of[*body].push(l);
        inertia[*body] = inertia[*body].plus(&link_inertia(&links[l]).to_parent(X_BL));
    }
    Merged { places, links_of, inertia }
}

/// The model of a robot that passed all checks.
///
/// # Errors
/// [`ErrorKind::Input`] from the [`Builder`]; does not occur for a robot that passed the checks.
pub(super) fn model(
    source: &Source,
    tree: &Tree,
    merged: &Merged,
    held: &Held,
    (armature, couplings): (&[f64], Vec<CouplingSpec>),
) -> Result<Model> {
    let links = &source.robot.links;
    let mut builder = Builder::new(&source.robot.name, held.base);
    builder.couplings = couplings;
    for (l, place) in merged.places.iter().enumerate().filter(|(l, _)| held.world != Some(*l)) {
        let Some(Place { body, X_BL }) = place.as_ref().filter(|p| !held.is_free(p.body)) else {
            continue;
        };
        let name = links[l].name.clone();
        if *body == l {
            builder.bodies.push(BodySpec { name: name.clone(), inertia: merged.inertia[l] });
        }
        builder.frames.push((name, links[*body].name.clone(), *X_BL));
    }
    for (j, joint) in source.robot.joints.iter().enumerate() {
        let kind = match joint.joint_type {
            JointType::Revolute | JointType::Continuous => JointKind::Revolute,
            JointType::Prismatic => JointKind::Prismatic,
            _ => continue,
        };
        let ends = tree.ends[j].and_then(|(p, c)| Some((merged.places[p]?, c)));
        let Some((on_parent, child)) = ends else { continue };
        let dynamics = joint.dynamics.clone().unwrap_or_default();
        let joint = Joint {
            name: joint.name.clone(),
            kind,
            axis: Vec3::from(joint.axis.xyz.0),
            X_PJ: on_parent.X_BL.compose(&pose(&joint.origin)),
            q_min: joint.limit.lower,
            q_max: joint.limit.upper,
            effort_max: joint.limit.effort,
            velocity_max: joint.limit.velocity,
            damping: dynamics.damping,
            friction: dynamics.friction,
            armature: armature.get(j).copied().unwrap_or(0.0),
        };
        let (parent, child) = (links[on_parent.body].name.clone(), links[child].name.clone());
        builder.joints.push(JointSpec { parent, child, joint });
    }
    builder.build().map_err(|e| Error::new(ErrorKind::Internal, e.to_string()))
}

/// The bodies that fly free of the robot.
pub(super) fn free_links(
    source: &Source,
    tree: &Tree,
    merged: &Merged,
    held: &Held,
    report: &mut Report,
) -> Vec<FreeLink> {
    let links = &source.robot.links;
    let mut out = Vec::new();
    for &(j, child) in &held.free {
        let Some((parent, _)) = tree.ends[j] else { continue };
        let of = |&l: &usize| {
            let X_BL = merged.places[l].map_or(Transform::identity(), |place| place.X_BL);
            let shape = move |c: &urdf_rs::Collision| Collision {
                frame: links[l].name.clone(),
                X_FC: X_BL.compose(&pose(&c.origin)),
                shape: shape(&c.geometry),
            };
            links[l].collision.iter().map(shape)
        };
        let collisions: Vec<Collision> = merged.links_of[child].iter().flat_map(of).collect();
        if collisions.is_empty() {
            let text = "a body of its own without a collision shape: it touches nothing";
            report.warn(format!("{}: {text}", source.link(child)));
        }
        out.push(FreeLink {
            name: links[child].name.clone(),
            links: merged.links_of[child].iter().map(|&l| links[l].name.clone()).collect(),
            inertia: merged.inertia[child],
            parent: (held.world != Some(parent)).then(|| links[parent].name.clone()),
            X_PB: pose(&source.robot.joints[j].origin),
            collisions,
        });
    }
    out
}

/// The collision elements of all links of the robot.
pub(super) fn collisions(
    source: &Source,
    merged: &Merged,
    held: &Held,
    report: &mut Report,
) -> Vec<Collision> {
    let mut out = Vec::new();
    for (l, link) in source.robot.links.iter().enumerate() {
        if held.world == Some(l) {
            if !link.collision.is_empty() {
                let text = "its collision shapes belong to the world, not to the robot; ignored";
                report.warn(format!("{}: {text}", source.link(l)));
            }
            continue;
        }
        if merged.places[l].is_some_and(|place| held.is_free(place.body)) {
            continue;
        }
        out.extend(link.collision.iter().map(|c| Collision {
            frame: link.name.clone(),
            X_FC: pose(&c.origin),
            shape: shape(&c.geometry),
        }));
    }
    out
}

fn shape(geometry: &Geometry) -> Shape {
    match geometry.clone() {
        Geometry::Box { size } => Shape::Box { size_m: size.0 },
        Geometry::Sphere { radius } => Shape::Sphere { radius_m: radius },
        Geometry::Cylinder { radius, length } => {
            Shape::Cylinder { radius_m: radius, length_m: length }
        }
        Geometry::Capsule { radius, length } => {
            Shape::Capsule { radius_m: radius, length_m: length }
        }
        Geometry::Mesh { filename, scale } => {
            Shape::Mesh { file: filename, scale: scale.map_or([1.0; 3], |s| s.0) }
        }
    }
}
