//! What a joint reports: encoder, derived velocity, torque estimated from the current.

use crate::actuator::drive::{Encoder, Key, Measured};

use super::channel::{low_pass_share, quantised};
use super::{Delay, Dice};

/// The numbers of a joint's sensors; all 0: the truth. For prismatic joints read N for N·m, and m
/// for rad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointSensor {
    /// Time from the joint to the controller, µs: position, velocity and torque together.
    pub delay_us: f64,
    /// Resolution, offset and derived velocity: the law of a drive's encoder.
    pub encoder: Encoder,
    /// Standard deviation of the offset, drawn once for each joint, rad.
    pub offset_error_rad: f64,
    /// Standard deviation of a position, rad; before the resolution.
    pub noise_rad: f64,
    /// Standard deviation of a velocity that is not derived from positions, rad/s.
    pub velocity_noise_rad_per_s: f64,
    /// Torque.
    pub torque: TorqueSensor,
}

/// Errors of a torque that is estimated from the current of the motor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TorqueSensor {
    /// Standard deviation of the torque constant, as a share, drawn once for each joint.
    pub gain_error: f64,
    /// Standard deviation of the current's zero, N·m, drawn once for each joint.
    pub offset_nm: f64,
    /// Standard deviation of a reading, N·m.
    pub noise_nm: f64,
    /// Step of the reading, N·m; 0: continuous.
    pub resolution_nm: f64,
    /// Low-pass of first order over torque and noise; 0: none.
    pub bandwidth_hz: f64,
}

type JointKey = Key<JointSensor>;

impl JointSensor {
    const POSITION: [JointKey; 7] = [
        JointKey::new("delay_us", (0.0, 2e5), "from the joint to the controller", |s| {
            &mut s.delay_us
        }),
        JointKey::new("counts_per_turn", (0.0, 1e9), "of the joint; 0: continuous", |s| {
            &mut s.encoder.counts_per_turn
        }),
        JointKey::new("offset_rad", (-10.0, 10.0), "what the encoder shows too much", |s| {
            &mut s.encoder.offset_rad
        }),
        JointKey::new("offset_error_rad", (0.0, 1.0), "standard deviation between joints", |s| {
            &mut s.offset_error_rad
        }),
        JointKey::new("noise_rad", (0.0, 1.0), "standard deviation of a position", |s| {
            &mut s.noise_rad
        }),
        JointKey::new(
            "velocity_cutoff_hz",
            (0.0, 1e6),
            "filter of speeds from differences; 0: the speed itself",
            |s| &mut s.encoder.velocity_cutoff_hz,
        ),
        JointKey::new(
            "velocity_noise_rad_per_s",
            (0.0, 100.0),
            "standard deviation of a speed that is not from differences",
            |s| &mut s.velocity_noise_rad_per_s,
        ),
    ];
    const TORQUE: [JointKey; 5] = [
        JointKey::new("torque.gain_error", (0.0, 0.5), "deviation of the torque constant", |s| {
            &mut s.torque.gain_error
        }),
        JointKey::new("torque.offset_nm", (0.0, 1e4), "deviation of the current's zero", |s| {
            &mut s.torque.offset_nm
        }),
        JointKey::new("torque.noise_nm", (0.0, 1e4), "standard deviation of a reading", |s| {
            &mut s.torque.noise_nm
        }),
        JointKey::new("torque.resolution_nm", (0.0, 1e4), "step; 0: continuous", |s| {
            &mut s.torque.resolution_nm
        }),
        JointKey::new("torque.bandwidth_hz", (0.0, 1e6), "low-pass; 0: none", |s| {
            &mut s.torque.bandwidth_hz
        }),
    ];

    /// All numbers that can be set.
    pub fn keys() -> impl Iterator<Item = &'static Key<Self>> {
        Self::POSITION.iter().chain(&Self::TORQUE)
    }
}

