//! The robot of a scenario: model, joint overrides, initial state.

use crate::urdf::BaseChoice;
use hardstand_physics::contact::{Surface, SurfaceShape};
use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;
use hardstand_physics::spatial::{Quaternion, Vec3};
use hardstand_protocol::HoldGains;

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

/// Replaces joint properties; "*" first, then the joints by name. Returns the gains with which each
/// joint can be held.
pub(super) fn override_joints(root: &Section<'_>, model: &mut Model) -> Vec<HoldGains> {
    let mut gains = vec![HoldGains::default(); model.joint_count()];
    let section = root.section("joints");
    let mut names = section.keys();
    names.sort_by_key(|&n| n != "*");
    for name in names {
        let table = section.section(name);
        let known = name == "*" || model.joint_index(name).is_some();
        if !known {
            let names = joint_names(model);
            section.complain(name, &format!("no joint has this name; the joints are {names}"));
            continue;
        }
        let over = |key: &str, range| table.f64_if_given(key, range);
        let (armature, damping) =
            (over("armature", Range::at_least(0.0)), over("damping", Range::at_least(0.0)));
        let (friction, effort) =
            (over("friction", Range::at_least(0.0)), over("effort_max", Range::above(0.0)));
        let velocity = over("velocity_max", Range::above(0.0));
        let (q_min, q_max) = (over("q_min", Range::finite()), over("q_max", Range::finite()));
        let (kp, kd) =
            (over("hold_kp", Range::at_least(0.0)), over("hold_kd", Range::at_least(0.0)));
        let joints = model.joints.iter_mut().zip(&mut gains);
        for (joint, gains) in joints.filter(|(j, _)| name == "*" || j.name == name) {
            let replace = |slot: &mut f64, value: Option<f64>| *slot = value.unwrap_or(*slot);
            replace(&mut joint.armature, armature);
            replace(&mut joint.damping, damping);
            replace(&mut joint.friction, friction);
            replace(&mut joint.effort_max, effort);
            replace(&mut joint.velocity_max, velocity);
            replace(&mut joint.q_min, q_min);
            replace(&mut joint.q_max, q_max);
            replace(&mut gains.kp, kp);
            replace(&mut gains.kd, kd);
            if joint.q_min > joint.q_max {
                let limits = format!("q_min {} is above q_max {}", joint.q_min, joint.q_max);
                section.complain(name, &format!("joint {}: {limits}", joint.name));
            }
        }
        table.know(&["drive"]); // read with the battery
        table.finish();
    }
    gains
}

/// Largest distance of an initial position from where the joint's leader wants it, rad or m: files
/// round.
const FOLLOWS_MAX: f64 = 0.01;

fn joint_names(model: &Model) -> String {
    model.joints.iter().map(|j| j.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Height above the rest position, m; `None` if the robot stays at the given position.
pub(super) fn clearance_m(initial: &Section<'_>) -> Option<f64> {
    let clearance_m = initial.f64("clearance_m", Range::between(-10.0, 1000.0));
    let places = [("above_ground", true), ("as_given", false)];
    (initial.choice("place", &places) == Some(true)).then_some(clearance_m)
}

/// Initial positions and velocities, before the robot is placed above the ground.
pub(super) fn initial_state(initial: &Section<'_>, model: &Model) -> (Positions, Velocities) {
    let (mut q, mut v) = (Positions::zero(model), Velocities::zero(model));
    // already applied: robot_file
    let _keyframe = initial.text("keyframe");
    q.p_WB = Vec3::from(initial.vec3("position_m", Range::between(-1e5, 1e5)));
    let rpy = initial.vec3("rpy_rad", Range::between(-10.0, 10.0));
    q.quat_WB = Quaternion::from_rpy(rpy[0], rpy[1], rpy[2]);
    let fast = Range::between(-1e3, 1e3);
    v.v_WB = Vec3::from(initial.vec3("velocity_m_per_s", fast));
    v.w_WB = Vec3::from(initial.vec3("angular_velocity_rad_per_s", fast));
    if model.base == hardstand_physics::model::Base::Fixed {
        (v.v_WB, v.w_WB) = (Vec3::zeros(), Vec3::zeros());
    }
    for (q, joint) in q.joints.iter_mut().zip(&model.joints) {
        *q = 0.0_f64.clamp(joint.q_min, joint.q_max.max(joint.q_min));
    }
    let joints = initial.section("joints");
    for name in joints.keys() {
        match model.joint_index(name) {
            Some(i) => {
                let (min, max) = (model.joints[i].q_min, model.joints[i].q_max);
                let range = Range::between(min.max(-1e4), max.min(1e4));
                q.joints[i] = joints.f64(name, range);
            }
            None => {
                joints.mistake(name, &format!("one of the joints {}", joint_names(model)));
            }
        }
    }
    let given = q.joints.clone();
    model.couple(&mut q.joints);
    for follower in model.couplings.iter().map(|c| c.follower) {
        let (name, follows) = (model.joints[follower].name.as_str(), q.joints[follower]);
        if joints.has(name) && (given[follower] - follows).abs() > FOLLOWS_MAX {
            joints.complain(name, &format!("it follows another joint to {follows}; leave it out"));
        }
    }
    (q, v)
}

/// The first plane's normal, or the direction against gravity, if the ground has no plane.
pub(super) fn up_W(spec: &PlantSpec) -> Vec3 {
    up_over(&spec.ground, &spec.gravity_W)
}

/// As [`up_W`], of a plant that is not complete yet.
pub(super) fn up_over(ground: &[Surface], gravity_W: &Vec3) -> Vec3 {
    match ground.first() {
        Some(first) if matches!(first.shape, SurfaceShape::Plane) => first.X_WS.R * Vec3::z(),
        _ if gravity_W.norm() > 0.0 => -gravity_W.normalize(),
        _ => Vec3::z(),
    }
}
