//! moteus: the frames of the maker's page `docs/protocol/can.md`, and rules of the firmware.

use super::{ask, at, bytes, text};
use hardstand_motors::drives::{Moteus, MoteusConfig};
use hardstand_motors::wires::{Adapter, Fdcanusb};
use hardstand_motors::{CanFrame, CanId, Condition, Drive, Environment, JointReading, SetPoint};
use std::f64::consts::TAU;

const MS: u64 = 1_000_000;

fn frame(hex: &str) -> CanFrame {
    CanFrame::fd(CanId::extended(0x8001), true, &bytes(hex), 0x50).unwrap()
}

fn mode(drive: &mut Moteus, now_ns: u64) -> u8 {
    ask(drive, now_ns, &frame("110050"), &at(0.0))[0].data()[2]
}

/// Mode 10 with position and timeout as floats.
fn position(position: f32, timeout_s: f32) -> CanFrame {
    let mut data = bytes("01000a0d20");
    data.extend(position.to_le_bytes());
    data.extend(bytes("0d27"));
    data.extend(timeout_s.to_le_bytes());
    CanFrame::fd(CanId::extended(0x8001), true, &data, 0x50).unwrap()
}

#[test]
fn the_example_of_the_makers_page_gives_its_reply() {
    let mut drive = Moteus::new(1);
    drive.set_environment(Environment { bus_v: 12.0, board_c: 20.0, motor_c: 20.0 });
    // a hundredth of a unit above, as the firmware rounds towards zero
    let now = JointReading {
        q_rad: 80.01 * 0.0001 * TAU,
        dq_rad_s: 256.01 * 0.00025 * TAU,
        tau_nm: -144.01 * 0.01,
    };
    let mut adapter = Fdcanusb::default();
    let (mut frames, mut out) = (Vec::new(), Vec::new());
    let line = b"can send 8001 01000a07206000200150ff140400130d\n";
    // the second time, because registers are read before the first command takes effect
    adapter.feed(&[&line[..], line].concat(), &mut frames, &mut out);
    assert_eq!(text(&out), "OK\r\nOK\r\n");
    let first = ask(&mut drive, 0, &frames[0], &now);
    assert_eq!(first[0].data()[3..5], [0, 0], "mode 0 at first");
    let answers = ask(&mut drive, 0, &frames[1], &now);
    assert_eq!(answers[0].id, CanId::Standard(0x100));
    out.clear();
    adapter.deliver(0, &answers[0], &mut out);
    assert_eq!(text(&out), "rcv 100 2404000A005000000170FF230D181400 e B F r\r\n");

    let SetPoint::Follow { q_rad, dq_rad_s, tau_ff_nm, kp, kd, .. } = drive.set_point(0, &now)
    else {
        panic!("not in position mode")
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6 * b.abs(), "{a} {b}");
    close(q_rad, 0.0096 * TAU);
    close(dq_rad_s, 0.072 * TAU);
    close(tau_ff_nm, -1.76);
    close(kp, 4.0 / TAU);
    close(kd, 0.05 / TAU);
}

#[test]
fn velocity_moves_the_position_until_the_stop() {
    let mut drive = Moteus::new(1);
    // position NaN, velocity 0.5 rev/s, stop position 0.1, no watchdog
    let mut data = bytes("01000a0e20");
    for value in [f32::NAN, 0.5] {
        data.extend(value.to_le_bytes());
    }
    data.extend(bytes("0e26"));
    for value in [0.1, f32::NAN] {
        data.extend(value.to_le_bytes());
    }
    let frame = CanFrame::fd(CanId::extended(0x0001), true, &data, 0x50).unwrap();
    assert_eq!(ask(&mut drive, 0, &frame, &at(0.0)), [], "no answer was asked for");
    let target = |drive: &mut Moteus, ms: u64| match drive.set_point(ms * MS, &at(0.0)) {
        SetPoint::Follow { q_rad, dq_rad_s, .. } => (q_rad / TAU, dq_rad_s / TAU),
        other => panic!("{other:?}"),
    };
    let (q, dq) = target(&mut drive, 100);
    assert!((q - 0.05).abs() < 1e-12 && (dq - 0.5).abs() < 1e-12, "{q} {dq}");
    let (q, dq) = target(&mut drive, 300);
    assert!((q - 0.1).abs() < 1e-7 && dq == 0.0, "{q} {dq}");
}

#[test]
fn a_limited_trajectory_keeps_its_limits_and_ends() {
    let config = MoteusConfig { velocity_limit: 2.0, accel_limit: 4.0, ..MoteusConfig::default() };
    let mut drive = Moteus::with_config(1, config);
    ask(&mut drive, 0, &position(-3.0, f32::NAN), &at(0.0));
    let (mut last, mut last_speed, mut fastest, mut ended) = (0.0, 0.0, 0.0_f64, 0);
    for ms in 1..4000 {
        let SetPoint::Follow { q_rad, .. } = drive.set_point(ms * MS, &at(0.0)) else { panic!() };
        let speed = (q_rad / TAU - last) / 1e-3;
        if ended == 0 {
            assert!((speed - last_speed).abs() < 4.0 * 1e-3 * 2.5, "{ms}: {last_speed} {speed}");
        }
        fastest = fastest.max(-speed);
        (last, last_speed) = (q_rad / TAU, speed);
        if ended == 0 && last == -3.0 {
            ended = ms;
        }
    }
    assert!((fastest - 2.0).abs() < 1e-9, "{fastest}");
    // 0.5 s up, 0.5 s down, 2 of 3 revolutions at 2 rev/s
    assert!((1980..2060).contains(&ended), "{ended} ms");
}

