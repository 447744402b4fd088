//! The master board: packets as the maker's header `defines.h` lays them out. The maker's own library
//! drives the same board in `tests/it/daemon/ethernet.rs` of the daemon.

use super::at;
use super::bits::Numbers;
use hardstand_motors::odri::{ImuReading, MasterBoard, MotorSpec};
use hardstand_motors::{Condition, JointReading, NodeFaults, SetPoint};
use std::f64::consts::TAU;

const MS: u64 = 1_000_000;
const NM_PER_A: f64 = 0.025;
/// The computer's session.
const SESSION: u16 = 0x1234;
const BOTH_ENABLED: u16 = 0xe000;

/// A board with its clock.
struct Robot {
    board: MasterBoard,
    now_ns: u64,
    readings: Vec<JointReading>,
    index: u16,
}

#[derive(Clone, Copy, Default)]
struct Command {
    mode: u16,
    turns: f64,
    krpm: f64,
    amperes: f64,
    kp: f64,
    kd: f64,
    saturation_a: f64,
}

fn word(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[0], bytes[1]])
}

fn frame(data: &[u8]) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([0xa0, 0x1d, 0x48, 0x12, 0xa0, 0xc5, 0x88, 0xb5]);
    frame.extend((data.len() as u16).to_le_bytes());
    frame.extend(data);
    frame.resize(frame.len().max(64), 0);
    frame
}

impl Robot {
    /// With motors of these ids.
    fn new(ids: &[u8]) -> Self {
        let motor = |id: &u8| MotorSpec { id: *id, torque_nm_per_a: NM_PER_A };
        let motors: Vec<_> = ids.iter().map(motor).collect();
        let readings = vec![JointReading::default(); ids.len()];
        Self { board: MasterBoard::new(&motors, 20, 3), now_ns: 0, readings, index: 100 }
    }

    /// The packets of so many milliseconds.
    fn wait(&mut self, ms: u64) -> Vec<Vec<u8>> {
        let mut data = Vec::new();
        for _ in 0..ms {
            self.now_ns += MS;
            self.board.advance(self.now_ns, &self.readings);
            for frame in self.board.received() {
                assert_eq!(frame[12..14], [0x88, 0xb5]);
                data.push(frame[16..16 + usize::from(word(&frame[14..]))].to_vec());
            }
        }
        data
    }

    fn init(&mut self) -> bool {
        let [low, high] = SESSION.to_le_bytes();
        self.board.send(&frame(&[3, 0, low, high]))
    }

    /// The same command for all motors.
    fn command(&mut self, c: Command) {
        self.command_of(SESSION, c);
    }

    fn command_of(&mut self, session: u16, c: Command) {
        let fixed = |x: f64, bits: u32| ((x * (1 << bits) as f64).round() as i64).to_le_bytes();
        let mut data = session.to_le_bytes().to_vec();
        for _ in 0..6 {
            data.extend(c.mode.to_le_bytes());
            for (value, bits, bytes) in [
                (c.turns, 24, 4),
                (c.krpm, 11, 2),
                (c.amperes, 10, 2),
                (c.kp, 11, 2),
                (c.kd, 10, 2),
                (c.saturation_a, 3, 1),
            ] {
                let value = &fixed(value, bits)[..bytes];
                data.extend([value, value].concat());
            }
        }
        data.extend(self.index.to_le_bytes());
        self.index = self.index.wrapping_add(1);
        assert_eq!(data.len(), 172);
        assert!(self.board.send(&frame(&data)));
    }

    /// To the state in which commands count.
    fn begin(&mut self) {
        assert!(self.init());
        self.wait(60);
        self.command(Command { mode: BOTH_ENABLED, ..Command::default() });
        self.wait(1);
        assert!(self.board.is_active());
    }

    /// Status of µDriver `n` in the next packet, and the packet.
    fn status(&mut self, n: usize) -> (u16, Vec<u8>) {
        let packet = self.wait(1).remove(0);
        (word(&packet[2 + 28 * n..]), packet)
    }
}

#[test]
fn a_session_begins_with_an_init_and_its_acknowledgement() {
    let mut robot = Robot::new(&[0, 1, 4]);
    assert!(robot.wait(10).is_empty(), "it waits for an init");
    // another protocol, and a packet that is too long
    assert!(!robot.board.send(&frame(&[2, 0, 1, 0])));
    assert!(!robot.board.send(&frame(&[3, 0, 1, 0, 0])));
    assert!(robot.wait(10).is_empty());
    assert!(robot.init());
    let packets = robot.wait(100);
    let (search, answers) = packets.split_at(50);
    assert!(search.iter().all(|packet| packet.len() == 200));
    // the session, and a bit for each µDriver
    assert!(answers.iter().all(|packet| packet[..] == [0x34, 0x12, 0b101]), "{answers:?}");
    robot.command(Command::default());
    let packet = robot.wait(1).remove(0);
    assert_eq!((packet.len(), word(&packet)), (200, SESSION));
    assert_eq!(packet[194..], [1, 0, 0, 0, 100, 0], "numbers of packets, and of the last command");
    // what the computer counts and the board misses
    robot.index += 3;
    robot.command(Command::default());
    assert_eq!(robot.wait(1).remove(0)[194..], [2, 0, 3, 0, 104, 0]);
    // a second init does not take the session
    assert!(robot.board.send(&frame(&[3, 0, 9, 9])));
    robot.command(Command::default());
    let packet = robot.wait(1).remove(0);
    assert_eq!((word(&packet), &packet[198..]), (SESSION, &[105, 0][..]));
    // nor does a command of another session count
    robot.command_of(SESSION + 1, Command::default());
    assert_eq!(robot.wait(1).remove(0)[198..], [105, 0]);
}

