//! Laws in motion: delay, rates, current loop, limits, elasticity, heat, watchdog.

use core::f64::consts::TAU;

use hardstand_physics::actuator::Reference;
use hardstand_physics::actuator::drive::{Battery, Elastic, Heat, Motor, TorqueSpeed, flags};
use hardstand_physics::math::{exp, sin_cos};
use hardstand_physics::plant::{OwnerWords, Plant};

use super::{INERTIA, dq, flywheel, q, run, torque};

/// 2.3 ms late: a torque of 1 N·m has accelerated for 7.7 of 10 ms.
#[test]
fn a_command_arrives_after_its_delay() {
    let mut plant = flywheel(|drive, _| drive.timing.delay_us = 2300.0);
    run(&mut plant, torque(1.0), 2);
    assert_eq!(dq(&plant), 0.0, "nothing has arrived");
    run(&mut plant, torque(1.0), 8);
    assert!((dq(&plant) - 10.0 * 7.7e-3).abs() < 1e-12, "{}", dq(&plant));
    // the whole command together: gains and set-points of one instant
    let (old, new) = (
        Reference { q: q(&plant), dq: dq(&plant), ..Reference::default() },
        Reference { q: 1.0, kp: 50.0, ..Reference::default() },
    );
    run(&mut plant, old, 10);
    let before = dq(&plant);
    run(&mut plant, new, 2);
    assert_eq!(dq(&plant), before, "new gains with an old position would pull");
}

/// The drive reads at 1 kHz, so between its readings the torque is held: with `kd = I / (10 T)` each
/// reading takes a tenth of the speed.
#[test]
fn torque_is_held_between_two_runs_of_the_control() {
    let mut plant = flywheel(|drive, spec| {
        drive.timing.control_hz = 500.0;
        spec.v.joints[0] = 1.0;
    });
    let damper = Reference { kd: INERTIA / (10.0 * 2e-3), ..Reference::default() };
    let mut expected = 1.0;
    for n in 1..20 {
        run(&mut plant, damper, 2);
        expected *= 0.9;
        assert!((dq(&plant) - expected).abs() < 1e-12, "{n}: {}", dq(&plant));
    }
}

/// `τ = τ₀ (1 − exp(−2π f t))`: the speed lags that of a motor at once by `τ₀ / (2π f I)`.
#[test]
fn the_current_loop_is_a_low_pass() {
    let mut plant = flywheel(|drive, _| drive.timing.bandwidth_hz = 100.0);
    run(&mut plant, torque(1.0), 5);
    let made = plant.state().motor[0];
    assert!((made - (1.0 - exp(-TAU * 100.0 * 5e-3_f64))).abs() < 1e-9, "{made}");
    run(&mut plant, torque(1.0), 95);
    let lag = 1.0 - dq(&plant) / 10.0 * 10.0;
    // one micro-step less: the torque of a step is that of its end
    assert!((lag - 10.0 / (TAU * 100.0)).abs() < 6e-4, "{lag}");
}

/// A position that jumps by 0.1 rad is reached on a line of 10 ms. The torque is that of the last
/// micro-step, 0.1 ms ago.
#[test]
fn commands_are_interpolated() {
    let stiff = |q| Reference { q, kp: 1.0, ..Reference::default() };
    let mut plant = flywheel(|drive, _| {
        drive.timing.interpolation_us = 10_000.0;
        drive.friction.coulomb_nm = 1e3; // it does not move: the torque shows the position asked
    });
    run(&mut plant, stiff(0.0), 1);
    for (ticks, asked) in [(1, 0.009), (4, 0.049), (5, 0.099), (5, 0.1)] {
        run(&mut plant, stiff(0.1), ticks);
        assert!((plant.state().motor[0] - asked).abs() < 1e-6, "{}", plant.state().motor[0]);
    }
}

