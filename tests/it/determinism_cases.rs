//! Runs whose digests are written down. `determinism.rs` checks them in every build on this
//! machine, `tests/portable` prints them on other kinds of machine.
#![allow(non_snake_case, clippy::unwrap_used, clippy::panic)]

use std::num::NonZeroUsize;

use hardstand::calibrate::{Finding, FitSettings, Job, calibrate, parse_list};
use hardstand::config::Scenario;
use hardstand::optimize::SplitMix;
use hardstand::robot_log::{JointTrack, RobotLog};
use hardstand::simulation::Simulation;
use hardstand_physics::actuator::Reference;
use hardstand_physics::math;
use hardstand_physics::plant::{OwnerWords, Plant};
use hardstand_protocol::{Command, Event, HoldGains, JointCommand, Scope, TickInput};
use xxhash_rust::xxh3::xxh3_64;

/// A run, or a sweep of functions, with the digest that it must have.
pub struct Case {
    /// Name.
    pub name: &'static str,
    /// Computes the digest.
    pub run: fn() -> u64,
    /// The digest, written down once.
    pub digest: u64,
}

/// All cases.
pub const CASES: [Case; 11] = [
    Case { name: "STAND", run: || walk(&[], 100.0, 4000), digest: 0x4a1c_8882_cf49_0027 },
    Case { name: "STAND_RK4", run: runge_kutta, digest: 0xe3f0_4b0e_31a0_af05 },
    Case { name: "STAND_IMPLICIT", run: linearly_implicit, digest: 0x48e6_b6ac_66f0_710f },
    Case { name: "COLLAPSE", run: || walk(&[], 0.0, 4000), digest: 0x2d84_7ad4_b91c_dacf },
    Case { name: "RIGID", run: || model("rigid"), digest: 0x3b44_0499_5cb2_d9e5 },
    Case { name: "HUNT_CROSSLEY", run: || model("hunt_crossley"), digest: 0xf508_fdf6_8592_b909 },
    Case { name: "MIXED", run: mixed, digest: 0x1059_0783_d7cd_6e93 },
    Case { name: "TROT", run: trot, digest: 0x7d14_44de_7a58_2be8 },
    Case { name: "POLICY", run: policy, digest: 0x1bf9_9cfa_b3e2_58db },
    Case { name: "FIT", run: fit, digest: 0x6e11_aac5_7c3c_be81 },
    Case { name: "MATH", run: functions, digest: 0x1125_fb55_4b19_40d0 },
];

fn scenario(sets: &[&str]) -> Scenario {
    let scenario = include_str!("../../config/quadruped.toml");
    let robot = include_str!("../../config/robots/quadruped.urdf");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_string()).collect();
    Scenario::from_texts(scenario, robot, &sets).unwrap()
}

