//! The µDriver of the Open Dynamic Robot Initiative: two motors, each with position, velocity and
//! current control, behind the SPI port of a master board.
//!
//! A command and an answer have 28 bytes each, little-endian, in fixed point at the rotor, with so
//! many bits behind the point: position in turns 24, velocity in thousand turns a minute 11,
//! current in A 10, stiffness in A/turn 11, damping in A per thousand turns a minute 10,
//! saturation in A 3.

use crate::{Condition, Conditions, JointReading, SetPoint};
use std::f64::consts::TAU;

/// Bytes of a command, and of an answer.
pub(crate) const BYTES: usize = 28;
/// The motors of a board.
pub(crate) const MOTORS: usize = 2;
/// Bits of the mode: the system, the motors, an error on rollover, compensation of the index.
pub(crate) const SYSTEM: u16 = 1 << 15;
const MOTOR: [u16; MOTORS] = [1 << 14, 1 << 13];
const ROLLOVER: u16 = 1 << 12;
const COMPENSATE: [u16; MOTORS] = [1 << 11, 1 << 10];
/// Bits of the status: a motor is enabled and ready, its index was seen, what flips with it.
const RUNS: [u16; MOTORS] = [0b11 << 13, 0b11 << 11];
const INDEX_SEEN: [u16; MOTORS] = [1 << 10, 1 << 9];
const INDEX_FLIPS: [u16; MOTORS] = [1 << 8, 1 << 7];
/// Errors.
const ENCODER: [u16; MOTORS] = [1, 6];
const TIMEOUT: u16 = 2;
const TOO_HOT: u16 = 3;
const ROLLED_OVER: u16 = 5;
const OTHER: u16 = 7;
/// Position and current that the fixed point holds.
const TURNS_MAX: f64 = 128.0;
const CURRENT_MAX_A: f64 = 32.0;
/// A velocity of a thousand turns a minute.
const KRPM_RAD_S: f64 = 1000.0 * TAU / 60.0;

/// Two motors and their commands.
#[derive(Clone, Debug)]
pub(crate) struct UDriver {
    mode: u16,
    error: u16,
    /// When the last command came.
    heard_ns: u64,
    motors: [Motor; MOTORS],
}

#[derive(Clone, Debug)]
struct Motor {
    torque_nm_per_a: f64,
    command: SetPoint,
    conditions: Conditions,
    /// The turn in which the rotor is, and the first index that it passed, turns.
    turn: Option<i64>,
    index: Option<i64>,
    flips: bool,
}

/// Units in 1 of a number in fixed point with `bits` behind the point.
const fn units(bits: u32) -> f64 {
    (1_u32 << bits) as f64
}

/// A number in fixed point with `bits` behind the point, which stops at its ends.
pub(crate) fn fixed(value: f64, bits: u32) -> [u8; 2] {
    ((value * units(bits)) as i16).to_le_bytes()
}

impl Motor {
    fn new(torque_nm_per_a: f64) -> Self {
        let command = SetPoint::Released;
        let conditions = Conditions::default();
        Self { torque_nm_per_a, command, conditions, turn: None, index: None, flips: false }
    }

    /// Follows the rotor over its index, once a turn.
    fn note(&mut self, q_rad: f64) {
        let turn = (q_rad / TAU).floor() as i64;
        if let Some(before) = self.turn.replace(turn)
            && before != turn
        {
            self.index.get_or_insert(before.max(turn));
            self.flips = !self.flips;
        }
    }

    /// The position that is 0, turns.
    fn zero(&self, compensate: bool) -> f64 {
        self.index.filter(|_| compensate).unwrap_or(0) as f64
    }
}

impl UDriver {
    /// A board after power-on, with motors of these torque constants in N·m/A.
    pub(crate) fn new(torque_nm_per_a: [f64; MOTORS]) -> Self {
        Self { mode: 0, error: 0, heard_ns: 0, motors: torque_nm_per_a.map(Motor::new) }
    }

