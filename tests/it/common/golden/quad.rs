//! Trajectories of a quadruped under sampled PD control.

use hardstand::simulation::Simulation;
use hardstand_physics::contact::{ContactPlane, SpringParameters};
use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::Model;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::{Command, Event, JointCommand, TickInput};
use serde_json::Value;

use super::files::{
    GoldenFile, get, list, list_or_empty, num, nums, quat, text, transform, urdf_text, vec3, vector,
};
use super::report::Report;
use super::run::{
    Scene, Springs, Tolerance, UNKNOWN_SCENE, after_friction_events, compare_contacts,
    friction_events, shifted, simulation, springs, ticks,
};
use super::spring::parameters;
use super::urdf::load_model;

/// Position and velocity by the name of the scene (PROVENANCE.md).
fn scene_tolerance(name: &str) -> (f64, f64) {
    match name {
        "stand_drop" => (1e-14, 2e-12),
        "push_slip" => (2e-12, 8e-11),
        _ => UNKNOWN_SCENE,
    }
}

/// The file's controller: `clamp(kp (ref − q) − kd u, ± effort)`, every millisecond, held between.
#[derive(Clone)]
struct Controller {
    kp: f64,
    kd: f64,
    q_ref: Vec<f64>,
    amp: f64,
    freq: f64,
    effort: Vec<f64>,
    /// Sign of the sine of each joint; 0 for all but thighs.
    sine: Vec<f64>,
    every_ticks: u64,
}

impl Controller {
    fn new(c: &Value, names: &[&str], h: f64) -> Self {
        let kinds = nums(get(c, "effort_hip_thigh_calf"));
        let kind = |(i, n): (usize, &&str)| {
            ["hip", "thigh", "calf"].iter().position(|k| n.contains(k)).unwrap_or(i % 3)
        };
        let sine = |(i, n): (usize, &&str)| match (kind((i, n)), &n[..2]) {
            (1, "FL" | "RR") => 1.0,
            (1, _) => -1.0,
            _ => 0.0,
        };
        Self {
            kp: num(c, "kp"),
            kd: num(c, "kd"),
            q_ref: nums(get(c, "q_ref")),
            amp: num(c, "amp"),
            freq: num(c, "freq"),
            effort: names.iter().enumerate().map(|j| kinds[kind(j)]).collect(),
            sine: names.iter().enumerate().map(sine).collect(),
            every_ticks: ticks(1e-3 / h),
        }
    }

    /// Effort of the file's joint `i` at time `t`.
    fn effort(&self, i: usize, t: f64, q: f64, u: f64) -> f64 {
        let wave = self.amp * (2.0 * std::f64::consts::PI * self.freq * t).sin();
        let reference = self.q_ref[i] + wave * self.sine[i];
        let tau = self.kp * (reference - q) - self.kd * u;
        tau.clamp(-self.effort[i], self.effort[i])
    }
}

pub fn check(file: &GoldenFile, report: &mut Report) {
    let (json, setup) = (&file.json, get(&file.json, "setup"));
    let urdf = json.get("urdf").or_else(|| setup.get("urdf")).and_then(Value::as_str);
    let model = load_model(&urdf_text(urdf.unwrap_or("refquad.urdf")));
    let names: Vec<&str> =
        list(setup, "joint_order").iter().map(|n| n.as_str().expect("a name")).collect();
    let joints: Vec<usize> =
        names.iter().map(|n| model.joint_index(n).expect("a joint of the URDF")).collect();
    let h = num(setup, "h");
    let samples = list(json, "samples");
    let scene = scene(setup, &model, &joints, &samples[0]);
    let weight = model.total_mass() * scene.gravity_W.norm();
    let controller = Controller::new(get(setup, "controller"), &names, h);
    let order = springs_of(setup, scene.planes.len()).order;
    let mut run = Run { setup, h, joints, controller, order, tau: vec![0.0; names.len()], seq: 0 };
    let start = |shift: f64| {
        simulation(model.clone(), &Scene { q: shifted(scene.q.clone(), shift), ..scene.clone() }, h)
    };
    let tol =
        Tolerance::new(scene_tolerance(text(json, "name")), &scene.parameters, weight, h, |s| {
            let (mut path, mut run) = (Vec::new(), run.clone());
            let _ = run.through(start(s), samples, |_, simulation, _| {
                path.push((simulation.state().q.clone(), simulation.state().v.clone()));
            });
            path
        });
    let missing = run.through(start(0.0), samples, |run, simulation, sample| {
        run.compare(simulation, sample, &tol, report);
    });
    report.add("samples not reached", missing, 0.0, "the end");
}