/// Drops the robot from 0.1 m, with a controller if `kp` is not 0, a push and a slippery spot.
pub fn run(sets: &[&str], kp: f64, ticks: u64) -> Simulation {
    let mut all = vec!["initial.clearance_m=0.1"];
    all.extend_from_slice(sets);
    let s = scenario(&all);
    let mut simulation = s.simulation();
    let stance = s.spec.q.joints.clone();
    for tick in 0..ticks {
        let mut input = TickInput::new();
        if kp > 0.0 {
            let wave = 0.05 * math::sin_cos(tick as f64 * 0.005).0;
            let hold = |q: &f64| JointCommand { q: q + wave, kp, kd: 3.0, ..Default::default() };
            let joints = stance.iter().map(hold).collect();
            let (session, seq, answers_tick) = (7, tick + 1, tick);
            input.candidates.push(Box::new(Command {
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
            let scope = Scope::Station(0);
            input.events.push(Event::Friction { scope, mu_static: 0.1, mu_kinetic: 0.05 });
        }
        assert_eq!(simulation.step(&input).failure, None);
    }
    simulation
}

/// The shipped controller walks.
fn trot() -> u64 {
    crate::walking::trot(3000, |_robot| {}).simulation.state().digest
}

/// A log of a robot that hangs in the air and moves its legs, with noise: positions every 5 ms.
fn log_of_the_air(s: &Scenario) -> RobotLog {
    let mut plant = Plant::new(s.model.clone(), s.spec.clone());
    let (home, mut random) = (s.spec.q.joints.clone(), SplitMix(5));
    let command = [Some(Vec::new()), None, None, None, None];
    let track = JointTrack { q: Vec::new(), dq: None, command };
    let joints = vec![track; home.len()];
    let mut log = RobotLog { file: "made".into(), time_s: Vec::new(), joints, base: None };
    let mut references = vec![Reference::default(); home.len()];
    for tick in 0..1500_u64 {
        let time_s = tick as f64 * 1e-3;
        if tick.is_multiple_of(5) {
            log.time_s.push(time_s);
            for (i, track) in log.joints.iter_mut().enumerate() {
                let phase = time_s * (3.0 + 1.2 * time_s) + 0.9 * i as f64;
                let q = home[i] + 0.5 * time_s.min(0.5) * math::sin_cos(phase).0;
                let HoldGains { kp, kd } = s.hold_gains[i];
                references[i] = Reference { q, kp, kd, ..Reference::default() };
                track.q.push(plant.state().q.joints[i] + 1e-3 * random.normal());
                track.command[0].as_mut().unwrap().push(q);
            }
        }
        assert!(plant.step(&references, &OwnerWords::default()).is_none());
    }
    log
}

/// A calibration: values, their intervals and the errors of all joints, before and after.
fn fit() -> u64 {
    let robot = |friction: f64, delay_us: f64| {
        let joint = format!(
            "joints.\"*\"={{hold_kp=30.0, hold_kd=1.0, armature=0.01, friction={friction:?}, \
             damping=0.05, drive={{delay_us={delay_us:?}}}}}"
        );
        let air = ["robot.base=fixed", "initial.position_m=[0,0,1]", "sim.micro_steps=2"];
        scenario(&[&air[..], &[joint.as_str()]].concat())
    };
    let (log, start) = (log_of_the_air(&robot(0.5, 3700.0)), robot(0.3, 0.0));
    let names = ["friction", "hold_kd@FL_*", "drive.delay_us", "mass@trunk"].map(String::from);
    let parameters = parse_list(&names, &start).unwrap();
    let (threads, iterations_max) = (NonZeroUsize::MIN, 40);
    let settings = FitSettings { hold_back: 0.25, window_s: None, threads, iterations_max };
    let job = Job { log: &log, scenario: &start, parameters: &parameters, settings: &settings };
    let found = calibrate(&job, |_sentence| {}).unwrap();
    let mut numbers = Vec::new();
    for estimate in &found.estimates {
        numbers.extend(match estimate.finding {
            Finding::Determined { value, half_width, .. } => [value, half_width],
            Finding::NotDetermined { kept, .. } => [kept, f64::INFINITY],
        });
    }
    for accuracy in found.fit.iter().chain(found.held_back.iter().flatten()) {
        numbers.extend(accuracy.joints.iter().flat_map(|j| [j.rms_rad, j.mean_rad, j.max_rad]));
    }
    xxh3_64(&numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

/// A learned controller moves.
fn policy() -> u64 {
    crate::walking::policy(1000).0.simulation.state().digest
}

fn walk(sets: &[&str], kp: f64, ticks: u64) -> u64 {
    run(sets, kp, ticks).state().digest
}

fn model(name: &str) -> u64 {
    walk(&[&format!("contact.model={name}")], 100.0, 2500)
}

fn runge_kutta() -> u64 {
    walk(&["sim.integrator=rk4", "sim.micro_steps=4"], 100.0, 2500)
}

fn linearly_implicit() -> u64 {
    walk(&["sim.integrator=linearly_implicit", "sim.micro_steps=2"], 100.0, 2500)
}

/// All models, the holding law, a table that rocks, a step, a hill and a patch of ice.
fn mixed() -> u64 {
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
    walk(&sets, 100.0, 2500)
}

/// Ten thousand values of each function.
fn functions() -> u64 {
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
    xxh3_64(&bytes)
}
