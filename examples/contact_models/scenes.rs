//! The scenes: the shipped quadruped held by PD, a box, a ball, each on any contact model.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{Restitution, StationShape, Surface};
use hardstand_physics::dynamics::{Positions, Velocities, kinetic_energy, potential_energy};
use hardstand_physics::model::{Base, BodySpec, Builder, Model};
use hardstand_physics::plant::{
    CollisionSpec, ContactModel, ContactResult, DriveSet, Integrator, PlantSpec, Station,
};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};
use hardstand_protocol::{Command, Event, JointCommand, TickInput};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A contact model: its value of `contact.model`, its name on the page, its colour in the plots.
pub(crate) struct Kind {
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    pub(crate) colour: (u8, u8, u8),
}

pub(crate) const KINDS: [Kind; 3] = [
    Kind { key: "exponential_spring", name: "exponential spring", colour: (0, 114, 178) },
    Kind { key: "hunt_crossley", name: "Hunt–Crossley", colour: (213, 94, 0) },
    Kind { key: "rigid", name: "rigid", colour: (0, 158, 115) },
];

/// `config/quadruped.toml` on a contact model, with more `key=value` changes.
pub(crate) fn quadruped(kind: &Kind, sets: &[&str]) -> Result<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let mut all = vec![format!("contact.model={}", kind.key)];
    all.extend(sets.iter().map(|s| (*s).to_string()));
    Ok(Scenario::load(&path, &all)?)
}

/// One micro-step per tick, so that every one is seen. The drives run in every micro-step and the
/// command never changes, so the physics is that of longer ticks.
pub(crate) fn every_step(spec: &mut PlantSpec, h_ns: u64) {
    (spec.period_ns, spec.micro_steps) = (h_ns, 1);
}

const STIFFNESS: f64 = 100.0;
const DAMPING: f64 = 3.0;

/// A robot whose drives hold its initial pose.
pub(crate) struct Robot {
    pub(crate) simulation: Simulation,
    input: TickInput,
}

impl Robot {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let hold = |&q: &f64| JointCommand { q, kp: STIFFNESS, kd: DAMPING, ..Default::default() };
        let joints = scenario.spec.q.joints.iter().map(hold).collect();
        let mut input = TickInput::new();
        input.candidates.push(Box::new(Command {
            run_id: 1,
            session: 7,
            seq: 0,
            answers_tick: 0,
            applies_tick: 0,
            joints,
        }));
        Self { simulation: scenario.simulation(), input }
    }

    /// One tick; false once the plant has stopped itself.
    pub(crate) fn step(&mut self) -> bool {
        let tick = self.simulation.state().tick;
        for command in &mut self.input.candidates {
            (command.seq, command.answers_tick) = (tick + 1, tick);
        }
        let outcome = self.simulation.step(&self.input);
        self.input.events.clear();
        outcome.failure.is_none()
    }

    /// 60 N to the left on the trunk for 0.15 s, from the next tick on.
    pub(crate) fn push(&mut self) {
        let ticks = (150_000_000.0 / self.simulation.spec().period_ns as f64).round() as u64;
        let (point_B, force_W) = ([0.0; 3], [0.0, 60.0, 0.0]);
        self.input.events.push(Event::Push { body: 0, point_B, force_W, ticks });
    }

    pub(crate) fn time_s(&self) -> f64 {
        self.simulation.time_ns() as f64 / 1e9
    }

    /// The contacts of the feet: one round station each, on one plane.
    pub(crate) fn feet(&self) -> impl Iterator<Item = &ContactResult> {
        let stations = self.simulation.spec().feet.iter().flat_map(|f| &f.stations);
        stations.map(|&s| &self.simulation.contacts().evaluated()[s])
    }

    /// Energy of motion, of height, in the contacts, and in the drives' stiffness, J. Without a
    /// push nothing adds to it.
    pub(crate) fn energy_j(&self) -> f64 {
        let (simulation, spec) = (&self.simulation, self.simulation.spec());
        let errors = simulation.state().q.joints.iter().zip(&spec.q.joints).map(|(q, q0)| q - q0);
        kinetic_energy(simulation.model(), simulation.data(), &simulation.state().v)
            + potential_energy(simulation.model(), simulation.data(), &spec.gravity_W)
            + simulation.contacts().potential_energy()
            + errors.map(|e| 0.5 * STIFFNESS * e * e).sum::<f64>()
    }
}

