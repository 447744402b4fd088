//! MIT mode: packing, states, watchdogs of mini cheetah, Damiao and CyberGear.

use super::{ask, at, bytes};
use hardstand_motors::drives::{CyberGear, Damiao, MiniCheetah, MitRanges};
use hardstand_motors::{CanFrame, CanId, Condition, Drive, JointReading, SetPoint};

const MS: u64 = 1_000_000;

fn standard(id: u32, hex: &str) -> CanFrame {
    CanFrame::classic(CanId::standard(id), &bytes(hex)).unwrap()
}

fn extended(id: u32, hex: &str) -> CanFrame {
    CanFrame::classic(CanId::extended(id), &bytes(hex)).unwrap()
}

fn near(set_point: SetPoint, expected: [f64; 5], steps: [f64; 5]) {
    let SetPoint::Follow { q_rad, dq_rad_s, kp, kd, tau_ff_nm, .. } = set_point else {
        panic!("{set_point:?}")
    };
    let found = [q_rad, dq_rad_s, kp, kd, tau_ff_nm];
    for n in 0..5 {
        assert!((found[n] - expected[n]).abs() <= steps[n], "{n}: {found:?}, not {expected:?}");
    }
}

#[test]
fn the_zero_command_of_mini_cheetah_is_zero() {
    let mut drive = MiniCheetah::new(1, MitRanges::MINI_CHEETAH, None);
    ask(&mut drive, 0, &standard(1, "fffffffffffffffc"), &at(0.0));
    // zero is the middle of each signed range, rounded down
    let answers = ask(&mut drive, 0, &standard(1, "7fff7ff0000007ff"), &at(0.0));
    assert_eq!(answers, [standard(0, "017fff7ff7ff")]);
    let half = [12.5 / 65535.0, 65.0 / 4095.0, 0.0, 0.0, 18.0 / 4095.0].map(|s| s * 1.0001);
    near(drive.set_point(0, &at(0.0)), [0.0; 5], half);
    ask(&mut drive, 0, &standard(1, "fffffffffffffffd"), &at(0.0));
    assert_eq!(drive.set_point(0, &at(0.0)), SetPoint::Released);
}

#[test]
fn damiao_reads_what_its_drivers_write() {
    let mut drive = Damiao::new(1, 17, MitRanges::DAMIAO_4310);
    ask(&mut drive, 0, &standard(1, "fffffffffffffffc"), &at(0.0));
    // damiao-motor 1.0.6: encode_cmd_msg(pos=1, vel=-2, torq=3, kp=50, kd=1.5)
    ask(&mut drive, 0, &standard(1, "8a3c7771994cca65"), &at(0.0));
    let steps = [25.0 / 65535.0, 60.0 / 4095.0, 500.0 / 4095.0, 5.0 / 4095.0, 20.0 / 4095.0];
    near(drive.set_point(0, &at(0.0)), [1.0, -2.0, 50.0, 1.5, 3.0], steps);
    let now = JointReading { q_rad: 12.5, dq_rad_s: -30.0, tau_nm: 10.0 };
    let answers = ask(&mut drive, 0, &standard(1, "7fff7ff0000007ff"), &now);
    assert_eq!(answers, [standard(17, "11ffff000fff1919")]);
}

#[test]
fn damiao_releases_after_its_timeout_until_the_error_is_cleared() {
    let mut drive = Damiao::new(1, 17, MitRanges::DAMIAO_4310);
    // register 9 := 200 units of 50 us
    let answers = ask(&mut drive, 0, &standard(0x7ff, "01005509c8000000"), &at(0.0));
    assert_eq!(answers, [standard(17, "01005509c8000000")]);
    ask(&mut drive, 0, &standard(1, "fffffffffffffffc"), &at(0.0));
    assert!(matches!(drive.set_point(10 * MS, &at(0.0)), SetPoint::Follow { .. }));
    assert_eq!(drive.set_point(10 * MS + 1, &at(0.0)), SetPoint::Released);
    // enabling does not help
    let answers = ask(&mut drive, 11 * MS, &standard(1, "fffffffffffffffc"), &at(0.0));
    assert_eq!(answers[0].data()[0], 0xd1);
    ask(&mut drive, 11 * MS, &standard(1, "fffffffffffffffb"), &at(0.0));
    let answers = ask(&mut drive, 11 * MS, &standard(1, "fffffffffffffffc"), &at(0.0));
    assert_eq!(answers[0].data()[0], 0x11);
}

#[test]
fn cybergear_reads_what_its_drivers_write() {
    let mut drive = CyberGear::new(0x7f, MitRanges::CYBERGEAR, [1, 2, 3, 4, 5, 6, 7, 8]);
    let identity = ask(&mut drive, 0, &extended(0x0000_fd7f, "00"), &at(0.0));
    assert_eq!(identity, [extended(0x0000_7ffe, "0102030405060708")]);
    ask(&mut drive, 0, &extended(0x0300_fd7f, "0000000000000000"), &at(0.0));
    // python-cybergear 0.1.2: motor_control(torque=3, position=1, velocity=-2, kp=50, kd=1.5)
    ask(&mut drive, 0, &extended(0x0100_007f | 0x9fff << 8, "8a3c777719994ccc"), &at(0.0));
    let steps = [25.0, 60.0, 500.0, 5.0, 24.0].map(|range| range / 65535.0);
    near(drive.set_point(0, &at(0.0)), [1.0, -2.0, 50.0, 1.5, 3.0], steps);
    // the torque limit, parameter 0x700b := 1.5
    ask(&mut drive, 0, &extended(0x1200_fd7f, "0b7000000000c03f"), &at(0.0));
    assert!((drive.set_point(0, &at(0.0)).torque_nm(&at(0.0)) - 1.5).abs() < 1e-9);
}

#[test]
fn cybergear_latches_its_errors_until_they_are_cleared() {
    let mut drive = CyberGear::new(1, MitRanges::CYBERGEAR, [0; 8]);
    let enable = extended(0x0300_fd01, "0000000000000000");
    let running = ask(&mut drive, 0, &enable, &at(0.0));
    assert_eq!(running[0].id, CanId::extended(0x0280_01fd));
    drive.set_condition(Condition::OverTemperature, true);
    assert_eq!(drive.set_point(0, &at(0.0)), SetPoint::Released);
    drive.set_condition(Condition::OverTemperature, false);
    let refused = ask(&mut drive, 0, &enable, &at(0.0));
    assert_eq!(refused[0].id, CanId::extended(0x0204_01fd));
    ask(&mut drive, 0, &extended(0x0400_fd01, "0100000000000000"), &at(0.0));
    let running = ask(&mut drive, 0, &enable, &at(0.0));
    assert_eq!(running[0].id, CanId::extended(0x0280_01fd));
}
