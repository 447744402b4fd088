//! Trajectories of a box on springs.

use hardstand::simulation::Simulation;
use hardstand_physics::contact::{ContactPlane, ExponentialSpring};
use hardstand_physics::dynamics::{Positions, Velocities, kinetic_energy, potential_energy};
use hardstand_physics::plant::{ContactModel, Integrator, PlantSpec};
use hardstand_physics::spatial::{Mat3, SpatialInertia};
use hardstand_protocol::TickInput;
use serde_json::Value;

use super::files::{
    GoldenFile, get, list, list_or_empty, matrix, num, quat, text, transform, vec3, vector,
};
use super::report::Report;
use super::run::{
    Scene, Springs, Tolerance, UNKNOWN_SCENE, after_friction_events, compare_contacts,
    friction_events, set_words, shifted, simulation, springs, ticks,
};
use super::spring::{free_body, parameters};

/// Tolerance of position and velocity by the name of the scene: what two correct programs differ
/// by (PROVENANCE.md).
fn scene_tolerance(name: &str) -> (f64, f64) {
    match name {
        "static" | "spin" | "spin_slide" | "side_gravity" | "incline_below_cone"
        | "incline_above_cone" | "slippery_creep" => (1e-13, 2e-12),
        "top" => (5e-13, 5e-12),
        "drop" => (9e-12, 3e-9),
        "slide" => (7e-8, 3e-6),
        "tumble" => (3e-7, 2e-4),
        "slippery" => (2e-6, 4e-4),
        "incline_marginal" => (4e-4, 1e-2),
        _ => UNKNOWN_SCENE,
    }
}

pub fn check(file: &GoldenFile, report: &mut Report) {
    let (json, setup) = (&file.json, get(&file.json, "setup"));
    let par = parameters(get(setup, "params"));
    let weight = num(setup, "mass") * vec3(setup, "gravity_G").norm();
    let order = springs_of(setup).order;
    let (h, samples) = (num(get(json, "fixed_step"), "h"), list(json, "samples"));
    let tol = Tolerance::new(scene_tolerance(text(json, "name")), &par, weight, h, |shift| {
        let mut path = Vec::new();
        let _ = run(start(setup, h, shift), setup, h, samples, |simulation, _, _| {
            path.push((simulation.state().q.clone(), simulation.state().v.clone()));
        });
        path
    });
    let missing = run(start(setup, h, 0.0), setup, h, samples, |simulation, sample, at| {
        compare(simulation, &order, sample, &tol, at, report);
    });
    report.add("samples not reached", missing, 0.0, "the end");
    if let Some(coarse) = json.get("coarse_samples").and_then(Value::as_array) {
        let h = num(get(json, "coarse_fixed_step"), "h");
        let missing = run(start(setup, h, 0.0), setup, h, coarse, |simulation, sample, at| {
            let (q, v) = (&simulation.state().q, &simulation.state().v);
            let tol = 1e-9;
            report.vector("coarse position", &q.p_WB, &vec3(sample, "p"), 1.0, tol, at);
            report.quat("coarse orientation", &q.quat_WB, &quat(sample, "quat"), tol, at);
            report.vector("coarse velocity", &v.v_WB, &vec3(sample, "v"), 1.0, tol, at);
            report.vector("coarse angular", &v.w_WB, &vec3(sample, "omega"), 1.0, tol, at);
        });
        report.add("coarse not reached", missing, 0.0, "the end");
    }
}

/// Runs the plant through all samples; returns how many were not reached.
fn run(
    mut simulation: Simulation,
    setup: &Value,
    h: f64,
    samples: &[Value],
    mut compare: impl FnMut(&Simulation, &Value, &str),
) -> f64 {
    let mut input = TickInput::new();
    let events = list_or_empty(setup, "events");
    let mut next = samples.iter().peekable();
    while let Some(&sample) = next.peek() {
        let (tick, t) = (simulation.state().tick, num(sample, "t"));
        input.events = friction_events(events, tick, h);
        if ticks(t / h) == tick {
            let at = format!("t = {t}");
            if input.events.is_empty() {
                compare(&simulation, sample, &at);
            } else {
                compare(&after_friction_events(&simulation, &input.events), sample, &at);
            }
            next.next();
            continue;
        }
        if simulation.step(&input).failure.is_some() {
            break;
        }
    }
    next.count() as f64
}

fn springs_of(setup: &Value) -> Springs<'_> {
    let planes = list(setup, "planes_X_GP").len();
    springs(setup, "stations_B", planes, |a, b| vector(a) == vector(b))
}

fn start(setup: &Value, h: f64, shift: f64) -> Simulation {
    let I_com = match setup.get("inertia_diag_B_about_com") {
        Some(diagonal) => Mat3::from_diagonal(&vector(diagonal)),
        None => matrix(get(setup, "inertia_B_about_com")),
    };
    let inertia = SpatialInertia::from_com(num(setup, "mass"), &vec3(setup, "com_B"), &I_com);
    let scene = Scene {
        gravity_W: vec3(setup, "gravity_G"),
        planes: list(setup, "planes_X_GP")
            .iter()
            .map(|X| ContactPlane { X_WP: transform(X) })
            .collect(),
        stations: springs_of(setup).stations.iter().map(|p| (0, vector(p))).collect(),
        parameters: parameters(get(setup, "params")),
        mu: [num(setup, "mu_s"), num(setup, "mu_k")],
        q: shifted(
            Positions { quat_WB: quat(setup, "quat0"), p_WB: vec3(setup, "p0"), joints: vec![] },
            shift,
        ),
        v: Velocities { w_WB: vec3(setup, "omega0_G"), v_WB: vec3(setup, "v0_G"), joints: vec![] },
    };
    let mut simulation = simulation(free_body(inertia), &scene, h);
    let sliding = setup.get("sliding0").map_or(1.0, super::files::number);
    if sliding != 1.0 {
        set_words(&mut simulation, &[("contact.sliding", sliding)]);
    }
    simulation
}

