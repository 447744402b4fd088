//! The shipped quadruped.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
use hardstand_physics::plant::ComputePath;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::{Command, Event, JointCommand, TickInput};

use super::blocks::energy;

const SEMI: &str = "semi_implicit_euler";
const IMPLICIT: &str = "linearly_implicit";

fn scenario(sets: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let mut all = vec![format!("sim.integrator={IMPLICIT}")];
    all.extend(sets.iter().map(|s| (*s).to_owned()));
    Scenario::load(&path, &all).unwrap()
}

/// What holds the joints where they began.
#[derive(Clone, Copy)]
struct Gains {
    kp: f64,
    kd: f64,
}

const USUAL: Gains = Gains { kp: 100.0, kd: 3.0 };
const STIFF: Gains = Gains { kp: 2000.0, kd: 40.0 };
const NONE: Gains = Gains { kp: 0.0, kd: 0.0 };

fn input(simulation: &Simulation, gains: Gains) -> TickInput {
    let (Gains { kp, kd }, tick) = (gains, simulation.state().tick);
    let mut input = TickInput::new();
    if kp > 0.0 {
        let hold = |q: &f64| JointCommand { q: *q, kp, kd, ..Default::default() };
        let joints = simulation.spec().q.joints.iter().map(hold).collect();
        let command = Command {
            run_id: 1,
            session: 1,
            seq: tick + 1,
            answers_tick: tick,
            applies_tick: 0,
            joints,
        };
        input.candidates.push(Box::new(command));
    }
    input
}

/// Digests of all ticks, and the plant at the end. It is pushed after 0.4 s.
fn run(s: &Scenario, path: ComputePath, gains: Gains, ticks: u64) -> (Vec<u64>, Simulation) {
    let mut simulation = s.simulation();
    simulation.set_path(path);
    let mut digests = Vec::new();
    for tick in 0..ticks {
        let mut input = input(&simulation, gains);
        if tick == 400 {
            let (point_B, force_W) = ([0.1, 0.0, 0.02], [20.0, 60.0, -5.0]);
            input.events.push(Event::Push { body: 0, point_B, force_W, ticks: 50 });
        }
        simulation.step(&input);
        digests.push(simulation.state().digest);
    }
    (digests, simulation)
}

#[test]
fn all_paths_give_the_same_bits() {
    let steps = "terrain=[{kind=\"box\", position_m=[0.3, 0.0, 0.0], size_m=[0.3, 1.0, 0.04]}]";
    let rocks = "planes.0.motion={rocking_rad=[0.02, 0.01, 0.0], amplitude_m=[0.0, 0.0, 0.004], \
                 frequency_hz=1.5, ramp_s=0.2}";
    for (sets, gains) in [
        (&["sim.micro_steps=1", "initial.clearance_m=0.2"][..], USUAL),
        (&["sim.micro_steps=4", "initial.clearance_m=0.2"], USUAL),
        (&["sim.micro_steps=5", "contact.stiction=simbody"], NONE),
        (&["sim.micro_steps=5", "contact.stiction=holding"], USUAL),
        (&["sim.micro_steps=2", "contact.model=hunt_crossley"], USUAL),
        (&["sim.micro_steps=2", "feet.1.model=hunt_crossley", rocks], USUAL),
        (&["sim.micro_steps=2", steps], USUAL),
        (&[], USUAL),
    ] {
        let s = scenario(sets);
        let (definition, simulation) = run(&s, ComputePath::OneByOne, gains, 700);
        assert_eq!(simulation.failure(), None, "{sets:?}");
        for path in [ComputePath::Fastest, ComputePath::Portable] {
            let (other, _) = run(&s, path, gains, 700);
            let first = definition.iter().zip(&other).position(|(a, b)| a != b);
            assert_eq!(first, None, "{sets:?}: {path:?} differs from this tick on");
        }
    }
}

