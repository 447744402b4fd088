//! `<equality>`: joints that follow others, and points of bodies that stay together. Other
//! equalities are not simulated.

use std::collections::BTreeMap;

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
    let own = |name: &str| bodies.iter().zip(is_robot).any(|(b, is)| *is && b.name == name);
    if of.element().tag != "connect" {
        return None;
    }
    let body = of.text("body1").filter(|name| own(name))?;
    let other = of.text("body2");
    if other.is_some_and(|name| name == body || !own(name)) {
        return None;
    }
    let point_m = of.vec3("anchor", report)?;
    Some(Connection { body: body.into(), other: other.map(String::from), point_m })
}
