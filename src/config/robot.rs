//! The robot of a scenario: model, joint overrides, initial state.

use crate::contact::{ContactPlane, ExponentialSpring, Friction, Memory};
use crate::dynamics::{Data, Positions, Velocities, kinematics};
use crate::model::{BaseChoice, Model};
use crate::plant::Station;
use crate::spatial::{Quaternion, Vec3};

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
                let limits = format!("q_min {} is above q_max {}", joint.q_min, joint.q_max);
                section.complain(name, &format!("joint {}: {limits}", joint.name));
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
    (q, v)
}

/// Moves the base along the first plane's normal to where the robot would rest, as one rigid piece,
/// on its springs, and then `clearance_m` higher.
pub(super) fn place_above(
    model: &Model,
    planes: &[ContactPlane],
    stations: &[Station],
    gravity_W: &Vec3,
    clearance_m: f64,
    q: &mut Positions,
) {
    let Some(first) = planes.first() else { return };
    let mut data = Data::new(model);
    kinematics(model, q, &Velocities::zero(model), &mut data);
    let normal_W = first.vector_W(&Vec3::z());
    let weight_n = (-gravity_W.dot(&normal_W) * model.total_mass()).max(0.0);
    // heights of all contacts whose plane faces the way the base is moved
    let mut contacts = Vec::new();
    for station in stations {
        let p_W = data.point_W(station.body, &station.p_BS);
        for plane in planes {
            let along = plane.vector_P(&normal_W).z;
            if along > 1e-3 {
                let height_m = plane.position_P(&p_W).z - station.radius_m;
                contacts.push((height_m, along, station.spring));
            }
        }
    }
    let lowest = contacts.iter().map(|(height_m, along, _)| -height_m / along);
    let Some(mut high) = lowest.max_by(f64::total_cmp) else { return };
    let carried_n = |rise: f64| -> f64 {
        let at_rest = |(height_m, along, spring): &(f64, f64, ExponentialSpring)| {
            let p_P = Vec3::new(0.0, 0.0, height_m + rise * along);
            let f = spring.evaluate(&NO_FRICTION, &Memory::new(), &p_P, &Vec3::zeros(), f64::NAN);
            f.normal_n * along
        };
        contacts.iter().map(at_rest).sum()
    };
    // between touching by 10 cm and floating by 10 cm the force falls from far above to far below
    let mut low = high - 0.1;
    high += 0.1;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if carried_n(middle) > weight_n { low = middle } else { high = middle }
    }
    q.p_WB += normal_W * (high + clearance_m);
}

const NO_FRICTION: Friction = Friction::NONE;