/// Driven with all it has, a motor ends at its no-load speed; pushed beyond, it brakes.
#[test]
fn a_motor_ends_at_its_no_load_speed() {
    let line = TorqueSpeed {
        stall_nm: 2.0,
        no_load_rad_per_s: 30.0,
        knee_rad_per_s: 20.0,
        ..TorqueSpeed::default()
    };
    let mut plant = flywheel(|drive, _| drive.torque_speed = line);
    run(&mut plant, torque(100.0), 1000);
    assert!((dq(&plant) - 20.0).abs() < 0.05, "flat up to the knee: {}", dq(&plant));
    assert_eq!(plant.state().drives.joints[0].flags, flags::TORQUE_LIMIT);
    // then ω = 30 − 10 exp(−(2/10)(t − 1 s) / I)
    run(&mut plant, torque(100.0), 500);
    assert!((dq(&plant) - (30.0 - 10.0 * exp(-1.0_f64))).abs() < 0.05, "{}", dq(&plant));
    assert_eq!(plant.state().drives.joints[0].flags, flags::VOLTAGE_LIMIT);
    run(&mut plant, torque(100.0), 10_000);
    assert!((dq(&plant) - 30.0).abs() < 1e-6, "{}", dq(&plant));
    let mut pushed = flywheel(|drive, spec| {
        drive.torque_speed = line;
        spec.v.joints[0] = 35.0;
    });
    run(&mut pushed, torque(0.0), 1);
    assert!(dq(&pushed) < 35.0, "the supply's voltage brakes it");
}

/// Stalled at full current, all power is heat in the winding, and the battery sags for all joints.
#[test]
fn the_battery_sags_under_the_robots_own_power() {
    let motor = Motor {
        torque_constant_nm_per_a: 0.1,
        resistance_ohm: 0.2,
        current_max_a: 40.0,
        ..Motor::default()
    };
    let mut plant = flywheel(|drive, spec| {
        drive.motor = motor;
        drive.friction.coulomb_nm = 100.0;
        spec.drives.battery =
            Battery { voltage_v: 24.0, resistance_ohm: 0.05, idle_w: 10.0, voltage_max_v: 0.0 };
    });
    let idle_v = plant.state().drives.bus_v;
    assert!((idle_v * (24.0 - idle_v) / 0.05 - 10.0).abs() < 1e-9);
    run(&mut plant, torque(100.0), 10);
    let v = plant.state().drives.bus_v;
    let power_w = 40.0 * 40.0 * 0.2 + 10.0;
    assert!((v * (24.0 - v) / 0.05 - power_w).abs() < 1e-6, "{v} V");
    assert_eq!(plant.state().motor[0], 4.0);
}

/// Two masses and a spring swing with `ω² = k (1/I₁ + 1/I₂)`, and their momentum stays.
#[test]
fn motor_and_joint_swing_as_two_masses() {
    let (rotor, stiffness) = (0.02, 100.0);
    let mut plant = flywheel(|drive, spec| {
        drive.motor.rotor_inertia_kg_m2 = rotor;
        drive.elastic = Elastic { stiffness_nm_per_rad: stiffness, ..Elastic::default() };
        spec.v.joints[0] = 1.0;
        spec.period_ns = 100_000;
    });
    plant.state_mut().drives.joints[0].rotor.dq = 0.0;
    plant.wake();
    let omega = (stiffness * (1.0 / rotor + 1.0 / INERTIA)).sqrt();
    let mean = INERTIA / (INERTIA + rotor);
    let mut worst: f64 = 0.0;
    for tick in 1..2000 {
        run(&mut plant, torque(0.0), 1);
        let t = f64::from(tick) * 1e-4;
        let wheel = mean + (1.0 - mean) * sin_cos(omega * t).1;
        worst = worst.max((dq(&plant) - wheel).abs());
        let motor = plant.state().drives.joints[0].rotor.dq;
        assert!((INERTIA * dq(&plant) + rotor * motor - INERTIA).abs() < 1e-12, "momentum");
    }
    // 10 µs steps: phase error (ω h)² / 24 of each radian, and half a step of the speed
    assert!(worst < 1e-3, "{worst}");
    let motor_q = plant.state().drives.joints[0].rotor.q;
    assert!(motor_q != q(&plant), "both sides are known");
}

/// The motor turns for the whole gap before the joint moves.
#[test]
fn backlash_is_a_gap_between_motor_and_joint() {
    let mut plant = flywheel(|drive, _| {
        drive.motor.rotor_inertia_kg_m2 = 0.01;
        drive.elastic =
            Elastic { stiffness_nm_per_rad: 1000.0, damping_nm_s_per_rad: 1.0, backlash_rad: 0.04 };
    });
    // half the gap, 0.02 rad at 0.1 N·m / 0.01 kg·m²: √(2 · 0.02 / 10) = 63 ms
    run(&mut plant, torque(0.1), 63);
    assert_eq!(q(&plant), 0.0);
    let motor = plant.state().drives.joints[0].rotor;
    assert!((motor.q - 0.5 * 10.0 * 0.063 * 0.063).abs() < 1e-4, "{}", motor.q);
    run(&mut plant, torque(0.1), 10);
    assert!(q(&plant) > 0.0);
}

