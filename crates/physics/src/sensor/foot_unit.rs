//! The force sensor of one foot, tick by tick.

use crate::spatial::{Mat3, Vec3};

use super::channel::{clipped, low_pass_share, played, quantised};
use super::{Delay, Dice, FootSensor};

/// What acts on a foot, or what its sensor shows of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FootLoad {
    /// Normal force, N.
    pub normal_n: f64,
    /// Direction of the normal force in the foot's axes; 0 in flight.
    pub normal_F: [f64; 3],
    /// Force in the foot's axes, N.
    pub force_F: [f64; 3],
    /// Moment about the foot's origin, in its axes, N·m.
    pub moment_F: [f64; 3],
}

/// Number of a load's numbers.
pub const LOAD_NUMBERS: usize = 10;
/// Normal force, three forces, three moments.
const CHANNELS: usize = 7;

impl FootLoad {
    /// As numbers.
    #[must_use]
    pub fn numbers(&self) -> [f64; LOAD_NUMBERS] {
        let ([a, b, c], [d, e, f], [g, h, i]) = (self.normal_F, self.force_F, self.moment_F);
        [self.normal_n, a, b, c, d, e, f, g, h, i]
    }

    /// From [`numbers`](Self::numbers).
    #[must_use]
    pub const fn from_numbers(numbers: [f64; LOAD_NUMBERS]) -> Self {
        let [normal_n, a, b, c, d, e, f, g, h, i] = numbers;
        Self { normal_n, normal_F: [a, b, c], force_F: [d, e, f], moment_F: [g, h, i] }
    }
}

/// What a foot's sensor shows and remembers, by channel: normal force, forces, moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FootSensed {
    shown: [f64; CHANNELS],
    played: [f64; CHANNELS],
    filtered: [f64; CHANNELS],
}

impl FootSensed {
    /// Normal force, N.
    #[must_use]
    pub const fn normal_n(&self) -> f64 {
        self.shown[0]
    }

    /// Force in the foot's axes, N.
    #[must_use]
    pub const fn force_F(&self) -> [f64; 3] {
        [self.shown[1], self.shown[2], self.shown[3]]
    }

    /// Moment about the foot's origin, in its axes, N·m.
    #[must_use]
    pub const fn moment_F(&self) -> [f64; 3] {
        [self.shown[4], self.shown[5], self.shown[6]]
    }

    /// Visits every number.
    #[inline(always)]
    pub fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        self.shown.iter_mut().for_each(|x| visit("sensor.foot_shown", x));
        self.played.iter_mut().for_each(|x| visit("sensor.foot_played", x));
        self.filtered.iter_mut().for_each(|x| visit("sensor.foot_filtered", x));
    }
}

/// The sensor of one foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootUnit {
    sensor: FootSensor,
    crosstalk: Mat3,
    stream: u64,
    gains: [f64; CHANNELS],
    offsets: [f64; CHANNELS],
    share: f64,
    /// From the foot to the controller.
    pub delay: Delay,
}

/// Streams of the first foot, and of each.
const FIRST_STREAM: u64 = 10_000;
const STREAMS: u64 = 16;

impl FootUnit {
    /// The sensor of foot `i` in the specimen of `seed`, for ticks of `period_ns`.
    #[must_use]
    pub fn new(sensor: &FootSensor, i: usize, seed: u64, period_ns: u64) -> Self {
        let (stream, dice) = (FIRST_STREAM + STREAMS * i as u64, Dice::of_specimen(seed));
        let drawn: [[f64; 2]; CHANNELS] = core::array::from_fn(|k| dice.normals(stream + k as u64));
        let of = |k| if k < 4 { &sensor.force } else { &sensor.moment };
        Self {
            sensor: *sensor,
            crosstalk: sensor.crosstalk(),
            stream,
            gains: core::array::from_fn(|k| 1.0 + of(k).gain_error * drawn[k][0]),
            offsets: core::array::from_fn(|k| of(k).offset * drawn[k][1]),
            share: low_pass_share(sensor.cutoff_hz, period_ns as f64 / 1e9),
            delay: Delay::new(sensor.delay_us, period_ns),
        }
    }

    /// What it shows first, of a foot that has carried `load` for long.
    #[must_use]
    pub fn start(&self, load: &FootLoad, dice: &Dice) -> FootSensed {
        let settled = self.seen(load);
        let mut sensed = FootSensed { shown: settled, played: settled, filtered: settled };
        self.step(&mut sensed, load, dice);
        sensed
    }

    /// With cross-talk and gain, by channel.
    fn seen(&self, load: &FootLoad) -> [f64; CHANNELS] {
        let force = Vec3::from(load.force_F);
        let leaked = self.crosstalk * force;
        let normal_n = load.normal_n + Vec3::from(load.normal_F).dot(&leaked);
        let ([x, y, z], [a, b, c]) = ((force + leaked).to_array(), load.moment_F);
        let raw = [normal_n, x, y, z, a, b, c];
        core::array::from_fn(|k| self.gains[k] * raw[k])
    }

    /// The reading of a tick, of the `load` as it was a delay ago.
    pub fn step(&self, sensed: &mut FootSensed, load: &FootLoad, dice: &Dice) {
        for (k, seen) in self.seen(load).into_iter().enumerate() {
            self.read(sensed, k, seen, dice);
        }
    }

    /// The reading of channel `k`, whose element feels `seen`.
    fn read(&self, sensed: &mut FootSensed, k: usize, seen: f64, dice: &Dice) {
        let of = if k < 4 { &self.sensor.force } else { &self.sensor.moment };
        sensed.played[k] = played(sensed.played[k], seen, of.hysteresis);
        let element = clipped(sensed.played[k], of.range);
        sensed.filtered[k] = match self.share < 1.0 {
            true => sensed.filtered[k] + self.share * (element - sensed.filtered[k]),
            false => element,
        };
        let mut shown = sensed.filtered[k] + self.offsets[k];
        if of.noise > 0.0 {
            // two channels share a word of the stream
            shown += of.noise * dice.normals(self.stream + (k / 2) as u64)[k % 2];
        }
        sensed.shown[k] = clipped(quantised(shown, of.resolution), of.range);
    }
}
