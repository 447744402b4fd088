//! What the log says about each parameter: intervals, and what it does not determine.

use super::accuracy::{Place, places, width};
use super::fit::Fitting;
use super::jackknife;
use super::least_squares::{Solution, dot};
use crate::matrix::{Matrix, eigen};

/// Half the width of an interval that holds the value with 95 %, in standard deviations.
const NORMAL_95: f64 = 1.96;
/// Errors of one joint within this time count as one observation, s.
const BLOCK_S: f64 = 0.5;
/// Parts of a log that a replay follows, of which each is left out once.
const PARTS: usize = 12;
/// A value is not determined if its interval is wider than this share of it, or of the size that
/// matters, to either side.
pub(super) const WIDE: f64 = 1.0;
/// A value at a bound of what the scenario accepts is not determined if its interval is wider than
/// this share of the size that matters: the log only says that the value is near the bound.
const WIDE_AT_BOUND: f64 = 0.1;
/// Smallest eigenvalue of the normalised normal matrix that counts as different from 0.
const SINGULAR: f64 = 1e-9;
/// Correlation from which on two parameters are named together.
const TOGETHER: f64 = 0.9;

/// A parameter that the log does not determine.
pub(super) struct Unknown {
    /// Its place in the list of those that are open.
    pub(super) place: usize,
    pub(super) why: String,
    /// What stays, if it is not the value before the fit.
    pub(super) kept: Option<f64>,
    /// The error does not change where the search has ended.
    pub(super) is_flat: bool,
}

impl Unknown {
    pub(super) const fn new(place: usize, why: String) -> Self {
        Self { place, why, kept: None, is_flat: false }
    }
}

