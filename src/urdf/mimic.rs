//! `<mimic>`: joints that follow others.

use urdf_rs::JointType;

use super::report::{Report, shown};
use super::source::Source;
use hardstand_physics::model::CouplingSpec;

/// The couplings of a robot; mistakes are reported.
pub(super) fn couplings(source: &Source, report: &mut Report) -> Vec<CouplingSpec> {
    let joints = &source.robot.joints;
    let index = |name: &str| joints.iter().position(|j| j.name == name);
    let leader_of = |j: usize| joints[j].mimic.as_ref().and_then(|m| index(&m.joint));
    let mut out = Vec::new();
    for (j, joint) in joints.iter().enumerate() {
        let Some(mimic) = &joint.mimic else { continue };
        let owner = source.joint(j);
        let Some(leader) = leader_of(j) else {
            if !source.has_lost_joints {
                let name = shown(&mimic.joint);
                report.mistake(format!(
                    "{owner}: <mimic> names the joint \"{name}\", which does not exist; \
                     correct the name, or remove <mimic> and the joint moves by itself"
                ));
            }
            continue;
        };
        let mut above = leader;
        // a chain without a ring is shorter than there are joints
        for _ in 0..joints.len() {
            if above != j {
                above = leader_of(above).unwrap_or(above);
            }
        }
        if above == j {
            report.mistake(format!("{owner}: follows itself by <mimic>; remove one of the ring"));
            continue;
        }
        let moves = !matches!(joints[leader].joint_type, JointType::Fixed);
        if joints[leader].joint_type == JointType::Floating {
            report.mistake(format!("{owner}: <mimic> names a floating joint; name one that turns"));
            continue;
        }
        out.push(CouplingSpec {
            follower: joint.name.clone(),
            leader: moves.then(|| mimic.joint.clone()),
            multiplier: mimic.multiplier.unwrap_or(1.0),
            offset: mimic.offset.unwrap_or(0.0),
        });
    }
    out
}
