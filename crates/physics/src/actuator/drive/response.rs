//! What a drive does on a test bench: limits by speed, step and frequency response, friction.

use core::f64::consts::{PI, TAU};

use crate::actuator::{MotorLimits, Reference};
use crate::math;

use super::{Drive, DriveJoint, DriveState, Elastic, Instant, Timing, limited};

/// Micro-step of the bench, ns and s.
const H_NS: u64 = 50_000;
const H_S: f64 = 5e-5;
/// Longest time that the current loop is given to settle, s.
const SETTLE_MAX_S: f64 = 3.0;

/// A drive on a test bench with its joint held, fed by `supply_v` (V; 0: as the drive says).
#[derive(Debug)]
pub struct Bench {
    drive: Drive,
    supply_v: f64,
}

impl Bench {
    /// For `drive`.
    #[must_use]
    pub const fn new(drive: &Drive, supply_v: f64) -> Self {
        Self { drive: *drive, supply_v }
    }

    /// True if the drive makes another torque with another supply.
    #[must_use]
    pub fn needs_supply(&self) -> bool {
        let Drive { motor, torque_speed, .. } = &self.drive;
        let by_voltage = motor.torque_constant_nm_per_a > 0.0 && motor.resistance_ohm > 0.0;
        by_voltage || (torque_speed.acts() && torque_speed.nominal_v > 0.0)
    }

    /// Least and largest torque at the speed `v`, N·m; infinite where nothing limits it.
    #[must_use]
    pub fn range_nm(&self, v: f64) -> [f64; 2] {
        let Drive { motor, gear, torque_speed, .. } = &self.drive;
        let nominal_v = torque_speed.nominal_v;
        let share =
            if self.supply_v > 0.0 && nominal_v > 0.0 { self.supply_v / nominal_v } else { 1.0 };
        let supply_v = if self.supply_v > 0.0 { self.supply_v } else { motor.supply_v };
        let by_current_nm = motor.current_limit_nm(gear);
        let by_speed = torque_speed.range_nm(v, share);
        let by_voltage = motor.voltage_range_nm(gear, motor.resistance_ohm, supply_v, v);
        let ends = [-by_current_nm, by_current_nm];
        ends.map(|end| limited(limited(end, by_speed), by_voltage))
    }

    /// Speed at which the motor makes nothing more, rad/s; 0 if there is none.
    #[must_use]
    pub fn no_load_rad_per_s(&self) -> f64 {
        if self.range_nm(1e6)[1].is_infinite() {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, 1e6);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if self.range_nm(middle)[1] > 0.0 { low = middle } else { high = middle }
        }
        high
    }

    /// Torque of the motor at the joint, N·m, over the time in `t_s`, as `asked` (by time, s) is
    /// sent: delay, control rate and current loop.
    pub fn torque_nm(&self, asked: impl Fn(f64) -> f64, t_s: f64) -> Vec<[f64; 2]> {
        let drive = Drive { elastic: Elastic::default(), ..self.drive };
        let joint = DriveJoint::new(&drive, 1.0, H_NS);
        let mut state = DriveState::new(&drive, 0.0, 0.0);
        let Timing { delay_us, .. } = drive.timing;
        let mut shown = Vec::new();
        for k in 0..(t_s / H_S).ceil() as u64 {
            let sent_s = k as f64 * H_S - delay_us / 1e6;
            let tau_ff = if sent_s >= 0.0 { asked(sent_s) } else { 0.0 };
            let at = Instant {
                t_ns: k * H_NS,
                q: 0.0,
                dq: 0.0,
                bus_v: self.supply_v,
                limits: MotorLimits::of(f64::INFINITY, f64::INFINITY),
                effort_max_nm: f64::INFINITY,
                supply_share: 1.0,
                is_fresh: true,
            };
            joint.step(&mut state, &Reference { tau_ff, ..Reference::default() }, &at);
            shown.push([(k + 1) as f64 * H_S, state.torque_nm]);
        }
        shown
    }

    /// Gain, and phase in degrees, from the torque asked for to the torque made at `hz`, with the
    /// amplitude `amplitude_nm`: from the last of several periods. The phase has all turns of the
    /// delay.
    #[must_use]
    pub fn gain_and_phase(&self, hz: f64, amplitude_nm: f64) -> [f64; 2] {
        // a loop slower than this is not waited for: that costs up to 2° of phase at 1 Hz
        let current_s = (5.0 / (TAU * self.bandwidth_hz())).min(SETTLE_MAX_S);
        let settle_s = self.drive.timing.delay_us / 1e6 + current_s;
        let first = (settle_s * hz).ceil() + 1.0;
        let asked = |t: f64| amplitude_nm * math::sin_cos(TAU * hz * t).0;
        let (mut re, mut im) = (0.0, 0.0);
        let from_s = first / hz;
        let periods = (2e-2 * hz).ceil().max(1.0);
        for [end_s, torque_nm] in self.torque_nm(asked, (first + periods) / hz) {
            if end_s > from_s {
                // a held torque belongs to the middle of its micro-step
                let (sin, cos) = math::sin_cos(TAU * hz * (end_s - 0.5 * H_S));
                (re, im) = (re + torque_nm * sin, im + torque_nm * cos);
            }
        }
        let per = 2.0 * H_S * hz / (periods * amplitude_nm);
        let (re, im) = (re * per, im * per);
        let delay_degrees = -360.0 * hz * self.drive.timing.delay_us / 1e6;
        // control rate, interpolation and current loop are less than three quarters of a turn late
        let other_degrees = math::atan2(im, re) * 180.0 / PI - delay_degrees;
        let turns = ((other_degrees - 90.0) / 360.0).ceil();
        [(re * re + im * im).sqrt(), delay_degrees + other_degrees - 360.0 * turns]
    }

    fn bandwidth_hz(&self) -> f64 {
        let hz = self.drive.timing.bandwidth_hz;
        if hz > 0.0 { hz } else { 1e4 }
    }

    /// Friction at the speed `v`, N·m, while the motor makes `motor_nm` against an equal load.
    #[must_use]
    pub fn friction_nm(&self, v: f64, motor_nm: f64) -> f64 {
        let Drive { friction, gear, .. } = &self.drive;
        let dry_nm = friction.budget_nm(motor_nm, -motor_nm, v) + gear.loss_nm(motor_nm, v);
        dry_nm.copysign(v) + friction.viscous_nm_s_per_rad * v
    }
}