#[test]
fn commands_become_set_points_at_the_rotor() {
    let mut robot = Robot::new(&[0, 1]);
    robot.begin();
    let command = Command {
        mode: BOTH_ENABLED,
        turns: -3.25,
        krpm: 1.5,
        amperes: -0.5,
        kp: 4.0,
        kd: 2.0,
        saturation_a: 6.5,
    };
    robot.command(command);
    robot.wait(1);
    let SetPoint::Follow { q_rad, dq_rad_s, kp, kd, tau_ff_nm, tau_max_nm } =
        robot.board.set_point(1).unwrap()
    else {
        panic!()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a}, not {b}");
    near(q_rad, -3.25 * TAU);
    near(dq_rad_s, 1500.0 * TAU / 60.0);
    near(kp, 4.0 * NM_PER_A / TAU);
    near(kd, 2.0 * NM_PER_A / (1000.0 * TAU / 60.0));
    near(tau_ff_nm, -0.5 * NM_PER_A);
    near(tau_max_nm, 6.5 * NM_PER_A);
    // without gains it is current control
    robot.command(Command { kp: 0.0, kd: 0.0, saturation_a: 0.0, ..command });
    robot.wait(1);
    let torque_nm = robot.board.set_point(0).unwrap().torque_nm(&at(0.0));
    near(torque_nm, -0.5 * NM_PER_A);
    // one motor alone, and none
    robot.command(Command { mode: 0xa000, ..command });
    robot.wait(1);
    assert_eq!(robot.board.set_point(0), Some(SetPoint::Released));
    assert_ne!(robot.board.set_point(1), Some(SetPoint::Released));
    robot.command(Command { mode: 0x6000, ..command });
    robot.wait(1);
    assert_eq!(robot.board.set_point(1), Some(SetPoint::Released));
}

#[test]
fn sensors_are_those_of_the_rotors_and_of_the_imu() {
    let mut robot = Robot::new(&[2, 3]);
    robot.begin();
    robot.readings[0] = JointReading { q_rad: -0.25 * TAU, dq_rad_s: 10.0 * TAU, tau_nm: 0.05 };
    robot.board.imu = ImuReading {
        attitude_rad: [0.25, -0.5, 3.0],
        angular_velocity_rad_per_s: [0.5, -0.25, 0.125],
        specific_force_m_per_s2: [0.0, 9.80665 / 4.0, 9.80665],
        linear_acceleration_m_per_s2: [9.80665 / 2.0, 0.0, -1000.0],
    };
    let (status, packet) = robot.status(1);
    assert_eq!(status & 0xf80f, 0xf800, "the system and both motors are enabled and ready");
    assert_eq!(word(&packet[2..]), 0, "µDriver 0 is not connected");
    let driver = &packet[30..58];
    assert_eq!(driver[4..8], (-(1_i32 << 22)).to_le_bytes());
    assert_eq!(driver[12..14], ((0.6 * 2048.0) as i16).to_le_bytes());
    assert_eq!(driver[16..18], (2_i16 << 10).to_le_bytes());
    let imu: Vec<i16> = packet[170..194].chunks(2).map(|b| word(b) as i16).collect();
    assert_eq!(imu[..3], [0, 512, 2048]);
    assert_eq!(imu[3..6], [1024, -512, 256]);
    assert_eq!(imu[6..9], [2048, -4096, 24576]);
    assert_eq!(imu[9..], [1024, 0, i16::MIN], "what does not fit stops at the end");
}

#[test]
fn a_computer_that_falls_silent_has_its_motors_released_until_a_new_init() {
    let mut robot = Robot::new(&[0]);
    robot.begin();
    let command = Command { mode: BOTH_ENABLED, amperes: 1.0, ..Command::default() };
    robot.command(command);
    robot.wait(20);
    assert_ne!(robot.board.set_point(0), Some(SetPoint::Released));
    robot.wait(2);
    assert_eq!(robot.board.set_point(0), Some(SetPoint::Released));
    assert!(!robot.board.is_active());
    // the system stays enabled, and sensors come on
    assert_eq!(robot.status(0).0 & 0xf80f, 0x8000);
    let before = robot.wait(1).remove(0)[198..].to_vec();
    robot.command(command);
    let packet = robot.wait(1).remove(0);
    assert_eq!(robot.board.set_point(0), Some(SetPoint::Released), "commands alone do not help");
    assert_eq!(packet[198..], before, "the command is not taken");
    robot.begin();
    robot.command(command);
    robot.wait(1);
    assert_ne!(robot.board.set_point(0), Some(SetPoint::Released));
}

