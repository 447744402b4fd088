//! How far off a prediction is from a first state that the camera has disturbed, if everything
//! else is right: it is compared with the law's own prediction from the undisturbed state.

use hardstand::optimize::SplitMix;
use hardstand_physics::spatial::{Quaternion, Vec3};

use crate::cube::Result;
use crate::cube::data::{Sample, Toss, Tosses};
use crate::cube::laws::Contact;
use crate::cube::predict::{G, Setting, first_state, predict};
use crate::cube::score::{TossError, on_two_threads};
use crate::cube::start::{FirstStates, rotation_vector};

/// Disturbed predictions of each toss.
const DRAWS: usize = 4;
const SEED: u64 = 2;
/// Free samples from which the jitter is measured.
const FREE: usize = 8;

/// Errors of the camera, as standard deviations along one axis. *Jitter* is new in each sample:
/// what is left of free flight after the fit of a parabola and of a constant angular velocity.
/// *Offset* stays for a toss: how heights and tilts differ between cubes at rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CameraNoise {
    pub(crate) jitter_m: f64,
    pub(crate) jitter_rad: f64,
    pub(crate) offset_m: f64,
    pub(crate) offset_rad: f64,
}

/// Measures the camera's errors on the tosses.
pub(crate) fn camera_noise(of: &Tosses, setting: &Setting) -> CameraNoise {
    let (mut square_m, mut square_rad, mut free) = (0.0, 0.0, 0.0);
    let mut heights = Vec::new();
    let mut square_tilt = 0.0;
    for toss in &of.tosses {
        let flight = Setting { first: FirstStates::Flight(FREE), ..*setting };
        let state = first_state(of, toss, &flight);
        let arm_W = state.q_WB.to_matrix() * setting.com_B;
        let (p_com_W, v_com_W) = (state.p_W + arm_W, state.v_W + state.w_W.cross(&arm_W));
        for (i, sample) in toss.samples[..=state.sample].iter().enumerate() {
            let t = (i as f64 - state.sample as f64) * of.dt_s;
            let q_WB = Quaternion::from_rotation_vector(&(state.w_W * t)).mul(&state.q_WB);
            let p_com_W = p_com_W + v_com_W * t - Vec3::z() * (0.5 * G * t * t);
            let p_W = p_com_W - q_WB.to_matrix() * setting.com_B;
            let (dp, dq) = (sample.p_W - p_W * setting.scale, rotation_vector(&sample.q_WB, &q_WB));
            square_m += dp.dot(&dp);
            square_rad += dq.dot(&dq);
        }
        // each toss gives away three positions and three velocities
        free += 3.0 * (state.sample as f64 - 1.0);
        if let Some(end) = toss.samples.last() {
            heights.push(end.p_W.z);
            square_tilt += tilt_square(end);
        }
    }
    let n = heights.len() as f64;
    let mean = heights.iter().sum::<f64>() / n;
    let square = heights.iter().map(|h| (h - mean) * (h - mean)).sum::<f64>() / n;
    CameraNoise {
        jitter_m: (square_m / free).sqrt(),
        jitter_rad: (square_rad / free).sqrt(),
        offset_m: square.sqrt(),
        offset_rad: (square_tilt / (2.0 * n)).sqrt(),
    }
}

/// Square of the sine of the angle between the vertical and the nearest axis of the body.
fn tilt_square(sample: &Sample) -> f64 {
    let R = sample.q_WB.to_matrix();
    let up = (0..3).map(|axis| R[(2, axis)].abs()).fold(0.0, f64::max);
    (1.0 - up * up).max(0.0)
}

/// Errors of the disturbed predictions, [`DRAWS`] for each toss.
///
/// # Errors
/// If the physics refuses the cube.
pub(crate) fn floor(
    of: &Tosses,
    contact: &Contact,
    setting: &Setting,
    noise: &CameraNoise,
) -> Result<Vec<TossError>> {
    let one = |i: usize| -> Result<Vec<TossError>> {
        let toss = &of.tosses[i];
        let first = first_state(of, toss, setting);
        let count = toss.samples.len() - 1 - first.sample;
        let undisturbed = predict(of, &first, contact, setting, count)?;
        let mut truth = toss.clone();
        for (sample, (p_W, q_WB)) in truth.samples[first.sample + 1..].iter_mut().zip(&undisturbed)
        {
            (sample.p_W, sample.q_WB) = (*p_W * setting.scale, *q_WB);
        }
        let mut random = SplitMix(SEED.wrapping_add(1000 * i as u64));
        let mut out = Vec::new();
        for _ in 0..DRAWS {
            let seen = disturbed(toss, noise, &mut random);
            let begin = first_state(of, &seen, setting);
            let count = toss.samples.len() - 1 - begin.sample;
            let poses = predict(of, &begin, contact, setting, count)?;
            out.push(TossError::of(of, &truth, &begin, setting.scale, &poses));
        }
        Ok(out)
    };
    let mut all = Vec::new();
    for errors in on_two_threads(of.tosses.len(), one) {
        all.extend(errors?);
    }
    Ok(all)
}

/// The toss as another such camera would have seen it.
fn disturbed(toss: &Toss, noise: &CameraNoise, random: &mut SplitMix) -> Toss {
    let mut draw = |size: f64| Vec3::new(random.normal(), random.normal(), random.normal()) * size;
    let (moved, turned) = (draw(noise.offset_m), draw(noise.offset_rad));
    let mut out = toss.clone();
    for sample in &mut out.samples {
        sample.p_W += moved + draw(noise.jitter_m);
        let turn = Quaternion::from_rotation_vector(&(turned + draw(noise.jitter_rad)));
        sample.q_WB = turn.mul(&sample.q_WB).normalised();
    }
    out
}
