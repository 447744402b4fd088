//! Push limits: the least force that makes a condition true, by direction and time.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::{Table, Value};

use crate::campaign::tables;
use crate::config::Scenario;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::math;

use super::bracket::Bracket;
use super::judge::{Judge, Judged, Kind};
use super::reader::{own_lists, weight_n};
use super::space::{Candidate, List, Slot, Space};
use super::template::{draws, names};

/// The pushes of which the limits are wanted: horizontal, constant for a while.
#[derive(Clone, Debug, Serialize)]
pub struct Pushes {
    /// The link that is pushed, at its origin.
    pub link: String,
    /// How long, s.
    pub duration_s: f64,
    /// When, s, in rising order.
    pub at_s: Vec<f64>,
    /// Count of directions, evenly spaced; the first is +x of the world, the next ones towards +y.
    pub directions: usize,
    /// The largest force, N.
    pub most_n: f64,
    /// Steps of the force from 0 to the largest.
    pub steps: usize,
}

/// The limit of one direction at one time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PushLimit {
    /// When the push begins, s.
    pub at_s: f64,
    /// Where it points to, from +x towards +y of the world, degrees.
    pub direction_deg: f64,
    /// The least force with which it happens, N; `None` if it does not with the largest.
    pub limit_n: Option<f64>,
    /// When it happens with this force, s.
    pub happens_at_s: Option<f64>,
    /// What happens with this force.
    pub kind: Option<Kind>,
}

impl Pushes {
    /// The largest force if nothing else is given: twice the robot's weight, N.
    #[must_use]
    pub fn usual_most_n(scenario: &Scenario) -> f64 {
        (2.0 * weight_n(scenario)).ceil()
    }

    /// A space whose cases have one of these pushes each, and are `duration_s` long.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the scenario's text cannot be read.
    pub fn space(&self, scenario: &Scenario, sets: &[String], duration_s: f64) -> Result<Space> {
        let number = |low: f64, high: f64| {
            let ends = Value::Array(vec![Value::Float(low), Value::Float(high)]);
            Value::Table(Table::from_iter([("between".into(), ends)]))
        };
        // a range needs two ends
        let last_s = self.at_s.last().copied().unwrap_or_default().max(1e-3);
        let force = vec![number(-self.most_n, self.most_n); 2];
        let force = force.into_iter().chain([Value::Float(0.0)]).collect();
        let template = Value::Table(Table::from_iter([
            ("kind".into(), Value::String("push".into())),
            ("link".into(), Value::String(self.link.clone())),
            ("duration_s".into(), Value::Float(self.duration_s)),
            ("at_s".into(), number(0.0, last_s)),
            ("force_n".into(), Value::Array(force)),
        ]));
        let draws = draws(&template).map_err(|e| Error::new(ErrorKind::Input, e))?;
        Ok(Space {
            vary: Vec::new(),
            slots: vec![Slot { list: List::Events, template, draws }],
            own: own_lists(&tables(std::slice::from_ref(scenario))?),
            duration_s,
            sets: sets.to_vec(),
            is_usual: false,
        })
    }

    /// The force of a step, N.
    fn force_n(&self, step: usize) -> f64 {
        self.most_n * step as f64 / self.steps as f64
    }

    fn direction_deg(&self, direction: usize) -> f64 {
        360.0 * direction as f64 / self.directions as f64
    }

    /// The case of a push of so many steps.
    fn case(&self, space: &Space, at_s: f64, direction: usize, step: usize) -> Candidate {
        let (sin, cos) = math::sin_cos(self.direction_deg(direction).to_radians());
        // a thousandth of a newton, so that the number that is printed is the one that is used
        let rounded = |x: f64| (x * 1e3).round() / 1e3;
        let force_n = [cos, sin].map(|x| rounded(self.force_n(step) * x));
        let value = |name: &String| match name.as_str() {
            "at_s" => at_s,
            "force_n.0" => force_n[0],
            _ => force_n[1],
        };
        let values = names(&space.slots[0].template).iter().map(value).map(Value::Float).collect();
        Candidate { varied: Vec::new(), slots: vec![Some(values)] }
    }
}

