//! Fits parameters to a log, and asks what the log says about each of them.

use std::num::NonZeroUsize;
use std::ops::Range;

use toml::Table;

use hardstand_error::{Error, ErrorKind, Result};

use super::accuracy::{Accuracy, residuals};
use super::far::Searched;
use super::least_squares::{Outcome, Problem, Solution, dot, solve};
use super::matrix::{Matrix, eigen};
use super::parameter::{Parameter, apply};
use super::playback::{Playback, Trace, parallel};
use super::result::{Calibration, Estimate, Finding};
use crate::config::Scenario;
use crate::robot_log::RobotLog;

/// How to fit.
#[derive(Clone, Debug)]
pub struct FitSettings {
    /// Share of the log, at its end, that takes no part.
    pub hold_back: f64,
    /// Length of the windows, s; `None` for one.
    pub window_s: Option<f64>,
    /// Threads.
    pub threads: NonZeroUsize,
    /// Iterations after which a fit counts as not converged.
    pub iterations_max: usize,
}

/// A log, the scenario of the robot, and what is to be fitted.
#[derive(Debug)]
pub struct Job<'a> {
    /// The log.
    pub log: &'a RobotLog,
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The parameters.
    pub parameters: &'a [Parameter],
    /// How.
    pub settings: &'a FitSettings,
}

/// Half the width of an interval that holds the value with 95 %, in standard deviations.
const NORMAL_95: f64 = 1.96;
/// Errors of one joint within this time count as one observation, s.
const BLOCK_S: f64 = 0.5;
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
/// Steps of the difference quotients, in units of the parameter's size.
const STEP: f64 = 5e-3;

/// Fits; `progress` is given a sentence for each iteration.
///
/// # Errors
/// [`ErrorKind::Input`] if the log is too short to be divided, the plant stops with the scenario's
/// own values, the fit does not converge, or the log determines none of the parameters.
pub fn calibrate(job: &Job<'_>, mut progress: impl FnMut(&str)) -> Result<Calibration> {
    let fitting = Fitting::new(job)?;
    let start: Vec<f64> = job.parameters.iter().map(|p| p.start).collect();
    let mut values = start.clone();
    let mut open: Vec<usize> = (0..start.len()).collect();
    let mut not_determined: Vec<(usize, String)> = Vec::new();
    let mut iterations = 0;
    let mut searched = Searched::default();
    let half_widths = loop {
        let solution = fitting.solve(&values, &open, &mut progress);
        iterations += solution.iterations;
        for (&i, value) in open.iter().zip(&solution.values) {
            values[i] = *value;
        }
        let unfinished = !matches!(solution.outcome, Outcome::Converged | Outcome::BadStart);
        if unfinished
            && searched.all_once()
            && let Some(better) = fitting.search_far(&values, &open, &mut progress)
        {
            values = better;
            continue;
        }
        check(&solution, &open, &fitting)?;
        let (half_widths, finding) = fitting.judge(&solution, &values, &open);
        let Some(Unknown { place, why, kept }) = finding else { break half_widths };
        // what seems to have no effect may have one elsewhere: friction that no foot overcomes
        if kept.is_none()
            && searched.once(open[place])
            && let Some(better) = fitting.search_far(&values, &[open[place]], &mut progress)
        {
            values = better;
            continue;
        }
        let i = open.remove(place);
        progress(&format!("{} is not determined", job.parameters[i].name));
        values[i] = kept.unwrap_or(start[i]);
        not_determined.push((i, why));
        if open.is_empty() {
            let names: Vec<String> = not_determined
                .iter()
                .map(|(i, why)| format!("{}: {why}", job.parameters[*i].name))
                .collect();
            let head = "the log determines none of the parameters; nothing was written";
            return Err(Error::list(ErrorKind::Input, head, &names));
        }
    };
    let estimate = |(i, parameter): (usize, &Parameter)| {
        let why = not_determined.iter().find(|(k, _)| *k == i).map(|(_, why)| why.clone());
        let place = open.iter().position(|k| *k == i);
        let finding = match (why, place) {
            (None, Some(place)) => Finding::Determined {
                value: values[i],
                half_width: half_widths[place],
                at_bound: fitting.is_at_bound(i, values[i]),
            },
            (why, _) => Finding::NotDetermined { kept: values[i], why: why.unwrap_or_default() },
        };
        Estimate { name: parameter.name.clone(), start: parameter.start, finding }
    };
    let estimates: Vec<Estimate> = job.parameters.iter().enumerate().map(estimate).collect();
    let fitted = fitting.scenario(&values)?;
    Ok(Calibration {
        estimates,
        iterations,
        split_s: fitting.split_s,
        fit: fitting.before_and_after(&fitting.fit, &fitted),
        held_back: fitting.held_back.as_ref().map(|h| fitting.before_and_after(h, &fitted)),
    })
}

