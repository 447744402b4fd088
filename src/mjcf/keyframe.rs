//! Keyframes.

use super::body::{Body, JointType};
use super::defaults::Resolved;
use super::element::Element;
use super::report::Report;
use hardstand_physics::spatial::Quaternion;

/// A posture that the model names.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Name; may be empty.
    pub name: String,
    /// Position (m) and quaternion (w, x, y, z) of a free base.
    pub base: Option<([f64; 3], [f64; 4])>,
    /// Names and positions of the robot's joints, rad or m.
    pub joints: Vec<(String, f64)>,
}

/// The keyframes; `is_robot` says which bodies are.
pub(super) fn keyframes(
    root: &Element,
    bodies: &[Body],
    is_robot: &[bool],
    report: &mut Report,
) -> Vec<Keyframe> {
    let size = |kind: JointType| if kind == JointType::Free { 7 } else { 1 };
    let count: usize = bodies.iter().flat_map(|b| &b.joints).map(|j| size(j.kind)).sum();
    let mut out = Vec::new();
    for key in root.all("keyframe").flat_map(|section| section.all("key")) {
        if key.get("qpos").is_none() {
            let name = key.get("name").unwrap_or_default().into();
            out.push(Keyframe { name, ..at_reference(bodies, is_robot) });
            continue;
        }
        let Some(q) = Resolved::alone(key).numbers("qpos", count..=count, report) else { continue };
        let mut rest = q.as_slice();
        let mut keyframe = Keyframe {
            name: key.get("name").unwrap_or_default().into(),
            base: None,
            joints: Vec::new(),
        };
        for (body, robot) in bodies.iter().zip(is_robot) {
            for joint in &body.joints {
                let (own, after) = rest.split_at(size(joint.kind));
                rest = after;
                match own {
                    _ if !robot => {}
                    &[x, y, z, a, b, c, d] => keyframe.base = Some(([x, y, z], [a, b, c, d])),
                    own => keyframe.joints.push((joint.name.clone(), own[0])),
                }
            }
        }
        out.push(keyframe);
    }
    out
}

/// The posture of the file.
pub(super) fn at_reference(bodies: &[Body], is_robot: &[bool]) -> Keyframe {
    let mut keyframe = Keyframe { name: String::new(), base: None, joints: Vec::new() };
    for (body, _) in bodies.iter().zip(is_robot).filter(|(_, robot)| **robot) {
        for joint in &body.joints {
            if joint.kind == JointType::Free {
                let X = &body.X_PB;
                let quat = Quaternion::from_matrix(&X.R).wxyz();
                keyframe.base = Some((X.p.to_array(), quat));
            } else {
                keyframe.joints.push((joint.name.clone(), joint.q_ref));
            }
        }
    }
    keyframe
}