/// With constant loss: the housing's rise is `P Rha`, the winding's `P (Rwh + Rha)` in the end, and
/// with a housing that stays cold `P Rwh (1 − exp(−t / Rwh Cw))` at first. The loss itself rises
/// with the copper's resistance, so the current is small.
#[test]
fn a_winding_warms_as_two_heat_capacities_do() {
    let motor = Motor { torque_constant_nm_per_a: 0.1, resistance_ohm: 0.2, ..Motor::default() };
    let heat = Heat {
        winding_j_per_k: 2.0,
        housing_j_per_k: 1e7,
        winding_to_housing_k_per_w: 2.0,
        housing_to_air_k_per_w: 1.0,
        ..Heat::NONE
    };
    let mut plant = flywheel(|drive, _| {
        (drive.motor, drive.heat) = (motor, heat);
        drive.friction.coulomb_nm = 100.0;
    });
    run(&mut plant, torque(0.5), 4000); // 5 A: 5 W at 25 °C
    // Cw Ṫ = P (1 + α T) − T / Rwh: a rise to P Rwh / (1 − α P Rwh), faster by the same
    let (p, alpha) = (5.0, 0.00393);
    let rate = (1.0 / 2.0 - alpha * p) / 2.0;
    let exact = 25.0 + p / 2.0 / rate * (1.0 - exp(-rate * 4.0_f64));
    let winding_c = plant.state().drives.joints[0].temperatures.winding_c;
    assert!((winding_c - exact).abs() < 1e-3, "{winding_c} {exact}");
}

#[test]
fn a_hot_winding_is_derated_and_then_trips_for_good() {
    let heat = Heat {
        winding_j_per_k: 1.0,
        winding_to_housing_k_per_w: 1e4,
        derate_c: 60.0,
        trip_c: 100.0,
        ..Heat::NONE
    };
    let mut plant = flywheel(|drive, _| {
        drive.motor.torque_constant_nm_per_a = 0.1;
        drive.motor.resistance_ohm = 0.2;
        drive.motor.current_max_a = 20.0;
        drive.heat = heat;
        drive.friction.coulomb_nm = 100.0;
    });
    let of = |plant: &Plant| plant.state().drives.joints[0];
    run(&mut plant, torque(10.0), 300);
    assert_eq!(
        plant.state().motor[0],
        2.0,
        "80 W for 0.3 s: {}",
        of(&plant).temperatures.winding_c
    );
    run(&mut plant, torque(10.0), 400);
    let (celsius, made) = (of(&plant).temperatures.winding_c, plant.state().motor[0]);
    assert!((made - 2.0 * (100.0 - celsius) / 40.0).abs() < 0.02, "{made} at {celsius}");
    assert_ne!(of(&plant).flags & flags::DERATED, 0);
    // derating alone would never reach the trip; a drive without it does, and stays off
    let mut plant = flywheel(|drive, _| {
        drive.motor.torque_constant_nm_per_a = 0.1;
        drive.motor.resistance_ohm = 0.2;
        drive.heat = Heat { derate_c: 0.0, ..heat };
        drive.friction.coulomb_nm = 100.0;
    });
    run(&mut plant, torque(10.0), 1000);
    assert_ne!(of(&plant).flags & flags::TRIPPED, 0);
    assert_eq!(plant.state().motor[0], 0.0);
}

/// Half way from the start of derating to the trip, half of what the drive could make: by voltage,
/// `kt N V / R` of the warm winding, or by its data sheet.
#[test]
fn derating_takes_its_share_of_what_voltage_and_data_sheet_allow() {
    let heat = Heat {
        winding_j_per_k: 1e6,
        housing_j_per_k: 1e7,
        air_c: 80.0,
        derate_c: 60.0,
        trip_c: 100.0,
        ..Heat::NONE
    };
    let made = |stall_nm: f64, asked_nm: f64| {
        let mut plant = flywheel(|drive, _| {
            drive.motor.torque_constant_nm_per_a = 0.05;
            drive.motor.resistance_ohm = 0.3;
            drive.motor.supply_v = 6.0;
            drive.gear.ratio = 6.0;
            drive.torque_speed =
                TorqueSpeed { stall_nm, no_load_rad_per_s: 30.0, ..TorqueSpeed::default() };
            drive.heat = heat;
            drive.friction.coulomb_nm = 100.0;
        });
        run(&mut plant, torque(asked_nm), 10);
        plant.state().motor[0]
    };
    let by_voltage_nm = 0.05 * 6.0 * 6.0 / (0.3 * (1.0 + 0.00393 * 55.0));
    let half = made(0.0, 1000.0);
    assert!((half - 0.5 * by_voltage_nm).abs() < 1e-3, "{half} {by_voltage_nm}");
    assert!((made(2.0, 1000.0) - 1.0).abs() < 1e-3, "{}", made(2.0, 1000.0));
    assert_eq!(made(2.0, 0.7), 0.7, "less than the share is made as asked");
}