/// Places of the base after each tick, and the plant at the end.
fn fall(method: &str, micro_steps: u32, drop_m: f64, gains: Gains) -> (Vec<Vec3>, Simulation) {
    let s = scenario(&[
        &format!("sim.integrator={method}"),
        &format!("sim.micro_steps={micro_steps}"),
        &format!("initial.clearance_m={drop_m}"),
        "contact.bodies=feet",
    ]);
    let mut simulation = s.simulation();
    let mut places = Vec::new();
    for _ in 0..1500 {
        simulation.step(&input(&simulation, gains));
        assert_eq!(simulation.failure(), None, "{method}, {micro_steps} micro-steps");
        places.push(simulation.state().q.p_WB);
    }
    (places, simulation)
}

fn apart_m(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

fn fastest_joint(simulation: &Simulation) -> f64 {
    simulation.state().v.joints.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
}

#[test]
fn a_drop_from_half_a_metre_needs_one_step_per_millisecond() {
    let (reference, _) = fall(SEMI, 200, 0.5, USUAL);
    let off = |method, micro_steps| apart_m(&fall(method, micro_steps, 0.5, USUAL).0, &reference);
    let (semi, implicit) = (off(SEMI, 1), off(IMPLICIT, 1));
    println!("steps of 1 ms: semi-implicit {semi:.5} m, linearly implicit {implicit:.5} m");
    assert!(implicit < 0.01 && semi > 0.3, "{implicit} m, {semi} m");
    let (semi, implicit) = (off(SEMI, 10), off(IMPLICIT, 10));
    println!("steps of 0.1 ms: semi-implicit {semi:.5} m, linearly implicit {implicit:.5} m");
    assert!(implicit < 0.001 && semi < 0.001, "{implicit} m, {semi} m");
}

/// Joints hit their stops, feet slide: implicit steps follow that no better.
#[test]
fn a_limp_fall_has_the_same_errors_with_both_methods() {
    let (reference, _) = fall(SEMI, 200, 0.1, NONE);
    for (micro_steps, most_m) in [(1, 0.03), (10, 0.01)] {
        let off = |method| apart_m(&fall(method, micro_steps, 0.1, NONE).0, &reference);
        let (semi, implicit) = (off(SEMI), off(IMPLICIT));
        println!("{micro_steps}: semi-implicit {semi:.4} m, linearly implicit {implicit:.4} m");
        assert!(semi < most_m && implicit < most_m, "{micro_steps}: {semi} m, {implicit} m");
    }
}

#[test]
fn stiff_drives_do_not_ring_with_one_step_per_millisecond() {
    for (drop_m, gains) in [(0.1, STIFF), (0.0, Gains { kp: 5000.0, kd: 100.0 })] {
        let rings = |method| fastest_joint(&fall(method, 1, drop_m, gains).1);
        let (semi, implicit) = (rings(SEMI), rings(IMPLICIT));
        println!("kp {}: semi-implicit {semi:.2e}, implicit {implicit:.2e} rad/s", gains.kp);
        assert!(implicit < 1e-3 && semi > 0.5, "{implicit} rad/s, {semi} rad/s");
    }
}

#[test]
fn a_limp_robot_gains_no_energy() {
    for micro_steps in [1, 2, 10] {
        let s = scenario(&[&format!("sim.micro_steps={micro_steps}"), "initial.clearance_m=0.3"]);
        let mut simulation = s.simulation();
        let start_j = energy(&simulation);
        let mut most_j = f64::NEG_INFINITY;
        for _ in 0..2000 {
            simulation.step(&input(&simulation, NONE));
            most_j = most_j.max(energy(&simulation) - start_j);
        }
        println!("{micro_steps} micro-steps: {most_j:.3e} J of {start_j:.1} J");
        assert_eq!(simulation.failure(), None);
        assert!(most_j < 1e-3, "{most_j} J more with {micro_steps} micro-steps");
    }
}
