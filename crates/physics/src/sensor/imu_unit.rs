//! One specimen of an inertial measurement unit, tick by tick.

use crate::actuator::drive::Timing;
use crate::math;
use crate::spatial::{Quaternion, Vec3};

use super::triaxial::{TriaxialState, TriaxialUnit};
use super::vibration::{Resonator, Ringing};
use super::{Delay, Dice, ImuErrors, ImuReading};

/// Error of the orientation that a unit reports: a rotation in the world, about each axis a
/// Gauss–Markov process with this standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrientationError {
    /// About the horizontal axes, rad.
    pub tilt_rad: f64,
    /// About the vertical axis, rad.
    pub heading_rad: f64,
    /// Correlation time, s.
    pub time_s: f64,
}

impl OrientationError {
    fn spread(&self) -> Vec3 {
        Vec3::new(self.tilt_rad, self.tilt_rad, self.heading_rad)
    }
}

/// What the unit remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImuState {
    /// Gyroscope.
    pub gyro: TriaxialState,
    /// Accelerometer.
    pub accel: TriaxialState,
    /// Error of the orientation, a rotation vector in W, rad.
    pub turned_W: Vec3,
    /// Vibration.
    pub ringing: Ringing,
    /// Sums of the true readings since the last sample, rad/s and m/s².
    sums: [Vec3; 2],
    /// Ticks since the last sample.
    ticks: u64,
    /// The last sample.
    pub sample: ImuReading,
}

impl ImuState {
    /// Nothing yet.
    #[must_use]
    pub fn zero() -> Self {
        let (zero, triad) = (Vec3::zeros(), TriaxialState::zero());
        let sample = ImuReading {
            quat_WI: Quaternion::IDENTITY,
            angular_velocity_I: zero,
            specific_force_I: zero,
        };
        Self {
            gyro: triad,
            accel: triad,
            turned_W: zero,
            ringing: Ringing::default(),
            sums: [zero; 2],
            ticks: 0,
            sample,
        }
    }

    /// Ticks since the last sample.
    pub const fn ticks_mut(&mut self) -> &mut u64 {
        &mut self.ticks
    }

    /// Visits every number but the ticks.
    #[inline(always)]
    pub fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        let gyro = ["sensor.gyro_instability", "sensor.gyro_walk", "sensor.gyro_filtered"];
        self.gyro.walk(gyro, visit);
        let accel = ["sensor.accel_instability", "sensor.accel_walk", "sensor.accel_filtered"];
        self.accel.walk(accel, visit);
        self.turned_W.iter_mut().for_each(|x| visit("sensor.imu_turned_W", x));
        visit("sensor.imu_ringing", &mut self.ringing.n);
        visit("sensor.imu_ringing", &mut self.ringing.n_per_s);
        for sum in &mut self.sums {
            sum.iter_mut().for_each(|x| visit("sensor.imu_sum", x));
        }
        let Quaternion { w, x, y, z } = &mut self.sample.quat_WI;
        [w, x, y, z].into_iter().for_each(|x| visit("sensor.imu_quat_WI_wxyz", x));
        self.sample.angular_velocity_I.iter_mut().for_each(|x| visit("sensor.imu_gyro", x));
        self.sample.specific_force_I.iter_mut().for_each(|x| visit("sensor.imu_accel", x));
    }
}

/// A specimen of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImuUnit {
    errors: ImuErrors,
    seed: u64,
    period_ns: u64,
    gyro: TriaxialUnit,
    accel: TriaxialUnit,
    resonator: Resonator,
    /// From a sample to the controller.
    pub delay: Delay,
}

/// Streams of the errors of the orientation.
const TURNED: u64 = 2 * TriaxialUnit::STREAMS;