/// How far a map of limits is.
#[derive(Clone, Copy, Debug)]
pub struct PushProgress {
    /// Cases so far.
    pub cases: usize,
    /// Limits so far.
    pub limits: usize,
    /// Limits that a look at their neighbours has lowered.
    pub lowered: usize,
}

/// The least step of a direction at a time, and what happened with it, and when.
type Found = Option<(usize, Happening)>;

#[derive(Clone, Copy, Debug)]
struct Happening {
    kind: Option<Kind>,
    at_s: f64,
}

impl Happening {
    fn of(judged: &Judged) -> Self {
        Self { kind: judged.kind, at_s: judged.at_s() }
    }
}

/// Finds the limit of each direction at each time, in the order of times, then of directions. With
/// `every` set, all forces are tried; else limits are narrowed down and compared with their
/// neighbours. `None` if the judge was stopped.
///
/// # Errors
/// [`ErrorKind::Input`] if it happens without a push; those of [`Judge::judge`].
pub fn push_limits(
    judge: &mut Judge<'_>,
    pushes: &Pushes,
    every: bool,
    watch: &mut dyn FnMut(PushProgress),
) -> Result<Option<Vec<PushLimit>>> {
    let Some(without) = judge.judge(&[judge.space().usual()])? else { return Ok(None) };
    let (at_s, reason) = (without[0].at_s(), &without[0].outcome.reason);
    let text = match without[0].kind {
        None => None,
        Some(Kind::Held) => Some(format!(
            "without a push it happens at {at_s:.3} s; the condition must be one that needs a push"
        )),
        Some(_) => Some(format!(
            "without a push the run ends at {at_s:.3} s: {reason}; the controller must reach its \
             end"
        )),
    };
    if let Some(text) = text {
        return Err(Error::new(ErrorKind::Input, text));
    }
    let mut map = Map { judge, pushes, watch, found: Vec::new() };
    let whole = if every { map.sweep()? } else { map.narrow_down()? && map.compare()? };
    Ok(whole.then(|| map.limits()))
}

/// The limits so far. A cell is a direction at a time: `time × directions + direction`.
struct Map<'a, 'b> {
    judge: &'a mut Judge<'b>,
    pushes: &'a Pushes,
    watch: &'a mut dyn FnMut(PushProgress),
    found: Vec<Found>,
}

/// A limit is compared with that of a neighbour which is below this share of it.
const LOWER: f64 = 0.95;

// each of these is false if the judge was stopped
impl Map<'_, '_> {
    fn sweep(&mut self) -> Result<bool> {
        let steps = self.pushes.steps;
        for cell in 0..self.pushes.at_s.len() * self.pushes.directions {
            let asked: Vec<(usize, usize)> = (1..=steps).map(|step| (cell, step)).collect();
            let Some(judged) = self.tried(&asked)? else { return Ok(false) };
            let first = asked.iter().zip(judged).find(|(_, judged)| judged.kind.is_some());
            self.found.push(first.map(|((_, step), judged)| (*step, Happening::of(&judged))));
            self.tell(0);
        }
        Ok(true)
    }

    /// Halves for the first time; each further time begins with the limits of the one before.
    fn narrow_down(&mut self) -> Result<bool> {
        let Pushes { directions, steps, .. } = *self.pushes;
        for time in 0..self.pushes.at_s.len() {
            let bracket = |direction: usize| {
                let cell = time * directions + direction;
                let before = cell.checked_sub(directions).map(|before| self.found[before]);
                // where there is none, the largest force is tried
                let guess = before.map(|found| found.map_or(steps, |(step, _)| step));
                (cell, Bracket::new(steps, guess))
            };
            let brackets = (0..directions).map(bracket).collect();
            self.found.extend(vec![None; directions]);
            if !self.narrow(brackets)? {
                return Ok(false);
            }
            self.tell(0);
        }
        Ok(true)
    }