#[test]
fn the_index_of_an_encoder_is_seen_once_a_turn_and_compensated_if_asked() {
    let mut robot = Robot::new(&[0]);
    robot.readings[0] = at(2.5 * TAU);
    robot.begin();
    assert_eq!(robot.status(0).0 & 0x0500, 0, "no index yet");
    robot.readings[0] = at(3.25 * TAU);
    assert_eq!(robot.status(0).0 & 0x0500, 0x0500, "seen, and flipped");
    robot.readings[0] = at(4.25 * TAU);
    assert_eq!(robot.status(0).0 & 0x0500, 0x0400, "flipped back");
    robot.command(Command { mode: BOTH_ENABLED | 0x0800, kp: 1.0, ..Command::default() });
    robot.wait(1);
    let (_, packet) = robot.status(0);
    assert_eq!(packet[6..10], (5_i32 << 22).to_le_bytes(), "1.25 turns from index 3");
    let SetPoint::Follow { q_rad, .. } = robot.board.set_point(0).unwrap() else { panic!() };
    assert!((q_rad - 3.0 * TAU).abs() < 1e-9, "{q_rad}");
}

#[test]
fn errors_disable_a_driver_until_its_system_is_switched_off() {
    let mut robot = Robot::new(&[0, 1, 2]);
    robot.begin();
    let command = Command { mode: BOTH_ENABLED | 0x1005, amperes: 1.0, ..Command::default() };
    for (condition, error) in [(Condition::Encoder, 6), (Condition::OverTemperature, 3)] {
        robot.command(command);
        robot.wait(1);
        robot.board.set_condition(1, condition, true);
        assert_eq!(robot.status(0).0 & 0xf80f, error, "{condition:?}");
        assert_eq!(robot.status(1).0 & 0xe00f, 0xe000, "another µDriver goes on");
        assert_eq!(robot.board.set_point(0), Some(SetPoint::Released));
        robot.board.set_condition(1, condition, false);
        assert_eq!(robot.status(0).0 & 0xf80f, error, "it stays");
        robot.command(Command::default());
        robot.wait(1);
    }
    // a position beyond the range, as the mode asks for
    robot.command(command);
    robot.readings[0] = at(128.5 * TAU);
    assert_eq!(robot.status(0).0 & 0xf, 5);
    robot.readings[0] = at(0.0);
    robot.command(Command::default());
    robot.wait(1);
    // exchanges that are damaged: no answer, and after 5 ms without a command the driver's timeout
    robot.command(command);
    robot.wait(1);
    robot.board.set_faults(0, NodeFaults { error_share: 1.0, loss_share: 0.0 });
    let (status, packet) = robot.status(0);
    assert_eq!((status, &packet[4..30]), (0xf, &[0; 26][..]));
    assert_ne!(robot.board.set_point(0), Some(SetPoint::Released));
    robot.wait(6);
    assert_eq!(robot.board.set_point(0), Some(SetPoint::Released));
    robot.board.set_faults(0, NodeFaults::default());
    robot.command(command);
    robot.wait(1);
    assert_eq!(robot.status(0).0 & 0xf, 2);
    assert_eq!(robot.board.statistics().errors, 7);
}

#[test]
fn a_cable_that_loses_all_packets_ends_the_session() {
    let mut robot = Robot::new(&[0, 1]);
    robot.begin();
    robot.board.set_faults(1, NodeFaults { error_share: 0.0, loss_share: 1.0 });
    for _ in 0..25 {
        robot.command(Command { mode: BOTH_ENABLED, ..Command::default() });
        assert!(robot.wait(1).is_empty());
    }
    assert!(!robot.board.is_active());
    assert_eq!(robot.board.statistics().lost, 50);
}

#[test]
fn any_frame_is_taken() {
    let mut numbers = Numbers(11);
    let mut robot = Robot::new(&[0, 1, 2, 3, 11]);
    robot.begin();
    for _ in 0..20_000 {
        let number = numbers.next();
        let length = [4, 172, 172, 200, 30][number as usize % 5];
        let mut data = numbers.bytes(length);
        data[..2].copy_from_slice(&SESSION.to_le_bytes());
        let mut bytes = frame(&data);
        if number.is_multiple_of(11) {
            bytes.truncate((number >> 8) as usize % 40);
        }
        robot.board.send(&bytes);
        robot.wait(1);
        for n in 0..5 {
            let torque_nm = robot.board.set_point(n).unwrap().torque_nm(&at(1.0));
            assert!(torque_nm.abs() <= 32.0 * NM_PER_A, "{torque_nm}");
        }
    }
    assert!(robot.board.statistics().malformed > 1000);
}
