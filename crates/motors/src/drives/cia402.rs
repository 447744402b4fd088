//! A servo drive by CiA 402 (IEC 61800-7-201): the states of its power stage and the cyclic modes
//! for position (8), velocity (9) and torque (10).
//!
//! Position is held with a stiffness and a damping, velocity with the damping alone; offsets of
//! velocity and torque are added. There is no integral term, ramp or interpolation.

use super::cia402_config::Cia402Config;
use crate::{Condition, Conditions, Environment, JointReading, SetPoint};

/// Slower than this, a brake has done its work, rad/s.
const STANDSTILL_RAD_S: f64 = 0.05;
/// A brake that does not stop the shaft gives up after this time.
const BRAKES_NS: u64 = 1_000_000_000;
/// The error code of a connection that was lost.
const COMMUNICATION: u16 = 0x7500;

/// The states of the power stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    SwitchOnDisabled,
    ReadyToSwitchOn,
    SwitchedOn,
    OperationEnabled,
    QuickStopActive,
    FaultReactionActive,
    Fault,
}

/// A drive.
#[derive(Clone, Debug)]
pub struct Cia402 {
    pub(super) config: Cia402Config,
    state: State,
    /// When the drive began to brake.
    brakes_since_ns: Option<u64>,
    pub(super) controlword: u16,
    pub(super) mode: i8,
    pub(super) target_position: i32,
    pub(super) target_velocity: i32,
    pub(super) target_torque: i16,
    pub(super) velocity_offset: i32,
    pub(super) torque_offset: i16,
    pub(super) max_torque: u16,
    pub(super) stiffness: f32,
    pub(super) damping: f32,
    pub(super) abort_option: i16,
    pub(super) quick_stop_option: i16,
    pub(super) fault_option: i16,
    pub(super) interpolation: [i16; 2],
    pub(super) error_code: u16,
    pub(super) environment: Environment,
    pub(super) conditions: Conditions,
}

impl Cia402 {
    /// A drive after power-on.
    pub fn new(config: Cia402Config) -> Self {
        let max_torque = config.max_torque_nm / config.rated_torque_nm * 1000.0;
        Self {
            config,
            state: State::SwitchOnDisabled,
            brakes_since_ns: None,
            controlword: 0,
            mode: 0,
            target_position: 0,
            target_velocity: 0,
            target_torque: 0,
            velocity_offset: 0,
            torque_offset: 0,
            max_torque: max_torque.round() as u16,
            stiffness: config.stiffness,
            damping: config.damping,
            abort_option: 1,
            quick_stop_option: 2,
            fault_option: 2,
            interpolation: [1, -3],
            error_code: 0,
            environment: Environment::default(),
            conditions: Conditions::default(),
        }
    }

    pub(super) fn statusword(&self) -> u16 {
        let state = match self.state {
            State::SwitchOnDisabled => 0x40,
            State::ReadyToSwitchOn => 0x21,
            State::SwitchedOn => 0x23,
            State::OperationEnabled => 0x27,
            State::QuickStopActive => 0x07,
            State::FaultReactionActive => 0x0f,
            State::Fault => 0x08,
        };
        let powered = !self.conditions.has(Condition::UnderVoltage);
        let follows = self.state == State::OperationEnabled && self.mode != 0;
        // remote: the bus commands
        state | u16::from(powered) << 4 | 1 << 9 | u16::from(follows) << 12
    }

