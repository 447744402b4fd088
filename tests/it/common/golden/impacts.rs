//! Single impacts of a block on rigid ground, with restitution and friction.

use hardstand::simulation::Simulation;
use hardstand_physics::contact::{ContactPlane, Restitution, SpringParameters};
use hardstand_physics::dynamics::{Positions, Velocities, kinetic_energy};
use hardstand_physics::plant::ContactModel;
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
use hardstand_protocol::TickInput;
use serde_json::Value;

use super::files::{GoldenFile, get, list, num, quat, vec3, vector};
use super::report::Report;
use super::run::{Scene, simulation};
use super::spring::free_body;

/// So short that the block hardly turns in a step, and long enough for an impulse of 10 N·s to be
/// a force that a plant takes.
const H_S: f64 = 2e-8;

pub fn check(file: &GoldenFile, report: &mut Report) {
    let setup = get(&file.json, "setup");
    for (i, record) in list(&file.json, "records").iter().enumerate() {
        let (at, mut block) = (format!("record {i}"), block(setup, record));
        let energy = |p: &Simulation| kinetic_energy(p.model(), p.data(), &p.state().v);
        let before = energy(&block);
        block.step(&TickInput::new());
        report.add("energy gained", energy(&block) - before, 1e-9, &at);
        let v = &block.state().v;
        let impulse = (v.v_WB - vec3(record, "v_G")) * num(setup, "mass");
        let over = impulse.xy().norm() - num(record, "mu_s") * impulse.z;
        report.add("friction over the cone", over, 1e-9, &at);
        // there Simbody's friction leaves the cone
        if get(record, "beyond_cone").as_bool() == Some(true) {
            continue;
        }
        report.vector("velocity", &v.v_WB, &vec3(record, "v_after_G"), 1.0, 1e-7, &at);
        report.vector("angular velocity", &v.w_WB, &vec3(record, "omega_after_G"), 1.0, 1e-6, &at);
    }
}

fn block(setup: &Value, record: &Value) -> Simulation {
    let I = Mat3::from_diagonal(&vec3(setup, "inertia_diag"));
    let inertia = SpatialInertia::from_com(num(setup, "mass"), &Vec3::zeros(), &I);
    let scene = Scene {
        gravity_W: Vec3::zeros(),
        planes: vec![ContactPlane::floor()],
        stations: list(setup, "stations_B").iter().map(|p| (0, vector(p))).collect(),
        parameters: SpringParameters::default(),
        mu: [num(record, "mu_s"), num(record, "mu_d")],
        q: Positions {
            quat_WB: quat(record, "quat_GB"),
            p_WB: vec3(record, "p_G"),
            joints: vec![],
        },
        v: Velocities { w_WB: vec3(record, "omega_G"), v_WB: vec3(record, "v_G"), joints: vec![] },
    };
    let springs = simulation(free_body(inertia), &scene, H_S);
    let mut spec = springs.spec().clone();
    spec.stations.iter_mut().for_each(|s| s.model = ContactModel::Rigid);
    let speeds = ["capture_velocity", "min_cor_velocity"].map(|key| num(setup, key));
    spec.restitution =
        Restitution::new(num(record, "min_cor"), speeds[0], speeds[1]).expect("a restitution");
    Simulation::new(springs.model().clone(), spec, *springs.watchdog())
}
