//! Gains that hold a robot upright, from its masses and levers.

use super::feet::FootProposal;
use hardstand_physics::dynamics::{
    Accelerations, Data, GeneralizedForces, Positions, Velocities, aba, center_of_mass, kinematics,
    rnea,
};
use hardstand_physics::model::Model;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::HoldGains;

const GRAVITY: f64 = 9.81;
/// How far a joint may sag under the robot's weight, rad (or m).
const SAG: f64 = 0.04;
/// Natural frequency of a joint with what it moves, rad/s, and damping ratio.
const FREQUENCY: f64 = 15.0;
const RATIO: f64 = 0.7;
/// An inverted pendulum falls below a stiffness of m g h; this many times that is upright.
const UPRIGHT: f64 = 3.0;
/// Length of a micro-step for which damping must be stable, s, and share of the limit.
const STEP_S: f64 = 1e-4;
const STABLE: f64 = 0.5;

/// Gains of each joint in a posture.
pub(super) fn propose(model: &Model, q: &Positions, feet: &[FootProposal]) -> Vec<HoldGains> {
    let still = Velocities::zero(model);
    let mut data = Data::new(model);
    kinematics(model, q, &still, &mut data);
    let mass = model.total_mass();
    let count = feet.len().max(1) as f64;
    let com = center_of_mass(model, &data);
    let levers = levers(model, q, feet, |foot| foot.points_L[0]);
    let lowest = feet.iter().map(|f| data.X_WB[f.body].p.z).fold(f64::INFINITY, f64::min);
    let height = if feet.is_empty() { 0.0 } else { com.z - lowest };
    let mut weight = GeneralizedForces::zero(model);
    let down = Vec3::new(0.0, 0.0, -GRAVITY);
    rnea(model, &mut data, &still, &down, &mut weight);
    let free = inertias(model, q);
    (0..model.joint_count())
        .map(|j| {
            let lever = levers[j];
            let carried = free[j].max(mass / count * lever.norm_squared());
            let on_leg = lever.norm_squared() > 0.0;
            let load = weight.joints[j].abs() + mass * GRAVITY / count * lever.z.abs();
            let pendulum = if on_leg { UPRIGHT * mass * GRAVITY * height / count } else { 0.0 };
            let kp = (load / SAG).max(carried * FREQUENCY * FREQUENCY).max(pendulum);
            let swung = if on_leg { carried.max(mass / count * height * height) } else { carried };
            let kd = (2.0 * RATIO * (kp * swung).sqrt()).min(STABLE * free[j] / STEP_S);
            HoldGains { kp: rounded(kp), kd: rounded(kd) }
        })
        .collect()
}

/// The joint positions to command so that the robot rests in the posture `q`: each motor needs a
/// deflection for its share of the weight. Feet carry the same load each.
pub(super) fn against_sag(
    model: &Model,
    q: &Positions,
    feet: &[FootProposal],
    gains: &[HoldGains],
) -> Positions {
    let still = Velocities::zero(model);
    let mut data = Data::new(model);
    kinematics(model, q, &still, &mut data);
    let mut weight = GeneralizedForces::zero(model);
    rnea(model, &mut data, &still, &Vec3::new(0.0, 0.0, -GRAVITY), &mut weight);
    let load_n = model.total_mass() * GRAVITY / feet.len().max(1) as f64;
    let mut out = q.clone();
    let levers = levers(model, q, feet, FootProposal::middle_L);
    for (j, joint) in model.joints.iter().enumerate() {
        let effort = weight.joints[j] - load_n * levers[j].z;
        let to = q.joints[j] + effort / gains[j].kp.max(1e-9);
        out.joints[j] = to.clamp(joint.q_min, joint.q_max.max(joint.q_min));
    }
    out
}

/// How each joint moves a point of the foot that it carries: metres per unit of the joint.
fn levers(
    model: &Model,
    q: &Positions,
    feet: &[FootProposal],
    point_L: fn(&FootProposal) -> Vec3,
) -> Vec<Vec3> {
    let still = Velocities::zero(model);
    let place = |q: &Positions, foot: &FootProposal| {
        let mut data = Data::new(model);
        kinematics(model, q, &still, &mut data);
        let X = model.frame(&foot.link).map(|f| data.X_WB[f.body].compose(&f.X_BF));
        X.map_or(Vec3::zeros(), |X| X.R * point_L(foot) + X.p)
    };
    let mut out = vec![Vec3::zeros(); model.joint_count()];
    for foot in feet {
        let here = place(q, foot);
        let mut body = foot.body;
        while body > 0 {
            let mut there = q.clone();
            there.joints[body - 1] += 1e-6;
            let lever = (place(&there, foot) - here) * 1e6;
            if lever.norm_squared() > out[body - 1].norm_squared() {
                out[body - 1] = lever;
            }
            body = model.bodies[body].parent;
        }
    }
    out
}

/// Inertia that each joint feels with a free base: effort per acceleration.
pub(super) fn inertias(model: &Model, q: &Positions) -> Vec<f64> {
    let still = Velocities::zero(model);
    let mut out = Vec::new();
    for j in 0..model.joint_count() {
        let mut data = Data::new(model);
        kinematics(model, q, &still, &mut data);
        let mut tau = vec![0.0; model.joint_count()];
        tau[j] = 1.0;
        let mut vdot = Accelerations::zero(model);
        aba(model, &mut data, &tau, &Vec3::zeros(), &mut vdot);
        out.push(1.0 / vdot.joints[j].max(1e-12));
    }
    out
}

/// Two digits: it is a proposal.
fn rounded(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}
