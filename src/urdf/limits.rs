//! Axis, `<limit>`, `<dynamics>` and `<mimic>` of a moving joint.

use roxmltree::Node;

use super::read::{Reader, child};

/// A limit above this means "no limit": exporters write 1e16 or the largest double.
const LIMIT_MAX: f64 = 1e9;
/// Shortest axis that has a direction.
const AXIS_LENGTH_MIN: f64 = 1e-9;

const NO_EFFORT: &str = "effort limit absent, taken as not stated: unlimited, joints";
const PASSIVE: &str =
    "effort limit 0: no motor unless effort_max in [joints.NAME] gives one, joints";
const NO_VELOCITY: &str = "velocity limit 0 or absent, taken as not stated: unlimited, joints";
const NO_RANGE: &str = "lower and upper 0 or absent, taken as not stated: unlimited, joints";
const HALF_RANGE: &str = "<limit> with one of lower and upper, the other is 0, joints";
const PLANAR_RANGE: &str = "lower and upper of a planar joint are ignored, joints";
const LOCKED: &str = "lower equals upper, the joint cannot move, joints";

/// Reads the axis, limits and dynamics of a moving joint and writes them.
pub(super) fn read(
    reader: &mut Reader<'_>,
    joint: Node<'_, '_>,
    owner: &str,
    kind: &str,
    name: &str,
) {
    let axis = axis(reader, joint, owner);
    reader.xml.axis(axis);
    limit(reader, joint, owner, kind, name);
    dynamics(reader, joint, owner);
    mimic(reader, joint, owner);
}

/// Reads limits and dynamics of a planar joint, whose positions have no bounds, for the step `name`
/// of it, and writes them.
pub(super) fn read_unbounded(
    reader: &mut Reader<'_>,
    joint: Node<'_, '_>,
    owner: &str,
    name: &str,
) {
    let bounded = |node: Node<'_, '_>| node.has_attribute("lower") || node.has_attribute("upper");
    if child(joint, "limit").is_some_and(bounded) {
        reader.report.warn_shared(PLANAR_RANGE, name);
    }
    limit(reader, joint, owner, "continuous", name);
    dynamics(reader, joint, owner);
}

fn dynamics(reader: &mut Reader<'_>, joint: Node<'_, '_>, owner: &str) {
    if let Some(dynamics) = child(joint, "dynamics") {
        let values = ["damping", "friction"].map(|attribute| {
            let value = reader.number(owner, dynamics, attribute, Some(0.0));
            if value < 0.0 {
                reader.bad(owner, dynamics, attribute, "must not be negative");
            }
            (attribute, value)
        });
        reader.xml.leaf("dynamics", &values);
    }
}

fn mimic(reader: &mut Reader<'_>, joint: Node<'_, '_>, owner: &str) {
    if let Some(mimic) = child(joint, "mimic") {
        let Some(leader) = mimic.attribute("joint") else {
            return reader.bad(owner, mimic, "joint", "must name the joint to follow");
        };
        let numbers = [("multiplier", 1.0), ("offset", 0.0)].map(|(attribute, default)| {
            reader.number(owner, mimic, attribute, Some(default)).to_string()
        });
        let [multiplier, offset] = &numbers;
        let values = [("joint", leader), ("multiplier", multiplier), ("offset", offset)];
        reader.xml.open("mimic", &values);
        reader.xml.close("mimic");
    }
}

/// The unit axis of a joint.
pub(super) fn axis(reader: &mut Reader<'_>, joint: Node<'_, '_>, owner: &str) -> [f64; 3] {
    const X: [f64; 3] = [1.0, 0.0, 0.0];
    let Some(node) = child(joint, "axis") else { return X };
    let mut axis = reader.triple(owner, node, "xyz", Some(X));
    let length = (axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]).sqrt();
    if length < AXIS_LENGTH_MIN {
        reader.bad(owner, node, "xyz", "must not have zero length");
        axis = X;
    } else if length != 1.0 {
        axis = axis.map(|c| c / length);
    }
    axis
}