/// The feet's friction in the micro-step before.
pub(crate) struct Chatter(Vec<Vec3>);

impl Chatter {
    pub(crate) fn new(robot: &Robot) -> Self {
        Self(robot.feet().map(|foot| foot.force.friction_P()).collect())
    }

    /// Largest change of a foot's friction since the last call, N.
    pub(crate) fn change_n(&mut self, robot: &Robot) -> f64 {
        let mut most_n: f64 = 0.0;
        for (foot, before_P) in robot.feet().zip(&mut self.0) {
            most_n = most_n.max((foot.force.friction_P() - *before_P).norm());
            *before_P = foot.force.friction_P();
        }
        most_n
    }
}

/// A single body with round or pointed stations, on the level, in micro-steps of `h_ns`. What is
/// not named here is the quadruped's.
fn one_body(
    inertia: SpatialInertia,
    stations: &[(Vec3, StationShape)],
    of: &Scenario,
    h_ns: u64,
) -> Result<(Model, PlantSpec)> {
    let mut b = Builder::new("body", Base::Floating);
    b.bodies.push(BodySpec { name: "body".into(), inertia });
    let model = b.build()?;
    let mut spec = PlantSpec {
        integrator: Integrator::SemiImplicitEuler,
        ground: vec![Surface::plane("floor", Transform::identity())],
        stations: Vec::new(),
        feet: Vec::new(),
        collisions: CollisionSpec::none(),
        restitution: Restitution::default(),
        constraints: vec![],
        drives: DriveSet::default(),
        q: Positions::zero(&model),
        v: Velocities::zero(&model),
        ..of.spec.clone()
    };
    every_step(&mut spec, h_ns);
    for (i, &(p_BS, shape)) in stations.iter().enumerate() {
        let like = &of.spec.stations[0];
        spec.stations.push(Station { name: format!("s{i}"), body: 0, p_BS, shape, ..like.clone() });
    }
    spec.imu.body = 0;
    Ok((model, spec))
}

/// A 10 kg cube of 0.2 m on four stations; for Hunt–Crossley spheres of 0.02 m, otherwise points.
pub(crate) fn cube(of: &Scenario, h_ns: u64) -> Result<(Model, PlantSpec)> {
    let round = matches!(of.spec.stations[0].model, ContactModel::HuntCrossley(_));
    let radius_m = if round { 0.02 } else { 0.0 };
    let shape = if round { StationShape::Sphere { radius_m } } else { StationShape::Point };
    let corners = [(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)];
    let stations = corners.map(|(x, y)| (Vec3::new(x, y, radius_m - 0.1), shape));
    let I = Mat3::from_diagonal_element(10.0 * 0.2 * 0.2 / 6.0);
    let inertia = SpatialInertia::from_com(10.0, &Vec3::zeros(), &I);
    one_body(inertia, &stations, of, h_ns)
}

/// Radius of the ball, m.
pub(crate) const BALL_M: f64 = 0.02;

/// A ball of 0.2 kg, all in its only station.
pub(crate) fn ball(of: &Scenario, h_ns: u64) -> Result<(Model, PlantSpec)> {
    let I = Mat3::from_diagonal_element(0.4 * 0.2 * BALL_M * BALL_M);
    let inertia = SpatialInertia::from_com(0.2, &Vec3::zeros(), &I);
    let station = (Vec3::zeros(), StationShape::Sphere { radius_m: BALL_M });
    one_body(inertia, &[station], of, h_ns)
}