    /// A controller may stand a push and fall with a weaker one. What is weaker is much alike in
    /// neighbouring directions and times, so each cell tries the lower limits around it.
    fn compare(&mut self) -> Result<bool> {
        loop {
            let asked: Vec<(usize, usize)> =
                (0..self.found.len()).flat_map(|cell| self.lower_around(cell)).collect();
            let Some(judged) = self.tried(&asked)? else { return Ok(false) };
            let happens = asked.into_iter().zip(judged).filter(|(_, j)| j.kind.is_some());
            let mut least = BTreeMap::new();
            for ((cell, step), _) in happens {
                let kept = least.entry(cell).or_insert(step);
                *kept = step.min(*kept);
            }
            let lowered = least.len();
            if lowered == 0 {
                return Ok(true);
            }
            let bracket = |(cell, step)| (cell, Bracket::new(step, Some(step)));
            if !self.narrow(least.into_iter().map(bracket).collect())? {
                return Ok(false);
            }
            self.tell(lowered);
        }
    }

    /// The limits of the neighbours of a cell that are clearly lower than its own.
    fn lower_around(&self, cell: usize) -> Vec<(usize, usize)> {
        let directions = self.pushes.directions;
        let step_of =
            |cell: usize| self.found[cell].map_or(self.pushes.steps + 1, |(step, _)| step);
        let (time, direction) = (cell / directions, cell % directions);
        let turned = [1, directions - 1].map(|by| (direction + by) % directions);
        let mut around: Vec<usize> = turned.map(|d| time * directions + d).to_vec();
        around.extend(cell.checked_sub(directions));
        around.extend(Some(cell + directions).filter(|next| *next < self.found.len()));
        let most = LOWER * step_of(cell) as f64;
        let steps = around.into_iter().map(step_of).filter(|step| (*step as f64) < most);
        steps.map(|step| (cell, step)).collect()
    }

    /// Narrows down the limits of these cells, a trial of each at a time.
    fn narrow(&mut self, mut brackets: Vec<(usize, Bracket)>) -> Result<bool> {
        loop {
            let next = |(cell, b): &(usize, Bracket)| b.next().map(|step| (*cell, step));
            let asked: Vec<(usize, usize)> = brackets.iter().filter_map(next).collect();
            if asked.is_empty() {
                return Ok(true);
            }
            brackets.retain(|(_, bracket)| bracket.next().is_some());
            let Some(judged) = self.tried(&asked)? else { return Ok(false) };
            for ((cell, bracket), ((_, step), judged)) in
                brackets.iter_mut().zip(asked.into_iter().zip(judged))
            {
                bracket.tell(judged.kind.is_some());
                if bracket.found() == Some(step) {
                    self.found[*cell] = Some((step, Happening::of(&judged)));
                }
            }
        }
    }

    /// Tries pushes, each a cell and a step.
    fn tried(&mut self, asked: &[(usize, usize)]) -> Result<Option<Vec<Judged>>> {
        let (pushes, space) = (self.pushes, self.judge.space());
        let case = |(cell, step): &(usize, usize)| {
            let at_s = pushes.at_s[cell / pushes.directions];
            pushes.case(space, at_s, cell % pushes.directions, *step)
        };
        let cases: Vec<Candidate> = asked.iter().map(case).collect();
        self.judge.judge(&cases)
    }

    fn tell(&mut self, lowered: usize) {
        let (cases, limits) = (self.judge.count(), self.found.len());
        (self.watch)(PushProgress { cases, limits, lowered });
    }

    fn limits(&self) -> Vec<PushLimit> {
        let pushes = self.pushes;
        let limit = |(cell, found): (usize, &Found)| PushLimit {
            at_s: pushes.at_s[cell / pushes.directions],
            direction_deg: pushes.direction_deg(cell % pushes.directions),
            limit_n: found.map(|(step, _)| pushes.force_n(step)),
            happens_at_s: found.map(|(_, happening)| happening.at_s),
            kind: found.and_then(|(_, happening)| happening.kind),
        };
        self.found.iter().enumerate().map(limit).collect()
    }
}
