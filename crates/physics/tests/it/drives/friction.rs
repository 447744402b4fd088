//! Friction: it holds, it breaks away, it slows as its formula says.

use hardstand_physics::actuator::drive::{Drive, DriveFriction, Gear};
use hardstand_physics::math::exp;

use super::{INERTIA, dq, flywheel, q, run, torque};

const STRIBECK: DriveFriction = DriveFriction {
    coulomb_nm: 0.3,
    stribeck_nm: 0.2,
    stribeck_speed_rad_per_s: 0.1,
    ..DriveFriction::NONE
};

/// 0.5 N·m are the breakaway torque: half of it stretches the teeth's spring; 99 %, all at once,
/// moves the joint by some µrad, and after the first tenth of a second not at all for a minute.
/// Joint friction without a drive creeps by 0.6 rad in that time.
#[test]
fn friction_holds_below_its_static_limit() {
    let mut plant = flywheel(|drive, _| drive.friction = STRIBECK);
    run(&mut plant, torque(0.25), 100);
    // stiffness I (0.2 / h)² = 400 kN·m/rad
    assert!((q(&plant) - 0.25 / 4e5).abs() < 1e-12, "{}", q(&plant));
    run(&mut plant, torque(0.99 * 0.5), 100);
    let settled = q(&plant);
    assert!(settled < 1e-5, "{settled}");
    run(&mut plant, torque(0.99 * 0.5), 60_000);
    assert!((q(&plant) - settled).abs() < 1e-12, "{}", q(&plant) - settled);
    // and it comes back when the load goes
    run(&mut plant, torque(0.0), 1000);
    assert!((settled - q(&plant) - 0.495 / 4e5).abs() < 1e-12, "{}", q(&plant));
}

#[test]
fn friction_breaks_away_above_its_static_limit_and_then_falls() {
    let mut plant = flywheel(|drive, _| drive.friction = STRIBECK);
    run(&mut plant, torque(1.01 * 0.5), 3000);
    // beyond the Stribeck speed only Coulomb friction is left: (0.505 − 0.3) / 0.1 rad/s²
    let before = dq(&plant);
    assert!(before > 1.0, "{before}");
    run(&mut plant, torque(1.01 * 0.5), 1000);
    assert!((dq(&plant) - before - 2.05).abs() < 1e-6, "{}", dq(&plant) - before);
    // the same torque holds it no longer; less than Coulomb's stops it, and there it stays
    run(&mut plant, torque(0.2), 20_000);
    let rest = q(&plant);
    run(&mut plant, torque(0.2), 1000);
    // a position of 8 rad is known to 1 fm·rad; times the stiffness that is some nN·m
    assert!(dq(&plant).abs() < 1e-9, "{}", dq(&plant));
    assert!((q(&plant) - rest).abs() < 1e-11, "{}", q(&plant) - rest);
}

/// `I dω/dt = −Kc − Kv ω`: `ω = (ω₀ + Kc/Kv) exp(−Kv t / I) − Kc/Kv`, then rest.
#[test]
fn coulomb_and_viscous_friction_stop_a_flywheel_as_the_closed_form_says() {
    let mut plant = flywheel(|drive, spec| {
        drive.friction.coulomb_nm = 0.3;
        drive.friction.viscous_nm_s_per_rad = 0.05;
        spec.v.joints[0] = 10.0;
    });
    let mut worst: f64 = 0.0;
    // I / Kv ln(1 + ω₀ Kv / Kc)
    let end_s = (0.1 / 0.05) * 0.980_829_253;
    for tick in 1..2500 {
        run(&mut plant, torque(0.0), 1);
        let t = f64::from(tick) * 1e-3;
        let exact = if t < end_s { 16.0 * exp(-0.5 * t) - 6.0 } else { 0.0 };
        worst = worst.max((dq(&plant) - exact).abs());
    }
    // steps of 0.1 ms, of first order: 0.5 h Kv/I of the change of speed
    assert!(worst < 1e-3, "{worst}");
    assert!(dq(&plant).abs() < 1e-9, "at rest after {end_s} s: {}", dq(&plant));
}

