//! Rotor inertias from `<transmission>` and `<ros2_control>`; URDF itself has no element for them.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::attributes::numbers;
use super::read::children;
use super::report::{Report, shown};
use super::source::Source;

/// Spellings of a rotor's own inertia: Gazebo's, Drake's, and plain.
const ROTOR_INERTIA: [&str; 3] = ["rotorInertia", "rotor_inertia", "rotor-inertia"];
/// Spellings of the gear ratio: ROS', Drake's, and plain.
const REDUCTION: [&str; 4] =
    ["mechanicalReduction", "gear_ratio", "mechanical_reduction", "reduction"];

/// For each joint its reflected rotor inertia, kg·m² (or kg); 0 where the file states none.
///
/// A rotor of inertia `J` with a gear of ratio `n` has the reflected inertia `n² J`. An `armature`
/// in `<ros2_control>` is that product already, and overrides a `<transmission>`.
pub(super) fn armatures(document: &Document<'_>, source: &Source, report: &mut Report) -> Vec<f64> {
    let joints = source.robot.joints.iter().enumerate();
    let index: BTreeMap<&str, usize> = joints.map(|(j, joint)| (joint.name.as_str(), j)).collect();
    let mut armature = vec![0.0; source.robot.joints.len()];
    for (element, reader) in [
        ("transmission", transmission as fn(Node<'_, '_>, &mut Report) -> Vec<Rotor>),
        ("ros2_control", ros2_control),
    ] {
        let mut stated: BTreeMap<usize, f64> = BTreeMap::new();
        let root = document.root_element();
        for node in children(root).filter(|n| n.tag_name().name() == element) {
            for rotor in reader(node, report) {
                match index.get(rotor.joint.as_str()) {
                    Some(&j) => *stated.entry(j).or_default() += rotor.armature,
                    None => report.warn(format!(
                        "<{element}> (line {}): joint \"{}\" does not exist; its rotor is ignored",
                        report.line(node),
                        shown(&rotor.joint)
                    )),
                }
            }
        }
        for (j, value) in stated {
            if let Some(slot) = armature.get_mut(j) {
                *slot = value;
            }
        }
    }
    armature
}

/// Rotor inertia that one actuator adds to a joint.
#[derive(Debug)]
struct Rotor {
    joint: String,
    armature: f64,
}

/// A `<transmission>`: each of its actuators drives its joint.
fn transmission(node: Node<'_, '_>, report: &mut Report) -> Vec<Rotor> {
    let named = |name: &'static str| children(node).filter(move |n| n.tag_name().name() == name);
    let joints: Vec<&str> = named("joint").filter_map(|n| n.attribute("name")).collect();
    let mut armature = 0.0;
    for actuator in named("actuator") {
        let Some(inertia) = value(actuator, &ROTOR_INERTIA, report) else { continue };
        // PR2's files state the ratio at the transmission, others at the joint
        let places = std::iter::once(actuator).chain(named("joint")).chain([node]);
        let mut ratio = None;
        for place in places {
            ratio = ratio.or_else(|| value(place, &REDUCTION, report));
        }
        let ratio = ratio.unwrap_or(1.0);
        armature += checked(actuator, ratio * ratio * inertia, report);
    }
    match joints[..] {
        _ if armature == 0.0 => Vec::new(),
        [joint] => vec![Rotor { joint: joint.into(), armature }],
        _ => {
            report.warn(format!(
                "<transmission> (line {}): names {} joints, so its rotor inertia is ignored",
                report.line(node),
                joints.len()
            ));
            Vec::new()
        }
    }
}

/// A `<ros2_control>`: a joint with `<param name="armature">`, or rotor inertia and reduction.
fn ros2_control(node: Node<'_, '_>, report: &mut Report) -> Vec<Rotor> {
    let mut rotors = Vec::new();
    for joint in children(node).filter(|n| n.tag_name().name() == "joint") {
        let armature = value(joint, &["armature"], report).or_else(|| {
            let inertia = value(joint, &ROTOR_INERTIA, report)?;
            let ratio = value(joint, &REDUCTION, report).unwrap_or(1.0);
            Some(ratio * ratio * inertia)
        });
        if let (Some(armature), Some(name)) = (armature, joint.attribute("name")) {
            let armature = checked(joint, armature, report);
            rotors.push(Rotor { joint: name.into(), armature });
        }
    }
    rotors
}

/// The number of the first child with one of the names, either as element or as
/// `<param name="…">`, in any namespace: its `value` attribute or its text.
fn value(node: Node<'_, '_>, names: &[&str], report: &mut Report) -> Option<f64> {
    let is_it = |n: &Node<'_, '_>| match n.tag_name().name() {
        "param" => n.attribute("name").is_some_and(|name| names.contains(&name)),
        name => names.contains(&name),
    };
    let found = children(node).find(is_it)?;
    let text = found.attribute("value").or_else(|| found.text()).unwrap_or_default();
    let Some([number]) = numbers::<1>(text) else {
        report.mistake(format!(
            "<{}> (line {}) is \"{}\"; it must be a finite number of at most 1e9",
            found.attribute("name").unwrap_or(found.tag_name().name()),
            report.line(found),
            shown(text)
        ));
        return None;
    };
    Some(number)
}

/// The rotor inertia; 0 and a mistake if it is negative, because that would add energy.
fn checked(node: Node<'_, '_>, armature: f64, report: &mut Report) -> f64 {
    if armature >= 0.0 {
        return armature;
    }
    report.mistake(format!(
        "<{}> (line {}): rotor inertia is {armature} kg·m²; it must not be negative",
        node.tag_name().name(),
        report.line(node)
    ));
    0.0
}