fn scene(setup: &Value, model: &Model, joints: &[usize], first: &Value) -> Scene {
    let station = |s: &Value| {
        let frame = model.frame(text(s, "link")).expect("a link of the URDF");
        (frame.body, frame.X_BF.point(&vec3(s, "station_in_link")))
    };
    let plane = |X: &Value| ContactPlane { X_WP: transform(X) };
    let planes = match setup.get("plane_X_GP") {
        Some(X) => vec![plane(X)],
        None => list(setup, "planes_X_GP").iter().map(plane).collect(),
    };
    let par = setup.get("spring_params").or_else(|| setup.get("params"));
    let par = par.filter(|p| p.is_object()).map_or_else(SpringParameters::default, parameters);
    let (q, u) = (get(first, "q"), get(first, "u"));
    let in_model_order = |values: Vec<f64>| {
        let mut out = vec![0.0; joints.len()];
        joints.iter().zip(values).for_each(|(&j, x)| out[j] = x);
        out
    };
    Scene {
        gravity_W: vec3(setup, "gravity_G"),
        stations: springs_of(setup, planes.len()).stations.into_iter().map(station).collect(),
        planes,
        parameters: par,
        mu: [num(setup, "mu_s"), num(setup, "mu_k")],
        q: Positions {
            quat_WB: quat(q, "base_quat_GB"),
            p_WB: vec3(q, "base_p_G"),
            joints: in_model_order(nums(get(q, "joint_q"))),
        },
        v: Velocities {
            w_WB: vec3(u, "base_omega_G"),
            v_WB: vec3(u, "base_v_G"),
            joints: in_model_order(nums(get(u, "joint_u"))),
        },
    }
}

fn is_same_spring(a: &Value, b: &Value) -> bool {
    text(a, "link") == text(b, "link") && vec3(a, "station_in_link") == vec3(b, "station_in_link")
}

fn springs_of(setup: &Value, planes: usize) -> Springs<'_> {
    springs(setup, "springs", planes, is_same_spring)
}

#[derive(Clone)]
struct Run<'a> {
    setup: &'a Value,
    h: f64,
    order: Vec<usize>,
    /// The model's index of each joint of the file.
    joints: Vec<usize>,
    controller: Controller,
    /// Efforts in force, in the file's order.
    tau: Vec<f64>,
    seq: u64,
}

impl Run<'_> {
    fn through(
        &mut self,
        mut simulation: Simulation,
        samples: &[Value],
        mut see: impl FnMut(&Self, &Simulation, &Value),
    ) -> f64 {
        let mut next = samples.iter().peekable();
        let mut input = TickInput::new();
        while let Some(&sample) = next.peek() {
            let tick = simulation.state().tick;
            input.candidates.clear();
            if tick.is_multiple_of(self.controller.every_ticks) {
                input.candidates.push(Box::new(self.command(&simulation)));
            }
            input.events = friction_events(list_or_empty(self.setup, "mu_events"), tick, self.h);
            if ticks(num(sample, "t") / self.h) == tick {
                let seen = after_friction_events(&simulation, &input.events);
                see(self, &seen, sample);
                next.next();
                if next.peek().is_none() {
                    break;
                }
            }
            self.add_pushes(tick, &mut input.events);
            if simulation.step(&input).failure.is_some() {
                break;
            }
        }
        next.count() as f64
    }

    fn command(&mut self, simulation: &Simulation) -> Command {
        let (state, t) = (simulation.state(), simulation.state().tick as f64 * self.h);
        let mut set_points = vec![JointCommand::default(); self.joints.len()];
        for (i, &j) in self.joints.iter().enumerate() {
            self.tau[i] = self.controller.effort(i, t, state.q.joints[j], state.v.joints[j]);
            set_points[j].tau_ff = self.tau[i];
        }
        self.seq += 1;
        Command {
            run_id: 1,
            session: 1,
            seq: self.seq,
            answers_tick: state.tick,
            applies_tick: 0,
            joints: set_points,
        }
    }

    fn add_pushes(&self, tick: u64, events: &mut Vec<Event>) {
        for push in list_or_empty(self.setup, "pushes") {
            let (from, to) =
                (ticks(num(push, "t_from") / self.h), ticks(num(push, "t_to") / self.h));
            if tick == from {
                events.push(Event::Push {
                    body: 0,
                    point_B: [0.0; 3],
                    force_W: vec3(push, "force_G_on_trunk_origin").into(),
                    ticks: to - from,
                });
            }
        }
    }

    fn compare(
        &self,
        simulation: &Simulation,
        sample: &Value,
        tol: &Tolerance,
        report: &mut Report,
    ) {
        let at = &format!("t = {}", num(sample, "t"));
        let (q, u) = (get(sample, "q"), get(sample, "u"));
        let (position, velocity) = (&simulation.state().q, &simulation.state().v);
        let (p, w) = (tol.orientation, tol.angular);
        report.vector("base position", &position.p_WB, &vec3(q, "base_p_G"), 1.0, tol.position, at);
        report.quat("base orientation", &position.quat_WB, &quat(q, "base_quat_GB"), p, at);
        report.vector("base velocity", &velocity.v_WB, &vec3(u, "base_v_G"), 1.0, tol.velocity, at);
        report.vector("base angular", &velocity.w_WB, &vec3(u, "base_omega_G"), 1.0, w, at);
        let (joint_q, joint_u) = (nums(get(q, "joint_q")), nums(get(u, "joint_u")));
        let tau = nums(get(sample, "tau"));
        let c = &self.controller;
        for (i, &j) in self.joints.iter().enumerate() {
            report.number("joint position", position.joints[j], joint_q[i], 1.0, p, at);
            report.number("joint velocity", velocity.joints[j], joint_u[i], 1.0, w, at);
            report.number("joint effort", self.tau[i], tau[i], 1.0, c.kp * p + c.kd * w, at);
        }
        let forces: Vec<Vec3> = list(sample, "f_G").iter().map(vector).collect();
        compare_contacts(simulation, &self.order, &forces, sample, false, tol, at, report);
    }
}
