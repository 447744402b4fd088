//! How far predictions are off.

use super::data::{Toss, Tosses};
use super::laws::{Contact, Law};
use super::predict::{Pose, Setting, first_state, predict};
use super::start::rotation_vector;
use super::{Result, start::Start};

/// Mean errors of one toss over the samples after its first state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TossError {
    /// Distance of the centres, % of the cube's width.
    pub(crate) position_percent: f64,
    /// Angle between the orientations.
    pub(crate) rotation_deg: f64,
}

/// What a prediction that ended in a failure counts: a cube that went nowhere and is turned over.
const FAILED: TossError = TossError { position_percent: 300.0, rotation_deg: 180.0 };

impl TossError {
    /// Errors of `poses` (in m) at the samples after `start`, against the file.
    pub(crate) fn of(of: &Tosses, toss: &Toss, start: &Start, scale: f64, poses: &[Pose]) -> Self {
        let (mut position_percent, mut rotation_deg) = (0.0, 0.0);
        let seen = &toss.samples[start.sample + 1..];
        for ((p_W, q_WB), seen) in poses.iter().zip(seen) {
            let off_m = (*p_W * scale - seen.p_W).norm();
            position_percent += 100.0 * off_m / (2.0 * of.half_width_m);
            rotation_deg += rotation_vector(&seen.q_WB, q_WB).norm().to_degrees();
        }
        let n = seen.len() as f64;
        Self { position_percent: position_percent / n, rotation_deg: rotation_deg / n }
    }
}

/// Errors of a law with these values on the tosses with these indices, in their order.
///
/// # Errors
/// If the physics refuses a value.
pub(crate) fn errors(
    of: &Tosses,
    chosen: &[usize],
    law: Law,
    values: &[f64],
    setting: &Setting,
) -> Result<Vec<TossError>> {
    let contact = law.contact(values)?;
    let of_one = |i: usize| error(of, &of.tosses[chosen[i]], &contact, setting);
    Ok(on_two_threads(chosen.len(), of_one))
}

fn error(of: &Tosses, toss: &Toss, contact: &Contact, setting: &Setting) -> TossError {
    let start = first_state(of, toss, setting);
    let count = toss.samples.len() - 1 - start.sample;
    predict(of, &start, contact, setting, count)
        .map_or(FAILED, |poses| TossError::of(of, toss, &start, setting.scale, &poses))
}

/// `f(0)` to `f(n − 1)`; each result depends on its index alone.
pub(crate) fn on_two_threads<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let half = n / 2;
    std::thread::scope(|scope| {
        let second = scope.spawn(|| (half..n).map(&f).collect::<Vec<T>>());
        let mut all: Vec<T> = (0..half).map(&f).collect();
        match second.join() {
            Ok(rest) => all.extend(rest),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        all
    })
}

/// Mean, median and quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) mean: f64,
    /// First quartile, median, third quartile.
    pub(crate) quartiles: [f64; 3],
}

impl Summary {
    /// Of at least one value.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let last = (sorted.len() - 1) as f64;
        let at = |share: f64| {
            let place = share * last;
            let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            below + (above - below) * (place - place.floor())
        };
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Self { mean, quartiles: [at(0.25), at(0.5), at(0.75)] }
    }
}

/// Of position, % of the width, and rotation, °.
pub(crate) fn summaries(errors: &[TossError]) -> [Summary; 2] {
    [
        Summary::of(errors.iter().map(|e| e.position_percent)),
        Summary::of(errors.iter().map(|e| e.rotation_deg)),
    ]
}

/// What a fit makes small: % of the width plus degrees.
pub(crate) fn cost(errors: &[TossError]) -> f64 {
    let [position, rotation] = summaries(errors);
    position.mean + rotation.mean
}
