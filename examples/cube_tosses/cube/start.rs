//! The first state of a prediction, from the first samples of a toss.
//!
//! Until the cube touches the table it flies, and its flight is known: the centre of mass follows a
//! parabola, and a body with equal inertias about all axes turns at a constant angular velocity. A
//! line through the samples, less the parabola, gives position and velocity, and a line through the
//! rotation vectors gives orientation and angular velocity.

use hardstand_physics::math;
use hardstand_physics::spatial::{Quaternion, Vec3};

use super::data::{Sample, Toss};

/// Position, orientation and velocities at one sample, in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Index of that sample: the last one that the estimate has seen.
    pub(crate) sample: usize,
    pub(crate) p_W: Vec3,
    pub(crate) q_WB: Quaternion,
    pub(crate) v_W: Vec3,
    pub(crate) w_W: Vec3,
}

/// Where the first state comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstStates {
    /// Sample 1 with its velocities in the file: differences of two samples.
    Differences,
    /// Flight through at most this many samples, at least 2, before the cube touches.
    Flight(usize),
}

/// A corner below this height may touch, as a share of the half width: 5 mm for the 105 mm cube.
const TOUCHES: f64 = 0.1;

/// The cube in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flyer {
    /// Half of the edge, m.
    pub(crate) half_width_m: f64,
    /// Centre of mass in the body's axes, m.
    pub(crate) com_B: Vec3,
    /// Gravity, m/s².
    pub(crate) g: f64,
    /// Time between two samples, s.
    pub(crate) dt_s: f64,
}

/// The first state of `toss`, whose positions are in m.
pub(crate) fn start(toss: &Toss, first: FirstStates, cube: &Flyer) -> Start {
    let (samples, dt_s) = (&toss.samples, cube.dt_s);
    let FirstStates::Flight(most) = first else {
        let Sample { p_W, q_WB, v_W, w_B } = samples[1];
        return Start { sample: 1, p_W, q_WB, v_W, w_W: q_WB.to_matrix() * w_B };
    };
    let count = free_samples(toss, cube.half_width_m).min(most).clamp(2, samples.len() - 1);
    let last = count - 1;
    let times = |i: usize| (i as f64 - last as f64) * dt_s;
    let fallen = |i: usize| Vec3::z() * (0.5 * cube.g * times(i) * times(i));
    let com_W = |i: usize| samples[i].p_W + samples[i].q_WB.to_matrix() * cube.com_B;
    let (p_com_W, v_com_W) = line(count, times, |i| com_W(i) + fallen(i));
    let about = samples[last].q_WB;
    let (turned, w_W) = line(count, times, |i| rotation_vector(&samples[i].q_WB, &about));
    let q_WB = Quaternion::from_rotation_vector(&turned).mul(&about).normalised();
    let arm_W = q_WB.to_matrix() * cube.com_B;
    let (p_W, v_W) = (p_com_W - arm_W, v_com_W - w_W.cross(&arm_W));
    Start { sample: last, p_W, q_WB, v_W, w_W }
}

/// Samples before the first one in which a corner may touch.
pub(crate) fn free_samples(toss: &Toss, half_width_m: f64) -> usize {
    let flies = |s: &&Sample| lowest_m(s, half_width_m) > TOUCHES * half_width_m;
    toss.samples.iter().take_while(flies).count()
}

/// Height of the lowest corner, m.
fn lowest_m(sample: &Sample, half_width_m: f64) -> f64 {
    let R = sample.q_WB.to_matrix();
    sample.p_W.z - half_width_m * (R[(2, 0)].abs() + R[(2, 1)].abs() + R[(2, 2)].abs())
}

/// Value at time 0 and slope of the line that is nearest to `count` points.
fn line(count: usize, time: impl Fn(usize) -> f64, y: impl Fn(usize) -> Vec3) -> (Vec3, Vec3) {
    let n = count as f64;
    let t_mean = (0..count).map(&time).sum::<f64>() / n;
    let mut y_mean = Vec3::zeros();
    for i in 0..count {
        y_mean += y(i) * (1.0 / n);
    }
    let (mut slope, mut square) = (Vec3::zeros(), 0.0);
    for i in 0..count {
        slope += (y(i) - y_mean) * (time(i) - t_mean);
        square += (time(i) - t_mean) * (time(i) - t_mean);
    }
    slope *= 1.0 / square;
    (y_mean - slope * t_mean, slope)
}

/// The rotation in the world that turns `from` into `to`, as axis times angle, rad.
pub(crate) fn rotation_vector(to: &Quaternion, from: &Quaternion) -> Vec3 {
    let Quaternion { w, x, y, z } = *from;
    let between = to.mul(&Quaternion { w, x: -x, y: -y, z: -z });
    let sign = if between.w < 0.0 { -1.0 } else { 1.0 };
    let axis = Vec3::new(between.x, between.y, between.z) * sign;
    let sin_half = axis.norm();
    let angle = 2.0 * math::atan2(sin_half, sign * between.w);
    if sin_half > 0.0 { axis * (angle / sin_half) } else { axis * 2.0 }
}
