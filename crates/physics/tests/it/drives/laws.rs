//! Laws without motion: four quadrants, battery, encoder, cogging, heat, names.

use hardstand_physics::actuator::drive::{
    Battery, Cogging, Drive, Elastic, Encoder, Gear, Heat, Motor, TorqueSpeed, Watchdog,
};

/// The line through stall and no-load, flat below the knee, in all quadrants.
#[test]
fn torque_by_speed_has_four_quadrants() {
    let t = TorqueSpeed {
        stall_nm: 24.0,
        no_load_rad_per_s: 30.0,
        knee_rad_per_s: 18.0,
        braking_nm: 26.0,
        nominal_v: 0.0,
    };
    for (v, range) in [
        (0.0, [-24.0, 24.0]),
        (-0.0, [-24.0, 24.0]),
        (1e-9, [-26.0, 24.0]),
        (-1e-9, [-24.0, 26.0]),
        (18.0, [-26.0, 24.0]),
        (24.0, [-26.0, 12.0]),
        (30.0, [-26.0, 0.0]),
        (33.0, [-26.0, -6.0]), // the supply brakes it
        (100.0, [-26.0, -26.0]),
        (-24.0, [-12.0, 26.0]),
        (-33.0, [6.0, 26.0]),
    ] {
        assert_eq!(t.range_nm(v, 1.0), range, "at {v} rad/s");
    }
    // half the voltage: no-load speed halves, the slope of 2 N·m·s/rad stays
    assert_eq!(t.range_nm(12.0, 0.5), [-26.0, 6.0]);
    assert_eq!(TorqueSpeed::default().range_nm(5.0, 1.0), [f64::NEG_INFINITY, f64::INFINITY]);
}

/// `τ = kt (V − ke ω) / R` at the joint of a gear: stall `kt N V / R`, no load at `V / (ke N)`.
#[test]
fn voltage_and_resistance_make_the_same_line() {
    let motor = Motor {
        torque_constant_nm_per_a: 0.1,
        resistance_ohm: 0.2,
        current_max_a: 30.0,
        ..Motor::default()
    };
    let gear = Gear { ratio: 6.0, ..Gear::NONE };
    let at = |v| motor.voltage_range_nm(&gear, motor.resistance_ohm, 24.0, v);
    assert!((at(0.0)[1] - 72.0).abs() < 1e-9 && (at(0.0)[0] + 72.0).abs() < 1e-9);
    assert!(at(40.0)[1].abs() < 1e-12, "{:?}", at(40.0));
    assert!((at(40.0)[0] + 144.0).abs() < 1e-9, "braking adds to it");
    assert!((motor.current_limit_nm(&gear) - 18.0).abs() < 1e-12);
    assert!((motor.current_a(&gear, 9.0) - 15.0).abs() < 1e-12);
}

/// `V (V₀ − V) / R = P`, the power law that a cell with inner resistance obeys.
#[test]
fn a_battery_sags_with_the_power_of_all_and_rises_when_they_brake() {
    let battery =
        Battery { voltage_v: 29.6, resistance_ohm: 0.1, idle_w: 30.0, voltage_max_v: 0.0 };
    for power_w in [-200.0, 0.0, 300.0, 1500.0] {
        let v = battery.terminal_v(power_w);
        assert!((v * (29.6 - v) / 0.1 - (power_w + 30.0)).abs() < 1e-9, "{power_w} W: {v} V");
        assert_eq!(v > 29.6, power_w < -30.0);
    }
    // most that it can give: V₀² / 4 R = 2190 W
    assert_eq!(battery.terminal_v(5000.0), 14.8);
    let clamped = Battery { voltage_max_v: 29.7, ..battery };
    assert_eq!(clamped.terminal_v(-2000.0), 29.7);
}

#[test]
fn an_encoder_shows_whole_counts_and_its_offset() {
    let encoder = Encoder { counts_per_turn: 4096.0, offset_rad: 0.01, velocity_cutoff_hz: 0.0 };
    let count = core::f64::consts::TAU / 4096.0;
    for q in [-3.0, -0.01, 0.0, 0.2, 100.0] {
        let shown = encoder.shown_rad(q);
        assert!((shown - q - 0.01).abs() <= 0.5 * count + 1e-12, "{q}: {shown}");
        assert!((shown / count - (shown / count).round()).abs() < 1e-6, "{q}: {shown}");
    }
    assert_eq!(Encoder::default().shown_rad(0.123), 0.123);
}

