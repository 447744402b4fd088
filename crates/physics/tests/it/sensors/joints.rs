//! What joints report: position, derived velocity, torque, late.

use std::f64::consts::TAU;

use hardstand_physics::math::exp;
use hardstand_physics::sensor::{Dice, JointSensed, JointSensor, JointUnit};

use super::{assert_near, rms};

fn unit(change: impl FnOnce(&mut JointSensor)) -> JointUnit {
    let mut sensor = JointSensor::default();
    change(&mut sensor);
    JointUnit::new(&sensor, 2, 9, 1_000_000)
}

fn dice(tick: u64) -> Dice {
    Dice::new(9, tick)
}

/// What it reports of the same truth in so many ticks.
fn reports(unit: &JointUnit, truth: [f64; 3], ticks: u64) -> Vec<JointSensed> {
    let mut sensed = unit.start(truth, &dice(0));
    let mut step = |tick| {
        unit.step(&mut sensed, truth, &dice(tick));
        sensed
    };
    (1..=ticks).map(&mut step).collect()
}

#[test]
fn without_errors_it_reports_the_truth() {
    let last = reports(&unit(|_| {}), [0.7, -2.0, 11.0], 3)[2];
    assert_eq!((last.measured.q, last.measured.dq, last.torque_nm), (0.7, -2.0, 11.0));
}

/// Noise before whole counts: σ² is that of the noise and of the steps.
#[test]
fn positions_have_noise_offset_and_counts() {
    let count = TAU / 4096.0;
    let one = unit(|s| {
        s.encoder.counts_per_turn = 4096.0;
        s.encoder.offset_rad = 0.1;
        s.noise_rad = 2.0 * count;
    });
    let shown: Vec<f64> =
        reports(&one, [0.5, 0.0, 0.0], 40_000).iter().map(|s| s.measured.q).collect();
    assert!(shown.iter().all(|q| (q / count - (q / count).round()).abs() < 1e-9));
    let mean = shown.iter().sum::<f64>() / shown.len() as f64;
    assert!((mean - 0.6).abs() < 4.0 * 2.0 * count / 200.0, "{mean}");
    let off: Vec<f64> = shown.iter().map(|q| q - mean).collect();
    assert_near(rms(&off), count * (4.0_f64 + 1.0 / 12.0).sqrt(), 0.02);
}

/// Offsets differ from joint to joint, and not within a run.
#[test]
fn offsets_are_drawn_for_each_joint() {
    let sensor = JointSensor { offset_error_rad: 0.02, ..JointSensor::default() };
    let offset = |i| {
        let one = JointUnit::new(&sensor, i, 9, 1_000_000);
        let all = reports(&one, [0.0; 3], 2);
        assert_eq!(all[0].measured.q, all[1].measured.q);
        all[0].measured.q
    };
    let offsets: Vec<f64> = (0..3000).map(offset).collect();
    assert_near(rms(&offsets), 0.02, 0.05);
}

/// On a ramp from rest the derived speed is `v (1 − exp(−2π f t))`.
#[test]
fn a_derived_velocity_lags_as_its_filter() {
    let one = unit(|s| s.encoder.velocity_cutoff_hz = 20.0);
    let mut sensed = one.start([0.0; 3], &dice(0));
    for tick in 1..60 {
        let t = 1e-3 * tick as f64;
        one.step(&mut sensed, [3.0 * t, 3.0, 0.0], &dice(tick));
        assert_near(sensed.measured.dq, 3.0 * (1.0 - exp(-TAU * 20.0 * t)), 1e-9);
    }
}

/// Steps of the encoder show in the derived speed: one count is `share · count / h`.
#[test]
fn a_derived_velocity_has_the_steps_of_the_encoder() {
    let count = TAU / 1000.0;
    let one = unit(|s| (s.encoder.counts_per_turn, s.encoder.velocity_cutoff_hz) = (1000.0, 50.0));
    let mut sensed = one.start([0.4 * count, 0.0, 0.0], &dice(0));
    one.step(&mut sensed, [0.6 * count, 0.0, 0.0], &dice(1));
    let share = 1.0 - exp(-TAU * 50.0 * 1e-3);
    assert_near(sensed.measured.dq, share * count / 1e-3, 1e-12);
}

#[test]
fn a_speed_that_is_not_derived_has_noise_of_its_own() {
    let one = unit(|s| s.velocity_noise_rad_per_s = 0.3);
    let off: Vec<f64> =
        reports(&one, [0.0, 5.0, 0.0], 20_000).iter().map(|s| s.measured.dq - 5.0).collect();
    assert_near(rms(&off), 0.3, 0.02);
}

/// `gain · τ + zero`, each drawn once for a joint; noise with each reading, through the low-pass.
#[test]
fn torque_is_estimated_with_errors() {
    let sensor = |change: &dyn Fn(&mut JointSensor)| {
        let mut sensor = JointSensor::default();
        change(&mut sensor);
        sensor
    };
    let drawn = sensor(&|s| (s.torque.gain_error, s.torque.offset_nm) = (0.05, 0.2));
    let shows = |i, nm| {
        let one = JointUnit::new(&drawn, i, 9, 1_000_000);
        reports(&one, [0.0, 0.0, nm], 1)[0].torque_nm
    };
    let zeros: Vec<f64> = (0..2000).map(|i| shows(i, 0.0)).collect();
    let gains: Vec<f64> =
        (0..2000).map(|i| (shows(i, 10.0) - shows(i, 0.0)) / 10.0 - 1.0).collect();
    assert_near(rms(&zeros), 0.2, 0.06);
    assert_near(rms(&gains), 0.05, 0.06);
    assert_near(shows(1, 20.0) - shows(1, 10.0), shows(1, 10.0) - shows(1, 0.0), 1e-12);

    let noisy = unit(|s| s.torque.noise_nm = 0.4);
    let off: Vec<f64> =
        reports(&noisy, [0.0, 0.0, 7.0], 20_000).iter().map(|s| s.torque_nm - 7.0).collect();
    assert_near(rms(&off), 0.4, 0.02);

    // a low-pass of share a leaves σ √(a / (2 − a)) of white noise
    let slow = unit(|s| (s.torque.noise_nm, s.torque.bandwidth_hz) = (0.4, 50.0));
    let off: Vec<f64> = reports(&slow, [0.0; 3], 40_000).iter().map(|s| s.torque_nm).collect();
    let a = 1.0 - exp(-TAU * 50.0 * 1e-3);
    assert_near(rms(&off), 0.4 * (a / (2.0 - a)).sqrt(), 0.04);

    let steps = unit(|s| s.torque.resolution_nm = 0.25);
    assert_eq!(reports(&steps, [0.0, 0.0, 1.1], 1)[0].torque_nm, 1.0);
}
