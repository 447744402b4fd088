//! Whole ticks of the shipped quadruped standing under PD, and the parts of a tick that are not
//! micro-steps: `cargo bench --bench tick`. The digest that it prints first must not change with
//! the speed.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

#[path = "common/standing.rs"]
mod standing;

use divan::Bencher;
use hardstand::buffer_pool::pool;
use hardstand::rt::{empty_log_tick, fill_log_tick};
use hardstand_physics::plant::WordBytes;
use hardstand_protocol::{Command, TickInput};
use hardstand_protocol::{Kind, LogTick, encode};
use standing::{SPRING, hold, landing_by, standing, standing_by};

fn main() {
    let mut simulation = standing(10, SPRING);
    println!("digest after 3000 ticks: {:016x}", simulation.state().digest);
    simulation.step(&TickInput::new());
    divan::main();
}

#[divan::bench(args = [1, 4, 10])]
fn tick(bencher: Bencher<'_, '_>, micro_steps: u32) {
    let (mut simulation, input) = (standing(micro_steps, SPRING), TickInput::new());
    bencher.bench_local(|| simulation.step(&input));
}

#[divan::bench(args = [SPRING, "hunt_crossley", "rigid"])]
fn tick_of_10_micro_steps(bencher: Bencher<'_, '_>, model: &str) {
    let (mut simulation, input) = (standing(10, model), TickInput::new());
    bencher.bench_local(|| simulation.step(&input));
}

const METHODS: [&str; 3] = ["semi_implicit_euler", "linearly_implicit", "rk4"];

#[divan::bench(args = METHODS)]
fn tick_of_100_micro_steps_by(bencher: Bencher<'_, '_>, integrator: &str) {
    let (mut simulation, input) = (standing_by(integrator, 100), TickInput::new());
    bencher.bench_local(|| simulation.step(&input));
}

/// Steps of 0.1 ms that hit the ground at 3 m/s: the linearly implicit method halves them.
#[divan::bench(args = METHODS)]
fn tick_of_10_micro_steps_in_an_impact_by(bencher: Bencher<'_, '_>, integrator: &str) {
    let (simulation, input) = (landing_by(integrator, 10), TickInput::new());
    bencher.with_inputs(|| simulation.clone()).bench_local_values(|mut simulation| {
        simulation.step(&input);
        simulation
    });
}

#[divan::bench]
fn digest(bencher: Bencher<'_, '_>) {
    let mut simulation = standing(10, SPRING);
    let (mut words, mut digest) = (WordBytes::new(&mut simulation), 0);
    bencher.bench_local(|| {
        words.take(&mut simulation);
        digest = xxhash_rust::xxh3::xxh3_64_with_seed(words.bytes(), digest);
    });
}

#[divan::bench]
fn write_a_keyframe(bencher: Bencher<'_, '_>) {
    let mut simulation = standing(10, SPRING);
    let mut words = simulation.snapshot_words();
    bencher.bench_local(|| {
        words.clear();
        simulation.write_words(&mut words);
    });
}

#[divan::bench]
fn fill_snapshot(bencher: Bencher<'_, '_>) {
    let simulation = standing(10, SPRING);
    let mut snapshot = simulation.new_snapshot();
    bencher.bench_local(|| simulation.fill(&mut snapshot));
}

#[divan::bench]
fn hand_over_a_snapshot(bencher: Bencher<'_, '_>) {
    let simulation = standing(10, SPRING);
    let snapshot = simulation.new_snapshot();
    let (out, inbox) = pool(8, || simulation.new_snapshot());
    bencher.bench_local(|| {
        let mut free = out.take_free().unwrap();
        free.copy_from(&snapshot);
        out.send(free);
        inbox.give_back(inbox.take().unwrap());
    });
}

/// A tick with one command, and its record.
fn recorded() -> (TickInput, LogTick, impl FnMut(&TickInput, &mut LogTick)) {
    let mut simulation = standing(10, SPRING);
    let words = simulation.snapshot_words().len();
    let mut snapshot = simulation.new_snapshot();
    let tick = simulation.state().tick;
    let mut input = TickInput::new();
    let (session, seq, joints) = (1, tick, hold(&simulation));
    input.candidates.push(Box::new(Command {
        run_id: 1,
        session,
        seq,
        answers_tick: tick,
        applies_tick: 0,
        joints,
    }));
    let outcome = simulation.step(&input);
    simulation.fill(&mut snapshot);
    let record = empty_log_tick(&simulation, &snapshot, words, false);
    let fill = move |input: &TickInput, record: &mut LogTick| {
        fill_log_tick(record, tick, input, &outcome, &snapshot);
    };
    (input, record, fill)
}

#[divan::bench]
fn fill_log_record(bencher: Bencher<'_, '_>) {
    let (input, mut record, mut fill) = recorded();
    bencher.bench_local(|| fill(&input, &mut record));
}

#[divan::bench]
fn encode_log_record(bencher: Bencher<'_, '_>) {
    let (input, mut record, mut fill) = recorded();
    fill(&input, &mut record);
    let mut buffer = Vec::new();
    bencher.bench_local(|| encode(Kind::LogTick, &record, &mut buffer).unwrap());
}

#[divan::bench]
fn encode_state(bencher: Bencher<'_, '_>) {
    let simulation = standing(10, SPRING);
    let mut snapshot = simulation.new_snapshot();
    simulation.fill(&mut snapshot);
    let mut buffer = Vec::new();
    bencher.bench_local(|| encode(Kind::State, &snapshot.state, &mut buffer).unwrap());
}
