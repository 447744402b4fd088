//! mjbots moteus: modes, faults, watchdog and position mode of its firmware.
//!
//! A frame's registers are read before its command takes effect, as in the firmware: the answer to
//! the first position command still says mode 0. Positions are revolutions of the output shaft.

use super::moteus_registers::Command;
use super::multiplex::{self, Access, Answer};
use crate::trajectory::{Limits, Trajectory};
use crate::{
    CanFrame, CanId, Condition, Conditions, Drive, Environment, JointReading, SetPoint, Watchdog,
};

pub(super) const REVOLUTION: f64 = std::f64::consts::TAU;
const BROADCAST: u32 = 0x7f;
const PADDING: u8 = 0x50;
const STOPPED: i8 = 0;
const FAULT: i8 = 1;
const CURRENT: i8 = 9;
const POSITION: i8 = 10;
const TIMEOUT: i8 = 11;
const ZERO_VELOCITY: i8 = 12;
const STAY_WITHIN: i8 = 13;
const BRAKE: i8 = 15;

/// The settings of the drive that matter here, with the firmware's defaults.
#[derive(Clone, Copy, Debug)]
pub struct MoteusConfig {
    /// `servo.pid_position.kp` in N·m per revolution.
    pub kp_nm_per_rev: f64,
    /// `servo.pid_position.kd` in N·m per revolution per second.
    pub kd_nm_s_per_rev: f64,
    /// Torque at `servo.max_current_A`.
    pub max_torque_nm: f64,
    /// Torque per ampere of Q current.
    pub torque_constant_nm_per_a: f64,
    /// `servo.default_timeout_s`; NaN is none.
    pub default_timeout_s: f64,
    /// `servo.timeout_max_torque_Nm`.
    pub timeout_max_torque_nm: f64,
    /// Damping with all phases shorted, in N·m·s/rad.
    pub brake_kd: f64,
    /// `servo.max_voltage`.
    pub max_voltage_v: f64,
    /// `servo.fault_temperature`.
    pub fault_temperature_c: f64,
    /// `servopos.position_min` and `position_max` in revolutions; NaN is none.
    pub position_bounds_rev: (f64, f64),
    /// `servo.default_velocity_limit`; NaN is none.
    pub velocity_limit: f64,
    /// `servo.default_accel_limit`; NaN is none.
    pub accel_limit: f64,
    /// Serial number.
    pub serial: [u32; 3],
}

impl Default for MoteusConfig {
    fn default() -> Self {
        Self {
            kp_nm_per_rev: 4.0,
            kd_nm_s_per_rev: 0.05,
            max_torque_nm: 6.0,
            torque_constant_nm_per_a: 0.1,
            default_timeout_s: 0.1,
            timeout_max_torque_nm: 5.0,
            brake_kd: 0.05,
            max_voltage_v: 46.0,
            fault_temperature_c: 75.0,
            position_bounds_rev: (f64::NAN, f64::NAN),
            velocity_limit: f64::NAN,
            accel_limit: f64::NAN,
            serial: [1, 2, 3],
        }
    }
}

/// A moteus with one motor.
#[derive(Clone, Debug)]
pub struct Moteus {
    id: u32,
    pub(super) config: MoteusConfig,
    pub(super) environment: Environment,
    conditions: Conditions,
    pub(super) command: Command,
    pub(super) command_waits: bool,
    active: Command,
    pub(super) mode: i8,
    pub(super) fault: i8,
    pub(super) home: i32,
    pub(super) trajectory: Trajectory,
    pub(super) control_torque_nm: f64,
    target_rev: f64,
    offset_rev: f64,
    watchdog: Watchdog,
    last_ns: u64,
}

impl Moteus {
    /// A calibrated drive with the firmware's defaults. `id` is 1 to 126.
    pub fn new(id: u8) -> Self {
        Self::with_config(id, MoteusConfig::default())
    }

    /// A drive with other settings.
    pub fn with_config(id: u8, config: MoteusConfig) -> Self {
        Self {
            id: u32::from(id & 0x7f),
            config,
            environment: Environment::default(),
            conditions: Conditions::default(),
            command: Command::new(STOPPED),
            command_waits: false,
            active: Command::new(STOPPED),
            mode: STOPPED,
            fault: 0,
            home: 1,
            trajectory: Trajectory::default(),
            control_torque_nm: 0.0,
            target_rev: 0.0,
            offset_rev: 0.0,
            watchdog: Watchdog::default(),
            last_ns: 0,
        }
    }

