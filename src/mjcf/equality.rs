//! `<equality>`: joints that follow others. Other equalities are not simulated.

use std::collections::BTreeMap;

use super::body::{Body, Joint, JointType};
use super::defaults::Defaults;
use super::element::Element;
use super::report::Report;

/// How a joint follows another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mimic {
    pub(super) leader: String,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

/// The followers, by the name of the joint.
pub(super) fn mimics(
    root: &Element,
    (bodies, is_robot): (&[Body], &[bool]),
    defaults: &Defaults,
    report: &mut Report,
) -> BTreeMap<String, Mimic> {
    let own = bodies.iter().zip(is_robot).filter(|(_, is)| **is).flat_map(|(b, _)| &b.joints);
    let joints: Vec<&Joint> = own.filter(|j| j.kind != JointType::Free).collect();
    let find = |name: &str| joints.iter().find(|j| j.name == name);
    let mut out = BTreeMap::new();
    for e in root.all("equality").flat_map(|section| &section.children) {
        let of = defaults.resolve(e, "", &["equality", e.tag.as_str()], report);
        if of.text("active") == Some("false") {
            continue;
        }
        let poly = of.numbers("polycoef", 1..=5, report).unwrap_or_default();
        let coefficient = |i: usize, default: f64| poly.get(i).copied().unwrap_or(default);
        let is_line = (2..5).all(|i| coefficient(i, 0.0) == 0.0);
        let ends = ["joint1", "joint2"].map(|name| of.text(name).and_then(find));
        let ([Some(follower), Some(leader)], "joint", true) = (ends, e.tag.as_str(), is_line)
        else {
            let what = "equality constraints other than lines between two joints are not simulated";
            report.left_out(what, &e.place);
            continue;
        };
        let multiplier = coefficient(1, 1.0);
        // MuJoCo takes both from where the file places them
        let offset = follower.q_ref + coefficient(0, 0.0) - multiplier * leader.q_ref;
        let mimic = Mimic { leader: leader.name.clone(), multiplier, offset };
        if out.insert(follower.name.clone(), mimic).is_some() {
            let name = &follower.name;
            report.mistake(format!("{}: {name} would follow two joints", e.place));
        }
    }
    out
}
