//! Prints the time that one run of a network takes:
//! `cargo run --release -p hardstand-policy --example policy_cost -- walk.onnx`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use hardstand_error::Result;
use hardstand_policy::Network;
use std::hint::black_box;
use std::time::Instant;

const BATCHES: usize = 200;
const RUNS: u32 = 50;

fn main() -> Result<()> {
    for path in std::env::args().skip(1) {
        let mut network = Network::read(&path)?;
        let inputs: Vec<(String, usize)> =
            network.inputs().map(|(name, size)| (name.to_string(), size)).collect();
        for (name, size) in &inputs {
            let numbers: Vec<f32> = (0..*size).map(sample).collect();
            network.run(&[(name, &numbers)])?;
        }
        let mut batches_us = Vec::with_capacity(BATCHES);
        for _ in 0..BATCHES {
            let begin = Instant::now();
            for _ in 0..RUNS {
                black_box(&mut network).run(&[])?;
            }
            batches_us.push(begin.elapsed().as_secs_f64() * 1e6 / f64::from(RUNS));
        }
        batches_us.sort_by(f64::total_cmp);
        let (least, median) = (batches_us[0], batches_us[BATCHES / 2]);
        println!("{path}: {median:.1} us (least {least:.1})");
    }
    Ok(())
}

/// Numbers in ±1 without a pattern.
fn sample(i: usize) -> f32 {
    let mixed = u32::try_from(i).unwrap_or(0).wrapping_mul(2_654_435_761) >> 16;
    f32::from(u16::try_from(mixed).unwrap_or(0)) / 32_768.0 - 1.0
}
