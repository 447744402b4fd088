//! The same bits everywhere: digests and function values that were written down once must come out
//! of every build, whatever its optimisation level and `target-cpu`. `.ci/run` runs this file in a
//! plain build and with `-C target-cpu=native`.
//!
//! If a change is *meant* to change the physics, run with `-- --nocapture`, check that the golden
//! tests still pass, and write the new digests down here.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
use hardstand_physics::math;
use hardstand_protocol::{Command, Event, JointCommand, TickInput};
use xxhash_rust::xxh3::xxh3_64;

const STAND: u64 = 0x9b17_5aac_6d56_0b09;
const STAND_RK4: u64 = 0x4e47_c5cc_c323_d858;
const STAND_IMPLICIT: u64 = 0x89dc_2307_e9b9_e7e7;
const COLLAPSE: u64 = 0xa1fa_e8a9_2259_4e51;
const RIGID: u64 = 0xe397_3632_eb54_664b;
const HUNT_CROSSLEY: u64 = 0x8c89_2ceb_7275_b375;
const MIXED: u64 = 0xc917_d3f9_3b36_1596;
const MATH: u64 = 0x1125_fb55_4b19_40d0;

fn scenario(sets: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_string()).collect();
    Scenario::load(&path, &sets).unwrap()
}

/// Drops the robot from 0.1 m, with a controller if `kp` is not 0, a push and a slippery spot.
fn run(sets: &[&str], kp: f64, ticks: u64) -> Simulation {
    let mut all = vec!["initial.clearance_m=0.1"];
    all.extend_from_slice(sets);
    let s = scenario(&all);
    let mut plant = s.plant();
    let stance = s.spec.q.joints.clone();
    for tick in 0..ticks {
        let mut input = TickInput::new();
        if kp > 0.0 {
            let wave = 0.05 * math::sin_cos(tick as f64 * 0.005).0;
            let hold = |q: &f64| JointCommand { q: q + wave, kp, kd: 3.0, ..Default::default() };
            let joints = stance.iter().map(hold).collect();
            let (session, seq, answers_tick) = (7, tick + 1, tick);
            input.offers.push(Box::new(Command {
                run_id: 1,
                session,
                seq,
                answers_tick,
                applies_tick: 0,
                joints,
            }));
        }
        if tick == 1500 {
            let (point_B, force_W) = ([0.1, 0.0, 0.02], [20.0, 60.0, -5.0]);
            input.events.push(Event::Push { body: 0, point_B, force_W, ticks: 120 });
        }
        if tick == 2000 {
            let scope = hardstand_protocol::Scope::Station(0);
            input.events.push(Event::Friction { scope, mu_static: 0.1, mu_kinetic: 0.05 });
        }
        assert_eq!(plant.step(&input).failure, None);
    }
    plant
}

fn check(name: &str, found: u64, written_down: u64) {
    println!("{name}: {found:#018x}");
    assert_eq!(found, written_down, "{name}: {found:#018x}, written down {written_down:#018x}");
}

#[test]
fn standing_and_walking_in_place_has_its_digest() {
    check("STAND", run(&[], 100.0, 4000).state().digest, STAND);
}

#[test]
fn runge_kutta_has_its_digest() {
    let sets = ["sim.integrator=rk4", "sim.micro_steps=4"];
    check("STAND_RK4", run(&sets, 100.0, 2500).state().digest, STAND_RK4);
}

#[test]
fn the_linearly_implicit_step_has_its_digest() {
    let sets = ["sim.integrator=linearly_implicit", "sim.micro_steps=2"];
    check("STAND_IMPLICIT", run(&sets, 100.0, 2500).state().digest, STAND_IMPLICIT);
}

#[test]
fn a_collapse_has_its_digest() {
    check("COLLAPSE", run(&[], 0.0, 4000).state().digest, COLLAPSE);
}

#[test]
fn every_contact_model_has_its_digest() {
    for (name, sets, digest) in [
        ("RIGID", &["contact.model=rigid"][..], RIGID),
        ("HUNT_CROSSLEY", &["contact.model=hunt_crossley"], HUNT_CROSSLEY),
    ] {
        check(name, run(sets, 100.0, 2500).state().digest, digest);
    }
}

/// All models, the holding law, a table that rocks, a step, a hill and a patch of ice.
#[test]
fn mixed_feet_on_moving_ground_have_their_digest() {
    let sets = [
        "contact.stiction=holding",
        "feet.0.model=rigid",
        "feet.1.model=hunt_crossley",
        "planes.0.motion={rocking_rad=[0.02, 0.01, 0.0], amplitude_m=[0.0, 0.0, 0.004], \
         frequency_hz=1.5, ramp_s=1.0}",
        "terrain=[{kind=\"box\", position_m=[0.3, 0.0, 0.0], size_m=[0.3, 1.0, 0.04]}, \
         {kind=\"heightfield\", position_m=[-0.2, 0.0, 0.0], origin_m=[-0.4, -0.4], \
         spacing_m=0.4, heights_m=[[0.0, 0.0, 0.0], [0.0, 0.02, 0.0], [0.0, 0.0, 0.0]]}]",
        "regions=[{name=\"ice\", min_m=[-1.0, 0.0], max_m=[1.0, 1.0], mu_static=0.3, \
         mu_kinetic=0.2}]",
    ];
    check("MIXED", run(&sets, 100.0, 2500).state().digest, MIXED);
}

/// DET-5: ten thousand values of each function.
#[test]
fn transcendental_functions_have_their_bits() {
    let mut bytes = Vec::new();
    for i in 0..10_000_u32 {
        let x = (f64::from(i) - 5000.0) * 0.013_7;
        let (s, c) = math::sin_cos(x);
        let y = f64::from(i) / 5000.0 - 1.0;
        for value in [
            math::exp(x),
            s,
            c,
            math::atan2(y, x),
            math::asin_clamped(y),
            math::acos_clamped(y),
            math::step_up(y),
        ] {
            bytes.extend_from_slice(&value.to_bits().to_le_bytes());
        }
    }
    check("MATH", xxh3_64(&bytes), MATH);
}

/// The detector must be able to fail: one ulp in one gain is another digest.
#[test]
fn one_ulp_is_another_digest() {
    let a = run(&[], 100.0, 300).state().digest;
    let b = run(&[], 100.0_f64.next_up(), 300).state().digest;
    assert_ne!(a, b);
    assert_eq!(a, run(&[], 100.0, 300).state().digest);
}