    /// A command of the master board.
    pub(crate) fn command(&mut self, now_ns: u64, command: &[u8; BYTES]) {
        let word = |at: usize| u16::from_le_bytes([command[at], command[at + 1]]);
        let fixed = |at: usize, bits: u32| f64::from(word(at) as i16) / units(bits);
        self.mode = word(0);
        self.heard_ns = now_ns;
        if self.mode & SYSTEM == 0 {
            self.error = 0;
        }
        for (n, motor) in self.motors.iter_mut().enumerate() {
            let position = u32::from(word(2 + 4 * n)) | u32::from(word(4 + 4 * n)) << 16;
            let turns = f64::from(position as i32) / units(24);
            // gains have no sign
            let kp_a_per_turn = f64::from(word(18 + 2 * n)) / units(11);
            let kd_a_per_krpm = f64::from(word(22 + 2 * n)) / units(10);
            let controls = kp_a_per_turn > 0.0 || kd_a_per_krpm > 0.0;
            // without gains it is current control, which the saturation does not limit
            let saturation_a =
                if controls { f64::from(command[26 + n]) / 8.0 } else { CURRENT_MAX_A };
            let nm = motor.torque_nm_per_a;
            motor.command = SetPoint::Follow {
                q_rad: (turns + motor.zero(self.mode & COMPENSATE[n] != 0)) * TAU,
                dq_rad_s: fixed(10 + 2 * n, 11) * KRPM_RAD_S,
                kp: kp_a_per_turn * nm / TAU,
                kd: kd_a_per_krpm * nm / KRPM_RAD_S,
                tau_ff_nm: fixed(14 + 2 * n, 10) * nm,
                tau_max_nm: saturation_a * nm,
            };
        }
    }

    /// Advances the timeout, the indices and the errors.
    pub(crate) fn advance(&mut self, now_ns: u64, readings: [JointReading; MOTORS]) {
        let timeout_ns = u64::from(self.mode & 0xff) * 1_000_000;
        let silent = timeout_ns > 0 && now_ns.saturating_sub(self.heard_ns) > timeout_ns;
        let mut found = if silent && self.mode & SYSTEM != 0 { TIMEOUT } else { 0 };
        for (n, motor) in self.motors.iter_mut().enumerate() {
            motor.note(readings[n].q_rad);
            let zero = motor.zero(self.mode & COMPENSATE[n] != 0);
            let out = (readings[n].q_rad / TAU - zero).abs() >= TURNS_MAX;
            let all = Condition::ALL.into_iter().map(|(_, condition)| condition);
            let fault = all.rev().find(|condition| motor.conditions.has(*condition));
            found = match fault {
                Some(Condition::Encoder) => ENCODER[n],
                Some(Condition::OverTemperature) => TOO_HOT,
                Some(_) => OTHER,
                None if out && self.mode & ROLLOVER != 0 => ROLLED_OVER,
                None => found,
            };
        }
        if self.error == 0 {
            self.error = found;
        }
    }

    fn runs(&self, motor: usize) -> bool {
        self.error == 0 && self.mode & SYSTEM != 0 && self.mode & MOTOR[motor] != 0
    }

    /// What a motor does now.
    pub(crate) fn set_point(&self, motor: usize) -> SetPoint {
        let command = self.motors.get(motor).map(|motor| motor.command);
        command.filter(|_| self.runs(motor)).unwrap_or(SetPoint::Released)
    }

    /// The answer to a command.
    pub(crate) fn answer(&self, now_ns: u64, readings: [JointReading; MOTORS]) -> [u8; BYTES] {
        let enabled = self.error == 0 && self.mode & SYSTEM != 0;
        let mut status = self.error | if enabled { SYSTEM } else { 0 };
        let mut out = [0; BYTES];
        for (n, motor) in self.motors.iter().enumerate() {
            let bit = |bits: u16, set: bool| if set { bits } else { 0 };
            status |= bit(RUNS[n], self.runs(n)) | bit(INDEX_FLIPS[n], motor.flips);
            status |= bit(INDEX_SEEN[n], motor.index.is_some());
            let now = &readings[n];
            let turns = now.q_rad / TAU - motor.zero(self.mode & COMPENSATE[n] != 0);
            // beyond its range the position goes on at the other end
            let position = ((turns * units(24)) as i64 as i32).to_le_bytes();
            out[4 + 4 * n..8 + 4 * n].copy_from_slice(&position);
            let velocity = fixed(now.dq_rad_s / KRPM_RAD_S, 11);
            out[12 + 2 * n..14 + 2 * n].copy_from_slice(&velocity);
            let current = fixed(now.tau_nm / motor.torque_nm_per_a, 10);
            out[16 + 2 * n..18 + 2 * n].copy_from_slice(&current);
        }
        out[..2].copy_from_slice(&status.to_le_bytes());
        out[2..4].copy_from_slice(&((now_ns / 1_000_000) as u16).to_le_bytes());
        out
    }

    /// Adds or removes a fault of the hardware of a motor.
    pub(crate) fn set_condition(&mut self, motor: usize, condition: Condition, present: bool) {
        if let Some(motor) = self.motors.get_mut(motor) {
            motor.conditions.set(condition, present);
        }
    }
}