impl ImuUnit {
    /// The specimen of `seed`, for ticks of `period_ns`.
    #[must_use]
    pub fn new(errors: &ImuErrors, seed: u64, period_ns: u64) -> Self {
        Self {
            errors: *errors,
            seed,
            period_ns,
            gyro: TriaxialUnit::new(&errors.gyro, seed, 0),
            accel: TriaxialUnit::new(&errors.accel, seed, TriaxialUnit::STREAMS),
            resonator: Resonator::new(&errors.vibration, period_ns as f64 / 1e9),
            delay: Delay::new(errors.delay_us, period_ns),
        }
    }

    /// True if impacts of the feet matter.
    #[must_use]
    pub fn rings(&self) -> bool {
        self.resonator.acts()
    }

    /// True biases of gyroscope, rad/s, and accelerometer, m/s².
    #[must_use]
    pub fn biases(&self, state: &ImuState) -> [Vec3; 2] {
        [self.gyro.bias(&state.gyro), self.accel.bias(&state.accel)]
    }

    /// Its memory when it is switched on while `truth` is the reading.
    #[must_use]
    pub fn start(&self, truth: &ImuReading) -> ImuState {
        let spread = self.errors.orientation.spread();
        let drawn = Dice::of_specimen(self.seed).normal_vector(TURNED);
        let between = 1e9 / (self.errors.rate_hz * self.period_ns as f64);
        let ticks = if between.is_finite() { between.round().max(1.0) } else { 1.0 };
        let mut state = ImuState {
            gyro: self.gyro.start(self.seed, &truth.angular_velocity_I),
            accel: self.accel.start(self.seed, &truth.specific_force_I),
            turned_W: times(&drawn, &spread),
            sums: [truth.angular_velocity_I * ticks, truth.specific_force_I * ticks],
            ticks: ticks as u64,
            ..ImuState::zero()
        };
        self.sample(&mut state, truth, 0);
        state
    }

    /// Takes in the reading of the tick that ends as number `tick`, with the impact of the feet in
    /// it, N.
    pub fn step(&self, state: &mut ImuState, truth: &ImuReading, impact_n: f64, tick: u64) {
        let (mut w, mut f) = (truth.angular_velocity_I, truth.specific_force_I);
        if self.resonator.acts() {
            self.resonator.step(&mut state.ringing, impact_n);
            w += Vec3::repeat(self.errors.gyro.vibration_per_n * state.ringing.n);
            f += Vec3::repeat(self.errors.accel.vibration_per_n * state.ringing.n);
        }
        state.sums[0] += w;
        state.sums[1] += f;
        state.ticks += 1;
        let rate = Timing { control_hz: self.errors.rate_hz, ..Timing::default() };
        if rate.is_due(tick.wrapping_mul(self.period_ns), self.period_ns) {
            self.sample(state, truth, tick);
        }
    }

    /// The mean since the last sample with all errors.
    fn sample(&self, state: &mut ImuState, truth: &ImuReading, tick: u64) {
        let (dice, count) = (Dice::new(self.seed, tick), state.ticks.max(1) as f64);
        let dt_s = count * (self.period_ns as f64 / 1e9);
        let [w, f] = state.sums.map(|sum| sum * (1.0 / count));
        let orientation = &self.errors.orientation;
        let spread = orientation.spread();
        let mut quat_WI = truth.quat_WI;
        if spread.amax() > 0.0 {
            if tick > 0 {
                let stays = math::exp(-dt_s / orientation.time_s);
                let step = spread * (1.0 - stays * stays).sqrt();
                state.turned_W = state.turned_W * stays + times(&dice.normal_vector(TURNED), &step);
            }
            quat_WI = Quaternion::from_rotation_vector(&state.turned_W).mul(&quat_WI).normalised();
        }
        state.sample = ImuReading {
            quat_WI,
            angular_velocity_I: self.gyro.sample(&mut state.gyro, &w, dt_s, &dice),
            specific_force_I: self.accel.sample(&mut state.accel, &f, dt_s, &dice),
        };
        (state.sums, state.ticks) = ([Vec3::zeros(); 2], 0);
    }
}

/// Axis by axis.
fn times(a: &Vec3, b: &Vec3) -> Vec3 {
    Vec3::new(a.x * b.x, a.y * b.y, a.z * b.z)
}