    /// The master has written the controlword.
    pub(super) fn control(&mut self, word: u16) {
        use State::{OperationEnabled, QuickStopActive, ReadyToSwitchOn, SwitchOnDisabled};
        let before = std::mem::replace(&mut self.controlword, word);
        let [on, voltage, no_quick_stop, enable] = [0, 1, 2, 3].map(|bit| word >> bit & 1 != 0);
        let go = on && no_quick_stop && enable;
        let reset = word & 0x80 != 0 && before & 0x80 == 0;
        self.state = match self.state {
            State::Fault if reset && self.hardware_error().is_none() => {
                self.error_code = 0;
                SwitchOnDisabled
            }
            State::Fault | State::FaultReactionActive => return,
            _ if !voltage => SwitchOnDisabled,
            QuickStopActive if self.quick_stop_option != 6 || !go => QuickStopActive,
            OperationEnabled if !no_quick_stop => return self.quick_stop(),
            _ if !no_quick_stop => SwitchOnDisabled,
            SwitchOnDisabled if on => SwitchOnDisabled,
            _ if !on => ReadyToSwitchOn,
            _ if enable => OperationEnabled,
            _ => State::SwitchedOn,
        };
        self.brakes_since_ns = self.brakes_since_ns.filter(|_| self.state == QuickStopActive);
    }

    fn quick_stop(&mut self) {
        let brakes = self.quick_stop_option != 0;
        self.state = if brakes { State::QuickStopActive } else { State::SwitchOnDisabled };
    }

    fn fail(&mut self, code: u16) {
        let moves = matches!(self.state, State::OperationEnabled | State::QuickStopActive);
        let brakes = moves && self.fault_option != 0;
        self.state = if brakes { State::FaultReactionActive } else { State::Fault };
        self.error_code = code;
    }

    /// The connection has left its state OP: object 0x6007 says what follows in operation.
    pub(crate) fn leave_operation(&mut self) {
        match self.abort_option {
            _ if !matches!(self.state, State::OperationEnabled | State::QuickStopActive) => {}
            1 => self.fail(COMMUNICATION),
            2 => self.state = State::SwitchOnDisabled,
            3 => self.quick_stop(),
            _ => {}
        }
    }

    /// What the drive does from `now_ns` on.
    pub(crate) fn set_point(&mut self, now_ns: u64, now: &JointReading) -> SetPoint {
        let failed = matches!(self.state, State::Fault | State::FaultReactionActive);
        if let Some(code) = self.hardware_error().filter(|_| !failed) {
            self.fail(code);
        }
        if matches!(self.state, State::QuickStopActive | State::FaultReactionActive) {
            let since = *self.brakes_since_ns.get_or_insert(now_ns);
            let stands = now.dq_rad_s.abs() < STANDSTILL_RAD_S;
            if stands || now_ns.saturating_sub(since) > BRAKES_NS {
                self.state = match self.state {
                    State::FaultReactionActive => State::Fault,
                    _ if self.quick_stop_option == 6 => State::QuickStopActive,
                    _ => State::SwitchOnDisabled,
                };
            }
        } else {
            self.brakes_since_ns = None;
        }
        let tau_max_nm = self.config.nm(self.max_torque.into()).min(self.config.max_torque_nm);
        let (kp, kd) = (f64::from(self.stiffness), f64::from(self.damping));
        match self.state {
            State::OperationEnabled => self.follow(kp, kd, tau_max_nm),
            State::QuickStopActive | State::FaultReactionActive => {
                SetPoint::Damped { kd, tau_max_nm }
            }
            _ => SetPoint::Released,
        }
    }

    fn follow(&self, kp: f64, kd: f64, tau_max_nm: f64) -> SetPoint {
        let velocity = if self.mode == 9 { self.target_velocity } else { 0 };
        let torque = if self.mode == 10 { self.target_torque } else { 0 };
        let (kp, kd) = match self.mode {
            8 => (kp, kd),
            9 => (0.0, kd),
            10 => (0.0, 0.0),
            _ => return SetPoint::Released,
        };
        SetPoint::Follow {
            q_rad: self.config.rad(self.target_position),
            dq_rad_s: self.config.rad(velocity) + self.config.rad(self.velocity_offset),
            kp,
            kd,
            tau_ff_nm: self.config.nm(f64::from(torque) + f64::from(self.torque_offset)),
            tau_max_nm,
        }
    }

    /// Adds or removes a fault of the hardware.
    pub fn set_condition(&mut self, condition: Condition, present: bool) {
        self.conditions.set(condition, present);
    }
}
