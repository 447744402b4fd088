//! The stages of a micro-step, each by itself, and whole ones, on the shipped quadruped:
//! `cargo bench --bench step`. The stages are those of one body after another; in lanes they are
//! interwoven.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "common/standing.rs"]
mod standing;

use divan::{Bencher, black_box};
use hardstand::config::Scenario;
use hardstand_physics::contact::{ExponentialSpring, Friction, SpringParameters};
use hardstand_physics::dynamics::{Data, MassMatrix, Velocities, aba, crba, kinematics};
use hardstand_physics::plant::ComputePath;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::TickInput;
use standing::{shipped, standing_in_long_ticks};

fn main() {
    divan::main();
}

fn scenario() -> Scenario {
    Scenario::load(&shipped(), &[]).unwrap()
}

#[divan::bench]
fn kinematics_of_12_joints(bencher: Bencher<'_, '_>) {
    let s = scenario();
    let mut data = Data::new(&s.model);
    bencher.bench_local(|| kinematics(&s.model, black_box(&s.spec.q), &s.spec.v, &mut data));
}

#[divan::bench]
fn aba_of_12_joints(bencher: Bencher<'_, '_>) {
    let s = scenario();
    let mut data = Data::new(&s.model);
    kinematics(&s.model, &s.spec.q, &s.spec.v, &mut data);
    let (tau, mut vdot) = (vec![0.1; 12], Velocities::zero(&s.model));
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    bencher.bench_local(|| aba(&s.model, &mut data, black_box(&tau), &gravity, &mut vdot));
}

#[divan::bench]
fn crba_of_12_joints(bencher: Bencher<'_, '_>) {
    let s = scenario();
    let mut data = Data::new(&s.model);
    kinematics(&s.model, &s.spec.q, &s.spec.v, &mut data);
    let mut mass_matrix = MassMatrix::zero(&s.model);
    bencher.bench_local(|| crba(&s.model, black_box(&mut data), &mut mass_matrix));
}

#[divan::bench]
fn one_exponential_spring(bencher: Bencher<'_, '_>) {
    let spring = ExponentialSpring::new(SpringParameters::default()).unwrap();
    let (friction, memory) = (Friction::new(0.7, 0.5), spring.new_memory());
    let (p, v) = (Vec3::new(0.1, 0.2, -0.003), Vec3::new(0.01, 0.0, -0.02));
    bencher.bench_local(|| spring.evaluate(&friction, &memory, black_box(&p), &v, 1e-4));
}

const SEMI: &str = "semi_implicit_euler";
const LINEAR: &str = "linearly_implicit";
/// Runge–Kutta steps take one body after another on every path.
const WAYS: [Way; 7] = [
    Way(SEMI, ComputePath::Fastest),
    Way(SEMI, ComputePath::Portable),
    Way(SEMI, ComputePath::OneByOne),
    Way(LINEAR, ComputePath::Fastest),
    Way(LINEAR, ComputePath::Portable),
    Way(LINEAR, ComputePath::OneByOne),
    Way("rk4", ComputePath::OneByOne),
];

/// A method of integration, and how it is computed.
#[derive(Clone, Copy, Debug)]
struct Way(&'static str, ComputePath);

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {:?}", self.0, self.1)
    }
}

/// A tick of so many: what comes once per tick is a thousandth of each, and microseconds of a tick
/// are nanoseconds of a micro-step.
#[divan::bench(args = WAYS)]
fn thousand_micro_steps(bencher: Bencher<'_, '_>, way: &Way) {
    let Way(integrator, path) = *way;
    let (mut plant, input) = (standing_in_long_ticks(integrator), TickInput::new());
    plant.set_path(path);
    bencher.bench_local(|| plant.step(&input));
    assert_eq!(plant.failure(), None);
}