fn compare(
    simulation: &Simulation,
    order: &[usize],
    sample: &Value,
    tol: &Tolerance,
    at: &str,
    report: &mut Report,
) {
    let (q, v) = (&simulation.state().q, &simulation.state().v);
    report.vector("position", &q.p_WB, &vec3(sample, "p"), 1.0, tol.position, at);
    report.quat("orientation", &q.quat_WB, &quat(sample, "quat"), tol.orientation, at);
    report.vector("velocity", &v.v_WB, &vec3(sample, "v"), 1.0, tol.velocity, at);
    let (w, omega) = (&v.w_WB, vec3(sample, "omega"));
    report.vector("angular velocity", w, &omega, 1.0, tol.angular, at);

    let forces: Vec<_> = list(sample, "f_P").iter().map(vector).collect();
    compare_contacts(simulation, order, &forces, sample, true, tol, at, report);
    compare_energies(simulation, sample, &forces, tol, at, report);
}

/// Energies, with the tolerance that positions and velocities leave them.
fn compare_energies(
    simulation: &Simulation,
    sample: &Value,
    forces: &[hardstand_physics::spatial::Vec3],
    tol: &Tolerance,
    at: &str,
    report: &mut Report,
) {
    let (model, gravity_W) = (simulation.model(), simulation.spec().gravity_W);
    let (v, data) = (&simulation.state().v, simulation.data());
    let kinetic = kinetic_energy(model, data, v);
    let momentum = 1.0 + model.total_mass() * v.v_WB.norm() + v.w_WB.norm();
    report.number(
        "kinetic energy",
        kinetic,
        num(sample, "ke"),
        momentum,
        10.0 * tol.velocity.max(tol.angular),
        at,
    );
    let height = potential_energy(model, data, &gravity_W);
    let weight = 1.0 + model.total_mass() * gravity_W.norm();
    let gravity = num(sample, "pe_gravity");
    report.number("gravity's energy", height, gravity, weight, 10.0 * tol.position, at);
    let push = 1.0 + forces.iter().map(|f| f.norm()).sum::<f64>();
    let (tolerance, stored) = (10.0 * tol.position, num(sample, "pe_springs"));
    report.number("springs' energy", simbody_energy_j(simulation), stored, push, tolerance, at);
    // what this program publishes: the same where no force is at its limit
    let forces = simulation.contacts().forces();
    if forces.clone().all(|f| f.normal_n < spring_of(simulation, 0).parameters().force_z_max_n) {
        let own = simulation.contacts().potential_energy();
        report.number("springs' own energy", own, stored, push, tolerance, at);
    }
}

/// What Simbody calls the potential energy of the springs, J: of the force that is left at a limit.
fn simbody_energy_j(simulation: &Simulation) -> f64 {
    let forces = simulation.contacts().forces().enumerate();
    forces.map(|(i, f)| spring_of(simulation, i).simbody_potential_energy_j(f)).sum()
}

fn spring_of(simulation: &Simulation, contact: usize) -> ExponentialSpring {
    let station = contact / simulation.contacts().places();
    match simulation.spec().stations[station].model {
        ContactModel::ExponentialSpring(spring) => spring,
        _ => panic!("station {station} has no exponential spring"),
    }
}

/// Position at `t_end` with the semi-implicit Euler method.
pub fn end_with_semi_implicit_euler(file: &GoldenFile, h: f64) -> hardstand_physics::spatial::Vec3 {
    let mut simulation = changed(file, h, |spec| spec.integrator = Integrator::SemiImplicitEuler);
    play(&mut simulation, file, |_| ());
    simulation.state().q.p_WB
}

/// The scene at its start, with one step of `h` seconds per tick and something changed.
pub fn changed(file: &GoldenFile, h: f64, change: impl FnOnce(&mut PlantSpec)) -> Simulation {
    let start = start(get(&file.json, "setup"), h, 0.0);
    let mut spec = start.spec().clone();
    change(&mut spec);
    Simulation::new(start.model().clone(), spec, *start.watchdog())
}

/// Runs the scene to its end with its events; `each` sees the plant after every step.
pub fn play(simulation: &mut Simulation, file: &GoldenFile, mut each: impl FnMut(&Simulation)) {
    let setup = get(&file.json, "setup");
    let h = simulation.spec().period_ns as f64 / 1e9;
    let mut input = TickInput::new();
    while simulation.state().tick < ticks(num(setup, "t_end") / h) {
        input.events = friction_events(list_or_empty(setup, "events"), simulation.state().tick, h);
        assert_eq!(simulation.step(&input).failure, None);
        each(simulation);
    }
}
