//! Whole ticks of the shipped quadruped standing under PD, and what is done with them:
//! `cargo bench --bench tick`. The digest that it prints first must not change with the speed.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;

use divan::Bencher;
use hardstand::config::Scenario;
use hardstand::handover::pool;
use hardstand::message::{Kind, encode};
use hardstand::plant::{Command, JointCommand, Plant, TickInput};

fn main() {
    let mut plant = standing(10, SPRING);
    println!("digest after 3000 ticks: {:016x}", plant.state().digest);
    plant.step(&TickInput::new());
    divan::main();
}

const SPRING: &str = "exponential_spring";

/// A quadruped that has stood for three seconds.
fn standing(micro_steps: u32, model: &str) -> Plant {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets = [
        format!("sim.micro_steps={micro_steps}"),
        format!("contact.model={model}"),
        "command.hold_ticks=100000".into(),
    ];
    let scenario = Scenario::load(&path, &sets).unwrap();
    let mut plant = scenario.plant();
    let hold = |q: &f64| JointCommand { q: *q, kp: 100.0, kd: 3.0, ..Default::default() };
    let joints: Vec<JointCommand> = scenario.spec.q.joints.iter().map(hold).collect();
    let mut input = TickInput::new();
    for seq in 1..=3 {
        let joints = joints.clone();
        input.offers.push(Box::new(Command { session: 1, seq, answers_tick: 0, joints }));
    }
    plant.step(&input);
    for _ in 1..3000 {
        plant.step(&TickInput::new());
    }
    plant
}

#[divan::bench(args = [1, 4, 10])]
fn tick(bencher: Bencher<'_, '_>, micro_steps: u32) {
    let (mut plant, input) = (standing(micro_steps, SPRING), TickInput::new());
    bencher.bench_local(|| plant.step(&input));
}

#[divan::bench(args = [SPRING, "hunt_crossley", "rigid"])]
fn tick_of_10_micro_steps(bencher: Bencher<'_, '_>, model: &str) {
    let (mut plant, input) = (standing(10, model), TickInput::new());
    bencher.bench_local(|| plant.step(&input));
}

#[divan::bench]
fn fill_snapshot(bencher: Bencher<'_, '_>) {
    let plant = standing(10, SPRING);
    let mut snapshot = plant.new_snapshot();
    bencher.bench_local(|| plant.fill(&mut snapshot));
}

#[divan::bench]
fn encode_state(bencher: Bencher<'_, '_>) {
    let plant = standing(10, SPRING);
    let mut snapshot = plant.new_snapshot();
    plant.fill(&mut snapshot);
    let mut buffer = Vec::new();
    bencher.bench_local(|| encode(Kind::State, &snapshot.state, &mut buffer).unwrap());
}

#[divan::bench]
fn hand_over_a_snapshot(bencher: Bencher<'_, '_>) {
    let plant = standing(10, SPRING);
    let snapshot = plant.new_snapshot();
    let (out, inbox) = pool(8, || plant.new_snapshot());
    bencher.bench_local(|| {
        let mut free = out.take_free().unwrap();
        free.copy_from(&snapshot);
        out.send(free);
        inbox.give_back(inbox.take().unwrap());
    });
}
