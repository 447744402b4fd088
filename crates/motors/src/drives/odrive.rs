//! ODrive's CANSimple, with the messages of firmware 0.6.10.
//!
//! Standard frames: node id in the upper six bits, command in the lower five. A remote frame, or
//! for 0.6 one without data, asks for a value. Heartbeat and encoder estimates come unasked.
//! Positions are revolutions of the motor, which is the joint here.

use crate::trajectory::{Limits, Trajectory};
use crate::{
    CanFrame, CanId, Condition, Conditions, Drive, Environment, JointReading, SetPoint, Watchdog,
};

const REVOLUTION: f64 = std::f64::consts::TAU;
const IDLE: u8 = 1;
const CLOSED_LOOP: u8 = 8;
const TORQUE: u32 = 1;
const VELOCITY: u32 = 2;
const POSITION: u32 = 3;
const TRAPEZOIDAL: u32 = 5;
const SUCCESS: u8 = 0;
const DISARMED: u8 = 3;
const INVALID_STATE: u8 = 13;
const MISSING_ESTIMATE: u32 = 8;
const DRIVER_FAULT: u32 = 32;
const OVER_VOLTAGE: u32 = 256;
const UNDER_VOLTAGE: u32 = 512;
const CURRENT_LIMIT: u32 = 4096;
const INVERTER_HOT: u32 = 16384;
const TOO_FAST: u32 = 32768;
const WATCHDOG: u32 = 1 << 24;
const EMERGENCY_STOP: u32 = 1 << 25;

/// Settings of the axis, with the firmware's defaults.
#[derive(Clone, Copy, Debug)]
pub struct ODriveConfig {
    /// `pos_gain` in 1/s.
    pub pos_gain: f64,
    /// `vel_gain` in N·m per revolution per second.
    pub vel_gain: f64,
    /// `vel_integrator_gain` in N·m per revolution.
    pub vel_integrator_gain: f64,
    /// `vel_limit` in revolutions per second.
    pub vel_limit: f64,
    /// `vel_limit_tolerance`: above `vel_limit` times this the axis disarms.
    pub vel_limit_tolerance: f64,
    /// `torque_constant` in N·m/A.
    pub torque_constant: f64,
    /// `current_soft_max` in A.
    pub current_limit: f64,
    /// `trap_traj.config`: velocity, acceleration in revolutions and seconds.
    pub trapezoid: (f64, f64),
    /// `watchdog_timeout`, if `enable_watchdog`.
    pub watchdog_ns: Option<u64>,
    /// `heartbeat_msg_rate_ms` and `encoder_msg_rate_ms`; 0 is off.
    pub heartbeat_ns: u64,
    /// See `heartbeat_ns`.
    pub encoder_ns: u64,
}

impl Default for ODriveConfig {
    fn default() -> Self {
        Self {
            pos_gain: 20.0,
            vel_gain: 1.0 / 6.0,
            vel_integrator_gain: 1.0 / 3.0,
            vel_limit: 10.0,
            vel_limit_tolerance: 1.2,
            torque_constant: 0.04,
            current_limit: 100.0,
            trapezoid: (2.0, 0.5),
            watchdog_ns: None,
            heartbeat_ns: 100_000_000,
            encoder_ns: 10_000_000,
        }
    }
}

/// One axis.
#[derive(Clone, Debug)]
pub struct ODrive {
    node: u32,
    config: ODriveConfig,
    state: u8,
    result: u8,
    errors: u32,
    disarm_reason: u32,
    mode: (u32, u32),
    position: f64,
    velocity: f64,
    torque_nm: f64,
    integral_nm: f64,
    target_nm: f64,
    trajectory: Trajectory,
    offset_rev: f64,
    environment: Environment,
    conditions: Conditions,
    watchdog: Watchdog,
    next_ns: [u64; 2],
    last_ns: u64,
}

impl ODrive {
    /// A calibrated axis with node id 0 to 62.
    pub fn new(node: u8, config: ODriveConfig) -> Self {
        Self {
            node: u32::from(node & 0x3f),
            config,
            state: IDLE,
            result: SUCCESS,
            errors: 0,
            disarm_reason: 0,
            mode: (POSITION, 1),
            position: 0.0,
            velocity: 0.0,
            torque_nm: 0.0,
            integral_nm: 0.0,
            target_nm: 0.0,
            trajectory: Trajectory::default(),
            offset_rev: 0.0,
            environment: Environment::default(),
            conditions: Conditions::default(),
            watchdog: Watchdog::new(config.watchdog_ns),
            next_ns: [config.heartbeat_ns, config.encoder_ns],
            last_ns: 0,
        }
    }

    fn estimate(&self, now: &JointReading) -> (f64, f64) {
        (now.q_rad / REVOLUTION + self.offset_rev, now.dq_rad_s / REVOLUTION)
    }

