//! Nonlinear least squares: Levenberg–Marquardt with bounds and difference quotients
//! (Nocedal & Wright, *Numerical Optimization*, 10.3).
//!
//! The caller evaluates batches of points, in any order and on as many threads as it likes; the
//! result does not depend on it.

use crate::matrix::{Matrix, cholesky_solve};

/// What is sought.
#[derive(Clone, Debug)]
pub struct Problem {
    /// First values.
    pub start: Vec<f64>,
    /// Size of each unknown.
    pub scale: Vec<f64>,
    /// Smallest value of each unknown.
    pub lower: Vec<f64>,
    /// Largest value of each unknown.
    pub upper: Vec<f64>,
    /// Step of the difference quotient.
    pub step: Vec<f64>,
    /// Iterations after which the search gives up.
    pub iterations_max: usize,
    /// The sum of squares is a staircase: a step that makes it hardly smaller is the last one.
    pub staircase: bool,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No step makes the sum of squares smaller by more than its tolerance, or moves an unknown by
    /// more than its own.
    Converged,
    /// No step is better although the model of the function promises one.
    Stalled,
    /// Too many iterations.
    IterationLimit,
    /// The first point cannot be evaluated.
    BadStart,
    /// Neither a larger nor a smaller value of this unknown can be evaluated.
    NoDerivative(usize),
}

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Solution {
    /// How it ended.
    pub outcome: Outcome,
    /// The best values.
    pub values: Vec<f64>,
    /// Residuals there.
    pub residuals: Vec<f64>,
    /// Derivatives of all residuals, one column for each unknown.
    pub jacobian: Vec<Vec<f64>>,
    /// Steps that were taken.
    pub iterations: usize,
}

/// Relative decrease of the sum of squares below which a step no longer counts.
const TOLERANCE: f64 = 1e-6;
/// The same where no smaller sum of squares is found: the rounding of a contact, for instance.
const ROUGH: f64 = 1e-3;
/// A step that is shorter in all unknowns, in units of their sizes, is the last one: of a log
/// without noise nothing but rounding is left, of which no share is small.
const STEP_TOLERANCE: f64 = 1e-7;
/// Factors of the damping that are tried side by side.
const DAMPINGS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];
const DAMPING_MAX: f64 = 1e9;

/// Sum of squares; infinite where there are none.
pub(super) fn cost(residuals: Option<&Vec<f64>>) -> f64 {
    residuals.map_or(f64::INFINITY, |r| r.iter().map(|x| x * x).sum())
}

/// Searches the least sum of squares. `evaluate` returns the residuals of each point, or `None`
/// where there are none; `progress` is given the iteration and the sum of squares.
pub fn solve(
    problem: &Problem,
    mut evaluate: impl FnMut(&[Vec<f64>]) -> Vec<Option<Vec<f64>>>,
    mut progress: impl FnMut(usize, f64),
) -> Solution {
    let mut values = problem.start.clone();
    let first = evaluate(std::slice::from_ref(&values)).pop().flatten();
    let Some(mut residuals) = first else {
        let (residuals, jacobian) = (Vec::new(), Vec::new());
        return Solution { outcome: Outcome::BadStart, values, residuals, jacobian, iterations: 0 };
    };
    let mut damping: f64 = 1e-3;
    let mut iterations = 0;
    loop {
        let now = cost(Some(&residuals));
        progress(iterations, now);
        let end = |outcome, values, residuals, jacobian| Solution {
            outcome,
            values,
            residuals,
            jacobian,
            iterations,
        };
        let jacobian = match jacobian(problem, &values, &residuals, &mut evaluate) {
            Ok(jacobian) => jacobian,
            Err(i) => return end(Outcome::NoDerivative(i), values, residuals, Vec::new()),
        };
        if iterations >= problem.iterations_max {
            return end(Outcome::IterationLimit, values, residuals, jacobian);
        }
        let model = Model::new(problem, &values, &residuals, &jacobian);
        let promised = model.promised(damping.min(1e-6));
        if promised <= TOLERANCE * now || model.is_short(damping.min(1e-6)) {
            return end(Outcome::Converged, values, residuals, jacobian);
        }
        let better = loop {
            let points: Vec<Vec<f64>> =
                DAMPINGS.iter().map(|f| model.point(problem, &values, damping * f)).collect();
            let mut found = evaluate(&points);
            let costs: Vec<f64> = found.iter().map(|r| cost(r.as_ref())).collect();
            let best = (0..costs.len()).fold(0, |b, i| if costs[i] < costs[b] { i } else { b });
            if costs[best] < now {
                damping = (damping * DAMPINGS[best]).max(1e-9);
                break found[best].take().map(|r| (points[best].clone(), r, costs[best]));
            }
            damping *= 1e3;
            if damping > DAMPING_MAX {
                break None;
            }
        };
        let Some((point, found, after)) = better else {
            let enough = promised <= ROUGH * now;
            let outcome = if enough { Outcome::Converged } else { Outcome::Stalled };
            return end(outcome, values, residuals, jacobian);
        };
        iterations += 1;
        (values, residuals) = (point, found);
        let flat = promised <= ROUGH * now;
        let creeps = problem.staircase && now - after <= ROUGH * now;
        if creeps || flat && now - after <= TOLERANCE * now {
            return Solution {
                outcome: if flat { Outcome::Converged } else { Outcome::Stalled },
                values,
                residuals,
                jacobian,
                iterations,
            };
        }
    }
}