/// A housing that cools in 50 µs, half a micro-step: rises of `P (Rwh + Rha)` and `P Rha`, as of a
/// winding alone.
#[test]
fn a_housing_of_almost_no_capacity_stays_stable() {
    let mut plant = flywheel(|drive, _| {
        drive.motor =
            Motor { torque_constant_nm_per_a: 0.1, resistance_ohm: 0.2, ..Motor::default() };
        drive.heat = Heat {
            winding_j_per_k: 0.5,
            housing_j_per_k: 1e-3,
            winding_to_housing_k_per_w: 1.0,
            housing_to_air_k_per_w: 0.05,
            trip_c: 120.0,
            ..Heat::NONE
        };
        drive.friction.coulomb_nm = 100.0;
    });
    run(&mut plant, torque(0.5), 6000); // 5 A: 5 W at 25 °C
    let warm = plant.state().drives.joints[0];
    // P (1 + α T) (Rwh + Rha) = T
    let rise = 5.0 * 1.05 / (1.0 - 0.00393 * 5.0 * 1.05);
    let power_w = 5.0 * (1.0 + 0.00393 * rise);
    let [winding, housing] = [warm.temperatures.winding_c, warm.temperatures.housing_c];
    assert!((winding - 25.0 - rise).abs() < 1e-2, "{winding}");
    assert!((housing - 25.0 - 0.05 * power_w).abs() < 1e-3, "{housing}");
    assert_eq!(warm.flags & flags::TRIPPED, 0);
}

#[test]
fn a_drive_without_commands_brakes_by_itself() {
    let mut plant = flywheel(|drive, spec| {
        drive.watchdog.timeout_us = 20_000.0;
        drive.watchdog.damping_nm_s_per_rad = 0.5;
        spec.v.joints[0] = 1.0;
    });
    let step = |plant: &mut Plant, is_fresh: bool, ticks: u32| {
        for _ in 0..ticks {
            plant.note_fresh(0, is_fresh);
            assert_eq!(plant.step(&[torque(0.1)], &OwnerWords::default()), None);
        }
    };
    step(&mut plant, true, 50);
    assert!((dq(&plant) - 1.05).abs() < 1e-9, "{}", dq(&plant));
    step(&mut plant, false, 19); // the last one was 1 ms old
    assert!((dq(&plant) - 1.069).abs() < 1e-3, "not yet: {}", dq(&plant));
    step(&mut plant, false, 200);
    assert!((dq(&plant) - 1.069 * exp(-1.0_f64)).abs() < 5e-3, "it brakes: {}", dq(&plant));
    assert_eq!(plant.state().drives.joints[0].flags, flags::WATCHDOG);
    let before = dq(&plant);
    step(&mut plant, true, 10);
    assert!((dq(&plant) - before - 0.01).abs() < 2e-4, "a command wakes it: {}", dq(&plant));
    assert_eq!(plant.state().drives.joints[0].flags, 0);
}

/// Differences of counts, filtered, follow a constant speed.
#[test]
fn speed_from_counts_follows_the_true_one() {
    let mut plant = flywheel(|drive, spec| {
        drive.encoder.counts_per_turn = 16384.0;
        drive.encoder.velocity_cutoff_hz = 30.0;
        drive.timing.control_hz = 1000.0;
        spec.v.joints[0] = 3.0;
    });
    run(&mut plant, torque(0.0), 500);
    let measured = plant.state().drives.joints[0].measured;
    // a count each ms is 0.38 rad/s; the filter lets a fifth of that through
    assert!((measured.dq - 3.0).abs() < 0.08, "{}", measured.dq);
    assert_ne!(measured.dq, 3.0);
}
