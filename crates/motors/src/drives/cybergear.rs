//! Xiaomi CyberGear, and RobStride motors in their private protocol, in operation mode.
//!
//! Extended frames: type in bits 24 to 28, 16 bits of data (torque, or the master's id), the
//! motor's id in the lowest byte. Types: 0 identity, 1 command (MIT mode in 16-bit numbers), 2
//! feedback, 3 enable, 4 stop, 6 zero, 7 new id, 17 read and 18 write a parameter.

use super::mit::{Impedance, MitRanges, raw, signed, unsigned};
use crate::{
    CanFrame, CanId, Condition, Conditions, Drive, Environment, JointReading, SetPoint, Watchdog,
};

const IDENTITY: u32 = 0;
const COMMAND: u32 = 1;
const FEEDBACK: u32 = 2;
const ENABLE: u32 = 3;
const STOP: u32 = 4;
const ZERO: u32 = 6;
const NEW_ID: u32 = 7;
const READ: u32 = 17;
const WRITE: u32 = 18;
/// Where a motor sends its identity.
const IDENTITY_TARGET: u32 = 0xfe;
/// Parameter 0x7028 of RobStride counts 50 µs.
const TIMEOUT_UNIT_NS: u64 = 50_000;
const OPERATION: u8 = 0;
const UNDER_VOLTAGE: u32 = 1;
const OVER_CURRENT: u32 = 2;
const OVER_TEMPERATURE: u32 = 4;
const ENCODER: u32 = 8;

/// A CyberGear or RobStride motor.
#[derive(Clone, Debug)]
pub struct CyberGear {
    id: u8,
    master: u8,
    serial: [u8; 8],
    ranges: MitRanges,
    run_mode: u8,
    running: bool,
    errors: u32,
    limit_torque_nm: f64,
    command: Impedance,
    zero_rad: f64,
    environment: Environment,
    conditions: Conditions,
    watchdog: Watchdog,
}

impl CyberGear {
    /// A motor with `id` 1 to 127 and a 64-bit serial number.
    pub fn new(id: u8, ranges: MitRanges, serial: [u8; 8]) -> Self {
        Self {
            id: id & 0x7f,
            master: 0xfd,
            serial,
            ranges,
            run_mode: OPERATION,
            running: false,
            errors: 0,
            limit_torque_nm: ranges.tau_nm,
            command: Impedance::default(),
            zero_rad: 0.0,
            environment: Environment::default(),
            conditions: Conditions::default(),
            watchdog: Watchdog::default(),
        }
    }

    fn feedback(&self, reading: &JointReading) -> CanFrame {
        let mode = if self.running { 2 } else { 0 };
        let id = FEEDBACK << 24 | mode << 22 | self.errors << 16;
        let id = id | u32::from(self.id) << 8 | u32::from(self.master);
        let field = |value: f64, range: f64| (raw(value, range, 16) as u16).to_be_bytes();
        let [a, b] = field(reading.q_rad - self.zero_rad, self.ranges.q_rad);
        let [c, d] = field(reading.dq_rad_s, self.ranges.dq_rad_s);
        let [e, f] = field(reading.tau_nm, self.ranges.tau_nm);
        let [g, h] = ((self.environment.motor_c * 10.0) as u16).to_be_bytes();
        CanFrame::eight(CanId::extended(id), [a, b, c, d, e, f, g, h])
    }

    fn protect(&mut self) {
        let has = |condition| self.conditions.has(condition);
        let env = self.environment;
        let bit = |present: bool, bit: u32| if present { bit } else { 0 };
        // over-voltage and gate driver have no bit in the feedback: they stop the motor
        let silent = has(Condition::OverVoltage) || has(Condition::GateDriver);
        let errors = bit(has(Condition::UnderVoltage) || env.bus_v < 12.0, UNDER_VOLTAGE)
            | bit(has(Condition::OverCurrent), OVER_CURRENT)
            | bit(has(Condition::OverTemperature) || env.motor_c > 80.0, OVER_TEMPERATURE)
            | bit(has(Condition::Encoder), ENCODER);
        self.errors |= errors;
        self.running &= self.errors == 0 && !silent;
    }