    pub(super) fn position(&self, now: &JointReading) -> f64 {
        now.q_rad / REVOLUTION + self.offset_rev
    }

    /// "Set output nearest" moves by whole revolutions of the rotor, "exact" by any amount.
    pub(super) fn set_output(&mut self, position: f64, nearest: bool, now: &JointReading) {
        let change = position - self.position(now);
        self.offset_rev += if nearest { change.round() } else { change };
        self.home = 2;
    }

    fn apply(&mut self, now_ns: u64, reading: &JointReading) {
        let command = self.command;
        match (self.mode, command.mode) {
            (_, STOPPED) => (self.mode, self.fault) = (STOPPED, 0),
            // only a stop ends a fault or a timeout; 1 to 4 are not for masters
            (FAULT | TIMEOUT, _) | (_, 1..=4) => return,
            (before, mode) => {
                let position = self.position(reading);
                if before != POSITION {
                    let velocity = reading.dq_rad_s / REVOLUTION;
                    self.trajectory = Trajectory { position, velocity, done: false };
                }
                let (lower, upper) = self.config.position_bounds_rev;
                let outside = position < lower || position > upper;
                if before == STOPPED && mode == POSITION && outside && command.ignore_bounds == 0.0
                {
                    return self.fail(39);
                }
                if !command.stop_position.is_nan() && self.limits(&command) != Limits::default() {
                    return self.fail(45);
                }
                self.mode = mode;
                self.trajectory.done = false;
                let given = command.position;
                self.target_rev = if given.is_nan() { self.trajectory.position } else { given };
            }
        }
        self.active = command;
        let default = self.config.default_timeout_s;
        let timeout_s = if command.timeout_s == 0.0 { default } else { command.timeout_s };
        let timeout_ns = (!timeout_s.is_nan()).then_some((timeout_s * 1e9) as u64);
        self.watchdog.timeout_ns = timeout_ns;
        self.watchdog.feed(now_ns);
    }

    fn fail(&mut self, fault: i8) {
        (self.mode, self.fault) = (FAULT, fault);
    }

    /// NaN takes the configured limit, a negative number none.
    fn limits(&self, command: &Command) -> Limits {
        let chosen = |value: f64, default: f64| {
            let value = if value.is_nan() { default } else { value };
            (value >= 0.0).then_some(value)
        };
        Limits {
            velocity: chosen(command.velocity_limit, self.config.velocity_limit),
            acceleration: chosen(command.accel_limit, self.config.accel_limit),
        }
    }

    /// The firmware looks at these in every mode but stopped and fault.
    fn protect(&mut self) {
        if matches!(self.mode, STOPPED | FAULT) {
            return;
        }
        let (has, env) = (|c| self.conditions.has(c), self.environment);
        if has(Condition::GateDriver) || has(Condition::OverCurrent) {
            self.fail(33);
        } else if has(Condition::OverVoltage) || env.bus_v > self.config.max_voltage_v {
            self.fail(34);
        } else if has(Condition::UnderVoltage) || env.bus_v < 4.0 {
            self.fail(40);
        } else if has(Condition::OverTemperature) || env.board_c > self.config.fault_temperature_c {
            self.fail(38);
        } else if has(Condition::Encoder) {
            self.fail(35);
        }
    }

    fn follow(&mut self, dt_s: f64) -> SetPoint {
        let command = self.active;
        let mut velocity = if command.velocity.is_nan() { 0.0 } else { command.velocity };
        let stop = command.stop_position;
        if !stop.is_nan() && command.position.is_nan() {
            velocity = velocity.copysign(stop - self.trajectory.position);
        }
        let limits = self.limits(&command);
        self.target_rev = self.trajectory.step(self.target_rev, velocity, limits, dt_s);
        if (self.trajectory.position - stop) * velocity >= 0.0 {
            (self.trajectory.position, self.trajectory.velocity) = (stop, 0.0);
            self.target_rev = stop;
        }
        let (lower, upper) = self.config.position_bounds_rev;
        if command.ignore_bounds == 0.0 {
            self.trajectory.position = self.trajectory.position.max(lower).min(upper);
        }
        self.spring(self.trajectory.position, self.trajectory.velocity, 1.0)
    }

