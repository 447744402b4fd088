//! The shipped quadruped, standing under PD: what ticks are measured on.
#![allow(dead_code, reason = "each bench uses a part")]

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::plant::{Command, JointCommand, Plant, TickInput};

pub const SPRING: &str = "exponential_spring";

pub fn scenario(micro_steps: u32, model: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets = [
        format!("sim.micro_steps={micro_steps}"),
        format!("contact.model={model}"),
        "command.hold_ticks=100000".into(),
    ];
    Scenario::load(&path, &sets).unwrap()
}

/// The set-points that hold the initial pose.
pub fn hold(plant: &Plant) -> Vec<JointCommand> {
    let hold = |q: &f64| JointCommand { q: *q, kp: 100.0, kd: 3.0, ..Default::default() };
    plant.spec().q.joints.iter().map(hold).collect()
}

/// A quadruped that has stood for three seconds.
pub fn standing(micro_steps: u32, model: &str) -> Plant {
    let mut plant = scenario(micro_steps, model).plant();
    let joints = hold(&plant);
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
