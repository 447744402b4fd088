//! Inertial measurement unit and foot sensors.

use hardstand::simulation::Simulation;
use hardstand_protocol::{Event, FaultKind, Part, StateReading};

use super::{MEND_ALL, broken, lasting, motion, once, quadruped, shown, stand};

/// What two equal robots show after one tick more and then some, the first with these faults; they
/// are swaying.
fn beside(faults: &[Event]) -> (StateReading, StateReading) {
    let (mut faulty, mut sound) = (quadruped(), quadruped());
    let (point_B, force_W) = ([0.1, 0.05, 0.1], [9.0, 25.0, -12.0]);
    let shove = Event::Push { body: 0, point_B, force_W, ticks: 60 };
    let with: Vec<Event> = faults.iter().copied().chain([shove]).collect();
    stand(&mut faulty, &with);
    stand(&mut sound, &[shove]);
    for _ in 0..50 {
        stand(&mut faulty, &[]);
        stand(&mut sound, &[]);
    }
    assert_eq!(motion(&faulty), motion(&sound), "nobody here listens to the unit");
    (shown(&faulty).state, shown(&sound).state)
}

#[test]
fn a_bias_is_added_to_what_the_unit_measures() {
    let gyro = broken(FaultKind::ImuGyroBias, Part::Whole, &[0.1, -0.2, 0.3]);
    let accel = broken(FaultKind::ImuAccelBias, Part::Whole, &[1.0, 2.0, -3.0]);
    let (got, truth) = beside(&[gyro, accel]);
    for i in 0..3 {
        let w = got.imu_angular_velocity_rad_per_s[i] - truth.imu_angular_velocity_rad_per_s[i];
        let f = got.imu_specific_force_m_per_s2[i] - truth.imu_specific_force_m_per_s2[i];
        assert!((w - [0.1, -0.2, 0.3][i]).abs() < 1e-12, "{w}");
        assert!((f - [1.0, 2.0, -3.0][i]).abs() < 1e-12, "{f}");
    }
    assert_eq!(got.imu_quat_wxyz, truth.imu_quat_wxyz);
    let (got, truth) = beside(&[gyro]);
    assert_eq!(got.imu_specific_force_m_per_s2, truth.imu_specific_force_m_per_s2);
}

#[test]
fn exchanged_axes_are_exchanged_before_the_bias() {
    let axes = broken(FaultKind::ImuAxesSwapped, Part::Whole, &[2.0, 1.0, -3.0]);
    let accel = broken(FaultKind::ImuAccelBias, Part::Whole, &[1.0, 0.0, 0.0]);
    let (got, truth) = beside(&[accel, axes]);
    let ([x, y, z], f) = (truth.imu_specific_force_m_per_s2, got.imu_specific_force_m_per_s2);
    assert!(z > 5.0 && x != y, "{x} {y} {z}");
    assert_eq!(f, [y + 1.0, x, -z]);
    let [x, y, z] = truth.imu_angular_velocity_rad_per_s;
    assert_eq!(got.imu_angular_velocity_rad_per_s, [y, x, -z]);
}

#[test]
fn a_saturated_unit_shows_no_more_than_its_range() {
    let narrow = broken(FaultKind::ImuSaturated, Part::Whole, &[0.01, 3.0]);
    let (got, truth) = beside(&[narrow]);
    for i in 0..3 {
        let w = truth.imu_angular_velocity_rad_per_s[i];
        assert_eq!(got.imu_angular_velocity_rad_per_s[i], w.clamp(-0.01, 0.01));
        let f = truth.imu_specific_force_m_per_s2[i];
        assert_eq!(got.imu_specific_force_m_per_s2[i], f.clamp(-3.0, 3.0));
    }
    assert_eq!(got.imu_specific_force_m_per_s2[2], 3.0);
    assert!(truth.imu_angular_velocity_rad_per_s.iter().any(|w| w.abs() > 0.01));
}

fn foot(simulation: &Simulation, i: usize) -> (u8, f64) {
    let s = shown(simulation);
    assert_eq!(s.contacts.feet[i].contact, s.state.foot_contact[i]);
    (s.state.foot_contact[i], s.state.foot_normal_n[i])
}

#[test]
fn a_stuck_foot_sensor_still_stands_when_the_robot_flies() {
    let mut simulation = quadruped();
    let before = foot(&simulation, 1);
    assert!(before.0 == 1 && before.1 > 20.0, "{before:?}");
    let (point_B, force_W) = ([0.0; 3], [0.0, 0.0, 400.0]);
    let lift = Event::Push { body: 0, point_B, force_W, ticks: 150 };
    let stuck = lasting(FaultKind::FootSensorStuck, Part::Foot(1), &[], 200);
    for n in 0..200 {
        stand(&mut simulation, once(n == 0, &[lift, stuck]));
        assert_eq!(foot(&simulation, 1), before, "tick {n}");
    }
    assert_eq!(foot(&simulation, 0), (0, 0.0), "the others are in the air");
    let contacts = shown(&simulation).contacts;
    assert_eq!(contacts.feet[1].normal_n, 0.0, "and so is this one, in truth");
    stand(&mut simulation, &[]);
    assert_eq!(foot(&simulation, 1), (0, 0.0));
}

#[test]
fn a_mended_sensor_shows_the_truth_in_the_same_tick() {
    let mut simulation = quadruped();
    let bias = broken(FaultKind::ImuGyroBias, Part::Whole, &[9.0, 9.0, 9.0]);
    stand(&mut simulation, &[bias]);
    assert!(shown(&simulation).state.imu_angular_velocity_rad_per_s[0] > 8.0);
    stand(&mut simulation, &[MEND_ALL]);
    assert!(shown(&simulation).state.imu_angular_velocity_rad_per_s[0].abs() < 1.0);
    // a duration is the same as a mend
    stand(&mut simulation, &[lasting(FaultKind::ImuGyroBias, Part::Whole, &[9.0, 9.0, 9.0], 2)]);
    let seen: Vec<bool> = (0..3)
        .map(|_| {
            let seen = shown(&simulation).state.imu_angular_velocity_rad_per_s[0] > 8.0;
            stand(&mut simulation, &[]);
            seen
        })
        .collect();
    assert_eq!(seen, [true, true, false]);
}
