//! Robots of any size that stand on straight legs, for measurements.

use hardstand::simulation::{Simulation, WatchdogSpec};
use hardstand_physics::contact::SpringParameters;
use hardstand_physics::math;
use hardstand_physics::model::{Base, Builder, Joint, JointKind};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
use hardstand_protocol::{Command, JointCommand, TickInput};

use crate::common::{G, add_body, add_joint, at, joint, plain_spec, station};

/// Distance from the trunk to each joint and to the tip, along a limb that hangs down, m.
const LENGTHS_M: [f64; 4] = [0.0, 0.05, 0.2, 0.2];
/// Distance of the limbs from the middle of the trunk, if there is more than one, m.
const SPREAD_M: f64 = 0.3;
/// Distance of the springs from the tip, if there is more than one, m.
const SOLE_M: f64 = 0.02;

/// Structure of a robot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    /// Limbs of three joints on a floating trunk.
    pub(crate) limbs: usize,
    /// Exponential springs under each of them.
    pub(crate) springs: usize,
    /// All limbs turn about x, y, y; else no two have the same kinds of joints.
    pub(crate) equal: bool,
}

/// A robot that stands under PD, in ticks of so many micro-steps of 100 µs.
pub(crate) fn standing(build: Build, micro_steps: u32) -> Simulation {
    let mut b = Builder::new("limbs", Base::Floating);
    let I = Mat3::from_diagonal(&Vec3::new(0.2, 0.2, 0.4));
    add_body(&mut b, "trunk", SpatialInertia::from_com(6.0, &Vec3::zeros(), &I));
    for limb in 0..build.limbs {
        add_limb(&mut b, build, limb);
    }
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    (spec.period_ns, spec.micro_steps) = (u64::from(micro_steps) * 100_000, micro_steps);
    for limb in 0..build.limbs {
        let body = 3 * (limb + 1);
        for k in 0..build.springs {
            let [x, y] = on_circle(k, build.springs, SOLE_M);
            let name = format!("{limb}_{k}");
            spec.stations.push(station(&name, body, [x, y, -LENGTHS_M[3]], 0.8));
        }
    }
    let SpringParameters { d0_m, d1_n, d2_per_m, .. } = SpringParameters::default();
    let load_n = model.total_mass() * G / spec.stations.len() as f64;
    let height_m = d0_m - libm::log(load_n / d1_n) / d2_per_m;
    spec.q.p_WB.z = LENGTHS_M.iter().sum::<f64>() + height_m;
    let hold = |j: &Joint| match j.kind {
        JointKind::Revolute => JointCommand { kp: 300.0, kd: 3.0, ..Default::default() },
        JointKind::Prismatic => JointCommand { kp: 30_000.0, kd: 100.0, ..Default::default() },
    };
    let joints = model.joints.iter().map(hold).collect();
    let watchdog =
        WatchdogSpec { hold_ticks: 1_000_000, damped_ticks: 50, proof_commands: 1, damping: 1.0 };
    let mut simulation = Simulation::new(model, spec, watchdog);
    let mut input = TickInput::new();
    input.candidates.push(Box::new(Command {
        run_id: 1,
        session: 1,
        seq: 1,
        answers_tick: 0,
        applies_tick: 0,
        joints,
    }));
    simulation.step(&input);
    simulation
}

fn add_limb(b: &mut Builder, build: Build, limb: usize) {
    let [x, y] = on_circle(limb, build.limbs, SPREAD_M);
    // the digits of a number to base 5, the number of kinds, so that 125 limbs differ
    let kinds = if build.equal { [0, 1, 1] } else { [limb / 25, limb / 5, limb].map(|k| k % 5) };
    let mut parent = "trunk".to_owned();
    for (k, kind) in kinds.into_iter().enumerate() {
        let body = format!("{limb}_{k}");
        let half_m = LENGTHS_M[k + 1] / 2.0;
        let I = Mat3::from_diagonal_element(1e-3);
        add_body(b, &body, SpatialInertia::from_com(0.3, &Vec3::new(0.0, 0.0, -half_m), &I));
        let place = if k == 0 { at(x, y, 0.0) } else { at(0.0, 0.0, -LENGTHS_M[k]) };
        let (kind, axis) = [
            (JointKind::Revolute, [1.0, 0.0, 0.0]),
            (JointKind::Revolute, [0.0, 1.0, 0.0]),
            (JointKind::Revolute, [0.0, 0.0, 1.0]),
            (JointKind::Revolute, [1.0, 1.0, 0.0]),
            (JointKind::Prismatic, [0.0, 0.0, 1.0]),
        ][kind];
        let mut j = joint(&body, kind, axis, place);
        (j.q_min, j.q_max, j.effort_max, j.velocity_max) = (-0.5, 0.5, 300.0, 30.0);
        (j.damping, j.friction, j.armature) = (0.02, 0.1, 0.01);
        add_joint(b, &parent, &body, j);
        parent = body;
    }
}

/// Point `i` of `n` on a circle about the origin; the origin if `n` is 1.
fn on_circle(i: usize, n: usize, radius_m: f64) -> [f64; 2] {
    if n == 1 {
        return [0.0; 2];
    }
    let (sin, cos) = math::sin_cos(std::f64::consts::TAU * i as f64 / n as f64);
    [radius_m * cos, radius_m * sin]
}
