//! Chance that is the same in every run: a function of seed, tick and stream, and of nothing else.

use core::f64::consts::TAU;

use crate::math;
use crate::spatial::Vec3;

/// SplitMix64's increment: 2⁶⁴ over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// Keeps sensors apart from faults with the same seed.
const OF_SENSORS: u64 = 0x5e45_0c5a_1bad_5eed;
/// 2⁻³².
const HALF_WORD: f64 = 1.0 / (1_u64 << 32) as f64;

/// A number from 0 to below 1 for a seed, a tick and a stream of the seed. (SplitMix64, Steele,
/// Lea and Flood 2014, once for each of the three.)
///
/// ```
/// use hardstand_physics::sensor::chance;
///
/// assert_eq!(chance(7, 100, 0), chance(7, 100, 0));
/// assert_ne!(chance(7, 100, 0), chance(7, 101, 0));
/// assert!((0..1000).all(|tick| (0.0..1.0).contains(&chance(7, tick, 3))));
/// ```
#[must_use]
pub fn chance(seed: u64, tick: u64, stream: u64) -> f64 {
    (random(seed, tick, stream) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// The 64 bits behind [`chance`].
#[must_use]
pub fn random(seed: u64, tick: u64, stream: u64) -> u64 {
    mix(mix(mix(seed) ^ tick) ^ stream)
}

const fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(GOLDEN);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What chance gives the sensors of one seed in one tick.
#[derive(Clone, Copy, Debug)]
pub struct Dice {
    seed: u64,
    tick: u64,
}

impl Dice {
    /// The draws of `tick`.
    #[must_use]
    pub const fn new(seed: u64, tick: u64) -> Self {
        Self { seed: seed ^ OF_SENSORS, tick }
    }

    /// Draws that hold for a whole run: what makes one specimen of a sensor.
    #[must_use]
    pub const fn of_specimen(seed: u64) -> Self {
        Self::new(seed, u64::MAX)
    }

    /// Two independent numbers of the standard normal distribution, at most 6.8 in magnitude
    /// (Box and Muller 1958), from one word of the stream.
    #[must_use]
    pub fn normals(&self, stream: u64) -> [f64; 2] {
        let bits = random(self.seed, self.tick, stream);
        // never 0, for the logarithm
        let above_zero = ((bits >> 32) as f64 + 0.5) * HALF_WORD;
        let turns = f64::from(bits as u32) * HALF_WORD;
        let radius = (-2.0 * math::ln(above_zero)).sqrt();
        let (sin, cos) = math::sin_cos(TAU * turns);
        [radius * cos, radius * sin]
    }

    /// Three independent numbers of the standard normal distribution, from `stream` and the next
    /// one.
    #[must_use]
    pub fn normal_vector(&self, stream: u64) -> Vec3 {
        let ([x, y], [z, _]) = (self.normals(stream), self.normals(stream + 1));
        Vec3::new(x, y, z)
    }
}

#[cfg(test)]
mod tests {
    use super::mix;

    /// The first outputs of the published generator from state 0 are those of its counter.
    #[test]
    fn it_is_splitmix64() {
        let published = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        for (k, value) in published.into_iter().enumerate() {
            assert_eq!(mix((k as u64).wrapping_mul(super::GOLDEN)), value);
        }
    }
}
