//! Chance that is the same in every run: a function of seed, tick and stream, and of nothing else.

/// SplitMix64's increment: 2⁶⁴ over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number from 0 to below 1 for a seed, a tick and a stream of the seed. (SplitMix64, Steele,
/// Lea and Flood 2014, once for each of the three.)
///
/// ```
/// use hardstand::simulation::chance;
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
