//! Actuators: how strong the drive of a joint is, and its gains.

use std::collections::{BTreeMap, BTreeSet};

use super::body::Body;
use super::compiler::Compiler;
use super::defaults::{Defaults, Resolved};
use super::element::Element;
use super::report::Report;

/// Actuators share one record of defaults per class, whatever they are called.
const TAGS: [&str; 10] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
];

/// What the actuators of a joint can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Strength {
    /// Largest effort of all together, N·m or N.
    pub(super) effort_max: f64,
    /// Stiffness and damping of position servos, at the joint.
    pub(super) kp: f64,
    pub(super) kd: f64,
    /// Damping relative to critical, instead of `kd`.
    pub(super) dampratio: Option<f64>,
}

/// The actuators of each joint, by its name.
pub(super) fn strengths(
    root: &Element,
    bodies: &[Body],
    compiler: &Compiler,
    defaults: &Defaults,
    report: &mut Report,
) -> BTreeMap<String, Strength> {
    let joints: BTreeSet<&str> =
        bodies.iter().flat_map(|b| &b.joints).map(|j| j.name.as_str()).collect();
    let mut all: BTreeMap<String, Strength> = BTreeMap::new();
    for e in root.all("actuator").flat_map(|section| &section.children) {
        let of = defaults.resolve(e, "", &TAGS, report);
        let driven = driven(root, &of, report);
        if driven.is_empty() {
            let what = "actuators that do not drive a joint are left out";
            report.left_out(what, e.get("name").unwrap_or(&e.place));
            continue;
        }
        for name in ["armature", "damping"] {
            if of.numbers(name, 1..=3, report).is_some_and(|n| n[0] != 0.0) {
                report.mistake(format!("{}: <{} {name}>: give it to the joint", e.place, e.tag));
            }
        }
        filtered(&of, report);
        let one = strength(&of, compiler, report);
        for (joint, lever) in driven {
            if !joints.contains(joint.as_str()) {
                report.mistake(format!("{}: there is no joint \"{joint}\"", e.place));
                continue;
            }
            let sum = all.entry(joint).or_insert(Strength {
                effort_max: 0.0,
                kp: 0.0,
                kd: 0.0,
                dampratio: None,
            });
            sum.effort_max += one.effort_max * lever.abs();
            sum.kp += one.kp * lever * lever;
            sum.kd += one.kd * lever * lever;
            sum.dampratio = sum.dampratio.or(one.dampratio);
        }
    }
    all
}

/// The joints that an actuator drives, each with its lever: its own, or those of a fixed tendon.
fn driven(root: &Element, of: &Resolved<'_>, report: &mut Report) -> Vec<(String, f64)> {
    if let Some(joint) = of.text("joint").or_else(|| of.text("jointinparent")) {
        return vec![(joint.into(), 1.0)];
    }
    let Some(name) = of.text("tendon") else { return Vec::new() };
    let fixed = root.all("tendon").flat_map(|section| section.all("fixed"));
    let parts = fixed.filter(|t| t.get("name") == Some(name)).flat_map(|t| t.all("joint"));
    let part = |e: &Element| {
        let lever = Resolved::alone(e).number("coef", 1.0, report);
        Some((e.get("joint")?.to_string(), lever)).filter(|(_, lever)| *lever != 0.0)
    };
    let joints: Vec<(String, f64)> = parts.filter_map(part).collect();
    if !joints.is_empty() {
        report.left_out("joints that one tendon drives have a motor each here", name);
    }
    joints
}

/// Lists an actuator whose effort follows its control late.
fn filtered(of: &Resolved<'_>, report: &mut Report) {
    let kind = of.text("dyntype").unwrap_or("none");
    let late = ["timeconst", "delay"].map(|name| of.number(name, 0.0, report));
    if kind != "none" || late != [0.0; 2] {
        let e = of.element();
        report.left_out("actuators act at once here", e.get("name").unwrap_or(&e.place));
    }
}

fn strength(of: &Resolved<'_>, compiler: &Compiler, report: &mut Report) -> Strength {
    let auto = compiler.autolimits;
    let gear = of.numbers("gear", 1..=6, report).map_or(1.0, |g| g[0]);
    let force = of.limits("forcerange", "forcelimited", auto, report);
    let control = of.limits("ctrlrange", "ctrllimited", auto, report);
    let largest = |[low, high]: [f64; 2]| high.max(-low).max(0.0);
    let mut effort_max = force.map_or(f64::INFINITY, largest) * gear.abs();
    let Some((gain, kp, kd, dampratio)) = servo(of, report) else {
        return Strength { effort_max, kp: 0.0, kd: 0.0, dampratio: None };
    };
    if kp == 0.0 && kd == 0.0 && dampratio.is_none() {
        // the control is an effort
        let by_control = control.map_or(f64::INFINITY, largest) * (gain * gear).abs();
        effort_max = effort_max.min(by_control);
    }
    let square = gear * gear;
    Strength { effort_max, kp: kp * square, kd: kd * square, dampratio }
}

/// Gain of the control, stiffness, damping and relative damping; `None` if its control is neither
/// an effort nor a target.
fn servo(of: &Resolved<'_>, report: &mut Report) -> Option<(f64, f64, f64, Option<f64>)> {
    let number =
        |name: &str, report: &mut Report| of.text(name).map(|_| of.number(name, 0.0, report));
    let first = |name: &str, i: usize, report: &mut Report| {
        let all = of.numbers(name, 1..=10, report);
        all.and_then(|n| n.get(i).copied())
    };
    // the nearest word on gains counts, of the element or of its class
    let stiffness = number("kp", report).or_else(|| first("gainprm", 0, report));
    let (tag, place) = (of.element().tag.as_str(), of.element().place.clone());
    Some(match tag {
        "motor" => (1.0, 0.0, 0.0, None),
        "position" => {
            let kp = stiffness.unwrap_or(1.0);
            let has = |e: &&&Element| e.get("kv").is_some() || e.get("dampratio").is_some();
            let near = of.layers().iter().find(has).map(|e| Resolved::alone(e));
            let ratio = near.as_ref().filter(|e| e.text("dampratio").is_some());
            let ratio = ratio.map(|e| e.number("dampratio", 0.0, report)).filter(|r| *r > 0.0);
            let kv = near.map_or(0.0, |e| e.number("kv", 0.0, report));
            (kp, kp, kv, ratio)
        }
        "velocity" => (1.0, 0.0, number("kv", report).unwrap_or(1.0), None),
        "general" => {
            let affine = of.text("biastype") == Some("affine") || of.text("kp").is_some();
            let gain = stiffness.unwrap_or(1.0);
            if of.text("gaintype").is_some_and(|kind| kind != "fixed") {
                report.left_out("gains of actuators are constant here", &place);
            }
            if !affine {
                return Some((gain, 0.0, 0.0, None));
            }
            if first("biasprm", 0, report).is_some_and(|b| b != 0.0) {
                report.left_out("constant forces of actuators are left out", &place);
            }
            // without a word on it, the bias is 0; kp of a class says both
            let of_class = number("kp", report).unwrap_or(0.0);
            let kp = first("biasprm", 1, report).map_or(of_class, |b| -b);
            match first("biasprm", 2, report) {
                // as MuJoCo takes it for a position servo
                Some(ratio) if ratio > 0.0 => (gain, kp, 0.0, Some(ratio)),
                Some(b) => (gain, kp, -b, None),
                None => (gain, kp, number("kv", report).unwrap_or(0.0), None),
            }
        }
        _ => {
            report.left_out("actuators that are not drives are unlimited motors here", &place);
            return None;
        }
    })
}
