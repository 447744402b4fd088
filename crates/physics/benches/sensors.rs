//! Cost of a tick with sensors: `cargo bench -p hardstand-physics --bench sensors`.
//!
//! Each case alone: `-- imu`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]
#![allow(non_snake_case, reason = "monogram notation")]

use cases::compare;
use hardstand_physics::plant::SensorSet;
use hardstand_physics::sensor::{FootSensor, ImuErrors, JointSensor};

#[path = "common/cases.rs"]
mod cases;

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
    compare("sensors", sensors(), |spec, sensors| spec.sensors = sensors);
}
