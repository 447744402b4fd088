//! Registers of moteus: number, unit, meaning. From the maker's `docs/protocol/registers.md` and
//! `fw/moteus_controller.cc`.

use super::moteus::{Moteus, REVOLUTION};
use super::multiplex::{Scale, Value};
use crate::JointReading;

pub(super) const MODE: u32 = 0x000;
/// Modes below this number exist.
pub(super) const MODES: i8 = 16;
const REGISTER_MAP: i32 = 5;
const FIRMWARE: i32 = 0x0106;
const MODEL: i32 = 0x20;
/// Error codes of the protocol.
const UNKNOWN: u32 = 1;
const READ_ONLY: u32 = 2;
const BAD_VALUE: u32 = 3;

const POSITION: Scale = [0.01, 0.0001, 0.00001];
const VELOCITY: Scale = [0.1, 0.00025, 0.00001];
const ACCELERATION: Scale = [0.05, 0.001, 0.00001];
const TORQUE: Scale = [0.5, 0.01, 0.001];
const CURRENT: Scale = [1.0, 0.1, 0.001];
const TEMPERATURE: Scale = [1.0, 0.1, 0.001];
const VOLTAGE: Scale = [0.5, 0.1, 0.001];
const TIME: Scale = [0.01, 0.001, 0.000001];
const PWM: Scale = [1.0 / 127.0, 1.0 / 32767.0, 1.0 / 2147483647.0];
const POWER: Scale = [10.0, 0.05, 0.0001];

/// Registers of a command: written with the mode, kept until the next write of the mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub(super) mode: i8,
    pub(super) q_current_a: f64,
    pub(super) d_current_a: f64,
    pub(super) position: f64,
    pub(super) velocity: f64,
    pub(super) feedforward_nm: f64,
    pub(super) kp_scale: f64,
    pub(super) kd_scale: f64,
    pub(super) max_torque_nm: f64,
    pub(super) stop_position: f64,
    pub(super) timeout_s: f64,
    pub(super) velocity_limit: f64,
    pub(super) accel_limit: f64,
    pub(super) ilimit_scale: f64,
    pub(super) ignore_bounds: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Command {
    pub(super) fn new(mode: i8) -> Self {
        Self {
            mode,
            q_current_a: 0.0,
            d_current_a: 0.0,
            position: 0.0,
            velocity: 0.0,
            feedforward_nm: 0.0,
            kp_scale: 1.0,
            kd_scale: 1.0,
            max_torque_nm: f64::NAN,
            stop_position: f64::NAN,
            timeout_s: 0.0,
            velocity_limit: f64::NAN,
            accel_limit: f64::NAN,
            ilimit_scale: 1.0,
            ignore_bounds: 0.0,
            lower: 0.0,
            upper: 0.0,
        }
    }

    /// The field of a register and its unit.
    fn field(&mut self, register: u32) -> Option<(&mut f64, Scale)> {
        Some(match register {
            0x01c => (&mut self.q_current_a, CURRENT),
            0x01d => (&mut self.d_current_a, CURRENT),
            0x020 => (&mut self.position, POSITION),
            0x021 => (&mut self.velocity, VELOCITY),
            0x022 | 0x042 => (&mut self.feedforward_nm, TORQUE),
            0x023 | 0x043 => (&mut self.kp_scale, PWM),
            0x024 | 0x044 => (&mut self.kd_scale, PWM),
            0x025 | 0x045 => (&mut self.max_torque_nm, TORQUE),
            0x026 => (&mut self.stop_position, POSITION),
            0x027 | 0x046 => (&mut self.timeout_s, TIME),
            0x028 => (&mut self.velocity_limit, VELOCITY),
            0x029 => (&mut self.accel_limit, ACCELERATION),
            0x02b | 0x047 => (&mut self.ilimit_scale, PWM),
            0x02d | 0x048 => (&mut self.ignore_bounds, [1.0; 3]),
            0x040 => (&mut self.lower, POSITION),
            0x041 => (&mut self.upper, POSITION),
            _ => return None,
        })
    }
}

impl Moteus {
    pub(super) fn write(
        &mut self,
        register: u32,
        value: Value,
        reading: &JointReading,
    ) -> Result<(), u32> {
        if register == MODE {
            let mode = value.as_i8();
            if !(0..MODES).contains(&mode) {
                return Err(BAD_VALUE);
            }
            self.command = Command::new(mode);
            self.command_waits = true;
            return Ok(());
        }
        if let Some((field, scale)) = self.command.field(register) {
            *field = value.physical(scale);
            return Ok(());
        }
        match register {
            0x130 => self.set_output(value.physical(POSITION), true, reading),
            0x131 => self.set_output(value.physical(POSITION), false, reading),
            0x132 => self.home = 1,
            _ if self.read(register, 2, reading).is_ok() => return Err(READ_ONLY),
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    /// The value of a register in number type `kind`, or the protocol's error code.
    pub(super) fn read(&self, register: u32, kind: u8, now: &JointReading) -> Result<Value, u32> {
        let velocity = now.dq_rad_s / REVOLUTION;
        let position = self.position(now);
        let current_a = now.tau_nm / self.config.torque_constant_nm_per_a;
        let (value, scale) = match register {
            MODE => return Ok(Value::integer(i32::from(self.mode), kind)),
            0x00b => return Ok(Value::integer(i32::from(self.trajectory.done), kind)),
            0x00c => return Ok(Value::integer(self.home, kind)),
            0x00f => return Ok(Value::integer(i32::from(self.fault), kind)),
            0x058 => return Ok(Value::integer(0b11, kind)),
            0x001 | 0x006 | 0x050 => (position, POSITION),
            0x002 | 0x051 => (velocity, VELOCITY),
            0x003 => (now.tau_nm, TORQUE),
            0x004 => (current_a, CURRENT),
            0x005 => (0.0, CURRENT),
            0x007 => (now.tau_nm * now.dq_rad_s, POWER),
            0x00a => (self.environment.motor_c, TEMPERATURE),
            0x00d => (self.environment.bus_v, VOLTAGE),
            0x00e => (self.environment.board_c, TEMPERATURE),
            0x033 => (self.command.feedforward_nm, TORQUE),
            0x034 | 0x03a => (self.control_torque_nm, TORQUE),
            0x038 => (self.trajectory.position, POSITION),
            0x039 => (self.trajectory.velocity, VELOCITY),
            0x03b => (position - self.trajectory.position, POSITION),
            0x03c => (velocity - self.trajectory.velocity, VELOCITY),
            0x03d => (now.tau_nm - self.control_torque_nm, TORQUE),
            0x100 | 0x101 | 0x102 | 0x120..=0x122 => {
                let value = match register {
                    0x100 => MODEL,
                    0x101 => FIRMWARE,
                    0x102 => REGISTER_MAP,
                    serial => self.config.serial[(serial - 0x120) as usize] as i32,
                };
                return if kind == 2 { Ok(Value::I32(value)) } else { Err(UNKNOWN) };
            }
            _ => match self.command.clone().field(register) {
                Some((field, scale)) => (*field, scale),
                None => return Err(UNKNOWN),
            },
        };
        Ok(Value::scaled(value, scale, kind))
    }
}
