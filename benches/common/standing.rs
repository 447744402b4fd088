//! The shipped quadruped, standing under PD: what ticks are measured on.
#![allow(dead_code, reason = "each bench uses a part")]

use std::path::{Path, PathBuf};

use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
use hardstand_protocol::{Command, JointCommand, TickInput};

pub const SPRING: &str = "exponential_spring";

/// The scenario of the quadruped that is shipped.
pub fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml")
}

pub fn scenario(micro_steps: u32, model: &str) -> Scenario {
    scenario_with(1000, micro_steps, model, "semi_implicit_euler")
}

fn scenario_with(rate_hz: u32, micro_steps: u32, model: &str, integrator: &str) -> Scenario {
    let sets = [
        format!("sim.rate_hz={rate_hz}"),
        format!("sim.micro_steps={micro_steps}"),
        format!("contact.model={model}"),
        format!("sim.integrator={integrator}"),
        "command.hold_ticks=100000".into(),
    ];
    Scenario::load(&shipped(), &sets).unwrap()
}

/// The set-points that hold the initial pose.
pub fn hold(simulation: &Simulation) -> Vec<JointCommand> {
    let hold = |q: &f64| JointCommand { q: *q, kp: 100.0, kd: 3.0, ..Default::default() };
    simulation.spec().q.joints.iter().map(hold).collect()
}

/// A quadruped that has stood for three seconds.
pub fn standing(micro_steps: u32, model: &str) -> Simulation {
    after_three_seconds(scenario(micro_steps, model).simulation())
}

/// The same on springs, with this method of integration.
pub fn standing_by(integrator: &str, micro_steps: u32) -> Simulation {
    after_three_seconds(scenario_with(1000, micro_steps, SPRING, integrator).simulation())
}

/// The same in ticks of 0.1 s, of 1000 micro-steps each.
pub fn standing_in_long_ticks(integrator: &str) -> Simulation {
    after_three_seconds(scenario_with(10, 1000, SPRING, integrator).simulation())
}

/// A quadruped that falls limply from half a metre and has come to where the springs begin.
pub fn landing_by(integrator: &str, micro_steps: u32) -> Simulation {
    let mut s = scenario_with(1000, micro_steps, SPRING, integrator);
    s.spec.q.p_WB.z += 0.5;
    let mut simulation = s.simulation();
    let touches = |simulation: &Simulation| {
        simulation.contacts().evaluated().iter().any(|c| c.touch.p_C.z < 0.0066)
    };
    while !touches(&simulation) {
        simulation.step(&TickInput::new());
    }
    simulation
}

fn after_three_seconds(mut simulation: Simulation) -> Simulation {
    let joints = hold(&simulation);
    let mut input = TickInput::new();
    for seq in 1..=3 {
        let joints = joints.clone();
        input.candidates.push(Box::new(Command {
            run_id: 1,
            session: 1,
            seq,
            answers_tick: 0,
            applies_tick: 0,
            joints,
        }));
    }
    simulation.step(&input);
    let ticks = 3_000_000_000 / simulation.spec().period_ns;
    for _ in 1..ticks {
        simulation.step(&TickInput::new());
    }
    simulation
}