/// The models' formula by hand for one set of numbers: M6 with all terms, then those it contains.
#[test]
fn the_budget_is_that_of_the_published_models() {
    let m6 = DriveFriction {
        coulomb_nm: 0.05,
        viscous_nm_s_per_rad: 0.0,
        stribeck_nm: 0.12,
        stribeck_speed_rad_per_s: 2.0,
        stribeck_exponent: 0.8,
        load_motor: 0.31,
        load_external: 0.02,
        load_motor_stribeck: 0.18,
        load_external_stribeck: 0.04,
        load_motor_quadratic_per_nm: 0.007,
        load_external_quadratic_per_nm: 0.01,
    };
    // exp(−(1/2)^0.8) = exp(−0.574349177)
    let s = 0.563_071_4;
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    // the load drives the motor: |−2| > |1|
    let sliding: f64 = (0.02 * -2.0_f64 - 0.31 * 1.0).abs();
    let resting = (0.04 * -2.0_f64 - 0.18 * 1.0).abs();
    let quadratic = 0.007 * 1.0 * 1.0;
    near(m6.budget_nm(1.0, -2.0, 1.0), 0.05 + sliding + s * (0.12 + resting + quadratic));
    // the motor drives the load
    let sliding: f64 = (-0.02_f64 - 0.31 * 2.0).abs();
    let resting = (-0.04 - 0.18 * 2.0_f64).abs();
    let quadratic = 0.01 * 1.0 * 1.0;
    near(m6.budget_nm(2.0, -1.0, -1.0), 0.05 + sliding + s * (0.12 + resting + quadratic));
    // both the same way: no quadratic part
    let sliding: f64 = (0.02 * 1.0_f64 - 0.31 * 2.0).abs();
    let resting = (0.04 * 1.0_f64 - 0.18 * 2.0).abs();
    near(m6.budget_nm(2.0, 1.0, 1.0), 0.05 + sliding + s * (0.12 + resting));
    // M3: the gear's torque is that of motor and load together
    let m3 = DriveFriction {
        coulomb_nm: 0.1,
        load_motor: 0.2,
        load_external: 0.2,
        ..DriveFriction::NONE
    };
    near(m3.budget_nm(1.5, -1.5, 3.0), 0.1 + 0.2 * 3.0);
    // M2: the share of rest is that at 1 rad/s, whichever way
    let m2 = DriveFriction {
        coulomb_nm: 0.05,
        stribeck_nm: 0.12,
        stribeck_speed_rad_per_s: 2.0,
        stribeck_exponent: 0.8,
        ..DriveFriction::NONE
    };
    near(m2.budget_nm(9.0, -9.0, 1.0), 0.05 + 0.12 * s);
    near(m2.budget_nm(9.0, -9.0, -1.0), 0.05 + 0.12 * s);
    near(m2.budget_nm(9.0, -9.0, 0.0), 0.05 + 0.12);
    // M4: the gear's torque, |τe − τm| = 3, counts at rest with a share of its own
    let m4 = DriveFriction {
        load_motor: 0.2,
        load_external: 0.2,
        load_motor_stribeck: 0.3,
        load_external_stribeck: 0.3,
        ..m2
    };
    near(m4.budget_nm(1.5, -1.5, 1.0), 0.05 + 0.2 * 3.0 + s * (0.12 + 0.3 * 3.0));
    near(m4.budget_nm(1.5, 1.5, 1.0), 0.05 + 0.12 * s);
    // M5: M6 without the part with squares
    let m5 = DriveFriction {
        load_motor_quadratic_per_nm: 0.0,
        load_external_quadratic_per_nm: 0.0,
        ..m6
    };
    let sliding: f64 = (0.02 * -2.0_f64 - 0.31 * 1.0).abs();
    let resting = (0.04 * -2.0_f64 - 0.18 * 1.0).abs();
    near(m5.budget_nm(1.0, -2.0, 1.0), 0.05 + sliding + s * (0.12 + resting));
    near(m6.budget_nm(1.0, -2.0, 1.0) - m5.budget_nm(1.0, -2.0, 1.0), s * 0.007);
    // M1
    near(DriveFriction { coulomb_nm: 0.1, ..DriveFriction::NONE }.budget_nm(5.0, 5.0, 0.0), 0.1);
}

/// Load from the motion: with the wheel blocked by nothing but its inertia there is no load, so M3
/// leaves `τ (1 − Kl)` for acceleration.
#[test]
fn load_dependent_friction_takes_a_share_of_the_motors_torque() {
    let mut plant = flywheel(|drive, _| {
        drive.friction.load_motor = 0.25;
        drive.friction.load_external = 0.25;
    });
    run(&mut plant, torque(2.0), 500);
    let expected = 0.75 * 2.0 / INERTIA * 0.5;
    assert!((dq(&plant) - expected).abs() < 2e-3 * expected, "{} {expected}", dq(&plant));
}

#[test]
fn a_gear_loses_forwards_and_backwards_what_its_efficiencies_say() {
    let geared = |drive: &mut Drive| {
        drive.gear = Gear { ratio: 9.0, efficiency: 0.9, efficiency_back: 0.8 };
    };
    let mut driving = flywheel(|drive, _| geared(drive));
    run(&mut driving, torque(1.0), 1000);
    assert!((dq(&driving) - 9.0).abs() < 9e-3, "{}", dq(&driving));
    // 1 N·m that brakes arrives as 1 / 0.8
    let mut braking = flywheel(|drive, spec| {
        geared(drive);
        spec.v.joints[0] = 20.0;
    });
    run(&mut braking, torque(-1.0), 1000);
    assert!((dq(&braking) - 7.5).abs() < 2e-2, "{}", dq(&braking));
}
