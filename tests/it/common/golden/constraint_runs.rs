//! Trajectories under bilateral contacts: a spinning body on one foot, a quadruped on four.

use hardstand_physics::dynamics::{
    Constraints, Data, PointOnPlane, Positions, Rk4, Velocities, kinematics, kinetic_energy,
    potential_energy,
};
use hardstand_physics::model::Model;
use hardstand_physics::spatial::{Transform, Vec3};
use serde_json::Value;

use super::files::{
    GoldenFile, get, list, list_or_empty, num, number, text, transform, urdf_text, vec3, vector,
};
use super::point_on_plane::{
    floating_state, in_model_order, inertia, joint_indices, single, tree_state,
};
use super::report::Report;
use super::urdf::load_model;

const STEP_S: f64 = 1e-4;
/// Both projections; the oracle's own samples are within 1e-9.
const PROJECTION: f64 = 1e-12;

/// Whether the file is a trajectory with bilateral contacts.
pub fn is_bilateral_run(json: &Value) -> bool {
    json.get("samples").is_some() && json.get("setup").is_some_and(|s| s.get("min_cor").is_none())
}

/// A robot under constraints on its way.
struct Run {
    model: Model,
    q: Positions,
    v: Velocities,
    data: Data,
    constraints: Constraints,
    gravity_W: Vec3,
    /// `tau = kp (q_ref − q) − kd q̇`, continuously.
    kp: f64,
    kd: f64,
    q_ref: Vec<f64>,
    rk4: Rk4,
    /// Joints of the file in the model; empty for a single body.
    joints: Vec<usize>,
    worst_error: f64,
}

pub fn check(file: &GoldenFile, report: &mut Report) {
    let (setup, samples) = (get(&file.json, "setup"), list(&file.json, "samples"));
    let is_tree = samples[0].get("q").is_some();
    let mut run = if is_tree { quadruped(setup, &samples[0]) } else { body(setup, &samples[0]) };
    let tol = if is_tree { QUADRUPED } else { BODY };
    let (mut tick, mut energies) = (0_u64, Vec::new());
    for sample in samples {
        let until = (num(sample, "t") / STEP_S).round() as u64;
        while tick < until {
            run.step();
            tick += 1;
        }
        energies.push(run.compare(sample, &tol, &format!("t = {}", num(sample, "t")), report));
    }
    report.add("worst position error", run.worst_error, 1e-9, "all steps");
    if !is_tree {
        let drift = energies.iter().map(|e| (e - energies[0]).abs()).fold(0.0, f64::max);
        report.add("energy drift, J", drift, 1e-9, "all samples");
    }
}

/// Position (m, rad, quaternion), velocity, force relative to the largest of the sample.
struct Tolerance {
    position: f64,
    velocity: f64,
    force: f64,
}

// the oracle's integrator has accuracy 1e-8
const BODY: Tolerance = Tolerance { position: 2e-8, velocity: 1e-6, force: 5e-8 };
const QUADRUPED: Tolerance = Tolerance { position: 3e-9, velocity: 3e-7, force: 1e-7 };

fn body(setup: &Value, first: &Value) -> Run {
    let com = vec3(setup, "com_B");
    let inertia = inertia(num(setup, "mass"), &com, &vec3(setup, "inertia_diag_about_com_B"));
    let (model, q, v) = single(first, inertia);
    let point = PointOnPlane {
        plane_body: None,
        X_SP: transform(get(setup, "X_SP")),
        follower_body: 0,
        p_BF: vec3(setup, "follower_station_B"),
        slides: false,
    };
    Run::new(model, (q, v), vec![point], setup, vec![])
}

fn quadruped(setup: &Value, first: &Value) -> Run {
    let model = load_model(&urdf_text("refquad.urdf"));
    let feet: Vec<&str> = text(setup, "foot_order").split(',').collect();
    let legs = feet
        .iter()
        .flat_map(|foot| ["hip", "thigh", "calf"].map(|joint| format!("{foot}_{joint}_joint")));
    let names: Vec<String> = legs.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let joints = joint_indices(&model, &names);
    let state = tree_state(&joints, first);
    let point = |foot: &&str| {
        let frame = model.frame(&format!("{foot}_foot")).expect("a foot");
        let X_SP = setup.get("X_SP").map_or_else(Transform::identity, transform);
        let (plane_body, follower_body, p_BF) = (None, frame.body, frame.X_BF.p);
        PointOnPlane { plane_body, X_SP, follower_body, p_BF, slides: false }
    };
    let points = feet.iter().map(point).collect();
    Run::new(model, state, points, setup, joints)
}