    fn request_state(&mut self, state: u32, reading: &JointReading) {
        match state {
            1 => (self.state, self.result) = (IDLE, SUCCESS),
            8 if self.errors == 0 => {
                let (position, velocity) = self.estimate(reading);
                (self.state, self.result) = (CLOSED_LOOP, SUCCESS);
                (self.position, self.velocity) = (position, 0.0);
                (self.torque_nm, self.integral_nm) = (0.0, 0.0);
                self.trajectory = Trajectory { position, velocity, done: true };
            }
            _ => self.result = INVALID_STATE,
        }
    }

    fn disarm(&mut self, error: u32) {
        self.errors |= error;
        if self.state == CLOSED_LOOP {
            self.disarm_reason = error;
            (self.state, self.result) = (IDLE, DISARMED);
        }
    }

    fn protect(&mut self, reading: &JointReading) {
        let (has, volts) = (|c| self.conditions.has(c), self.environment.bus_v);
        let bit = |present: bool, bit: u32| if present { bit } else { 0 };
        let speed = reading.dq_rad_s.abs() / REVOLUTION;
        let fast = speed > self.config.vel_limit * self.config.vel_limit_tolerance;
        let errors = bit(has(Condition::Encoder), MISSING_ESTIMATE)
            | bit(has(Condition::GateDriver), DRIVER_FAULT)
            | bit(has(Condition::OverVoltage) || volts > 59.92, OVER_VOLTAGE)
            | bit(has(Condition::UnderVoltage) || volts < 10.5, UNDER_VOLTAGE)
            | bit(has(Condition::OverCurrent), CURRENT_LIMIT)
            | bit(
                has(Condition::OverTemperature) || self.environment.board_c > 100.0,
                INVERTER_HOT,
            )
            | bit(fast && self.state == CLOSED_LOOP, TOO_FAST);
        if errors != 0 {
            self.disarm(errors);
        }
    }

    /// The answer to a request.
    fn value(&self, command: u32, reading: &JointReading) -> Option<[u8; 8]> {
        let (position, velocity) = self.estimate(reading);
        let current = |torque: f64| torque / self.config.torque_constant;
        let power = reading.tau_nm * reading.dq_rad_s;
        let env = self.environment;
        Some(match command {
            0x00 => [2, 4, 4, 58, 0, 6, 10, 0],
            0x01 => {
                let [a, b, c, d] = self.errors.to_le_bytes();
                [a, b, c, d, self.state, self.result, u8::from(self.trajectory.done), 0]
            }
            0x03 => join(self.errors.to_le_bytes(), self.disarm_reason.to_le_bytes()),
            0x09 => floats(position, velocity),
            0x14 => floats(current(self.target_nm), current(reading.tau_nm)),
            0x15 => floats(env.board_c, env.motor_c),
            0x17 => floats(env.bus_v, power / env.bus_v),
            0x1c => floats(self.target_nm, reading.tau_nm),
            0x1d => floats(power, power),
            _ => return None,
        })
    }

    fn order(&mut self, command: u32, data: [u8; 8], reading: &JointReading) {
        let [a, b, c, d, e, f, g, h] = data;
        let (first, second) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let (x, y) = (f64::from(f32::from_bits(first)), f64::from(f32::from_bits(second)));
        let milli = |low: u8, high: u8| f64::from(i16::from_le_bytes([low, high])) * 0.001;
        match command {
            0x02 => self.disarm(EMERGENCY_STOP),
            0x07 => self.request_state(first, reading),
            0x0b => self.mode = (first, second),
            0x0c if x.is_finite() => {
                (self.position, self.velocity, self.torque_nm) = (x, milli(e, f), milli(g, h));
                self.trajectory.done = false;
            }
            0x0d if x.is_finite() && y.is_finite() => (self.velocity, self.torque_nm) = (x, y),
            0x0e if x.is_finite() => self.torque_nm = x,
            0x0f if x >= 0.0 && y >= 0.0 => {
                (self.config.vel_limit, self.config.current_limit) = (x, y);
            }
            0x11 if x > 0.0 => self.config.trapezoid.0 = x,
            0x12 if x > 0.0 => self.config.trapezoid.1 = x,
            0x16 => {
                *self = Self { last_ns: self.last_ns, next_ns: self.next_ns, ..self.restarted() }
            }
            0x18 => (self.errors, self.disarm_reason) = (0, 0),
            0x19 if x.is_finite() => self.offset_rev += x - self.estimate(reading).0,
            0x1a if x >= 0.0 => self.config.pos_gain = x,
            0x1b if x >= 0.0 && y >= 0.0 => {
                (self.config.vel_gain, self.config.vel_integrator_gain) = (x, y);
            }
            _ => {}
        }
    }

