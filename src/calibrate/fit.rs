//! Fits parameters to a log, and asks what the log says about each of them.

use std::num::NonZeroUsize;
use std::ops::Range;

use toml::Table;

use hardstand_error::{Error, ErrorKind, Result};

use super::accuracy::{Accuracy, residuals};
use super::far::Searched;
use super::intervals::Unknown;
use super::least_squares::{Outcome, Problem, Solution, dot, solve};
use super::observer::Observer;
use super::parallel::parallel;
use super::parameter::{Parameter, apply};
use super::playback::Playback;
use super::result::{Calibration, Estimate, Finding};
use crate::config::Scenario;
use crate::robot_log::RobotLog;

/// How to fit.
#[derive(Clone, Debug)]
pub struct FitSettings {
    /// Share of the log, at its end, that takes no part.
    pub hold_back: f64,
    /// Length of the windows, s; `None` for one, through which the replay of a free robot follows
    /// the recording.
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

/// Steps of the difference quotients, in units of the parameter's size.
const STEP: f64 = 5e-3;

/// Follows a free robot. In a test, values differ little from half of it to twice.
const OBSERVER: Observer = Observer { time_constant_s: 0.1 };

/// Fits; `progress` is given a sentence for each iteration.
///
/// # Errors
/// [`ErrorKind::Input`] if the log is too short to be divided, the plant stops with the scenario's
/// own values, the fit does not converge, or the log determines none of the parameters.
pub fn calibrate(job: &Job<'_>, mut progress: impl FnMut(&str)) -> Result<Calibration> {
    let mut fitting = Fitting::new(job)?;
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
        let (half_widths, finding) = fitting.judge(&solution, &values, &open, &mut progress);
        let Some(unknown) = finding else { break half_widths };
        let place = unknown.place;
        if unknown.kept.is_none()
            && let Some(better) =
                fitting.search_elsewhere(&values, &open, place, &mut searched, &mut progress)
        {
            values = better;
            continue;
        }
        let i = open.remove(place);
        let (why, kept) = fitting.said(unknown, &values, i, open.is_empty());
        progress(&format!("{} is not determined", job.parameters[i].name));
        values[i] = kept.unwrap_or_else(|| fitting.give_back(i));
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
        // the best place of a staircase; the intervals say how wide its steps are
        Outcome::Stalled if fitting.fit.observer().is_some() => return Ok(()),
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

#[derive(Clone)]
pub(super) struct Fitting<'a> {
    pub(super) job: &'a Job<'a>,
    table: Table,
    pub(super) fit: Playback<'a>,
    held_back: Option<Playback<'a>>,
    split_s: f64,
    /// Smallest value that the scenario accepts.
    pub(super) lower: Vec<f64>,
    /// Parameters that have the scenario's own values.
    given_back: Vec<usize>,
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
        let follows = job.settings.window_s.is_none() && job.log.base.is_some();
        let part = |rows: Range<usize>| match follows {
            true => Playback::following(job.log, rows, OBSERVER),
            false => Playback::new(job.log, rows, job.settings.window_s),
        };
        let held_back = (split < time_s.len()).then(|| part(split..time_s.len())).transpose()?;
        let table = job.scenario.complete_toml.parse::<Table>();
        let table = table.map_err(|e| Error::new(ErrorKind::Internal, e.to_string()))?;
        let (lower, given_back) = (Vec::new(), Vec::new());
        let fit = part(0..split)?;
        let mut out = Self { fit, held_back, split_s, lower, given_back, table, job };
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

    /// Leaves parameter `i` to the scenario, if that has it; its value from now on.
    fn give_back(&mut self, i: usize) -> f64 {
        let parameter = &self.job.parameters[i];
        let Some(own) = parameter.own else { return parameter.start };
        self.given_back.push(i);
        own
    }

    fn scenario(&self, values: &[f64]) -> Result<Scenario> {
        let mut table = self.table.clone();
        for (i, parameter) in self.job.parameters.iter().enumerate() {
            if !self.given_back.contains(&i) {
                apply(&mut table, parameter, values[i])?;
            }
        }
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
        let of = |scenario: &Scenario| {
            let all = residuals(&self.fit, &self.fit.run(scenario));
            let known: Vec<f64> = all.into_iter().filter(|x| !x.is_nan()).collect();
            known.iter().all(|x| x.is_finite()).then_some(known)
        };
        parallel(points.len(), threads, |i| scenarios[i].as_ref().and_then(of))
    }

    /// The same whose replay is pulled faster or slower.
    pub(super) fn followed(&self, observer: Observer) -> Self {
        Self { fit: self.fit.followed(observer), ..self.clone() }
    }

    pub(super) fn solve(
        &self,
        values: &[f64],
        open: &[usize],
        progress: &mut impl FnMut(&str),
    ) -> Solution {
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
            staircase: self.fit.observer().is_some(),
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

    /// Why the log does not determine parameter `i`, and what stays.
    fn said(
        &self,
        unknown: Unknown,
        values: &[f64],
        i: usize,
        is_last: bool,
    ) -> (String, Option<f64>) {
        let Unknown { why, kept, is_flat, .. } = unknown;
        // beside others, the error at the start says nothing of this one alone
        let alone = is_flat || is_last && kept.is_none();
        let flat = alone.then(|| self.flat_from(values, i)).flatten();
        flat.map_or((why, kept), |(why, kept)| (why, Some(kept)))
    }

    fn before_and_after(&self, part: &Playback<'_>, fitted: &Scenario) -> [Accuracy; 2] {
        [self.job.scenario, fitted]
            .map(|scenario| Accuracy::of(part, &part.run(scenario), &fitted.model.joints))
    }
}