impl Run {
    fn new(
        model: Model,
        (q, v): (Positions, Velocities),
        points: Vec<PointOnPlane>,
        setup: &Value,
        joints: Vec<usize>,
    ) -> Self {
        let gain = |key: &str| setup.get(key).map_or(0.0, number);
        let reference: Vec<f64> = list_or_empty(setup, "q_ref").iter().map(number).collect();
        Self {
            data: Data::new(&model),
            constraints: Constraints::new(&model, points).expect("constraints"),
            gravity_W: vec3(setup, "gravity_G"),
            kp: gain("kp"),
            kd: gain("kd"),
            q_ref: in_model_order(&joints, &reference),
            rk4: Rk4::new(&model),
            joints,
            worst_error: 0.0,
            model,
            q,
            v,
        }
    }

    /// A step of the Runge–Kutta method, then projection.
    fn step(&mut self) {
        let (model, data, held) = (&self.model, &mut self.data, &mut self.constraints);
        let (kp, kd, q_ref, g) = (self.kp, self.kd, &self.q_ref, &self.gravity_W);
        let mut tau = vec![0.0; model.joint_count()];
        self.rk4.step(model.base, &mut self.q, &mut self.v, STEP_S, |_, q, v, vdot| {
            pd(kp, kd, q_ref, (q, v), &mut tau);
            kinematics(model, q, v, data);
            held.accelerate(model, data, &tau, g, vdot);
        });
        let (q, v) = (&mut self.q, &mut self.v);
        let _ = held.project_positions(model, q, data, PROJECTION);
        let _ = held.project_velocities(model, q, v, data, PROJECTION);
        let errors = held.points().iter().map(|point| point.position_error(data).abs());
        self.worst_error = errors.fold(self.worst_error, f64::max);
    }

    /// Compares with a sample; returns the energy.
    fn compare(&mut self, sample: &Value, tol: &Tolerance, at: &str, report: &mut Report) -> f64 {
        let (q, v) = if self.joints.is_empty() {
            floating_state(sample)
        } else {
            tree_state(&self.joints, sample)
        };
        report.vector("base position", &self.q.p_WB, &q.p_WB, 1.0, tol.position, at);
        report.quat("base orientation", &self.q.quat_WB, &q.quat_WB, tol.position, at);
        report.vector("base velocity", &self.v.v_WB, &v.v_WB, 1.0, tol.velocity, at);
        report.vector("base angular velocity", &self.v.w_WB, &v.w_WB, 1.0, tol.velocity, at);
        for j in 0..self.model.joint_count() {
            let (ours, theirs) = (self.q.joints[j], q.joints[j]);
            report.number("joint position", ours, theirs, 1.0, tol.position, at);
            let (ours, theirs) = (self.v.joints[j], v.joints[j]);
            report.number("joint velocity", ours, theirs, 1.0, tol.velocity, at);
        }
        self.compare_forces(sample, tol, at, report);
        let energy = kinetic_energy(&self.model, &self.data, &self.v)
            + potential_energy(&self.model, &self.data, &self.gravity_W);
        if let Some(theirs) = sample.get("energy").map(number) {
            report.number("energy", energy, theirs, theirs.abs().max(1.0), 5e-9, at);
        }
        energy
    }

    fn compare_forces(&mut self, sample: &Value, tol: &Tolerance, at: &str, report: &mut Report) {
        let mut tau = vec![0.0; self.model.joint_count()];
        pd(self.kp, self.kd, &self.q_ref, (&self.q, &self.v), &mut tau);
        let mut vdot = Velocities::zero(&self.model);
        kinematics(&self.model, &self.q, &self.v, &mut self.data);
        let (data, g) = (&mut self.data, &self.gravity_W);
        self.constraints.accelerate(&self.model, data, &tau, g, &mut vdot);
        let forces = get(sample, "force_on_follower_xyz_P");
        let forces: Vec<Vec3> = match forces.as_array().expect("a list").first() {
            Some(Value::Array(_)) => {
                list(sample, "force_on_follower_xyz_P").iter().map(vector).collect()
            }
            _ => vec![vector(forces)],
        };
        assert_eq!(forces.len(), self.constraints.points().len(), "forces");
        let scale = forces.iter().map(Vec3::norm).fold(1.0, f64::max);
        for (i, theirs) in forces.iter().enumerate() {
            let ours = self.constraints.force_on_follower_P(i);
            report.vector("force on follower", &ours, theirs, scale, tol.force, at);
        }
    }
}

fn pd(kp: f64, kd: f64, q_ref: &[f64], (q, v): (&Positions, &Velocities), tau: &mut [f64]) {
    for (j, tau) in tau.iter_mut().enumerate() {
        *tau = kp * (q_ref[j] - q.joints[j]) - kd * v.joints[j];
    }
}
