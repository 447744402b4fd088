//! Damiao DM-J series in MIT mode, with its registers and its timeout.
//!
//! Standard frames. The motor's id takes commands, `FF…FC` enables, `FF…FD` disables, `FF…FE` takes
//! the position as zero, `FF…FB` clears an error. Id `0x7FF` reads (`33`), writes (`55`) and stores
//! (`AA`) registers and asks for feedback (`CC`). Feedback goes to the master's id: error and id,
//! position, velocity, torque, two temperatures.

use super::mit::{Impedance, MitRanges};
use crate::{
    CanFrame, CanId, Condition, Conditions, Drive, Environment, JointReading, SetPoint, Watchdog,
};

const REGISTERS: u16 = 0x7ff;
const MIT_MODE: u32 = 1;
/// Register 9 counts 50 µs.
const TIMEOUT_UNIT_NS: u64 = 50_000;
const UNDER_VOLTAGE_V: f64 = 15.0;
const OVER_VOLTAGE_V: f64 = 32.0;
const BOARD_MAX_C: f64 = 120.0;
const MOTOR_MAX_C: f64 = 100.0;
const DISABLED: u8 = 0x0;
const ENABLED: u8 = 0x1;
const LOST_COMMUNICATION: u8 = 0xd;

/// A Damiao motor.
#[derive(Clone, Debug)]
pub struct Damiao {
    id: u16,
    master_id: u16,
    ranges: MitRanges,
    state: u8,
    command: Impedance,
    zero_rad: f64,
    environment: Environment,
    conditions: Conditions,
    watchdog: Watchdog,
}

impl Damiao {
    /// A motor that takes commands at `id` (`ESC_ID`) and answers to `master_id` (`MST_ID`).
    pub fn new(id: u16, master_id: u16, ranges: MitRanges) -> Self {
        Self {
            id: id & 0x7ff,
            master_id: master_id & 0x7ff,
            ranges,
            state: DISABLED,
            command: Impedance::default(),
            zero_rad: 0.0,
            environment: Environment::default(),
            conditions: Conditions::default(),
            watchdog: Watchdog::default(),
        }
    }

    fn feedback(&self, reading: &JointReading) -> CanFrame {
        let q_rad = reading.q_rad - self.zero_rad;
        let [a, b, c, d, e] = self.ranges.pack_feedback_12(q_rad, reading.dq_rad_s, reading.tau_nm);
        let first = self.state << 4 | self.id as u8 & 0xf;
        let celsius = |c: f64| c as u8;
        let (board, motor) = (celsius(self.environment.board_c), celsius(self.environment.motor_c));
        CanFrame::eight(CanId::Standard(self.master_id), [first, a, b, c, d, e, board, motor])
    }

    /// The error code of what is wrong with the hardware.
    fn error(&self) -> Option<u8> {
        let env = self.environment;
        let has = |condition| self.conditions.has(condition);
        Some(match () {
            () if has(Condition::Encoder) => 0x5,
            () if has(Condition::OverVoltage) || env.bus_v > OVER_VOLTAGE_V => 0x8,
            () if has(Condition::UnderVoltage) || env.bus_v < UNDER_VOLTAGE_V => 0x9,
            () if has(Condition::OverCurrent) || has(Condition::GateDriver) => 0xa,
            () if has(Condition::OverTemperature) || env.board_c > BOARD_MAX_C => 0xb,
            () if env.motor_c > MOTOR_MAX_C => 0xc,
            () => return None,
        })
    }

    fn protect(&mut self) {
        if self.state == ENABLED
            && let Some(error) = self.error()
        {
            self.state = error;
        }
    }

    fn order(&mut self, now_ns: u64, last: u8, reading: &JointReading) {
        match (last, self.state) {
            (0xfc, DISABLED | ENABLED) => {
                self.command = Impedance::default();
                self.state = self.error().unwrap_or(ENABLED);
                self.watchdog.feed(now_ns);
            }
            (0xfd, ENABLED) => self.state = DISABLED,
            (0xfe, _) => self.zero_rad = reading.q_rad,
            (0xfb, 0x5..) => self.state = DISABLED,
            _ => {}
        }
    }

    fn on_register(&mut self, data: [u8; 8], reading: &JointReading, out: &mut Vec<CanFrame>) {
        let [low, high, command, register, bytes @ ..] = data;
        if u16::from_le_bytes([low, high]) != self.id {
            return;
        }
        let value = u32::from_le_bytes(bytes);
        match command {
            0xcc => return out.push(self.feedback(reading)),
            0x55 if register == 9 => {
                let timeout = u64::from(value) * TIMEOUT_UNIT_NS;
                self.watchdog.timeout_ns = (timeout > 0).then_some(timeout);
            }
            0x33 | 0x55 | 0xaa => {}
            _ => return,
        }
        let Some(value) = self.register(register, reading) else { return };
        let [a, b, c, d] = value.to_le_bytes();
        let answer = [low, high, command, register, a, b, c, d];
        out.push(CanFrame::eight(CanId::Standard(self.master_id), answer));
    }

    /// A register that is modelled. The control mode stays MIT whatever is written.
    fn register(&self, register: u8, reading: &JointReading) -> Option<u32> {
        let float = |value: f64| (value as f32).to_bits();
        Some(match register {
            0 => float(UNDER_VOLTAGE_V),
            2 => float(BOARD_MAX_C),
            29 => float(OVER_VOLTAGE_V),
            7 => u32::from(self.master_id),
            8 => u32::from(self.id),
            9 => (self.watchdog.timeout_ns.unwrap_or(0) / TIMEOUT_UNIT_NS) as u32,
            10 => MIT_MODE,
            21 => float(self.ranges.q_rad),
            22 => float(self.ranges.dq_rad_s),
            23 => float(self.ranges.tau_nm),
            60 => float(self.environment.bus_v),
            61 => float(self.environment.board_c),
            62 => float(self.environment.motor_c),
            80 | 81 => float(reading.q_rad - self.zero_rad),
            _ => return None,
        })
    }
}

impl Drive for Damiao {
    type Frame = CanFrame;

    fn on_frame(
        &mut self,
        now_ns: u64,
        frame: &CanFrame,
        reading: &JointReading,
        answers: &mut Vec<CanFrame>,
    ) {
        let Ok(data) = <[u8; 8]>::try_from(frame.data()) else { return };
        if frame.id == CanId::Standard(REGISTERS) {
            return self.on_register(data, reading, answers);
        }
        if frame.id != CanId::Standard(self.id) {
            return;
        }
        self.protect();
        match data {
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, last @ 0xfb..=0xfe] => {
                self.order(now_ns, last, reading);
            }
            _ => {
                self.command = self.ranges.unpack_12(&data);
                self.watchdog.feed(now_ns);
            }
        }
        answers.push(self.feedback(reading));
    }

    fn set_point(&mut self, now_ns: u64, _reading: &JointReading) -> SetPoint {
        self.protect();
        if self.state == ENABLED && self.watchdog.expired(now_ns) {
            self.state = LOST_COMMUNICATION;
        }
        if self.state == ENABLED {
            self.command.set_point(self.zero_rad, self.ranges.tau_nm)
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
