//! Equal limbs side by side give the bits of one body after another.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::plant::{Command, ComputePath, JointCommand, Plant, TickInput};

fn run(scenario: &Scenario, path: ComputePath, ticks: u64) -> Vec<u64> {
    let mut plant: Plant = scenario.plant();
    plant.set_path(path);
    let hold = |q: &f64| JointCommand { q: *q, kp: 60.0, kd: 2.0, ..Default::default() };
    let joints: Vec<JointCommand> = scenario.spec.q.joints.iter().map(hold).collect();
    let mut digests = Vec::new();
    for tick in 0..ticks {
        let mut input = TickInput::new();
        let joints = joints.clone();
        let seq = tick + 1;
        let command = Command { session: 1, seq, answers_tick: tick, joints };
        input.offers.push(Box::new(command));
        plant.step(&input);
        digests.push(plant.state().digest);
    }
    digests
}

#[test]
fn a_quadruped_has_the_same_bits_on_every_path() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    for sets in [vec![], vec!["contact.stiction=simbody".to_owned()]] {
        let scenario = Scenario::load(&path, &sets).unwrap();
        let definition = run(&scenario, ComputePath::OneByOne, 1000);
        for path in [ComputePath::Fastest, ComputePath::Portable] {
            let other = run(&scenario, path, 1000);
            let first = definition.iter().zip(&other).position(|(a, b)| a != b);
            assert_eq!(first, None, "{path:?} differs from this tick on");
        }
    }
}
