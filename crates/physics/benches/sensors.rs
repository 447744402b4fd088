//! Cost of a tick with sensors: `cargo bench -p hardstand-physics --bench sensors`.
//!
//! Ticks of 1 ms with ten micro-steps of a walker with twelve joints and four feet that stands.
//! Each figure is the least of `ROUNDS` means over `TICKS` ticks; cases are measured in turn.
//! `-- none` measures one case alone. `cargo test --benches` runs each case once, without figures.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]
#![allow(non_snake_case, reason = "monogram notation")]

use std::time::Instant;

use hardstand_physics::actuator::Reference;
use hardstand_physics::plant::{OwnerWords, Plant, SensorSet};
use hardstand_physics::sensor::{FootSensor, ImuErrors, JointSensor};

#[path = "../tests/it/common/robots.rs"]
#[allow(unreachable_pub)]
mod robots;

const TICKS: u32 = 500;
const ROUNDS: usize = 40;

struct Case {
    name: &'static str,
    plant: Plant,
    least_us: f64,
}

fn imu(delay_us: f64) -> Option<ImuErrors> {
    let mut imu = ImuErrors { delay_us, ..ImuErrors::NONE };
    imu.vibration.frequency_hz = 80.0;
    imu.orientation.tilt_rad = 0.01;
    for triad in [&mut imu.gyro, &mut imu.accel] {
        (triad.noise_density, triad.bias, triad.bias_instability) = (1e-3, 0.01, 1e-3);
        (triad.bias_walk, triad.scale_error, triad.resolution) = (1e-4, 0.01, 1e-3);
        (triad.range, triad.bandwidth_hz, triad.vibration_per_n) = (100.0, 200.0, 1e-3);
    }
    Some(imu)
}

fn joints(delay_us: f64) -> Vec<JointSensor> {
    let mut joint = JointSensor { delay_us, noise_rad: 1e-4, ..JointSensor::default() };
    (joint.encoder.counts_per_turn, joint.encoder.velocity_cutoff_hz) = (16384.0, 100.0);
    (joint.torque.gain_error, joint.torque.noise_nm) = (0.05, 0.1);
    joint.torque.bandwidth_hz = 200.0;
    vec![joint; 12]
}

fn feet(delay_us: f64) -> Option<FootSensor> {
    let mut foot = FootSensor { delay_us, cutoff_hz: 100.0, ..FootSensor::default() };
    for channel in [&mut foot.force, &mut foot.moment] {
        (channel.gain_error, channel.noise, channel.hysteresis) = (0.02, 0.5, 1.0);
    }
    Some(foot)
}

fn case(name: &'static str, sensors: SensorSet) -> Case {
    let (model, mut spec) = robots::walker();
    (spec.micro_steps, spec.sensors) = (10, sensors);
    let mut case = Case { name, plant: Plant::new(model, spec), least_us: f64::INFINITY };
    run(&mut case, 1000);
    case
}

fn run(case: &mut Case, ticks: u32) {
    let hold = Reference { kp: 80.0, kd: 2.0, ..Reference::default() };
    for _ in 0..ticks {
        assert_eq!(case.plant.step(&[hold; 12], &OwnerWords::default()), None);
    }
}

fn sensors() -> [(&'static str, SensorSet); 6] {
    let none = SensorSet::default;
    let all = |late_us| SensorSet {
        seed: 1,
        imu: imu(late_us),
        joints: joints(late_us),
        feet: feet(late_us),
    };
    [
        ("none", none()),
        ("imu", SensorSet { imu: imu(0.0), ..none() }),
        ("joints", SensorSet { joints: joints(0.0), ..none() }),
        ("feet", SensorSet { feet: feet(0.0), ..none() }),
        ("all", all(0.0)),
        ("all, 5 ms late", all(5e3)),
    ]
}

fn main() {
    let is_test = std::env::args().any(|a| a == "--test");
    let only = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let chosen = sensors().into_iter().filter(|(name, _)| wanted(name));
    let mut cases: Vec<Case> = chosen.map(|(name, sensors)| case(name, sensors)).collect();
    for _ in 0..if is_test { 1 } else { ROUNDS } {
        for case in &mut cases {
            let begin = Instant::now();
            run(case, TICKS);
            let us = begin.elapsed().as_secs_f64() * 1e6 / f64::from(TICKS);
            case.least_us = case.least_us.min(us);
        }
    }
    if is_test {
        return;
    }
    println!("{:<16} {:>10} {:>10}", "sensors", "µs a tick", "more");
    let first_us = cases.first().map_or(0.0, |case| case.least_us);
    for case in &cases {
        let more_us = case.least_us - first_us;
        println!("{:<16} {:>10.2} {:>10.2}", case.name, case.least_us, more_us);
    }
}