#[test]
fn the_watchdog_damps_until_a_stop() {
    let mut drive = Moteus::new(1);
    ask(&mut drive, 0, &position(0.0, 0.0), &at(0.0));
    let moving = JointReading { dq_rad_s: 300.0 * TAU, ..JointReading::default() };
    assert!(matches!(drive.set_point(100 * MS, &moving), SetPoint::Follow { .. }));
    let lost = drive.set_point(100 * MS + 1, &moving);
    // kd 0.05 N m s/rev, at most 5 N m
    assert!((lost.torque_nm(&moving) + 5.0).abs() < 1e-9, "{lost:?}");
    let slow = JointReading { dq_rad_s: TAU, ..JointReading::default() };
    assert!((lost.torque_nm(&slow) + 0.05).abs() < 1e-9, "{lost:?}");
    assert_eq!(mode(&mut drive, 101 * MS), 11);
    ask(&mut drive, 102 * MS, &position(0.0, 0.0), &at(0.0));
    assert_eq!(mode(&mut drive, 102 * MS), 11, "only a stop ends a timeout");
    ask(&mut drive, 103 * MS, &frame("010000"), &at(0.0));
    assert_eq!(drive.set_point(103 * MS, &moving), SetPoint::Released);
    assert_eq!(mode(&mut drive, 103 * MS), 0);
}

#[test]
fn faults_release_the_motor_until_a_stop() {
    let mut drive = Moteus::new(1);
    drive.set_condition(Condition::Encoder, true);
    assert_eq!(drive.set_point(0, &at(0.0)), SetPoint::Released);
    assert_eq!(mode(&mut drive, 0), 0, "a stopped drive does not look");
    ask(&mut drive, 0, &position(0.0, 0.0), &at(0.0));
    assert_eq!(drive.set_point(0, &at(0.0)), SetPoint::Released);
    let answer = ask(&mut drive, 0, &frame("11001110"), &at(0.0));
    assert_eq!(answer[0].data()[..3], [0x21, 0x00, 1]);
    let fault = ask(&mut drive, 0, &frame("110f"), &at(0.0));
    assert_eq!(fault[0].data()[..3], [0x21, 0x0f, 35]);
    drive.set_condition(Condition::Encoder, false);
    ask(&mut drive, 0, &position(0.0, 0.0), &at(0.0));
    assert_eq!(mode(&mut drive, 0), 1);
    ask(&mut drive, 0, &frame("010000"), &at(0.0));
    ask(&mut drive, 0, &position(0.0, 0.0), &at(0.0));
    assert_eq!(mode(&mut drive, 0), 10);
}

#[test]
fn a_start_outside_the_bounds_is_a_fault() {
    let bounds = (-0.1, 0.1);
    let config = MoteusConfig { position_bounds_rev: bounds, ..MoteusConfig::default() };
    let mut drive = Moteus::with_config(1, config);
    ask(&mut drive, 0, &position(0.0, 0.0), &at(0.2 * TAU));
    let fault = ask(&mut drive, 0, &frame("110f"), &at(0.0));
    assert_eq!(fault[0].data()[2], 39);
    ask(&mut drive, 0, &frame("010000"), &at(0.0));
    ask(&mut drive, 0, &position(5.0, 0.0), &at(0.0));
    let SetPoint::Follow { q_rad, .. } = drive.set_point(0, &at(0.0)) else { panic!() };
    assert!((q_rad - 0.1 * TAU).abs() < 1e-12, "the target stays inside");
}

#[test]
fn stay_within_pushes_only_outside() {
    let mut drive = Moteus::new(1);
    let mut data = bytes("01000d0f40");
    for value in [-0.5_f32, 0.5, 0.2] {
        data.extend(value.to_le_bytes());
    }
    let frame = CanFrame::fd(CanId::extended(0x0001), true, &data, 0x50).unwrap();
    ask(&mut drive, 0, &frame, &at(0.0));
    let torque =
        |drive: &mut Moteus, q: f64| drive.set_point(0, &at(q * TAU)).torque_nm(&at(q * TAU));
    assert!((torque(&mut drive, 0.4) - 0.2).abs() < 1e-6);
    assert!((torque(&mut drive, 0.6) - (0.2 - 0.4)).abs() < 1e-6);
    assert!((torque(&mut drive, -0.75) - (0.2 + 1.0)).abs() < 1e-6);
}

#[test]
fn wrong_registers_and_strangers_are_told_apart() {
    let mut drive = Moteus::new(1);
    // write a read-only register, write and read an unknown one, write a mode that does not exist
    for (request, answer) in [
        ("010105", "300102"),
        ("0180700a", "30807001"),
        ("118070", "31807001"),
        ("010020", "300003"),
    ] {
        let answers = ask(&mut drive, 0, &frame(request), &at(0.0));
        assert_eq!(answers[0].data()[..answer.len() / 2], bytes(answer), "{request}");
    }
    let other = CanFrame::fd(CanId::extended(0x8002), true, &bytes("1100"), 0x50).unwrap();
    assert_eq!(ask(&mut drive, 0, &other, &at(0.0)), []);
    let prefixed = CanFrame::fd(CanId::extended(0x1_8001), true, &bytes("1100"), 0x50).unwrap();
    assert_eq!(ask(&mut drive, 0, &prefixed, &at(0.0)), []);
}
