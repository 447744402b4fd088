//! The test bench of a drive against closed forms.

use hardstand_physics::actuator::drive::{Bench, Drive, TorqueSpeed};
use hardstand_physics::math::{atan2, exp};

/// A delay and a low-pass: gain `1 / √(1 + (f/fc)²)`, phase `−atan(f/fc) − 360° f d`.
#[test]
fn the_frequency_response_is_that_of_delay_and_low_pass() {
    let mut drive = Drive::IDEAL;
    (drive.timing.delay_us, drive.timing.bandwidth_hz) = (2000.0, 50.0);
    let bench = Bench::new(&drive, 0.0);
    for hz in [5.0, 20.0, 50.0, 125.0, 600.0] {
        let [gain, phase] = bench.gain_and_phase(hz, 1.0);
        let ratio: f64 = hz / 50.0;
        let exact = 1.0 / (1.0 + ratio * ratio).sqrt();
        assert!((gain - exact).abs() < 0.01 * exact, "{hz} Hz: {gain}, {exact}");
        let exact = -atan2(ratio, 1.0).to_degrees() - 360.0 * hz * 2e-3;
        // a micro-step of 50 µs is 0.018° for each Hz
        assert!((phase - exact).abs() < 0.02 * hz + 0.3, "{hz} Hz: {phase} {exact}");
    }
}

#[test]
fn the_step_response_waits_for_the_delay_and_then_rises() {
    let mut drive = Drive::IDEAL;
    (drive.timing.delay_us, drive.timing.bandwidth_hz) = (1000.0, 100.0);
    for [t_s, torque_nm] in Bench::new(&drive, 0.0).torque_nm(|_| 3.0, 0.01) {
        let since = t_s - 1e-3;
        let exact = if since > 1e-9 {
            3.0 * (1.0 - exp(-core::f64::consts::TAU * 100.0 * since))
        } else {
            0.0
        };
        assert!((torque_nm - exact).abs() < 1e-9, "{t_s}: {torque_nm} {exact}");
    }
}

#[test]
fn no_load_speed_follows_the_supply() {
    let mut drive = Drive::IDEAL;
    assert_eq!(Bench::new(&drive, 0.0).no_load_rad_per_s(), 0.0);
    drive.torque_speed = TorqueSpeed {
        stall_nm: 20.0,
        no_load_rad_per_s: 30.0,
        knee_rad_per_s: 10.0,
        braking_nm: 0.0,
        nominal_v: 28.0,
    };
    let at = |v| Bench::new(&drive, v).no_load_rad_per_s();
    assert!((at(28.0) - 30.0).abs() < 1e-6 && (at(21.0) - 22.5).abs() < 1e-6, "{}", at(21.0));
    drive.friction.coulomb_nm = 0.3;
    drive.friction.viscous_nm_s_per_rad = 0.1;
    assert!((Bench::new(&drive, 0.0).friction_nm(-2.0, 0.0) + 0.5).abs() < 1e-12);
}
