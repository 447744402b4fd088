//! The inertial measurement unit besides its noise: time, range, steps, scale, vibration.

use std::f64::consts::TAU;

use hardstand_physics::math::{exp, sin_cos};
use hardstand_physics::sensor::{Delay, DelayLine, ImuErrors, ImuUnit};
use hardstand_physics::spatial::Vec3;

use super::{assert_near, errors, reading, rms, started, still};

/// Without errors it shows the truth, bit for bit.
#[test]
fn a_unit_without_errors_shows_the_truth() {
    let (unit, mut state) = started(&ImuErrors::NONE, 1, 1_000_000);
    for tick in 1..100 {
        let x = 0.1 * tick as f64;
        let truth = reading(Vec3::new(x, -x, 1.0 / x), Vec3::new(0.3, x * x, 9.81));
        unit.step(&mut state, &truth, 100.0, tick);
        assert_eq!(state.sample, truth);
    }
}

/// Each sample is the mean since the one before; between samples it is held.
#[test]
fn a_unit_samples_at_its_own_rate() {
    for (rate_hz, per_s) in [(250.0, 250), (400.0, 400), (333.0, 333)] {
        let (unit, mut state) = started(&errors(|e| e.rate_hz = rate_hz), 1, 1_000_000);
        let (mut changes, mut last, mut since) = (0, 0, state.sample);
        for tick in 1..=3000_u64 {
            let now = reading(Vec3::new(tick as f64, 0.0, 0.0), Vec3::zeros());
            unit.step(&mut state, &now, 0.0, tick);
            if state.sample != since {
                // the mean of the numbers after `last` up to `tick`
                let mean = 0.5 * (last + 1 + tick) as f64;
                assert_near(state.sample.angular_velocity_I.x, mean, 1e-12);
                (changes, last, since) = (changes + 1, tick, state.sample);
            }
        }
        assert!((3 * per_s - 1..=3 * per_s).contains(&changes), "{rate_hz} Hz: {changes}");
    }
    let (unit, mut state) = started(&errors(|e| e.rate_hz = 250.0), 1, 1_000_000);
    for tick in 1..=6 {
        unit.step(&mut state, &reading(Vec3::repeat(tick as f64), Vec3::zeros()), 0.0, tick);
    }
    assert_eq!(state.sample.angular_velocity_I, Vec3::repeat(2.5), "of ticks 1 to 4");
}

#[test]
fn readings_have_a_range_and_steps() {
    let unit = errors(|e| {
        (e.gyro.range, e.gyro.resolution) = (4.0, 0.25);
        (e.accel.range, e.accel.resolution) = (20.0, 0.5);
    });
    let (unit, mut state) = started(&unit, 1, 1_000_000);
    let truth = reading(Vec3::new(1.1, -5.0, 4.1), Vec3::new(9.81, 30.0, -0.26));
    unit.step(&mut state, &truth, 0.0, 1);
    assert_eq!(state.sample.angular_velocity_I, Vec3::new(1.0, -4.0, 4.0));
    assert_eq!(state.sample.specific_force_I, Vec3::new(10.0, 20.0, -0.5));
}

/// A linear map of the truth: columns by unit vectors, and the bias at rest.
#[test]
fn scale_misalignment_and_bias_are_linear() {
    let unit = errors(|e| {
        (e.gyro.scale_error, e.gyro.misalignment_rad, e.gyro.bias) = (0.02, 0.03, 0.1);
    });
    let shows = |w: Vec3| {
        let (unit, mut state) = started(&unit, 5, 1_000_000);
        unit.step(&mut state, &reading(w, Vec3::zeros()), 0.0, 1);
        (state.sample.angular_velocity_I, unit.biases(&state)[0])
    };
    let (zero, bias) = shows(Vec3::zeros());
    assert_eq!(zero, bias);
    let columns = [0, 1, 2].map(|i| shows(Vec3::ith(i, 1.0)).0 - zero);
    assert!((0..3).all(|i| (columns[i][i] - 1.0).abs() > 1e-6 && columns[i][(i + 1) % 3] != 0.0));
    let w = Vec3::new(0.3, -2.0, 1.5);
    let sum = zero + columns[0] * w.x + columns[1] * w.y + columns[2] * w.z;
    assert!((shows(w).0 - sum).amax() < 1e-14);
}

