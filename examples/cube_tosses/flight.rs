//! What free flight says of camera and cube, without any contact law.
//!
//! The tags' centre turns about the centre of mass `c`, which falls. In the file's lengths, which
//! are `s` times those in metres, with the rotation `R` of each sample:
//!
//! ```text
//! p(t) = p₀ + v₀ t − ½ s g t² z − R(t) s c
//! ```
//!
//! For all tosses together this is linear in `s g`, `s c`, and `p₀` and `v₀` of each toss.

use hardstand_physics::spatial::Vec3;

use crate::cube::Result;
use crate::cube::data::{Toss, Tosses};
use crate::cube::predict::G;
use crate::cube::start::free_samples;

/// Unknowns that all tosses share: `s c` and `s g`.
const N: usize = 4;
/// With fewer samples, little is left after a line is taken out.
const SAMPLES_MIN: usize = 4;

/// Scale of the camera, and the centre of mass in the body's axes, m: in the order of
/// [`MEASURED`](crate::cube::laws::MEASURED).
///
/// # Errors
/// If the tosses do not turn or fly enough to tell.
pub(crate) fn measure(of: &Tosses) -> Result<[f64; N]> {
    let (mut A, mut b) = ([[0.0; N]; N], [0.0; N]);
    for toss in &of.tosses {
        let count = free_samples(toss, of.half_width_m);
        if count >= SAMPLES_MIN {
            add(toss, count, of.dt_s, &mut A, &mut b);
        }
    }
    let [x, y, z, fall] =
        solve(A, b).ok_or("free flight is too short to measure the cube on it")?;
    let scale = fall / G;
    Ok([scale, x / scale, y / scale, z / scale])
}

/// Adds a toss to the normal equations `A x = b`.
fn add(toss: &Toss, count: usize, dt_s: f64, A: &mut [[f64; N]; N], b: &mut [f64; N]) {
    let times: Vec<f64> = (0..count).map(|i| i as f64 * dt_s).collect();
    let bent = |f: &dyn Fn(usize) -> Vec3| without_line(&times, (0..count).map(f).collect());
    let seen = bent(&|i| toss.samples[i].p_W);
    let turned = |axis: usize| bent(&|i| -toss.samples[i].q_WB.to_matrix().column(axis));
    let fallen = bent(&|i| Vec3::z() * (-0.5 * times[i] * times[i]));
    let columns = [turned(0), turned(1), turned(2), fallen];
    for i in 0..count {
        for r in 0..N {
            for c in 0..N {
                A[r][c] += columns[r][i].dot(&columns[c][i]);
            }
            b[r] += columns[r][i].dot(&seen[i]);
        }
    }
}

/// What is left of values when their line over time is taken out.
fn without_line(times: &[f64], mut values: Vec<Vec3>) -> Vec<Vec3> {
    let n = times.len() as f64;
    let t_mean = times.iter().sum::<f64>() / n;
    let (mut mean, mut slope, mut square) = (Vec3::zeros(), Vec3::zeros(), 0.0);
    for (t, y) in times.iter().zip(&values) {
        mean += *y * (1.0 / n);
        slope += *y * (t - t_mean);
        square += (t - t_mean) * (t - t_mean);
    }
    for (t, y) in times.iter().zip(&mut values) {
        *y = *y - mean - slope * ((t - t_mean) / square);
    }
    values
}

/// Gauss–Jordan without exchange of rows: `A` is positive definite, or there is no solution.
fn solve(mut A: [[f64; N]; N], mut b: [f64; N]) -> Option<[f64; N]> {
    let least = 1e-12 * (0..N).map(|i| A[i][i]).fold(0.0, f64::max);
    for k in 0..N {
        let pivot = A[k][k];
        if pivot <= least || pivot.is_nan() {
            return None;
        }
        let (row, right) = (A[k], b[k]);
        for r in (0..N).filter(|r| *r != k) {
            let share = A[r][k] / pivot;
            for c in 0..N {
                A[r][c] -= share * row[c];
            }
            b[r] -= share * right;
        }
    }
    Some([0, 1, 2, 3].map(|k| b[k] / A[k][k]))
}
