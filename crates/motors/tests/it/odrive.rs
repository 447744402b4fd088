//! ODrive CANSimple: messages as in the DBC of firmware 0.6.10, and the controller's structure.

use super::{ask, at, bytes};
use hardstand_motors::drives::{ODrive, ODriveConfig};
use hardstand_motors::{CanFrame, CanId, Drive, JointReading, SetPoint};
use std::f64::consts::TAU;

const MS: u64 = 1_000_000;

fn order(id: u32, hex: &str) -> CanFrame {
    CanFrame::classic(CanId::standard(id), &bytes(hex)).unwrap()
}

fn closed(config: ODriveConfig) -> ODrive {
    let mut drive = ODrive::new(1, config);
    ask(&mut drive, 0, &order(0x27, "0800000000000000"), &at(0.0));
    drive
}

#[test]
fn a_position_command_of_the_dbc_becomes_a_spring() {
    let mut drive = closed(ODriveConfig { vel_integrator_gain: 0.0, ..ODriveConfig::default() });
    // cantools with odrive-cansimple-0.6.10.dbc: Input_Pos 0.5, Vel_FF -1.5, Torque_FF 0.25
    ask(&mut drive, 0, &order(0x2c, "0000003f24fafa00"), &at(0.0));
    let now = JointReading { q_rad: 0.45 * TAU, ..JointReading::default() };
    let SetPoint::Follow { q_rad, dq_rad_s, kp, kd, tau_ff_nm, .. } = drive.set_point(0, &now)
    else {
        panic!("not closed")
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    close(q_rad, 0.5 * TAU);
    close(dq_rad_s, -1.5 * TAU);
    close(kp, 20.0 / 6.0 / TAU);
    close(kd, 1.0 / 6.0 / TAU);
    close(tau_ff_nm, 0.25);
    // vel_gain * (pos_gain * 0.05 - 1.5) + 0.25
    close(drive.set_point(0, &now).torque_nm(&now), (20.0 * 0.05 - 1.5) / 6.0 + 0.25);
    // far away the limit of 10 rev/s acts, not the spring
    close(drive.set_point(0, &at(-9.0 * TAU)).torque_nm(&at(-9.0 * TAU)), 10.0 / 6.0 + 0.25);
}

#[test]
fn a_velocity_command_is_read_as_others_write_it() {
    let mut drive = closed(ODriveConfig { vel_integrator_gain: 0.0, ..ODriveConfig::default() });
    ask(&mut drive, 0, &order(0x2b, "0200000001000000"), &at(0.0));
    // crate odrive-can-protocol 0.1.3, its example: velocity -2.5, torque 0.25, node 1
    ask(&mut drive, 0, &order(0x2d, "000020c00000803e"), &at(0.0));
    let torque = drive.set_point(0, &at(0.0)).torque_nm(&at(0.0));
    assert!((torque - (-2.5 / 6.0 + 0.25)).abs() < 1e-9, "{torque}");
}

#[test]
fn the_integrator_adds_up_and_the_watchdog_disarms() {
    let config = ODriveConfig { watchdog_ns: Some(50 * MS), ..ODriveConfig::default() };
    let mut drive = closed(config);
    ask(&mut drive, 0, &order(0x2b, "0200000001000000"), &at(0.0));
    ask(&mut drive, 0, &order(0x2d, "0000803f00000000"), &at(0.0));
    drive.set_point(0, &at(0.0));
    let mut torque = 0.0;
    for ms in 1..=30 {
        torque = drive.set_point(ms * MS, &at(0.0)).torque_nm(&at(0.0));
    }
    assert!((torque - (1.0 / 6.0 + 0.03 / 3.0)).abs() < 1e-9, "{torque}");
    assert!(matches!(drive.set_point(50 * MS, &at(0.0)), SetPoint::Follow { .. }));
    assert_eq!(drive.set_point(50 * MS + 1, &at(0.0)), SetPoint::Released);
    let request = CanFrame::request(CanId::standard(0x21), 8).unwrap();
    let heartbeat = ask(&mut drive, 51 * MS, &request, &at(0.0));
    // error 0x0100_0000, idle, result "disarmed"
    assert_eq!(heartbeat, [order(0x21, "0000000101030100")]);
    // it does not arm before the error is cleared
    ask(&mut drive, 52 * MS, &order(0x27, "0800000000000000"), &at(0.0));
    assert_eq!(drive.set_point(52 * MS, &at(0.0)), SetPoint::Released);
    ask(&mut drive, 52 * MS, &order(0x38, "00"), &at(0.0));
    ask(&mut drive, 52 * MS, &order(0x27, "0800000000000000"), &at(0.0));
    assert!(matches!(drive.set_point(52 * MS, &at(0.0)), SetPoint::Follow { .. }));
}

#[test]
fn too_fast_disarms_and_an_emergency_stop_too() {
    let mut drive = closed(ODriveConfig::default());
    let fast = JointReading { dq_rad_s: 12.1 * TAU, ..JointReading::default() };
    assert_eq!(drive.set_point(0, &fast), SetPoint::Released);
    let mut drive = closed(ODriveConfig::default());
    ask(&mut drive, 0, &order(0x22, ""), &at(0.0));
    assert_eq!(drive.set_point(0, &at(0.0)), SetPoint::Released);
}

#[test]
fn heartbeat_and_estimates_come_unasked() {
    let mut drive = ODrive::new(1, ODriveConfig::default());
    let mut ids = Vec::new();
    while let Some(due) = drive.next_time_ns().filter(|due| *due <= 1000 * MS) {
        let mut out = Vec::new();
        drive.on_time(due, &at(0.0), &mut out);
        assert!(!out.is_empty());
        ids.extend(out.iter().map(|frame| frame.id.raw()));
    }
    assert_eq!(ids.iter().filter(|id| **id == 0x21).count(), 10);
    assert_eq!(ids.iter().filter(|id| **id == 0x29).count(), 100);
}
