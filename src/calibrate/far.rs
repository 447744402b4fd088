//! What derivatives do not see: a search without them, and intervals that hold at their ends.
//!
//! A foot that breaks loose or not makes the error of a replay a staircase. Where nothing breaks
//! loose, it is flat, and Gauss–Newton has no direction; where something does, the difference
//! quotient is that of a step.

use super::fit::Fitting;
use super::intervals::{Unknown, WIDE};
use super::least_squares::{Solution, cost, dot};
use crate::optimize::Search;
use hardstand_physics::math;

/// Spread of the first points, in factors of two (or of the size that matters, of a value that is
/// smaller).
const STEP: f64 = 0.7;
/// A search is over when its points are this close to each other.
const STEP_MIN: f64 = 0.01;
/// Points of the first generation go no further than this, in the same unit.
const FAR: f64 = 2.5;
/// Points of a generation: these, and more for each unknown.
const POINTS: [usize; 2] = [16, 4];
/// Generations, and how many of them may pass without a better point.
const GENERATIONS: usize = 40;
const PATIENCE: usize = 4;
/// Share by which the sum of squares must fall for a point to count as better.
const BETTER: f64 = 1e-4;
const SEED: u64 = 1;
/// Least share of the promised rise of the sum of squares at the end of an interval.
const RISE: f64 = 0.25;
/// Half the width over which derivatives of a staircase are taken, as a share of the value.
const WIDELY: f64 = 0.02;
/// Share of the sum of squares at the start of a fit that excludes this start.
const EXCLUDED: f64 = 0.1;
/// Share by which the sum of squares rises where a flat error begins to rise.
const FLAT: f64 = 1e-2;
/// How often the way to such a place is halved.
const HALVINGS: usize = 12;
/// How often an interval is doubled.
const DOUBLINGS: usize = 6;

/// Which searches have been tried: each is tried once.
#[derive(Debug, Default)]
pub(super) struct Searched {
    all: bool,
    alone: Vec<usize>,
}

impl Searched {
    /// True the first time.
    pub(super) const fn all_once(&mut self) -> bool {
        let first = !self.all;
        self.all = true;
        first
    }

    /// True the first time for this parameter.
    pub(super) fn once(&mut self, i: usize) -> bool {
        let first = !self.alone.contains(&i);
        self.alone.push(i);
        first
    }
}

