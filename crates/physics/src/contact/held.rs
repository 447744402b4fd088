//! Corrections of positions: what closed rigid contacts have missed of the ground.

use crate::simd::{FourLaneWork, SimdReal, in_four_lanes};
use crate::spatial::{Mat3, Vec3};

use super::response_factor::{ROUNDS, ResponseFactor};
use super::rigid::{RigidRoom, regular};
use super::row::Row;

/// Solves `errors + W λ = 0` in the directions that `held` marks, and leaves the other components
/// of λ at 0: the correction of positions after the [`solve_rigid`](super::solve_rigid) with the
/// same `room`; after [`solve_on_bodies`](super::solve_on_bodies) without a `W`. Where that has
/// factorised `W`, by its factors; else by Gauss–Seidel from zero,
/// until a sweep finds no more than `exact` left of any error, at most `sweeps` times.
pub fn solve_held(
    W: &[Mat3],
    errors: &[Vec3],
    held: &[[bool; 3]],
    corrections: &mut [Vec3],
    room: &mut RigidRoom,
    (exact, sweeps): (f64, u32),
) {
    corrections.fill(Vec3::zeros());
    let RigidRoom { factor, lacks, portable, .. } = room;
    if factor.known().is_some() {
        let all = HoldAll { factor, errors, held, corrections, exact, lacks };
        if in_four_lanes(*portable, all) {
            return;
        }
    }
    let n = errors.len();
    if W.len() < n * n {
        return; // solved on bodies, whose equations have no solution
    }
    for _ in 0..sweeps {
        let mut worst: f64 = 0.0;
        for i in 0..n {
            let mut rest = errors[i];
            for (j, c) in corrections.iter().enumerate() {
                rest += W[i * n + j] * c;
            }
            let own = regular(&W[i * n + i]);
            for k in (0..3).filter(|&k| held[i][k]) {
                worst = worst.larger(rest[k].abs());
                let step = rest[k] / own[(k, k)];
                corrections[i][k] -= step;
                rest -= W[i * n + i].column(k) * step;
            }
        }
        if worst <= exact {
            break;
        }
    }
}

/// Solves for all directions at once; false if that is not possible.
struct HoldAll<'a> {
    factor: &'a mut ResponseFactor,
    errors: &'a [Vec3],
    held: &'a [[bool; 3]],
    corrections: &'a mut [Vec3],
    exact: f64,
    lacks: &'a mut Vec<Vec3>,
}

impl FourLaneWork for HoldAll<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<T: SimdReal>(self) -> bool {
        let Self { factor, errors, held, corrections, exact, lacks } = self;
        factor.clear_equations();
        for (i, held) in held.iter().enumerate() {
            (0..3).filter(|&k| held[k]).for_each(|k| factor.add_direction(i, k));
        }
        if !factor.close_equations::<T>() {
            return false;
        }
        for _ in 0..ROUNDS {
            let mut all = Row::NOTHING;
            for (i, correction) in corrections.iter().enumerate() {
                factor.add::<T>(&mut all, i, &(correction / factor.scale(i)));
            }
            let (mut sum, mut worst) = (Row::NOTHING, 0.0_f64);
            lacks.clear();
            for (i, error) in errors.iter().enumerate() {
                let velocity = factor.velocity::<T>(i, &all);
                let lack = only(held[i], &-(error * factor.scale(i) + velocity));
                worst = (lack.norm() / factor.scale(i)).larger(worst);
                factor.add::<T>(&mut sum, i, &lack);
                lacks.push(lack);
            }
            if worst <= exact {
                break;
            }
            let common = factor.common(&sum);
            for (i, correction) in corrections.iter_mut().enumerate() {
                let unknowns = factor.unknowns::<T>(i, &lacks[i], &common);
                *correction += only(held[i], &unknowns) * factor.scale(i);
            }
        }
        true
    }
}

/// The components of `v` that are held.
#[inline(always)]
fn only(held: [bool; 3], v: &Vec3) -> Vec3 {
    Vec3::from_fn(|k| if held[k] { v[k] } else { 0.0 })
}
