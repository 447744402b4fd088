//! The robot of a scenario: model, joint overrides, initial state.

use crate::dynamics::{Data, Positions, Velocities, kinematics};
use crate::model::{BaseChoice, Model};
use crate::spatial::{Quaternion, Vec3};

use super::ground::Touching;
use super::section::{Range, Section};

pub(super) fn base_choice(robot: &Section<'_>) -> BaseChoice {
    robot
        .choice(
            "base",
            &[
                ("auto", BaseChoice::Auto),
                ("floating", BaseChoice::Floating),
                ("fixed", BaseChoice::Fixed),
            ],
        )
        .unwrap_or(BaseChoice::Auto)
}

/// Replaces joint properties; "*" first, then the joints by name.
pub(super) fn override_joints(root: &Section<'_>, model: &mut Model) {
    let section = root.section("joints");
    let mut names = section.keys();
    names.sort_by_key(|&n| n != "*");
    for name in names {
        let table = section.section(name);
        let known = name == "*" || model.joint_index(name).is_some();
        if !known {
            section.mistake(name, &format!("about one of the joints {}", joint_names(model)));
            continue;
        }
        let over = |key: &str, range| table.f64_if_given(key, range);
        let (armature, damping) =
            (over("armature", Range::at_least(0.0)), over("damping", Range::at_least(0.0)));
        let (friction, effort) =
            (over("friction", Range::at_least(0.0)), over("effort_max", Range::above(0.0)));
        let velocity = over("velocity_max", Range::above(0.0));
        let (q_min, q_max) = (over("q_min", Range::finite()), over("q_max", Range::finite()));
        for joint in model.joints.iter_mut().filter(|j| name == "*" || j.name == name) {
            let replace = |slot: &mut f64, value: Option<f64>| *slot = value.unwrap_or(*slot);
            replace(&mut joint.armature, armature);
            replace(&mut joint.damping, damping);
            replace(&mut joint.friction, friction);
            replace(&mut joint.effort_max, effort);
            replace(&mut joint.velocity_max, velocity);
            replace(&mut joint.q_min, q_min);
            replace(&mut joint.q_max, q_max);
            if joint.q_min > joint.q_max {
                let limits = format!("{} to {}", joint.q_min, joint.q_max);
                let allowed = format!("such that q_min ≤ q_max (joint {}: {limits})", joint.name);
                section.mistake(name, &allowed);
            }
        }
        table.finish();
    }
}

fn joint_names(model: &Model) -> String {
    model.joints.iter().map(|j| j.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Initial positions and velocities, before the robot is placed above the ground.
pub(super) fn initial_state(initial: &Section<'_>, model: &Model) -> (Positions, Velocities) {
    let (mut q, mut v) = (Positions::zero(model), Velocities::zero(model));
    q.p_WB = Vec3::from(initial.vec3("position_m", Range::between(-1e5, 1e5)));
    let rpy = initial.vec3("rpy_rad", Range::between(-10.0, 10.0));
    q.quat_WB = Quaternion::from_rpy(rpy[0], rpy[1], rpy[2]);
    let fast = Range::between(-1e3, 1e3);
    v.v_WB = Vec3::from(initial.vec3("velocity_m_per_s", fast));
    v.w_WB = Vec3::from(initial.vec3("angular_velocity_rad_per_s", fast));
    if model.base == crate::model::Base::Fixed {
        (v.v_WB, v.w_WB) = (Vec3::zeros(), Vec3::zeros());
    }
    for (q, joint) in q.joints.iter_mut().zip(&model.joints) {
        *q = 0.0_f64.clamp(joint.q_min, joint.q_max.max(joint.q_min));
    }
    let joints = initial.section("joints");
    for name in joints.keys() {
        match model.joint_index(name) {
            Some(i) => q.joints[i] = joints.f64(name, Range::between(-1e4, 1e4)),
            None => {
                joints.mistake(name, &format!("one of the joints {}", joint_names(model)));
            }
        }
    }
    (q, v)
}

/// Moves the base along the first plane's normal until the lowest station is `clearance_m` above
/// all planes. A sphere counts with
/// its lowest point.
pub(super) fn place_above(
    model: &Model,
    planes: &[crate::contact::ContactPlane],
    touching: &Touching,
    clearance_m: f64,
    q: &mut Positions,
) {
    let Some(first) = planes.first() else { return };
    let mut data = Data::new(model);
    kinematics(model, q, &Velocities::zero(model), &mut data);
    let normal_W = first.vector_W(&Vec3::z());
    let mut rise = f64::NEG_INFINITY;
    for (station, raised_m) in touching.stations.iter().zip(&touching.raised_m) {
        let p_W = data.point_W(station.body, &station.p_BS);
        for plane in planes {
            let along = plane.vector_P(&normal_W).z;
            if along > 1e-3 {
                let height = plane.position_P(&p_W).z - raised_m;
                rise = rise.max((clearance_m - height) / along);
            }
        }
    }
    if rise.is_finite() {
        q.p_WB += normal_W * rise;
    }
}