impl Fitting<'_> {
    /// Looks for better values where the one at this place of `open` has an effect. Friction that
    /// no foot overcomes has none, and as the kinetic coefficient is at most the static one, both
    /// must fall.
    pub(super) fn search_elsewhere(
        &self,
        values: &[f64],
        open: &[usize],
        place: usize,
        searched: &mut Searched,
        progress: &mut impl FnMut(&str),
    ) -> Option<Vec<f64>> {
        let together = self.fit.observer().is_some() && searched.all_once();
        let better = together.then(|| self.search_far(values, open, progress)).flatten();
        better.or_else(|| {
            let alone = searched.once(open[place]);
            alone.then(|| self.search_far(values, &[open[place]], progress)).flatten()
        })
    }

    /// Looks for better values of the parameters `which`, the others as they are. `None` if there
    /// are none. The same points on any number of threads.
    pub(super) fn search_far(
        &self,
        values: &[f64],
        which: &[usize],
        progress: &mut impl FnMut(&str),
    ) -> Option<Vec<f64>> {
        let sum = |r: &Option<Vec<f64>>| cost(r.as_ref());
        let before = sum(self.evaluate(&[values.to_vec()]).first()?);
        let (mut best, mut least, mut idle) = (None, before * (1.0 - BETTER), 0);
        let points = POINTS[0] + POINTS[1] * (which.len() - 1);
        let mut search = Search::new(&vec![0.0; which.len()], STEP, points, SEED);
        for generation in 1..=GENERATIONS {
            let moved = |x: &Vec<f64>| self.moved(values, which, x);
            let points: Vec<Vec<f64>> = search.ask().iter().map(moved).collect();
            let sums: Vec<f64> = self.evaluate(&points).iter().map(sum).collect();
            search.tell(&sums);
            idle += 1;
            for (point, &sum) in points.into_iter().zip(&sums) {
                if sum < least {
                    (best, least, idle) = (Some(point), sum, 0);
                }
            }
            let ratio = (least / before).sqrt();
            progress(&format!("search {generation}: {ratio:.4} of the error before it"));
            let hopeless = best.is_none() && which.len() == 1;
            if idle >= PATIENCE || hopeless || search.step() < STEP_MIN {
                break;
            }
        }
        best
    }

    /// Of parameter `i`, which has hardly any effect at its value: what the log says if it has one
    /// on the way from the start of the fit, and the value nearest to that start with the error of
    /// now.
    pub(super) fn flat_from(&self, values: &[f64], i: usize) -> Option<(String, f64)> {
        let at = |x: f64| {
            let mut point = values.to_vec();
            point[i] = x;
            let found = self.evaluate(&[point]);
            cost(found.first().and_then(Option::as_ref))
        };
        let (start, flat) = (self.job.parameters[i].start, values[i]);
        let (before, now) = (at(start), at(flat));
        if before * (1.0 - EXCLUDED) <= now {
            return None;
        }
        let enough = now + FLAT * (if before.is_finite() { before } else { now } - now).max(now);
        let (mut wrong, mut right) = (start, flat);
        for _ in 0..HALVINGS {
            // of sizes without a sign, the middle of their ratio
            let middle = if wrong > 0.0 && right > 0.0 {
                (wrong * right).sqrt()
            } else {
                0.5 * (wrong + right)
            };
            if at(middle) <= enough { right = middle } else { wrong = middle }
        }
        let word = if flat > start { "least" } else { "most" };
        let why = format!(
            "beyond {right:.4} it has hardly any effect on this log, which says at {word} that"
        );
        Some((why, right))
    }

    /// The values with those of `which` moved by `x`.
    fn moved(&self, values: &[f64], which: &[usize], x: &[f64]) -> Vec<f64> {
        let mut out = values.to_vec();
        for (&i, x) in which.iter().zip(x) {
            let (x, parameter) = (x.clamp(-FAR, FAR), &self.job.parameters[i]);
            let value = values[i];
            let there = if value.abs() >= parameter.typical {
                value * math::pow(2.0, x)
            } else {
                value + 2.0 * x * parameter.typical
            };
            out[i] = there.max(self.lower[i]).min(parameter.max);
        }
        out
    }

    /// Half widths, doubled until the sum of squares rises at both ends by a good part of what the
    /// derivatives promise.
    fn widened(
        &self,
        solution: &Solution,
        values: &[f64],
        open: &[usize],
        mut half: Vec<f64>,
    ) -> Vec<f64> {
        let now = cost(Some(&solution.residuals));
        let promised: Vec<f64> = (0..open.len())
            .map(|k| half[k] * half[k] * dot(&solution.jacobian[k], &solution.jacobian[k]))
            .collect();
        let free = |k: &usize| !self.is_at_bound(open[*k], values[open[*k]]);
        let mut narrow: Vec<usize> = (0..open.len()).filter(free).collect();
        for _ in 0..DOUBLINGS {
            let ends = |&k: &usize| {
                let i = open[k];
                [-1.0, 1.0].map(|side| {
                    let mut point = values.to_vec();
                    let there = values[i] + side * half[k];
                    point[i] = there.max(self.lower[i]).min(self.job.parameters[i].max);
                    point
                })
            };
            let points: Vec<Vec<f64>> = narrow.iter().flat_map(ends).collect();
            let found = self.evaluate(&points);
            let rises = |ends: &[Option<Vec<f64>>], k: usize| {
                ends.iter().all(|r| cost(r.as_ref()) - now >= RISE * promised[k])
            };
            let pairs = narrow.iter().zip(found.chunks(2));
            narrow = pairs.filter(|(k, ends)| !rises(ends, **k)).map(|(k, _)| *k).collect();
            if narrow.is_empty() {
                break;
            }
            narrow.iter().for_each(|&k| half[k] *= 2.0);
        }
        half
    }

    /// Half widths, and the parameter, if any, that the log determines least.
    pub(super) fn judge(
        &self,
        solution: &Solution,
        values: &[f64],
        open: &[usize],
        progress: &mut impl FnMut(&str),
    ) -> (Vec<f64>, Option<Unknown>) {
        let wide = self.derived_widely(solution, values, open);
        let solution = wide.as_ref().unwrap_or(solution);
        let (mut half, finding) = self.examine(solution, open);
        if finding.is_some() {
            return (half, finding);
        }
        for (half, by) in half.iter_mut().zip(self.moved_by_the_pull(values, open, progress)) {
            *half = (*half * *half + by * by).sqrt();
        }
        let half = self.widened(solution, values, open, half);
        let finding = self.too_wide(values, open, &half);
        (half, finding)
    }

    /// Where the replay follows the recording, derivatives over [`WIDELY`] to both sides, as far as
    /// the scenario accepts them: a single step of the staircase is no slope. `None` elsewhere.
    fn derived_widely(
        &self,
        solution: &Solution,
        values: &[f64],
        open: &[usize],
    ) -> Option<Solution> {
        self.fit.observer()?;
        let mut out = solution.clone();
        let by = |i: usize| WIDELY * values[i].abs().max(self.job.parameters[i].typical);
        let moved = |i: usize, side: f64| {
            let mut point = values.to_vec();
            point[i] += side * by(i);
            point
        };
        let points: Vec<_> = open.iter().flat_map(|&i| [moved(i, -1.0), moved(i, 1.0)]).collect();
        let mut found = self.evaluate(&points).into_iter();
        for (column, &i) in out.jacobian.iter_mut().zip(open) {
            if let (Some(Some(below)), Some(Some(above))) = (found.next(), found.next()) {
                let pairs = column.iter_mut().zip(below).zip(above);
                pairs.for_each(|((x, below), above)| *x = (above - below) / (2.0 * by(i)));
            }
        }
        Some(out)
    }

    /// How far the values move, at most, if the pull of an observer is half as fast and twice.
    fn moved_by_the_pull(
        &self,
        values: &[f64],
        open: &[usize],
        progress: &mut impl FnMut(&str),
    ) -> Vec<f64> {
        let mut most = vec![0.0_f64; open.len()];
        let Some(observer) = self.fit.observer() else { return most };
        for times in [0.5, 2.0] {
            let solution = self.followed(observer.slower(times)).solve(values, open, progress);
            for ((most, &i), value) in most.iter_mut().zip(open).zip(&solution.values) {
                *most = most.max((value - values[i]).abs());
            }
        }
        most
    }

    /// The first parameter whose interval says nothing after it was widened.
    fn too_wide(&self, values: &[f64], open: &[usize], half: &[f64]) -> Option<Unknown> {
        let wide = |k: &usize| {
            let typical = self.job.parameters[open[*k]].typical;
            half[*k] > WIDE * values[open[*k]].abs().max(typical)
        };
        let k = (0..open.len()).find(wide)?;
        let why = format!(
            "its interval is {:.4} ± {:.4}, within which the error hardly changes",
            values[open[k]], half[k]
        );
        Some(Unknown::new(k, why))
    }
}
