//! What chance gives, and the Allan deviations of the errors of a gyroscope.

use hardstand_physics::math::exp;
use hardstand_physics::sensor::{Dice, ImuErrors};

use super::{assert_near, errors, rms, started, still};

/// Allan deviation of `values`, one each `dt_s`, over clusters of `m` (IEEE 952, overlapping).
fn allan(values: &[f64], m: usize) -> f64 {
    let mut sums = vec![0.0];
    for x in values {
        sums.push(sums[sums.len() - 1] + x);
    }
    let mean = |i: usize| (sums[i + m] - sums[i]) / m as f64;
    let pairs = (0..=values.len() - 2 * m).map(|i| mean(i + m) - mean(i));
    let (n, square) = pairs.fold((0.0, 0.0), |(n, s), d| (n + 1.0, s + d * d));
    (square / (2.0 * n)).sqrt()
}

/// Root of the mean of the variances of the three axes.
fn allan_of_axes(axes: &[Vec<f64>; 3], m: usize) -> f64 {
    rms(&axes.each_ref().map(|axis| allan(axis, m)))
}

/// What the gyroscope of a unit at rest shows in so many ticks.
fn at_rest(errors: &ImuErrors, period_ns: u64, ticks: u64) -> [Vec<f64>; 3] {
    let (unit, mut state) = started(errors, 11, period_ns);
    let mut axes = [const { Vec::new() }; 3];
    for tick in 1..=ticks {
        unit.step(&mut state, &still(), 0.0, tick);
        for (axis, x) in axes.iter_mut().zip(state.sample.angular_velocity_I.to_array()) {
            axis.push(x);
        }
    }
    axes
}

/// Mean 0, variance 1, kurtosis 3, no correlation of the pair or of neighbouring ticks; one of
/// 15 787 is beyond 4.
#[test]
fn draws_are_normal_and_independent() {
    let n = 400_000;
    let all: Vec<[f64; 2]> = (0..n).map(|tick| Dice::new(3, tick).normals(5)).collect();
    let columns = [0, 1].map(|k| all.iter().map(|pair| pair[k]).collect::<Vec<f64>>());
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / n as f64;
    let one = 1.0 / (n as f64).sqrt();
    for column in &columns {
        assert!(mean(&mut column.iter().copied()).abs() < 4.0 * one);
        // of the squares the deviation is √2, of the fourth powers √96
        let square = mean(&mut column.iter().map(|x| x * x));
        assert!((square - 1.0).abs() < 4.0 * 1.42 * one, "{square}");
        let fourth = mean(&mut column.iter().map(|x| x * x * x * x));
        assert!((fourth - 3.0).abs() < 4.0 * 9.8 * one, "{fourth}");
    }
    let [x, y] = &columns;
    assert!(mean(&mut x.iter().zip(y).map(|(a, b)| a * b)).abs() < 4.0 * one);
    let next = x.iter().zip(x.iter().skip(1));
    assert!(mean(&mut next.map(|(a, b)| a * b)).abs() < 4.0 * one);
    let beyond = all.iter().flatten().filter(|x| x.abs() > 4.0).count() as f64;
    assert!((25.0..80.0).contains(&beyond), "{beyond} of 50.7");
    assert_eq!(Dice::new(3, 7).normals(5), Dice::new(3, 7).normals(5));
    assert_ne!(Dice::new(3, 7).normals(5), Dice::new(4, 7).normals(5));
    assert_ne!(Dice::new(3, 7).normals(5), Dice::new(3, 7).normals(6));
}

/// A one-sided density N gives `N / √(2τ)` at every rate: 0.008 °/s/√Hz are the 0.34 °/√h of the
/// data sheet of the ADIS16470.
#[test]
fn the_slope_of_white_noise_gives_its_density() {
    let n = 0.008_f64.to_radians();
    for (rate_hz, every) in [(0.0, 1), (250.0, 4)] {
        let unit = errors(|e| {
            e.gyro.noise_density = n;
            e.rate_hz = rate_hz;
        });
        let axes = at_rest(&unit, 1_000_000, 400_000);
        let samples = axes.map(|axis| axis.into_iter().step_by(every).collect::<Vec<_>>());
        for tau_s in [0.004_f64, 0.1, 1.0] {
            let m = (tau_s * 1000.0 / every as f64).round() as usize;
            // 3 axes of 400 s: at 1 s the estimate is good to 2.5 %
            let tolerance = if tau_s < 0.5 { 0.02 } else { 0.06 };
            assert_near(allan_of_axes(&samples, m), n / (2.0 * tau_s).sqrt(), tolerance);
        }
    }
    let walk_deg_per_sqrt_h = n.to_degrees() / 2.0_f64.sqrt() * 60.0;
    assert_near(walk_deg_per_sqrt_h, 0.34, 0.005);
}

/// Variance of a Gauss–Markov process of variance 1 (IEEE 952, annex C).
fn process(tau: f64) -> f64 {
    2.0 / tau * (1.0 - 0.5 / tau * (3.0 - 4.0 * exp(-tau) + exp(-2.0 * tau)))
}

/// The largest Allan deviation is the instability, and lies at 1.89 correlation times.
#[test]
fn the_bias_comes_and_goes_with_its_instability_and_time() {
    let instability = 5e-5;
    let unit = errors(|e| {
        e.gyro.bias_instability = instability;
        e.gyro.bias_time_s = 1.0;
    });
    // 20 000 correlation times on each of three axes
    let axes = at_rest(&unit, 50_000_000, 400_000);
    let spread = instability / process(1.8926).sqrt();
    assert_near(rms(&axes.each_ref().map(|a| rms(a))), spread, 0.02);
    for tau_s in [0.5_f64, 1.9, 10.0] {
        let found = allan_of_axes(&axes, (tau_s / 0.05).round() as usize);
        assert_near(found, spread * process(tau_s).sqrt(), 0.04);
    }
    let floor = allan_of_axes(&axes, 38);
    assert_near(floor, instability, 0.04);
    assert!(floor > allan_of_axes(&axes, 20) && floor > allan_of_axes(&axes, 70));
}

/// `K √(τ/3)`.
#[test]
fn the_bias_walks() {
    let k = 1e-5;
    let axes = at_rest(&errors(|e| e.gyro.bias_walk = k), 10_000_000, 1_000_000);
    for tau_s in [1.0_f64, 10.0] {
        let found = allan_of_axes(&axes, (tau_s / 0.01).round() as usize);
        assert_near(found, k * (tau_s / 3.0).sqrt(), 0.06);
    }
}

/// What is drawn once for a unit has the given deviations over many units, and is independent of
/// what is drawn in a tick.
#[test]
fn specimens_differ_as_much_as_the_numbers_say() {
    let unit = errors(|e| {
        e.accel.bias = 0.02;
        e.accel.scale_error = 0.01;
        e.accel.misalignment_rad = 0.005;
    });
    let (mut biases, mut scales, mut angles) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..3000 {
        let one = hardstand_physics::sensor::TriaxialUnit::new(&unit.accel, seed, 16);
        biases.extend(one.turn_on.to_array());
        for r in 0..3 {
            for c in 0..3 {
                let list = if r == c { &mut scales } else { &mut angles };
                list.push(one.gain[(r, c)] - f64::from(u8::from(r == c)));
            }
        }
    }
    for (found, expected) in [(&biases, 0.02), (&scales, 0.01), (&angles, 0.005)] {
        assert_near(rms(found), expected, 0.03);
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        assert!(mean.abs() < 0.05 * expected, "{mean}");
    }
}