impl Fitting<'_> {
    /// Half widths of the intervals, and the parameter, if any, that the log determines least.
    pub(super) fn examine(
        &self,
        solution: &Solution,
        open: &[usize],
    ) -> (Vec<f64>, Option<Unknown>) {
        let n = open.len();
        let norm: Vec<f64> = solution.jacobian.iter().map(|c| dot(c, c).sqrt()).collect();
        let residual = dot(&solution.residuals, &solution.residuals).sqrt();
        // a column that changes the whole by less than its rounding says nothing
        let moves = |i: usize| {
            let p = &self.job.parameters[open[i]];
            norm[i] * solution.values[i].abs().max(p.typical) > 1e-6 * residual.max(1e-9)
        };
        if let Some(i) = (0..n).find(|&i| !moves(i)) {
            let why = "it has no effect on this log".into();
            return (Vec::new(), Some(Unknown { is_flat: true, ..Unknown::new(i, why) }));
        }
        let mut square: Matrix = vec![vec![0.0; n]; n];
        for i in 0..n {
            for k in 0..n {
                square[i][k] =
                    dot(&solution.jacobian[i], &solution.jacobian[k]) / norm[i] / norm[k];
            }
        }
        let (eigenvalues, vectors) = eigen(&square);
        let least = (0..n).fold(0, |b, i| if eigenvalues[i] < eigenvalues[b] { i } else { b });
        if eigenvalues[least] < SINGULAR {
            return (Vec::new(), Some(self.combination(&vectors[least], open)));
        }
        let inverse = inverse(&eigenvalues, &vectors);
        let half = self.half_widths(solution, &norm, &inverse);
        let share = |i: usize| {
            let p = &self.job.parameters[open[i]];
            half[i] / solution.values[i].abs().max(p.typical)
        };
        let worst = (0..n).fold(0, |b, i| if share(i) > share(b) { i } else { b });
        if share(worst) <= WIDE {
            let at_bound = |&i: &usize| self.is_at_bound(open[i], solution.values[i]);
            let wide = |&i: &usize| share(i) > WIDE_AT_BOUND;
            let found = (0..n).filter(at_bound).find(wide);
            let unknown = found.map(|i| self.near_bound(i, open[i], solution.values[i], half[i]));
            return (half, unknown);
        }
        let together = |k: &usize| {
            let rho = inverse[worst][*k] / (inverse[worst][worst] * inverse[*k][*k]).sqrt();
            *k != worst && rho.abs() > TOGETHER
        };
        let names: Vec<&str> =
            (0..n).filter(together).map(|k| self.job.parameters[open[k]].name.as_str()).collect();
        let mut why = format!("its interval is {:.4} ± {:.4}", solution.values[worst], half[worst]);
        if !names.is_empty() {
            why += &format!("; the log sees it only together with {}", names.join(", "));
        }
        (half, Some(Unknown::new(worst, why)))
    }

    pub(super) fn is_at_bound(&self, i: usize, value: f64) -> bool {
        value <= self.lower[i] || value >= self.job.parameters[i].max
    }

    /// The parameter `i` at a bound, from which its interval goes one way. What the log excludes
    /// does not stay.
    fn near_bound(&self, place: usize, i: usize, value: f64, half: f64) -> Unknown {
        let start = self.job.parameters[i].start;
        let (word, end, kept) = if value <= self.lower[i] {
            ("most", value + half, start.min(value + half))
        } else {
            ("least", value - half, start.max(value - half))
        };
        let why = format!(
            "it is at its bound, {value:.4}; the log says at {word} {end:.4}, and {kept:.4} stays"
        );
        Unknown { kept: Some(kept), ..Unknown::new(place, why) }
    }

    /// Of parameters that only count together, the last one is not determined.
    fn combination(&self, direction: &[f64], open: &[usize]) -> Unknown {
        let largest = direction.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let parts: Vec<usize> =
            (0..direction.len()).filter(|&i| direction[i].abs() > 0.1 * largest).collect();
        let last = parts.last().copied().unwrap_or_default();
        let others: Vec<&str> = parts
            .iter()
            .filter(|&&i| i != last)
            .map(|&i| self.job.parameters[open[i]].name.as_str())
            .collect();
        let why = format!("only a combination with {} has an effect", others.join(", "));
        Unknown::new(last, why)
    }

    /// Of the 95 % intervals, as far as the derivatives tell them.
    fn half_widths(&self, solution: &Solution, norm: &[f64], inverse: &Matrix) -> Vec<f64> {
        let deviations = self.deviations(solution, norm, inverse);
        let mut half: Vec<f64> = deviations.iter().map(|s| NORMAL_95 * s).collect();
        if self.fit.observer().is_some() {
            let robust = jackknife::half_widths(solution, norm, inverse, &self.parts());
            let robust = robust.iter().zip(norm).map(|(half, norm)| half / norm);
            half.iter_mut().zip(robust).for_each(|(half, robust)| *half = half.max(robust));
        }
        half
    }

    /// Standard deviations: the largest one of that for independent errors, of that for errors that
    /// are correlated within a joint and [`BLOCK_S`], and of that for errors that are correlated
    /// within a window, because its start moves all of them (cluster-robust, White 1980).
    fn deviations(&self, solution: &Solution, norm: &[f64], inverse: &Matrix) -> Vec<f64> {
        let n = norm.len();
        let count = solution.residuals.len();
        let spare = (count.saturating_sub(n)).max(1) as f64;
        let variance = dot(&solution.residuals, &solution.residuals) / spare;
        let [blocks, windows] = self.clusters();
        let mut variances: Vec<f64> = (0..n).map(|i| variance * inverse[i][i]).collect();
        let windows = (windows.last() > Some(&0)).then_some(windows);
        for clusters in std::iter::once(blocks).chain(windows) {
            let robust = robust_variances(solution, norm, inverse, &clusters);
            variances.iter_mut().zip(robust).for_each(|(v, robust)| *v = v.max(robust));
        }
        variances.iter().zip(norm).map(|(v, norm)| v.sqrt() / norm).collect()
    }

    /// The block and the window of each residual.
    fn clusters(&self) -> [Vec<usize>; 2] {
        let log = self.job.log;
        let (begin_s, width) = (log.time_s[0], width(log));
        let block = |row: usize| ((log.time_s[row] - begin_s) / BLOCK_S) as usize;
        let of = |p: Place| (block(p.row) * width + p.column, p.window);
        let (blocks, windows) = places(&self.fit).map(of).unzip();
        [blocks, windows]
    }

    /// The part of the log of each residual: [`PARTS`] equal ones.
    fn parts(&self) -> Vec<usize> {
        let windows = self.fit.windows();
        let part = |p: Place| p.at * PARTS / (windows[p.window].len() - 1);
        places(&self.fit).map(part).collect()
    }
}

/// Variances of the values, in units of 1 / `norm`, for errors that are correlated within a
/// cluster.
fn robust_variances(
    solution: &Solution,
    norm: &[f64],
    inverse: &Matrix,
    clusters: &[usize],
) -> Vec<f64> {
    let n = norm.len();
    let count = clusters.iter().max().map_or(0, |m| m + 1);
    let mut sums = vec![vec![0.0; n]; count];
    for (row, (&cluster, r)) in clusters.iter().zip(&solution.residuals).enumerate() {
        for (i, column) in solution.jacobian.iter().enumerate() {
            sums[cluster][i] += column[row] * r / norm[i];
        }
    }
    let correction = count as f64 / (count.saturating_sub(1)).max(1) as f64;
    let robust =
        |i: usize| -> f64 { sums.iter().map(|s| dot(&inverse[i], s)).map(|x| x * x).sum() };
    (0..n).map(|i| correction * robust(i)).collect()
}

fn inverse(eigenvalues: &[f64], vectors: &Matrix) -> Matrix {
    let n = eigenvalues.len();
    let at = |i: usize, k: usize| {
        (0..n).map(|e| vectors[e][i] * vectors[e][k] / eigenvalues[e]).sum::<f64>()
    };
    (0..n).map(|i| (0..n).map(|k| at(i, k)).collect()).collect()
}