    /// `gain` 0 leaves only the feed-forward torque.
    fn spring(&self, position: f64, velocity: f64, gain: f64) -> SetPoint {
        let (command, config) = (&self.active, &self.config);
        let tau_max_nm = if command.max_torque_nm.is_nan() {
            config.max_torque_nm
        } else {
            command.max_torque_nm.clamp(0.0, config.max_torque_nm)
        };
        SetPoint::Follow {
            q_rad: (position - self.offset_rev) * REVOLUTION,
            dq_rad_s: velocity * REVOLUTION,
            kp: gain * config.kp_nm_per_rev * number(command.kp_scale) / REVOLUTION,
            kd: gain * config.kd_nm_s_per_rev * number(command.kd_scale) / REVOLUTION,
            tau_ff_nm: number(command.feedforward_nm),
            tau_max_nm,
        }
    }

    fn stay_within(&self, reading: &JointReading) -> SetPoint {
        let position = self.position(reading);
        let (lower, upper) = (self.active.lower, self.active.upper);
        if position < lower {
            self.spring(lower, 0.0, 1.0)
        } else if position > upper {
            self.spring(upper, 0.0, 1.0)
        } else {
            self.spring(position, 0.0, 0.0)
        }
    }
}

/// A factor from the wire; NaN counts as zero.
fn number(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

impl Drive for Moteus {
    type Frame = CanFrame;

    fn on_frame(
        &mut self,
        now_ns: u64,
        frame: &CanFrame,
        reading: &JointReading,
        answers: &mut Vec<CanFrame>,
    ) {
        let id = frame.id.raw();
        let (destination, source, prefix) = (id & 0x7f, id >> 8 & 0x7f, id >> 16);
        if ![self.id, BROADCAST].contains(&destination) || id & 0x80 != 0 || prefix != 0 {
            return;
        }
        self.protect();
        let mut answer = Answer::default();
        multiplex::parse(frame.data(), |access| match access {
            Access::Write(register, value) => {
                if let Err(code) = self.write(register, value, reading) {
                    answer.error(true, register, code);
                }
            }
            Access::Read(register, kind) => match self.read(register, kind, reading) {
                Ok(value) => answer.value(register, kind, value),
                Err(code) => answer.error(false, register, code),
            },
        });
        if std::mem::take(&mut self.command_waits) {
            self.apply(now_ns, reading);
        }
        let data = answer.finish();
        if id & 0x8000 == 0 || data.is_empty() {
            return;
        }
        let id = self.id << 8 | source;
        let id = if id > 0x7ff { CanId::extended(id) } else { CanId::standard(id) };
        let data = &data[..data.len().min(64)];
        let plain = if frame.fd { None } else { CanFrame::classic(id, data) };
        let switch = frame.bit_rate_switch;
        answers.extend(plain.or_else(|| CanFrame::fd(id, switch, data, PADDING)));
    }

    fn set_point(&mut self, now_ns: u64, reading: &JointReading) -> SetPoint {
        let dt_s = now_ns.saturating_sub(self.last_ns) as f64 * 1e-9;
        self.last_ns = now_ns;
        self.protect();
        if matches!(self.mode, POSITION | STAY_WITHIN) && self.watchdog.expired(now_ns) {
            self.mode = TIMEOUT;
        }
        let config = self.config;
        let damped = SetPoint::Damped {
            kd: config.kd_nm_s_per_rev * number(self.active.kd_scale) / REVOLUTION,
            tau_max_nm: config.timeout_max_torque_nm,
        };
        let set_point = match self.mode {
            POSITION => self.follow(dt_s),
            STAY_WITHIN => self.stay_within(reading),
            CURRENT => SetPoint::Follow {
                q_rad: 0.0,
                dq_rad_s: 0.0,
                kp: 0.0,
                kd: 0.0,
                tau_ff_nm: number(self.active.q_current_a) * config.torque_constant_nm_per_a,
                tau_max_nm: config.max_torque_nm,
            },
            TIMEOUT | ZERO_VELOCITY => damped,
            BRAKE => SetPoint::Damped { kd: config.brake_kd, tau_max_nm: config.max_torque_nm },
            _ => SetPoint::Released,
        };
        self.control_torque_nm = set_point.torque_nm(reading);
        set_point
    }

    fn set_environment(&mut self, environment: Environment) {
        self.environment = environment;
    }

    fn set_condition(&mut self, condition: Condition, present: bool) {
        self.conditions.set(condition, present);
    }
}