/// `1 − exp(−2π f t)` after a step.
#[test]
fn its_bandwidth_is_a_low_pass() {
    let (unit, mut state) = started(&errors(|e| e.accel.bandwidth_hz = 30.0), 1, 1_000_000);
    for tick in 1..=40 {
        unit.step(&mut state, &reading(Vec3::zeros(), Vec3::repeat(2.0)), 0.0, tick);
        let expected = 2.0 * (1.0 - exp(-TAU * 30.0 * 1e-3 * tick as f64));
        assert_near(state.sample.specific_force_I.y, expected, 1e-12);
    }
}

/// `g J e^(−ζωt) sin(ω_d t) / √(1 − ζ²)` after an impact, on each axis.
#[test]
fn an_impact_lets_it_ring() {
    let (hz, zeta, per_n) = (60.0, 0.1, 0.02);
    let unit = errors(|e| {
        (e.vibration.frequency_hz, e.vibration.damping_ratio) = (hz, zeta);
        e.accel.vibration_per_n = per_n;
        e.gyro.vibration_per_n = 0.1 * per_n;
    });
    let (unit, mut state) = started(&unit, 1, 1_000_000);
    unit.step(&mut state, &still(), 50.0, 1);
    let (omega, root) = (TAU * hz, (1.0 - zeta * zeta).sqrt());
    let mut largest: f64 = 0.0;
    for k in 1..200_u64 {
        unit.step(&mut state, &still(), 0.0, 1 + k);
        let t = 1e-3 * k as f64;
        let (sin, _) = sin_cos(omega * root * t);
        let expected = 50.0 * exp(-zeta * omega * t) * sin / root;
        let [x, _, z] = state.sample.specific_force_I.to_array();
        assert!((x - per_n * expected).abs() < 1e-9 && x == z, "{k}: {x}");
        let turn = state.sample.angular_velocity_I.y;
        assert!((turn - 0.1 * per_n * expected).abs() < 1e-9);
        largest = largest.max(x);
    }
    assert!((0.6..1.0).contains(&largest), "{largest}");
}

/// Heading and tilt wander with their deviations; the quaternion stays a rotation.
#[test]
fn the_reported_orientation_wanders() {
    let unit = errors(|e| {
        e.orientation.tilt_rad = 0.01;
        e.orientation.heading_rad = 0.05;
        e.orientation.time_s = 0.1;
    });
    let (mut tilts, mut headings) = (Vec::new(), Vec::new());
    let (unit, mut state) = started(&unit, 4, 10_000_000);
    for tick in 1..=100_000 {
        unit.step(&mut state, &still(), 0.0, tick);
        let [w, x, y, z] = state.sample.quat_WI.wxyz();
        assert!((w * w + x * x + y * y + z * z - 1.0).abs() < 1e-12);
        tilts.extend([2.0 * x, 2.0 * y]);
        headings.push(2.0 * z);
    }
    // 10 000 correlation times
    assert_near(rms(&tilts), 0.01, 0.03);
    assert_near(rms(&headings), 0.05, 0.03);
}

#[test]
fn a_delay_is_whole_ticks_and_a_share() {
    let all = [(0.0, 0, 0.0, 0), (2000.0, 2, 0.0, 3), (2500.0, 2, 0.5, 4), (300.0, 0, 0.3, 2)];
    for (delay_us, ticks, share, slots) in all {
        let delay = Delay::new(delay_us, 1_000_000);
        assert_eq!((delay.ticks, delay.slots()), (ticks, slots), "{delay_us} µs");
        assert!((delay.share - share).abs() < 1e-12);
        // a ramp of 1 a tick, seen on a line between ticks, and held in them
        let mut line = DelayLine::new(1, delay.slots());
        line.push(0, [0.0].into_iter());
        line.settle(0);
        for tick in 1..40_u64 {
            line.push(tick, [tick as f64].into_iter());
            if slots > 0 {
                let late = (tick as f64 - 1e-3 * delay_us).max(0.0);
                assert!((line.line(tick, delay, 0) - late).abs() < 1e-12, "{tick}");
                assert_eq!(line.held(tick, delay, 0), late.floor(), "{tick}");
            }
        }
    }
}

/// Specimens of a seed are equal, those of two seeds are not.
#[test]
fn a_seed_is_a_specimen() {
    let bias = errors(|e| e.gyro.bias = 0.1);
    let of = |seed| ImuUnit::new(&bias, seed, 1_000_000);
    assert_eq!(of(1), of(1));
    assert_ne!(started(&bias, 1, 1_000_000).1, started(&bias, 2, 1_000_000).1);
}