fn check(solution: &Solution, open: &[usize], fitting: &Fitting<'_>) -> Result<()> {
    let rms =
        dot(&solution.residuals, &solution.residuals) / solution.residuals.len().max(1) as f64;
    let text = match solution.outcome {
        Outcome::Converged => return Ok(()),
        Outcome::BadStart => "the plant stops itself with the scenario's own values".into(),
        Outcome::Stalled => "no step makes the error smaller although its derivatives promise it: \
                             the replay is too sensitive; try shorter windows (--window)"
            .to_string(),
        Outcome::NoDerivative(i) => {
            let name = &fitting.job.parameters[open[i]].name;
            let value = solution.values[i];
            format!(
                "the replay has no result with {name} a little above {value}, nor a little below"
            )
        }
        Outcome::IterationLimit => format!(
            "{} iterations, and the error still falls (now {:.5} rad)",
            fitting.job.settings.iterations_max,
            rms.sqrt()
        ),
    };
    let text = format!("the fit did not converge: {text}; nothing was written");
    Err(Error::new(ErrorKind::Input, text))
}

/// A parameter that the log does not determine.
pub(super) struct Unknown {
    /// Its place in the list of those that are open.
    place: usize,
    why: String,
    /// What stays, if it is not the value before the fit.
    kept: Option<f64>,
}

impl Unknown {
    pub(super) const fn new(place: usize, why: String) -> Self {
        Self { place, why, kept: None }
    }
}

pub(super) struct Fitting<'a> {
    pub(super) job: &'a Job<'a>,
    table: Table,
    fit: Playback<'a>,
    held_back: Option<Playback<'a>>,
    split_s: f64,
    /// Smallest value that the scenario accepts.
    pub(super) lower: Vec<f64>,
    names: Vec<String>,
}

impl<'a> Fitting<'a> {
    fn new(job: &'a Job<'a>) -> Result<Self> {
        let time_s = &job.log.time_s;
        let (begin_s, end_s) = (time_s[0], time_s[time_s.len() - 1]);
        let split_s = end_s - job.settings.hold_back * (end_s - begin_s);
        let split = if job.settings.hold_back > 0.0 {
            time_s.partition_point(|t| *t < split_s)
        } else {
            time_s.len()
        };
        let part = |rows: Range<usize>| Playback::new(job.log, rows, job.settings.window_s);
        let held_back = (split < time_s.len()).then(|| part(split..time_s.len())).transpose()?;
        let table = job.scenario.complete_toml.parse::<Table>();
        let table = table.map_err(|e| Error::new(ErrorKind::Internal, e.to_string()))?;
        let mut out = Self {
            fit: part(0..split)?,
            held_back,
            split_s,
            lower: Vec::new(),
            names: job.scenario.model.joints.iter().map(|j| j.name.clone()).collect(),
            table,
            job,
        };
        out.scenario(&job.parameters.iter().map(|p| p.start).collect::<Vec<_>>())?;
        out.lower = (0..job.parameters.len()).map(|i| out.lowest(i)).collect();
        Ok(out)
    }

