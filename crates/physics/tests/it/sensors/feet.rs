//! The force sensor of a foot.

use std::f64::consts::TAU;

use hardstand_physics::math::{exp, sin_cos};
use hardstand_physics::sensor::{Dice, FootLoad, FootSensed, FootSensor, FootUnit, played};

use super::{assert_near, rms};

fn unit(change: impl FnOnce(&mut FootSensor)) -> FootUnit {
    let mut sensor = FootSensor::default();
    change(&mut sensor);
    FootUnit::new(&sensor, 1, 3, 1_000_000)
}

fn dice(tick: u64) -> Dice {
    Dice::new(3, tick)
}

/// A foot on level ground that carries `n`.
fn standing(n: f64) -> FootLoad {
    FootLoad {
        normal_n: n,
        normal_F: [0.0, 0.0, 1.0],
        force_F: [0.0, 0.0, n],
        ..FootLoad::default()
    }
}

fn read(unit: &FootUnit, load: &FootLoad) -> FootSensed {
    let mut sensed = unit.start(&FootLoad::default(), &dice(0));
    unit.step(&mut sensed, load, &dice(1));
    sensed
}

#[test]
fn without_errors_it_shows_the_truth() {
    let load = FootLoad {
        normal_n: 30.0,
        normal_F: [0.0, 0.6, 0.8],
        force_F: [1.0, 2.0, 33.0],
        moment_F: [0.1, -0.2, 0.3],
    };
    let sensed = read(&unit(|_| {}), &load);
    assert_eq!(sensed.normal_n(), 30.0);
    assert_eq!((sensed.force_F(), sensed.moment_F()), (load.force_F, load.moment_F));
}

/// `F' = (1 + C) F`, and the normal force gains what leaks along the ground's normal.
#[test]
fn cross_talk_is_a_matrix() {
    let c = [0.01, 0.02, -0.03, 0.04, 0.05, -0.06];
    let one = unit(|s| s.shares = c);
    let (x, y, z) = (40.0, -20.0, 100.0);
    let load = FootLoad {
        normal_n: 90.0,
        normal_F: [0.0, 0.6, 0.8],
        force_F: [x, y, z],
        moment_F: [1.0, 2.0, 3.0],
    };
    let leaked = [c[0] * y + c[1] * z, c[2] * x + c[3] * z, c[4] * x + c[5] * y];
    let sensed = read(&one, &load);
    for (found, (f, leaked)) in sensed.force_F().iter().zip([x, y, z].iter().zip(leaked)) {
        assert_near(*found, f + leaked, 1e-14);
    }
    assert_near(sensed.normal_n(), 90.0 + 0.6 * leaked[1] + 0.8 * leaked[2], 1e-14);
    assert_eq!(sensed.moment_F(), [1.0, 2.0, 3.0]);
}

#[test]
fn forces_and_moments_saturate_by_themselves() {
    let one = unit(|s| (s.force.range, s.moment.range) = (50.0, 2.0));
    let load = FootLoad { moment_F: [3.0, -3.0, 1.0], ..standing(80.0) };
    let sensed = read(&one, &load);
    assert_eq!((sensed.normal_n(), sensed.force_F()[2]), (50.0, 50.0));
    assert_eq!(sensed.moment_F(), [2.0, -2.0, 1.0]);
}

/// Loading and unloading differ by the width, wherever the loop turns; inside it nothing moves.
#[test]
fn the_loop_of_hysteresis_has_its_width() {
    let one = unit(|s| s.force.hysteresis = 6.0);
    let mut sensed = one.start(&standing(0.0), &dice(0));
    let mut show = |n: f64| {
        one.step(&mut sensed, &standing(n), &dice(1));
        sensed.normal_n()
    };
    let up: Vec<f64> = (0..=100).map(|n| show(f64::from(n))).collect();
    let down: Vec<f64> = (0..=100).rev().map(|n| show(f64::from(n))).collect();
    for n in 10..=90 {
        assert_eq!(down[100 - n] - up[n], 6.0, "at {n} N");
    }
    assert_eq!(down[0], 97.0);
    assert_eq!(down[1..=6].iter().filter(|x| **x == 97.0).count(), 6);
    assert_eq!(played(5.0, 7.0, 0.0), 7.0);
}

/// After a step `1 − exp(−2π f t)`; a sine comes through with the gain of the sampled filter.
#[test]
fn its_cut_off_is_a_low_pass() {
    let (cutoff, sine_hz) = (25.0, 40.0);
    let one = unit(|s| s.cutoff_hz = cutoff);
    let mut sensed = one.start(&standing(0.0), &dice(0));
    for tick in 1..=50 {
        one.step(&mut sensed, &standing(10.0), &dice(tick));
        let expected = 10.0 * (1.0 - exp(-TAU * cutoff * 1e-3 * tick as f64));
        assert_near(sensed.normal_n(), expected, 1e-12);
    }
    let mut largest: f64 = 0.0;
    for tick in 0..2000_u64 {
        let (sin, _) = sin_cos(TAU * sine_hz * 1e-3 * tick as f64);
        one.step(&mut sensed, &standing(10.0 * sin), &dice(tick));
        largest = if tick > 500 { largest.max(sensed.normal_n()) } else { 0.0 };
    }
    // |a / (1 − (1 − a) e^(−iΩ))| with a = 1 − exp(−2π f h)
    let (keep, (sin, cos)) = (exp(-TAU * cutoff * 1e-3), sin_cos(TAU * sine_hz * 1e-3));
    let (re, im) = (1.0 - keep * cos, keep * sin);
    assert_near(largest, 10.0 * (1.0 - keep) / (re * re + im * im).sqrt(), 0.01);
}

#[test]
fn gains_zeros_and_noise_have_their_deviations() {
    let sensor = FootSensor {
        force: hardstand_physics::sensor::FootChannel {
            gain_error: 0.03,
            offset: 2.0,
            ..Default::default()
        },
        ..FootSensor::default()
    };
    let (mut gains, mut zeros) = (Vec::new(), Vec::new());
    for foot in 0..1500 {
        let one = FootUnit::new(&sensor, foot, 3, 1_000_000);
        let zero = read(&one, &FootLoad::default());
        let loaded = read(&one, &standing(100.0));
        zeros.extend(zero.force_F());
        gains.push((loaded.normal_n() - zero.normal_n()) / 100.0 - 1.0);
        assert_eq!(zero.moment_F(), [0.0; 3]);
    }
    assert_near(rms(&zeros), 2.0, 0.05);
    assert_near(rms(&gains), 0.03, 0.06);
    let noisy = unit(|s| (s.force.noise, s.moment.noise) = (1.5, 0.02));
    let mut sensed = noisy.start(&standing(0.0), &dice(0));
    let (mut forces, mut moments) = (Vec::new(), Vec::new());
    for tick in 1..10_000 {
        noisy.step(&mut sensed, &standing(0.0), &dice(tick));
        forces.extend(sensed.force_F());
        forces.push(sensed.normal_n());
        moments.extend(sensed.moment_F());
    }
    assert_near(rms(&forces), 1.5, 0.02);
    assert_near(rms(&moments), 0.02, 0.02);
}

#[test]
fn forces_come_in_steps() {
    let one = unit(|s| s.force.resolution = 0.5);
    assert_eq!(read(&one, &standing(10.7)).normal_n(), 10.5);
}