fn limit(reader: &mut Reader<'_>, joint: Node<'_, '_>, owner: &str, kind: &str, name: &str) {
    const NONE: [f64; 4] = [f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY, f64::INFINITY];
    let [mut lower, mut upper, mut effort, mut velocity] = NONE;
    if let Some(node) = child(joint, "limit") {
        if kind != "continuous" {
            [lower, upper] = range(reader, node, owner, name);
        }
        effort = strength(reader, node, owner, "effort").unwrap_or_else(|| {
            if node.has_attribute("effort") {
                reader.report.warn_shared(PASSIVE, name);
                return 0.0;
            }
            reader.report.warn_shared(NO_EFFORT, name);
            f64::INFINITY
        });
        velocity = strength(reader, node, owner, "velocity").unwrap_or_else(|| {
            reader.report.warn_shared(NO_VELOCITY, name);
            f64::INFINITY
        });
    } else if kind != "continuous" {
        reader.mistake(format!(
            "{owner}: a {kind} joint must have \
             <limit lower=\"…\" upper=\"…\" effort=\"…\" velocity=\"…\"/>{}",
            if kind == "revolute" { ", or be continuous" } else { "" }
        ));
    } else {
        reader.report.warn_shared(NO_EFFORT, name);
        reader.report.warn_shared(NO_VELOCITY, name);
    }
    let values = [("lower", lower), ("upper", upper), ("effort", effort), ("velocity", velocity)];
    reader.xml.leaf("limit", &values);
}

/// Position range. Read literally, two absent or zero bounds would weld the joint; but exporters
/// write zeros for bounds that the user left open.
fn range(reader: &mut Reader<'_>, node: Node<'_, '_>, owner: &str, name: &str) -> [f64; 2] {
    let bounds = ["lower", "upper"].map(|attribute| {
        node.attribute(attribute)?;
        Some(extended(reader, node, owner, attribute))
    });
    let [lower, upper] = match bounds {
        [None | Some(0.0), None | Some(0.0)] => {
            reader.report.warn_shared(NO_RANGE, name);
            [f64::NEG_INFINITY, f64::INFINITY]
        }
        [lower, upper] => {
            if lower.is_none() || upper.is_none() {
                reader.report.warn_shared(HALF_RANGE, name);
            }
            [lower.unwrap_or(0.0), upper.unwrap_or(0.0)]
        }
    };
    if lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
        reader.mistake(format!("{owner}: lower limit {lower} is above upper limit {upper}"));
    } else if lower == upper {
        reader.report.warn_shared(LOCKED, name);
    }
    [lower, upper]
}

/// An effort or velocity limit; `None` if it is absent or 0.
fn strength(
    reader: &mut Reader<'_>,
    node: Node<'_, '_>,
    owner: &str,
    attribute: &str,
) -> Option<f64> {
    node.attribute(attribute)?;
    let value = extended(reader, node, owner, attribute);
    if value < 0.0 {
        reader.bad(owner, node, attribute, "must not be negative");
    }
    (value != 0.0).then_some(value)
}

/// A number that may be infinite.
fn extended(reader: &mut Reader<'_>, node: Node<'_, '_>, owner: &str, attribute: &str) -> f64 {
    let text = node.attribute(attribute).unwrap_or_default();
    match text.trim().parse::<f64>() {
        Ok(value) if value >= LIMIT_MAX => f64::INFINITY,
        Ok(value) if value <= -LIMIT_MAX => f64::NEG_INFINITY,
        Ok(value) if !value.is_nan() => value,
        _ => {
            reader.bad(owner, node, attribute, "must be a number");
            // a value that passes the later checks, because the mistake is already reported
            if attribute == "lower" { f64::NEG_INFINITY } else { f64::INFINITY }
        }
    }
}