/// What a joint reports and remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointSensed {
    /// Position, rad, and velocity, rad/s.
    pub measured: Measured,
    /// Torque, N·m.
    pub torque_nm: f64,
    filtered_nm: f64,
}

impl JointSensed {
    /// Visits every number.
    #[inline(always)]
    pub fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        visit("sensor.joint_q", &mut self.measured.q);
        visit("sensor.joint_dq", &mut self.measured.dq);
        visit("sensor.joint_tau", &mut self.torque_nm);
        visit("sensor.joint_tau_filtered", &mut self.filtered_nm);
    }
}

/// The sensors of one joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointUnit {
    sensor: JointSensor,
    /// The law of the encoder, with this joint's own offset.
    encoder: Encoder,
    stream: u64,
    torque_gain: f64,
    torque_offset_nm: f64,
    h_s: f64,
    /// From the joint to the controller.
    pub delay: Delay,
}

/// Streams of the first joint, and of each.
const FIRST_STREAM: u64 = 1000;
const STREAMS: u64 = 4;

impl JointUnit {
    /// The sensors of joint `i` in the specimen of `seed`, for ticks of `period_ns`.
    #[must_use]
    pub fn new(sensor: &JointSensor, i: usize, seed: u64, period_ns: u64) -> Self {
        let (stream, dice) = (FIRST_STREAM + STREAMS * i as u64, Dice::of_specimen(seed));
        let ([offset, _], [gain, zero]) = (dice.normals(stream), dice.normals(stream + 1));
        let mut encoder = sensor.encoder;
        encoder.offset_rad += sensor.offset_error_rad * offset;
        Self {
            sensor: *sensor,
            encoder,
            stream,
            torque_gain: 1.0 + sensor.torque.gain_error * gain,
            torque_offset_nm: sensor.torque.offset_nm * zero,
            h_s: period_ns as f64 / 1e9,
            delay: Delay::new(sensor.delay_us, period_ns),
        }
    }

    /// What it reports first: true position, velocity and torque are `truth`.
    #[must_use]
    pub fn start(&self, truth: [f64; 3], dice: &Dice) -> JointSensed {
        let [q, dq, torque_nm] = truth;
        let q = self.encoder.shown_rad(q);
        let filtered_nm = self.torque_gain * torque_nm + self.torque_offset_nm;
        let measured = Measured { q, dq };
        let mut sensed = JointSensed { measured, torque_nm: 0.0, filtered_nm };
        self.report_torque(&mut sensed, torque_nm, dice);
        sensed
    }

    /// The report of a tick, of `truth` as it was a delay ago: position, velocity and torque.
    pub fn step(&self, sensed: &mut JointSensed, truth: [f64; 3], dice: &Dice) {
        let ([q, dq, torque_nm], sensor) = (truth, &self.sensor);
        let noisy = sensor.noise_rad > 0.0 || sensor.velocity_noise_rad_per_s > 0.0;
        let [of_q, of_dq] = if noisy { dice.normals(self.stream) } else { [0.0; 2] };
        let q = q + sensor.noise_rad * of_q;
        let dq = dq + sensor.velocity_noise_rad_per_s * of_dq;
        sensed.measured.read(&self.encoder, q, dq, self.h_s);
        self.report_torque(sensed, torque_nm, dice);
    }

    fn report_torque(&self, sensed: &mut JointSensed, torque_nm: f64, dice: &Dice) {
        let t = &self.sensor.torque;
        let mut seen_nm = self.torque_gain * torque_nm + self.torque_offset_nm;
        if t.noise_nm > 0.0 {
            seen_nm += t.noise_nm * dice.normals(self.stream + 1)[0];
        }
        sensed.filtered_nm = match t.bandwidth_hz > 0.0 {
            true => {
                let share = low_pass_share(t.bandwidth_hz, self.h_s);
                sensed.filtered_nm + share * (seen_nm - sensed.filtered_nm)
            }
            false => seen_nm,
        };
        sensed.torque_nm = quantised(sensed.filtered_nm, t.resolution_nm);
    }
}