    /// After a reboot: everything but hardware and surroundings as at first.
    fn restarted(&self) -> Self {
        let mut fresh = Self::new(self.node as u8, self.config);
        (fresh.environment, fresh.conditions) = (self.environment, self.conditions);
        fresh
    }

    fn follow(&mut self, dt_s: f64, reading: &JointReading) -> SetPoint {
        let config = self.config;
        let (position, velocity) = self.estimate(reading);
        let (mut target, mut forward) = (self.position, self.velocity);
        if self.mode == (POSITION, TRAPEZOIDAL) {
            let (v, a) = config.trapezoid;
            let limits = Limits { velocity: Some(v), acceleration: Some(a) };
            self.trajectory.step(self.position, 0.0, limits, dt_s);
            (target, forward) = (self.trajectory.position, self.trajectory.velocity);
        }
        let pos_gain = if self.mode.0 == POSITION { config.pos_gain } else { 0.0 };
        let wanted = pos_gain * (target - position) + forward;
        let limited = wanted.clamp(-config.vel_limit, config.vel_limit);
        let tau_max_nm = config.current_limit * config.torque_constant;
        let gain = if self.mode.0 == TORQUE { 0.0 } else { config.vel_gain };
        if gain > 0.0 {
            let step = config.vel_integrator_gain * (limited - velocity) * dt_s;
            self.integral_nm = (self.integral_nm + step).clamp(-tau_max_nm, tau_max_nm);
        }
        // inside the limit of velocity it is a spring; at the limit, a velocity
        let kp = if limited == wanted { gain * pos_gain } else { 0.0 };
        SetPoint::Follow {
            q_rad: (target - self.offset_rev) * REVOLUTION,
            dq_rad_s: if kp > 0.0 { forward } else { limited } * REVOLUTION,
            kp: kp / REVOLUTION,
            kd: gain / REVOLUTION,
            tau_ff_nm: self.torque_nm + if gain > 0.0 { self.integral_nm } else { 0.0 },
            tau_max_nm,
        }
    }

    fn frame(&self, command: u32, data: [u8; 8]) -> CanFrame {
        CanFrame::eight(CanId::standard(self.node << 5 | command), data)
    }
}

fn join(a: [u8; 4], b: [u8; 4]) -> [u8; 8] {
    [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]]
}

fn floats(a: f64, b: f64) -> [u8; 8] {
    join((a as f32).to_le_bytes(), (b as f32).to_le_bytes())
}

impl Drive for ODrive {
    type Frame = CanFrame;

    fn on_frame(
        &mut self,
        now_ns: u64,
        frame: &CanFrame,
        reading: &JointReading,
        answers: &mut Vec<CanFrame>,
    ) {
        let CanId::Standard(id) = frame.id else { return };
        if u32::from(id >> 5) != self.node || frame.fd {
            return;
        }
        let command = u32::from(id & 0x1f);
        self.watchdog.feed(now_ns);
        if frame.data().is_empty()
            && let Some(value) = self.value(command, reading)
        {
            answers.push(self.frame(command, value));
        } else if !frame.remote {
            let mut data = [0; 8];
            data[..frame.len()].copy_from_slice(frame.data());
            self.order(command, data, reading);
        }
    }

    fn next_time_ns(&self) -> Option<u64> {
        let periods = [self.config.heartbeat_ns, self.config.encoder_ns];
        let due = self.next_ns.into_iter().zip(periods).filter(|(_, period)| *period > 0);
        due.map(|(next, _)| next).min()
    }

    fn on_time(&mut self, now_ns: u64, reading: &JointReading, out: &mut Vec<CanFrame>) {
        let messages = [(0x01, self.config.heartbeat_ns), (0x09, self.config.encoder_ns)];
        for (n, (command, period)) in messages.into_iter().enumerate() {
            if period > 0 && self.next_ns[n] <= now_ns {
                self.next_ns[n] += period;
                let value = self.value(command, reading);
                out.extend(value.map(|value| self.frame(command, value)));
            }
        }
    }

    fn set_point(&mut self, now_ns: u64, reading: &JointReading) -> SetPoint {
        let dt_s = now_ns.saturating_sub(self.last_ns) as f64 * 1e-9;
        self.last_ns = now_ns;
        self.protect(reading);
        if self.watchdog.expired(now_ns) && self.state == CLOSED_LOOP {
            self.disarm(WATCHDOG);
        }
        let closed =
            self.state == CLOSED_LOOP && matches!(self.mode.0, TORQUE | VELOCITY | POSITION);
        let set_point = if closed { self.follow(dt_s, reading) } else { SetPoint::Released };
        self.target_nm = set_point.torque_nm(reading);
        set_point
    }

    fn set_environment(&mut self, environment: Environment) {
        self.environment = environment;
    }

    fn set_condition(&mut self, condition: Condition, present: bool) {
        self.conditions.set(condition, present);
    }
}
