//! A block that falls on rigid ground. Impacts depend on the solver, so only what must hold for
//! any of them is compared: no corner in the ground, no energy gained, and where it comes to rest.

use hardstand::simulation::Simulation;
use hardstand_physics::contact::{ContactPlane, Restitution, SpringParameters};
use hardstand_physics::dynamics::{Positions, Velocities, kinetic_energy};
use hardstand_physics::plant::ContactModel;
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
use hardstand_protocol::TickInput;

use super::files::{GoldenFile, get, list, num, quat, vec3, vector};
use super::report::Report;
use super::run::{Scene, simulation};
use super::spring::free_body;

const H_S: f64 = 1e-4;

pub fn check(file: &GoldenFile, report: &mut Report) {
    let (setup, samples) = (get(&file.json, "setup"), list(&file.json, "samples"));
    let (first, last) = (&samples[0], &samples[samples.len() - 1]);
    let mass = num(setup, "mass");
    let I = Mat3::from_diagonal(&vec3(setup, "inertia_diag"));
    let scene = Scene {
        gravity_W: vec3(setup, "gravity_G"),
        planes: vec![ContactPlane::floor()],
        stations: list(setup, "stations_B").iter().map(|p| (0, vector(p))).collect(),
        parameters: SpringParameters::default(),
        mu: [num(setup, "mu_s"), num(setup, "mu_d")],
        q: Positions { quat_WB: quat(first, "quat_GB"), p_WB: vec3(first, "p_G"), joints: vec![] },
        v: Velocities { w_WB: vec3(first, "omega_G"), v_WB: vec3(first, "v_G"), joints: vec![] },
    };
    let springs =
        simulation(free_body(SpatialInertia::from_com(mass, &Vec3::zeros(), &I)), &scene, H_S);
    let mut spec = springs.spec().clone();
    spec.stations.iter_mut().for_each(|s| s.model = ContactModel::Rigid);
    let speeds = ["capture_velocity", "min_cor_velocity"].map(|key| num(setup, key));
    spec.restitution =
        Restitution::new(num(setup, "min_cor"), speeds[0], speeds[1]).expect("a restitution");
    let mut block = Simulation::new(springs.model().clone(), spec, *springs.watchdog());

    let energy = |p: &Simulation| {
        let height = p.state().q.p_WB.dot(&scene.gravity_W);
        kinetic_energy(p.model(), p.data(), &p.state().v) - mass * height
    };
    let (mut before, mut gained, mut deepest) = (energy(&block), 0.0_f64, 0.0_f64);
    for _ in 0..((num(last, "t") - num(first, "t")) / H_S).round() as u64 {
        block.step(&TickInput::new());
        let now = energy(&block);
        gained = gained.max(now - before);
        before = now;
        let lowest = block.contacts().evaluated().iter().map(|e| e.touch.p_C.z);
        deepest = lowest.fold(deepest, f64::min);
    }
    let q = &block.state().q;
    report.add("corner in the ground", -deepest, 1e-6, "the run");
    report.add("energy gained in a step", gained, 1e-6, "the run");
    report.vector("place of rest", &q.p_WB, &vec3(last, "p_G"), 1.0, 0.03, "the end");
    report.number("height at rest", q.p_WB.z, vec3(last, "p_G").z, 1.0, 1e-6, "the end");
    report.quat("orientation at rest", &q.quat_WB, &quat(last, "quat_GB"), 0.05, "the end");
}
