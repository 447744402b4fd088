//! How far values move when a part of the log is left out (the delete-group jackknife: Efron &
//! Stein 1981).
//!
//! What a log says about friction of the ground, it says in the few instants in which a foot breaks
//! loose. The errors of such an instant move all joints together, so samples are no independent
//! observations: what counts is how far the parts of the log agree.

use super::least_squares::{Solution, dot};
use crate::matrix::{Matrix, cholesky_solve};
use crate::student::student;

/// More degrees of freedom, which the parts of a log cannot give, are taken as so many.
const FREEDOM_MAX: f64 = 12.0;

/// Half widths of the 95 % intervals, in units of 1 / `norm`, each part of the residuals being left
/// out once; values move by one step of Gauss and Newton. Infinite where a part says all.
pub(super) fn half_widths(
    solution: &Solution,
    norm: &[f64],
    inverse: &Matrix,
    part_of: &[usize],
) -> Vec<f64> {
    let n = norm.len();
    let count = part_of.last().map_or(0, |last| last + 1);
    let mut parts = vec![Part::new(n); count];
    for (row, &part) in part_of.iter().enumerate() {
        parts[part].add(solution, norm, row);
    }
    let all = parts.iter().fold(Part::new(n), |sum, part| sum.plus(part, 1.0));
    let moved = |part: &Part| all.plus(part, -1.0).step();
    let moves: Option<Vec<Vec<f64>>> = parts.iter().map(moved).collect();
    let (Some(moves), Some(whole)) = (moves, all.step()) else { return vec![f64::INFINITY; n] };
    let shrink = (count.saturating_sub(1)) as f64 / count.max(1) as f64;
    let half = |i: usize| {
        let square = moves.iter().map(|x| (x[i] - whole[i]) * (x[i] - whole[i])).sum::<f64>();
        let information = parts.iter().map(|part| part.information(&inverse[i]));
        let squares = information.map(|x| x * x).sum::<f64>() / (inverse[i][i] * inverse[i][i]);
        let spread = student_95(1.0 / squares.max(1e-9) - 1.0) * (shrink * square).sqrt();
        (spread * spread + whole[i] * whole[i]).sqrt()
    };
    (0..n).map(half).collect()
}

/// What a part adds to the normal equations.
#[derive(Clone)]
struct Part {
    square: Matrix,
    slope: Vec<f64>,
}

impl Part {
    fn new(n: usize) -> Self {
        Self { square: vec![vec![0.0; n]; n], slope: vec![0.0; n] }
    }

    fn add(&mut self, solution: &Solution, norm: &[f64], row: usize) {
        let at = |i: usize| solution.jacobian[i][row] / norm[i];
        for i in 0..norm.len() {
            self.slope[i] += at(i) * solution.residuals[row];
            for k in 0..norm.len() {
                self.square[i][k] += at(i) * at(k);
            }
        }
    }

    fn plus(&self, other: &Self, times: f64) -> Self {
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + times * b).collect();
        let rows = self.square.iter().zip(&other.square);
        let square = rows.map(|(a, b)| sum(a, b)).collect();
        Self { square, slope: sum(&self.slope, &other.slope) }
    }

    /// `None` if it leaves a combination open.
    fn step(&self) -> Option<Vec<f64>> {
        cholesky_solve(&self.square, &self.slope.iter().map(|x| -x).collect::<Vec<_>>())
    }

    /// What it says about the unknown whose column of the inverse of the whole this is.
    fn information(&self, column: &[f64]) -> f64 {
        self.square.iter().zip(column).map(|(row, x)| x * dot(row, column)).sum()
    }
}

/// Student's number for an interval of 95 %. Between the whole numbers of degrees of freedom, it is
/// a straight line over 1 / them.
fn student_95(freedom: f64) -> f64 {
    let freedom = freedom.clamp(1.0, FREEDOM_MAX);
    let below = freedom.floor() as usize;
    let [(a, at_a), (b, at_b)] = [below, below + 1].map(|k| (1.0 / k as f64, student(0.95, k)));
    at_a + (a - 1.0 / freedom) / (a - b) * (at_b - at_a)
}
