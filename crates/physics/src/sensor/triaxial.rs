//! Errors of a gyroscope or an accelerometer: bias, scale, misalignment, noise, range, steps.

use crate::math;
use crate::spatial::{Mat3, Vec3};

use super::Dice;
use super::channel::{clipped, low_pass_share, quantised, white_noise};

/// Largest Allan deviation of a first-order Gauss–Markov process over its standard deviation. It is
/// reached at 1.8926 correlation times.
pub const FLOOR_OF_PROCESS: f64 = 0.617_364_283_144_308_5;

/// The numbers of a gyroscope (unit u: rad/s) or an accelerometer (u: m/s²); all 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Triaxial {
    /// White noise as data sheets give it, one-sided, u/√Hz.
    pub noise_density: f64,
    /// Standard deviation of the bias at switch-on, u.
    pub bias: f64,
    /// Bias instability, u: largest Allan deviation of a Gauss–Markov process.
    pub bias_instability: f64,
    /// Correlation time of that process, s.
    pub bias_time_s: f64,
    /// Random walk of the bias, u/s/√Hz: Allan deviation `K √(τ/3)`.
    pub bias_walk: f64,
    /// Standard deviation of the scale of each axis, as a share.
    pub scale_error: f64,
    /// Standard deviation of the angle of each axis towards each other one, rad.
    pub misalignment_rad: f64,
    /// Largest reading, u; 0: unlimited.
    pub range: f64,
    /// Step of the reading, u; 0: continuous.
    pub resolution: f64,
    /// Low-pass of first order; 0: none.
    pub bandwidth_hz: f64,
    /// Vibration of the unit for an impact of 1 N, u/N.
    pub vibration_per_n: f64,
}

/// Its memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriaxialState {
    /// Part of the bias that comes and goes, u.
    pub instability: Vec3,
    /// Part of the bias that walks away, u.
    pub walk: Vec3,
    /// Output of the low-pass, u.
    pub filtered: Vec3,
}

impl TriaxialState {
    /// Nothing yet.
    pub(super) const fn zero() -> Self {
        let zero = Vec3::repeat(0.0);
        Self { instability: zero, walk: zero, filtered: zero }
    }

    /// Visits every number.
    #[inline(always)]
    pub(super) fn walk(
        &mut self,
        names: [&'static str; 3],
        visit: &mut impl FnMut(&'static str, &mut f64),
    ) {
        let parts = [&mut self.instability, &mut self.walk, &mut self.filtered];
        for (name, part) in names.into_iter().zip(parts) {
            part.iter_mut().for_each(|x| visit(name, x));
        }
    }
}

/// One specimen: what its seed has made of the numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriaxialUnit {
    numbers: Triaxial,
    stream: u64,
    /// Bias at switch-on, u.
    pub turn_on: Vec3,
    /// Scale and misalignment: readings over truth.
    pub gain: Mat3,
}

impl TriaxialUnit {
    /// Streams that a unit draws from.
    pub(super) const STREAMS: u64 = 16;

    /// The specimen of `seed`; it draws from the streams from `stream` on.
    #[must_use]
    pub fn new(numbers: &Triaxial, seed: u64, stream: u64) -> Self {
        let dice = Dice::of_specimen(seed);
        let turn_on = dice.normal_vector(stream) * numbers.bias;
        let scale = dice.normal_vector(stream + 2) * numbers.scale_error;
        let across = [4, 6].map(|s| dice.normal_vector(stream + s) * numbers.misalignment_rad);
        let gain = Mat3::from_fn(|r, c| match (c + 3 - r) % 3 {
            0 => 1.0 + scale[r],
            side => across[side - 1][r],
        });
        Self { numbers: *numbers, stream, turn_on, gain }
    }

    /// Its memory when it is switched on and shows `truth`.
    #[must_use]
    pub fn start(&self, seed: u64, truth: &Vec3) -> TriaxialState {
        let spread = self.numbers.bias_instability / FLOOR_OF_PROCESS;
        let instability = Dice::of_specimen(seed).normal_vector(self.stream + 8) * spread;
        let filtered = self.gain * *truth + self.turn_on + instability;
        TriaxialState { instability, walk: Vec3::zeros(), filtered }
    }

    /// Bias of this moment, u.
    #[must_use]
    pub fn bias(&self, state: &TriaxialState) -> Vec3 {
        self.turn_on + state.instability + state.walk
    }

    /// The next sample, `dt_s` after the one before, of what was `truth` on average since then.
    pub fn sample(&self, state: &mut TriaxialState, truth: &Vec3, dt_s: f64, dice: &Dice) -> Vec3 {
        let n = &self.numbers;
        if n.bias_instability > 0.0 {
            let spread = n.bias_instability / FLOOR_OF_PROCESS;
            let stays = math::exp(-dt_s / n.bias_time_s);
            let step = spread * (1.0 - stays * stays).sqrt();
            let drawn = dice.normal_vector(self.stream + 2) * step;
            state.instability = state.instability * stays + drawn;
        }
        if n.bias_walk > 0.0 {
            let step = n.bias_walk * dt_s.sqrt();
            state.walk += dice.normal_vector(self.stream + 4) * step;
        }
        let mut seen = self.gain * *truth + self.bias(state);
        if n.noise_density > 0.0 {
            seen += dice.normal_vector(self.stream) * white_noise(n.noise_density, dt_s);
        }
        let clipped = seen.map(|x| clipped(x, n.range));
        state.filtered = match n.bandwidth_hz > 0.0 {
            true => {
                let share = low_pass_share(n.bandwidth_hz, dt_s);
                state.filtered + (clipped - state.filtered) * share
            }
            false => clipped,
        };
        state.filtered.map(|x| quantised(x, n.resolution))
    }
}
