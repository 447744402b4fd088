//! GO-M8010-6: the packet layout of Unitree's header `motor_msg_GO-M8010-6.h`.

use super::{ask, at};
use hardstand_motors::drives::{GoM8010, crc_kermit, split_requests};
use hardstand_motors::{Condition, Drive, SetPoint};
use std::f64::consts::TAU;

const GEAR: f64 = 6.33;

/// A request for stiffness 0.5 at a position of the rotor.
pub fn request(id: u8, mode: u8, q_rotor_rad: f64) -> Vec<u8> {
    let mut out = vec![0xfe, 0xee, id | mode << 4];
    out.extend(0_i16.to_le_bytes());
    out.extend(0_i16.to_le_bytes());
    out.extend(((q_rotor_rad / TAU * 32768.0) as i32).to_le_bytes());
    out.extend(640_u16.to_le_bytes());
    out.extend(128_u16.to_le_bytes());
    let crc = crc_kermit(&out);
    out.extend(crc.to_le_bytes());
    out
}

#[test]
fn the_checksum_is_that_of_the_catalogue() {
    // CRC-16/KERMIT of "123456789"
    assert_eq!(crc_kermit(b"123456789"), 0x2189);
}

#[test]
fn gains_and_positions_pass_the_gear() {
    let mut drive = GoM8010::new(2);
    let answers = ask(&mut drive, 0, &request(2, 1, 1.0), &at(0.5));
    let q = i32::from_le_bytes(answers[0][7..11].try_into().unwrap());
    assert!((f64::from(q) / 32768.0 * TAU - 0.5 * GEAR).abs() < 2e-4);
    let SetPoint::Follow { q_rad, kp, kd, .. } = drive.set_point(0, &at(0.0)) else { panic!() };
    assert!((q_rad - 1.0 / GEAR).abs() < 5e-5, "{q_rad}");
    assert!((kp - 0.5 * GEAR * GEAR).abs() < 1e-9, "{kp}");
    assert!((kd - 0.1 * GEAR * GEAR).abs() < 1e-9, "{kd}");
}

#[test]
fn others_and_broadcasts_have_no_answer_and_mode_0_brakes() {
    let mut drive = GoM8010::new(2);
    assert!(ask(&mut drive, 0, &request(3, 1, 1.0), &at(0.0)).is_empty());
    assert!(matches!(drive.set_point(0, &at(0.0)), SetPoint::Damped { .. }));
    assert!(ask(&mut drive, 0, &request(15, 1, 1.0), &at(0.0)).is_empty());
    assert!(matches!(drive.set_point(0, &at(0.0)), SetPoint::Follow { .. }));
    drive.set_condition(Condition::OverCurrent, true);
    assert_eq!(drive.set_point(0, &at(0.0)), SetPoint::Released);
}

#[test]
fn requests_are_found_among_other_bytes() {
    let (a, b) = (request(0, 1, 0.25), request(1, 1, -0.25));
    let mut damaged = a.clone();
    damaged[6] ^= 0x10;
    let mut stream = [&[0xfe, 0x00, 0xee][..], &a, &[0xfe, 0xee], &damaged, &b, &b[..9]].concat();
    assert_eq!(split_requests(&mut stream), Some(a));
    assert_eq!(split_requests(&mut stream), Some(b.clone()));
    assert_eq!(split_requests(&mut stream), None);
    stream.extend(&b[9..]);
    assert_eq!(split_requests(&mut stream), Some(b));
    assert!(stream.is_empty());
}
