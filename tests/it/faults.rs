//! Faults on demand: each does what it says, in numbers of physics; all are input and state.

mod asked;
mod link;
mod replayed;
mod robot;
mod sensors;
mod slots;
mod states;
mod world;

use crate::common::AT_ONCE;
use crate::common::bench;
use crate::common::robots::{add_body, add_joint, at, joint, plain_spec};
use hardstand::simulation::{Simulation, Snapshot};
use hardstand_physics::model::{Base, Builder, JointKind, Model};
use hardstand_physics::plant::PlantSpec;
use hardstand_physics::plant::Walk;
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
use hardstand_protocol::{
    Command, Event, FaultKind, InjectedFault, JointCommand, Part, TickInput, UNTIL_CLEARED,
};

pub const PERIOD_S: f64 = 1e-3;

/// A fault that begins and lasts until it is mended.
pub fn broken(kind: FaultKind, part: Part, values: &[f64]) -> Event {
    lasting(kind, part, values, UNTIL_CLEARED)
}

pub fn lasting(kind: FaultKind, part: Part, given: &[f64], ticks: u64) -> Event {
    let mut values = [0.0; 4];
    values[..given.len()].copy_from_slice(given);
    Event::InjectFault { fault: InjectedFault { kind, part, values }, ticks }
}

pub const MEND_ALL: Event = Event::ClearFaults { kind: None, part: None };

/// A rod without mass that turns about y, with `MASS_KG` at its end, `LENGTH_M` below the joint.
pub const MASS_KG: f64 = 2.0;
pub const LENGTH_M: f64 = 0.5;
pub const EFFORT_MAX: f64 = 30.0;
pub const VELOCITY_MAX: f64 = 20.0;

pub fn pendulum(gravity: f64) -> (Model, PlantSpec) {
    let mut b = Builder::new("pendulum", Base::Fixed);
    add_body(&mut b, "base", SpatialInertia::zero());
    let bob = Vec3::new(0.0, 0.0, -LENGTH_M);
    add_body(&mut b, "rod", SpatialInertia::from_com(MASS_KG, &bob, &Mat3::zeros()));
    let mut turns = joint("turns", JointKind::Revolute, [0.0, 1.0, 0.0], at(0.0, 0.0, 1.0));
    (turns.effort_max, turns.velocity_max) = (EFFORT_MAX, VELOCITY_MAX);
    add_joint(&mut b, "base", "rod", turns);
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.gravity_W = Vec3::new(0.0, 0.0, -gravity);
    (model, spec)
}

pub fn pendulum_plant(gravity: f64) -> Simulation {
    let (model, spec) = pendulum(gravity);
    Simulation::new(model, spec, AT_ONCE)
}

/// One tick under this command for every joint, and these events.
pub fn tick(simulation: &mut Simulation, commands: &[JointCommand], events: &[Event]) {
    let at = simulation.state().tick;
    let mut input = TickInput::new();
    let joints = commands.to_vec();
    input.candidates.push(Box::new(Command {
        run_id: 1,
        session: 9,
        seq: at + 1,
        answers_tick: at,
        applies_tick: 0,
        joints,
    }));
    input.events.extend_from_slice(events);
    let outcome = simulation.step(&input);
    assert_eq!((outcome.failure, outcome.faults_refused), (None, 0), "tick {at}");
}

/// What is published.
pub fn shown(simulation: &Simulation) -> Snapshot {
    let mut s = simulation.new_snapshot();
    simulation.fill(&mut s);
    s
}

/// These events, or none.
pub fn once(now: bool, events: &[Event]) -> &[Event] {
    if now { events } else { &[] }
}

/// The shipped quadruped, standing for half a second.
pub fn quadruped() -> Simulation {
    let mut simulation = bench::quadruped(&["command.proof_commands=1"]).simulation();
    for _ in 0..500 {
        stand(&mut simulation, &[]);
    }
    simulation
}

/// One tick in which it holds its initial pose.
pub fn stand(simulation: &mut Simulation, events: &[Event]) {
    let hold = |&q: &f64| JointCommand { q, kp: 100.0, kd: 3.0, ..Default::default() };
    let commands: Vec<JointCommand> = simulation.spec().q.joints.iter().map(hold).collect();
    tick(simulation, &commands, events);
}

/// The bits of positions and velocities, and of all other physics but the faults themselves.
pub fn motion(simulation: &Simulation) -> Vec<u64> {
    let mut bits = Vec::new();
    simulation.clone().walk(&mut |name, _, word| {
        if !name.starts_with("fault.") {
            bits.push(word.bits());
        }
    });
    bits
}