    /// 0 if the scenario refuses a negative value; just above it if it refuses 0 too, or if 0
    /// switches something off.
    fn lowest(&self, i: usize) -> f64 {
        let start: Vec<f64> = self.job.parameters.iter().map(|p| p.start).collect();
        let accepts = |x: f64| {
            let mut values = start.clone();
            values[i] = x;
            self.scenario(&values).is_ok()
        };
        let typical = self.job.parameters[i].typical;
        let zero = !self.job.parameters[i].zero_is_off && accepts(0.0);
        match (start[i] < 0.0 || accepts(-1e-3 * typical), zero) {
            (true, _) => f64::NEG_INFINITY,
            (false, true) => 0.0,
            (false, false) => (1e-2 * typical).min(start[i]),
        }
    }

    fn scenario(&self, values: &[f64]) -> Result<Scenario> {
        let mut table = self.table.clone();
        apply(&mut table, self.job.parameters, values)?;
        Scenario::from_table(&table, &self.job.scenario.robot_urdf)
    }

    /// Residuals of each point, without those that were not sampled. Between two values of a delay
    /// in which the plant can act, they are a straight line, so that its effect is no staircase.
    pub(super) fn evaluate(&self, points: &[Vec<f64>]) -> Vec<Option<Vec<f64>>> {
        let nodes: Vec<Vec<(f64, Vec<f64>)>> = points.iter().map(|p| self.nodes(p)).collect();
        let all: Vec<Vec<f64>> = nodes.iter().flatten().map(|(_, node)| node.clone()).collect();
        let mut found = self.evaluate_nodes(&all).into_iter();
        let sum = |nodes: &Vec<(f64, Vec<f64>)>| {
            let parts: Vec<Option<Vec<f64>>> = found.by_ref().take(nodes.len()).collect();
            if let [(_, _)] = nodes[..] {
                return parts.into_iter().next().flatten();
            }
            let mut out: Option<Vec<f64>> = None;
            for ((weight, _), part) in nodes.iter().zip(parts) {
                let part = part?;
                let sum = out.get_or_insert_with(|| vec![0.0; part.len()]);
                sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += weight * x);
            }
            out
        };
        nodes.iter().map(sum).collect()
    }

    /// Points in which the plant can act, and their weights, of which `point` is the sum.
    fn nodes(&self, point: &[f64]) -> Vec<(f64, Vec<f64>)> {
        let mut base = point.to_vec();
        let mut steps = Vec::new();
        for (i, parameter) in self.job.parameters.iter().enumerate() {
            if parameter.grid > 0.0 {
                base[i] = (point[i] / parameter.grid).floor() * parameter.grid;
                let weight = (point[i] - base[i]) / parameter.grid;
                if weight > 0.0 {
                    steps.push((weight, i));
                }
            }
        }
        let rest = 1.0 - steps.iter().map(|(weight, _)| weight).sum::<f64>();
        let mut out = vec![(rest, base.clone())];
        for (weight, i) in steps {
            let mut node = base.clone();
            node[i] += self.job.parameters[i].grid;
            out.push((weight, node));
        }
        out
    }

    fn evaluate_nodes(&self, points: &[Vec<f64>]) -> Vec<Option<Vec<f64>>> {
        let threads = self.job.settings.threads;
        let scenarios = parallel(points.len(), threads, |i| self.scenario(&points[i]).ok());
        let windows = self.fit.windows().len();
        let traces = parallel(points.len() * windows, threads, |i| {
            let scenario = scenarios[i / windows].as_ref();
            scenario.map(|s| self.fit.run(s, i % windows))
        });
        let of = |traces: &[Option<Trace>]| {
            let traces: Option<Vec<Trace>> = traces.iter().cloned().collect();
            let all = residuals(&self.fit, &traces?);
            let known: Vec<f64> = all.into_iter().filter(|x| !x.is_nan()).collect();
            known.iter().all(|x| x.is_finite()).then_some(known)
        };
        traces.chunks(windows).map(of).collect()
    }

    fn solve(&self, values: &[f64], open: &[usize], progress: &mut impl FnMut(&str)) -> Solution {
        let parameters = self.job.parameters;
        let scale: Vec<f64> =
            open.iter().map(|&i| values[i].abs().max(parameters[i].typical)).collect();
        let step = open.iter().zip(&scale).map(|(&i, s)| (STEP * s).max(parameters[i].grid));
        let problem = Problem {
            start: open.iter().map(|&i| values[i]).collect(),
            lower: open.iter().map(|&i| self.lower[i]).collect(),
            upper: open.iter().map(|&i| parameters[i].max).collect(),
            step: step.collect(),
            scale,
            iterations_max: self.job.settings.iterations_max,
        };
        let complete = |point: &Vec<f64>| {
            let mut all = values.to_vec();
            for (&i, value) in open.iter().zip(point) {
                all[i] = *value;
            }
            all
        };
        let count = std::cell::Cell::new(1_usize);
        solve(
            &problem,
            |points| {
                let found = self.evaluate(&points.iter().map(complete).collect::<Vec<_>>());
                found.iter().flatten().for_each(|r| count.set(r.len().max(1)));
                found
            },
            |iteration, cost| {
                let rms_mrad = 1e3 * (cost / count.get() as f64).sqrt();
                progress(&format!("iteration {iteration}: {rms_mrad:.3} mrad"));
            },
        )
    }

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
            return (Vec::new(), Some(Unknown::new(i, why)));
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
        let deviations = self.deviations(solution, &norm, &inverse);
        let half: Vec<f64> = deviations.iter().map(|s| NORMAL_95 * s).collect();
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
        Unknown { place, why, kept: Some(kept) }
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

    /// Standard deviations: the larger one of that for independent errors, and of that for errors
    /// that are correlated within a joint and [`BLOCK_S`] (cluster-robust, White 1980).
    fn deviations(&self, solution: &Solution, norm: &[f64], inverse: &Matrix) -> Vec<f64> {
        let n = norm.len();
        let clusters = self.clusters();
        let blocks = clusters.iter().max().map_or(0, |m| m + 1);
        let mut sums = vec![vec![0.0; n]; blocks];
        for (row, (&cluster, r)) in clusters.iter().zip(&solution.residuals).enumerate() {
            for (i, column) in solution.jacobian.iter().enumerate() {
                sums[cluster][i] += column[row] * r / norm[i];
            }
        }
        let count = solution.residuals.len();
        let spare = (count.saturating_sub(n)).max(1) as f64;
        let variance = dot(&solution.residuals, &solution.residuals) / spare;
        let correction = blocks as f64 / (blocks.saturating_sub(1)).max(1) as f64;
        (0..n)
            .map(|i| {
                let plain = variance * inverse[i][i];
                let robust: f64 = sums
                    .iter()
                    .map(|sum| {
                        let x = dot(&inverse[i], sum);
                        x * x
                    })
                    .sum();
                plain.max(correction * robust).sqrt() / norm[i]
            })
            .collect()
    }

    /// The block of each residual.
    fn clusters(&self) -> Vec<usize> {
        let log = self.job.log;
        let width = log.joints.len() + if log.base.is_some() { 6 } else { 0 };
        let begin_s = log.time_s[0];
        let mut out = Vec::new();
        for window in self.fit.windows() {
            for row in window.clone().skip(1) {
                let block = ((log.time_s[row] - begin_s) / BLOCK_S) as usize;
                let sampled = |j: &usize| log.joints.get(*j).is_none_or(|t| !t.q[row].is_nan());
                out.extend((0..width).filter(sampled).map(|j| block * width + j));
            }
        }
        out
    }

    fn before_and_after(&self, part: &Playback<'_>, fitted: &Scenario) -> [Accuracy; 2] {
        let threads = self.job.settings.threads;
        [self.job.scenario, fitted].map(|scenario| {
            let traces = parallel(part.windows().len(), threads, |i| part.run(scenario, i));
            Accuracy::of(part, &traces, &self.names)
        })
    }
}

fn inverse(eigenvalues: &[f64], vectors: &Matrix) -> Matrix {
    let n = eigenvalues.len();
    let at = |i: usize, k: usize| {
        (0..n).map(|e| vectors[e][i] * vectors[e][k] / eigenvalues[e]).sum::<f64>()
    };
    (0..n).map(|i| (0..n).map(|k| at(i, k)).collect()).collect()
}
