//! `<equality>`: joints that follow others, and points of bodies that stay together. Other
//! equalities are not simulated.

use std::collections::BTreeMap;

use hardstand_physics::spatial::{Transform, Vec3};

use super::body::{Body, Joint, JointType};
use super::defaults::{Defaults, Resolved};
use super::element::Element;
use super::report::Report;

/// How a joint follows another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mimic {
    pub(super) leader: String,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

/// A point of one body that stays at a point of another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// The body whose point it is.
    pub body: String,
    /// The other body; `None` for the world.
    pub other: Option<String>,
    /// The point, in the frame of `body`, m.
    pub point_m: [f64; 3],
    /// Where it is held, in the frame of `other`, m: where it is in the posture of the file.
    pub other_point_m: [f64; 3],
}

/// What the equalities of a model hold.
#[derive(Debug, Default)]
pub(super) struct Equalities {
    /// The followers, by the name of the joint.
    pub(super) mimics: BTreeMap<String, Mimic>,
    pub(super) connections: Vec<Connection>,
}

/// Reads the equalities.
pub(super) fn equalities(
    root: &Element,
    (bodies, is_robot): (&[Body], &[bool]),
    defaults: &Defaults,
    report: &mut Report,
) -> Equalities {
    let own = bodies.iter().zip(is_robot).filter(|(_, is)| **is).flat_map(|(b, _)| &b.joints);
    let joints: Vec<&Joint> = own.filter(|j| j.kind != JointType::Free).collect();
    let find = |name: &str| joints.iter().find(|j| j.name == name);
    let mut out = Equalities::default();
    for e in root.all("equality").flat_map(|section| &section.children) {
        let of = defaults.resolve(e, "", &["equality", e.tag.as_str()], report);
        if of.text("active") == Some("false") {
            continue;
        }
        if let Some(connection) = connection(&of, (bodies, is_robot), report) {
            out.connections.push(connection);
            continue;
        }
        let poly = of.numbers("polycoef", 1..=5, report).unwrap_or_default();
        let coefficient = |i: usize, default: f64| poly.get(i).copied().unwrap_or(default);
        let is_line = (2..5).all(|i| coefficient(i, 0.0) == 0.0);
        let ends = ["joint1", "joint2"].map(|name| of.text(name).and_then(find));
        let ([Some(follower), Some(leader)], "joint", true) = (ends, e.tag.as_str(), is_line)
        else {
            let what = "equalities other than points that stay together and lines between two \
                        joints are not simulated";
            report.left_out(what, &e.place);
            continue;
        };
        let multiplier = coefficient(1, 1.0);
        // MuJoCo takes both from where the file places them
        let offset = follower.q_ref + coefficient(0, 0.0) - multiplier * leader.q_ref;
        let mimic = Mimic { leader: leader.name.clone(), multiplier, offset };
        if out.mimics.insert(follower.name.clone(), mimic).is_some() {
            let name = &follower.name;
            report.mistake(format!("{}: {name} would follow two joints", e.place));
        }
    }
    out
}

/// A `<connect>` of bodies of the robot.
fn connection(
    of: &Resolved<'_>,
    (bodies, is_robot): (&[Body], &[bool]),
    report: &mut Report,
) -> Option<Connection> {
    let find = |name: &str| (0..bodies.len()).find(|&b| is_robot[b] && bodies[b].name == name);
    if of.element().tag != "connect" {
        return None;
    }
    let body = of.text("body1").and_then(find)?;
    let other = match of.text("body2") {
        Some(name) => Some(find(name).filter(|other| *other != body)?),
        None => None,
    };
    let point_m = of.vec3("anchor", report)?;
    let p_W = pose(bodies, body).point(&Vec3::from(point_m));
    let X_WO = other.map_or_else(Transform::identity, |other| pose(bodies, other));
    Some(Connection {
        body: bodies[body].name.clone(),
        other: other.map(|other| bodies[other].name.clone()),
        point_m,
        other_point_m: X_WO.inverse().point(&p_W).to_array(),
    })
}

/// The pose of a body in the world, in the posture of the file.
fn pose(bodies: &[Body], mut body: usize) -> Transform {
    let mut X = Transform::identity();
    while body != 0 {
        X = bodies[body].X_PB.compose(&X);
        body = bodies[body].parent;
    }
    X
}
