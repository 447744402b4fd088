//! The stages of a micro-step, each by itself, on the shipped quadruped: `cargo bench --bench step`.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use divan::{Bencher, black_box};
use hardstand::config::Scenario;
use hardstand::contact::{ExponentialSpring, Friction, Memory, SpringParameters};
use hardstand::dynamics::{Data, MassMatrix, Velocities, aba, crba, kinematics};
use hardstand::spatial::Vec3;

fn main() {
    divan::main();
}

fn scenario() -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    Scenario::load(&path, &[]).unwrap()
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
    let (friction, memory) = (Friction::new(0.7, 0.5), Memory::new());
    let (p, v) = (Vec3::new(0.1, 0.2, -0.003), Vec3::new(0.01, 0.0, -0.02));
    bencher.bench_local(|| spring.evaluate(&friction, &memory, black_box(&p), &v, 1e-4));
}
