//! Inputs for the walker.
#![allow(dead_code, reason = "the tests of two crates and the benchmarks use parts of it")]

use super::WATCHDOG;
use super::robots::walker;
use hardstand::simulation::Simulation;
use hardstand_protocol::{Command, Event, JointCommand, Scope, TickInput};

/// A command that keeps the legs where they are.
pub fn standing_input(simulation: &Simulation) -> TickInput {
    let mut input = TickInput::new();
    let tick = simulation.state().tick;
    let kp = |i: usize| if i % 3 == 2 { 4000.0 } else { 60.0 };
    let joints = (0..simulation.model().joint_count())
        .map(|i| JointCommand { kp: kp(i), kd: kp(i) / 40.0, ..Default::default() })
        .collect();
    input.candidates.push(Box::new(Command {
        run_id: 1,
        session: 9,
        seq: tick + 1,
        answers_tick: tick,
        applies_tick: 0,
        joints,
    }));
    input
}

/// A walker after `ticks` busy ticks.
pub fn busy_walker(ticks: u64) -> Simulation {
    let (model, spec) = walker();
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    for _ in 0..ticks {
        let input = busy_input(&simulation);
        simulation.step(&input);
    }
    assert_eq!(simulation.failure(), None);
    simulation
}

/// Standing with swaying references, and now and then a push, ice, and a silent controller. What
/// happens depends on the tick alone.
pub fn busy_input(simulation: &Simulation) -> TickInput {
    let mut input = standing_input(simulation);
    let tick = simulation.state().tick;
    for (i, j) in input.candidates[0].joints.iter_mut().enumerate() {
        j.q = 0.05
            * hardstand_physics::math::sin_cos(0.01 * tick as f64 + i as f64).0
            * j.kp.min(100.0)
            / 100.0;
        if i % 3 == 2 {
            j.q *= 0.1;
        }
    }
    if tick % 97 == 50 {
        let side = if tick.is_multiple_of(2) { 25.0 } else { -25.0 };
        input.events.push(Event::Push {
            body: 0,
            point_B: [0.05, 0.0, 0.02],
            force_W: [5.0, side, 0.0],
            ticks: 30,
        });
    }
    match tick % 500 {
        200 => input.events.push(friction(Scope::All, 0.3)),
        240 => input.events.push(friction(Scope::Station(3), 0.9)),
        260 => input.events.push(friction(Scope::All, 0.8)),
        // silent for less than the watchdog's patience
        400..415 => input.candidates.clear(),
        _ => (),
    }
    input
}

fn friction(scope: Scope, mu_static: f64) -> Event {
    Event::Friction { scope, mu_static, mu_kinetic: 0.7 * mu_static }
}