    fn decode(&self, torque: u32, data: &[u8; 8]) -> Impedance {
        let [q, dq, kp, kd] =
            [0, 2, 4, 6].map(|n| u64::from(u16::from_be_bytes([data[n], data[n + 1]])));
        Impedance {
            q_rad: signed(q, self.ranges.q_rad, 16),
            dq_rad_s: signed(dq, self.ranges.dq_rad_s, 16),
            kp: unsigned(kp, self.ranges.kp, 16),
            kd: unsigned(kd, self.ranges.kd, 16),
            tau_nm: signed(u64::from(torque), self.ranges.tau_nm, 16),
        }
    }

    /// A parameter that is modelled, as its four bytes.
    fn parameter(&self, index: u16, reading: &JointReading) -> Option<[u8; 4]> {
        let float = |value: f64| Some((value as f32).to_le_bytes());
        match index {
            0x7005 => Some([self.run_mode, 0, 0, 0]),
            0x700b => float(self.limit_torque_nm),
            0x7019 => float(reading.q_rad - self.zero_rad),
            0x701b => float(reading.dq_rad_s),
            0x701c => float(self.environment.bus_v),
            0x7028 => {
                let units = self.watchdog.timeout_ns.unwrap_or(0) / TIMEOUT_UNIT_NS;
                Some((units as u32).to_le_bytes())
            }
            _ => None,
        }
    }

    fn write_parameter(&mut self, index: u16, bytes: [u8; 4]) {
        match index {
            0x7005 if !self.running => self.run_mode = bytes[0],
            0x700b => {
                let limit = f64::from(f32::from_le_bytes(bytes));
                self.limit_torque_nm = limit.max(0.0).min(self.ranges.tau_nm);
            }
            0x7028 => {
                let timeout = u64::from(u32::from_le_bytes(bytes)) * TIMEOUT_UNIT_NS;
                self.watchdog.timeout_ns = (timeout > 0).then_some(timeout);
            }
            _ => {}
        }
    }

    fn identity(&self) -> CanFrame {
        let id = IDENTITY << 24 | u32::from(self.id) << 8 | IDENTITY_TARGET;
        CanFrame::eight(CanId::extended(id), self.serial)
    }
}

impl Drive for CyberGear {
    type Frame = CanFrame;

    fn on_frame(
        &mut self,
        now_ns: u64,
        frame: &CanFrame,
        reading: &JointReading,
        answers: &mut Vec<CanFrame>,
    ) {
        let CanId::Extended(id) = frame.id else { return };
        if id & 0xff != u32::from(self.id) || frame.fd || frame.remote {
            return;
        }
        let (kind, field) = (id >> 24, id >> 8 & 0xffff);
        let mut data = [0; 8];
        data[..frame.len()].copy_from_slice(frame.data());
        self.protect();
        self.watchdog.feed(now_ns);
        let index = u16::from_le_bytes([data[0], data[1]]);
        if kind != COMMAND {
            self.master = field as u8;
        }
        match kind {
            IDENTITY => return answers.push(self.identity()),
            COMMAND => self.command = self.decode(field, &data),
            ENABLE => {
                self.command = Impedance::default();
                self.running = true;
                self.protect();
            }
            STOP => {
                self.running = false;
                self.errors = if data[0] == 1 { 0 } else { self.errors };
            }
            ZERO if data[0] == 1 => self.zero_rad = reading.q_rad,
            NEW_ID => {
                self.id = (field >> 8) as u8 & 0x7f;
                return answers.push(self.identity());
            }
            READ => {
                let Some([a, b, c, d]) = self.parameter(index, reading) else { return };
                let id = READ << 24 | u32::from(self.id) << 8 | u32::from(self.master);
                let answer = [data[0], data[1], 0, 0, a, b, c, d];
                return answers.push(CanFrame::eight(CanId::extended(id), answer));
            }
            WRITE => self.write_parameter(index, [data[4], data[5], data[6], data[7]]),
            _ => return,
        }
        answers.push(self.feedback(reading));
    }

    fn set_point(&mut self, now_ns: u64, _reading: &JointReading) -> SetPoint {
        self.protect();
        self.running &= !self.watchdog.expired(now_ns);
        if self.running && self.run_mode == OPERATION {
            self.command.set_point(self.zero_rad, self.limit_torque_nm)
        } else {
            SetPoint::Released
        }
    }

    fn set_environment(&mut self, environment: Environment) {
        self.environment = environment;
    }

    fn set_condition(&mut self, condition: Condition, present: bool) {
        self.conditions.set(condition, present);
    }
}