#[test]
fn cogging_repeats_with_the_turn() {
    let cogging = Cogging { amplitude_nm: 0.2, periods_per_turn: 42.0 };
    let period = core::f64::consts::TAU / 42.0;
    assert!((cogging.torque_nm(0.25 * period) - 0.2).abs() < 1e-12);
    assert!((cogging.torque_nm(1.3) - cogging.torque_nm(1.3 + period)).abs() < 1e-12);
    assert_eq!(Cogging::default().torque_nm(0.3), 0.0);
}

#[test]
fn a_gap_carries_no_torque_and_its_faces_never_pull() {
    let gap =
        Elastic { stiffness_nm_per_rad: 1000.0, damping_nm_s_per_rad: 2.0, backlash_rad: 0.02 };
    assert_eq!(gap.torque_nm(0.0099, 50.0), 0.0);
    assert!((gap.torque_nm(0.013, 0.5) - 4.0).abs() < 1e-9, "3 mrad deep and 0.5 rad/s");
    assert!((gap.torque_nm(-0.013, 0.0) + 3.0).abs() < 1e-9);
    assert_eq!(gap.torque_nm(0.011, -50.0), 0.0, "it comes out faster than the face follows");
}

#[test]
fn derating_is_linear_from_its_start_to_the_trip() {
    let heat = Heat { winding_j_per_k: 30.0, derate_c: 80.0, trip_c: 120.0, ..Heat::NONE };
    let shares = [25.0, 80.0, 100.0, 120.0, 200.0].map(|c| heat.share(c));
    assert_eq!(shares, [1.0, 1.0, 0.5, 0.0, 0.0]);
    assert!((heat.resistance_ohm(0.2, 125.0) - 0.2 * 1.393).abs() < 1e-12, "copper");
}

#[test]
fn every_number_of_a_drive_has_one_name() {
    let mut names: Vec<&str> = Drive::keys().map(|key| key.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    // each name moves a number of its own
    let mut drive = Drive::IDEAL;
    for (i, key) in Drive::keys().enumerate() {
        key.set(&mut drive, 1000.0 + i as f64);
        assert!(
            key.min <= key.get(&Drive::IDEAL) && key.get(&Drive::IDEAL) <= key.max,
            "{}",
            key.name
        );
    }
    for (i, key) in Drive::keys().enumerate() {
        assert_eq!(key.get(&drive), 1000.0 + i as f64, "{}", key.name);
    }
    // numbers that no name reaches would be left as they were
    assert_eq!(core::mem::size_of::<Drive>() / 8, all, "a number without a name");
}

#[test]
fn numbers_that_contradict_each_other_are_named() {
    let with = |change: fn(&mut Drive)| {
        let mut drive = Drive::IDEAL;
        change(&mut drive);
        drive.contradiction().map(|(key, _)| key)
    };
    assert_eq!(with(|_| {}), None);
    let line =
        |d: &mut Drive| (d.torque_speed.stall_nm, d.torque_speed.knee_rad_per_s) = (1.0, 2.0);
    assert_eq!(with(line), Some("torque_speed.no_load_rad_per_s"));
    assert_eq!(with(|d| d.heat.derate_c = 90.0), Some("heat.derate_c"));
    assert_eq!(with(|d| d.heat.winding_j_per_k = 9.0), Some("heat.winding_j_per_k"));
    assert_eq!(with(|d| d.motor.current_max_a = 9.0), Some("motor.current_max_a"));
    let rigid = with(|d| d.elastic.stiffness_nm_per_rad = 9.0);
    assert_eq!(rigid, Some("elastic.stiffness_nm_per_rad"));
    assert_eq!(with(|d| d.elastic.backlash_rad = 0.1), Some("elastic.backlash_rad"));
}

#[test]
fn a_watchdog_bites_at_its_time() {
    let dog = Watchdog { timeout_us: 20_000.0, damping_nm_s_per_rad: 0.0 };
    assert!(!dog.bites(0.0199) && dog.bites(0.0201) && !Watchdog::default().bites(1e9));
}

/// A step of the difference quotient of a fit, 0.5 % of the size, must stay in the key's range.
#[test]
fn every_number_of_a_drive_has_a_size_that_matters() {
    for key in Drive::keys() {
        let size = Drive::size(key).unwrap_or_else(|| panic!("{} has no size", key.name));
        let range = key.max - key.min;
        assert!(size.typical > 0.0 && size.typical <= 0.1 * range, "{}: {size:?}", key.name);
        let ideal = key.get(&Drive::IDEAL);
        assert!(!size.zero_is_off || (ideal == 0.0 && key.min == 0.0), "{}: {ideal}", key.name);
    }
}