/// Difference quotients: forward ones, or backward ones at an upper bound and where the larger
/// value cannot be evaluated. The error is an unknown that has none.
fn jacobian(
    problem: &Problem,
    values: &[f64],
    residuals: &[f64],
    evaluate: &mut impl FnMut(&[Vec<f64>]) -> Vec<Option<Vec<f64>>>,
) -> Result<Vec<Vec<f64>>, usize> {
    let n = values.len();
    let moved = |i: usize, by: f64| {
        let mut point = values.to_vec();
        point[i] = (point[i] + by).max(problem.lower[i]);
        point
    };
    let step = |i: usize| {
        let fits = values[i] + problem.step[i] <= problem.upper[i];
        if fits { problem.step[i] } else { -problem.step[i] }
    };
    let points: Vec<_> = (0..n).map(|i| moved(i, step(i))).collect();
    let mut above: Vec<_> =
        evaluate(&points).into_iter().zip(points).map(|(r, point)| Some((r?, point))).collect();
    let second: Vec<usize> = (0..n).filter(|&i| above[i].is_none()).collect();
    let points: Vec<_> = second.iter().map(|&i| moved(i, -step(i))).collect();
    let found = if points.is_empty() { Vec::new() } else { evaluate(&points) };
    let mut below: Vec<_> = vec![None; n];
    for ((&i, r), point) in second.iter().zip(found).zip(points) {
        below[i] = r.map(|r| (r, point));
    }
    let here = || (residuals.to_vec(), values.to_vec());
    (0..n)
        .map(|i| {
            let (above, at) = above[i].take().unwrap_or_else(here);
            let (below, from) = below[i].take().unwrap_or_else(here);
            let width = at[i] - from[i];
            let quotient = |(a, b): (&f64, &f64)| (a - b) / width;
            let column = above.iter().zip(&below).map(quotient).collect::<Vec<f64>>();
            if width != 0.0 { Ok(column) } else { Err(i) }
        })
        .collect()
}

/// The quadratic model of the sum of squares, in units of `scale`.
struct Model {
    square: Matrix,
    slope: Vec<f64>,
    scale: Vec<f64>,
    /// Unknowns that a bound does not hold.
    free: Vec<usize>,
}

impl Model {
    fn new(problem: &Problem, values: &[f64], residuals: &[f64], jacobian: &[Vec<f64>]) -> Self {
        let n = values.len();
        let scale = problem.scale.clone();
        let slope: Vec<f64> = (0..n).map(|i| scale[i] * dot(&jacobian[i], residuals)).collect();
        let held = |i: usize| {
            let low = values[i] <= problem.lower[i] && slope[i] > 0.0;
            low || (values[i] >= problem.upper[i] && slope[i] < 0.0)
        };
        let free: Vec<usize> = (0..n).filter(|&i| !held(i)).collect();
        let mut square = vec![vec![0.0; n]; n];
        for i in 0..n {
            for k in 0..=i {
                let x = scale[i] * scale[k] * dot(&jacobian[i], &jacobian[k]);
                (square[i][k], square[k][i]) = (x, x);
            }
        }
        Self { square, slope, scale, free }
    }

    /// The step with this damping, in units of `scale`, of the free unknowns.
    fn step(&self, damping: f64) -> Vec<f64> {
        let at = |i: usize, k: usize| self.square[self.free[i]][self.free[k]];
        let n = self.free.len();
        let largest = (0..n).map(|i| at(i, i)).fold(0.0, f64::max);
        let mut a: Matrix = (0..n).map(|i| (0..n).map(|k| at(i, k)).collect()).collect();
        for (i, row) in a.iter_mut().enumerate() {
            // an unknown without any effect would make the matrix singular
            row[i] += damping * row[i] + 1e-12 * largest;
        }
        let b: Vec<f64> = self.free.iter().map(|&i| -self.slope[i]).collect();
        cholesky_solve(&a, &b).unwrap_or_else(|| vec![0.0; n])
    }

    /// True if no unknown would move.
    fn is_short(&self, damping: f64) -> bool {
        self.step(damping).iter().all(|x| x.abs() <= STEP_TOLERANCE)
    }

    /// How much smaller the sum of squares should become.
    fn promised(&self, damping: f64) -> f64 {
        let step = self.step(damping);
        let by_slope: f64 = self.free.iter().zip(&step).map(|(&i, x)| self.slope[i] * x).sum();
        let mut by_square = 0.0;
        for (&i, x) in self.free.iter().zip(&step) {
            for (&k, y) in self.free.iter().zip(&step) {
                by_square += x * self.square[i][k] * y;
            }
        }
        -(2.0 * by_slope + by_square)
    }

    fn point(&self, problem: &Problem, values: &[f64], damping: f64) -> Vec<f64> {
        let mut out = values.to_vec();
        for (&i, x) in self.free.iter().zip(self.step(damping)) {
            out[i] = (out[i] + self.scale[i] * x).max(problem.lower[i]).min(problem.upper[i]);
        }
        out
    }
}

/// Sum of products.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
