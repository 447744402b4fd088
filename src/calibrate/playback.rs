//! Recorded commands drive the plant.

use std::ops::Range;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::Base;
use hardstand_physics::plant::{Plant, PlantFailure, PlantSpec};
use hardstand_physics::spatial::{Quaternion, Vec3};

use super::commands::Commands;
use super::hidden::{hidden_s, whole_periods_s};
use super::observer::Observer;
use super::replica::Replica;
use crate::config::Scenario;
use crate::robot_log::RobotLog;

/// Time over which the velocity at the start of a window is estimated, s: a straight line through
/// the positions within this distance.
const SLOPE_S: f64 = 0.02;
/// A free robot begins so long before its first window, s, if the log does: until its feet hold it
/// as the ground held the recorded ones.
const LEAD_S: f64 = 1.0;
/// A row counts for a tick that begins at most this much before it, s.
pub(super) const ROUNDING_S: f64 = 1e-9;

/// A log, cut into windows that each begin in the recorded state.
#[derive(Clone, Debug)]
pub struct Playback<'a> {
    log: &'a RobotLog,
    /// Rows of each window. The first row is the start.
    windows: Vec<Range<usize>>,
    /// What keeps the replay near the recording.
    observer: Option<Observer>,
}

/// What the simulated robot did, one entry for each row of a window but the first.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The rows.
    pub rows: Vec<usize>,
    /// Positions of the joints in each row as their encoders show them, rad or m.
    pub q: Vec<Vec<f64>>,
    /// Position (m) and orientation (w, x, y, z) of the base in each row.
    pub base: Vec<[f64; 7]>,
    /// Why the plant stopped early.
    pub failure: Option<PlantFailure>,
}

impl<'a> Playback<'a> {
    /// All rows of `rows`, in windows of `window_s`, or in one. A window begins where each joint
    /// has a sample within 20 ms.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if there is no window with at least two rows.
    pub fn new(log: &'a RobotLog, rows: Range<usize>, window_s: Option<f64>) -> Result<Self> {
        let mut windows = Vec::new();
        let mut next = rows.start;
        while next + 1 < rows.end {
            let Some(begin) = (next..rows.end).find(|&row| can_begin(log, row)) else { break };
            let end_s = window_s.map_or(f64::INFINITY, |w| log.time_s[begin] + w);
            let rest = &log.time_s[begin..rows.end];
            let end = begin + rest.partition_point(|t| *t <= end_s + ROUNDING_S);
            if end - begin >= 2 {
                windows.push(begin..end);
            }
            // the last row of a window is the start of the next one
            next = (end - 1).max(begin + 1);
        }
        if windows.is_empty() {
            let at_s = |row: Option<&f64>| row.map_or("no".into(), |s| format!("{s:.3} s"));
            let text = format!(
                "{}: no window has two rows and begins where each joint has a sample within \
                 {SLOPE_S} s; of its rows, from {} to {}, {} were to be used{}",
                log.file,
                at_s(log.time_s.first()),
                at_s(log.time_s.last()),
                rows.len(),
                window_s.map_or_else(String::new, |w| format!(", in windows of {w} s")),
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
        Ok(Self { log, windows, observer: None })
    }

    /// All rows of `rows` in one window, through which the replay follows the recording. At the
    /// start of the log, the first second takes no part, or the first quarter of a shorter log:
    /// until errors of the first state, and what it does not show, are forgotten.
    ///
    /// # Errors
    /// As [`Playback::new`].
    pub fn following(log: &'a RobotLog, rows: Range<usize>, observer: Observer) -> Result<Self> {
        let time_s = &log.time_s;
        let last_s = time_s[rows.end.max(1) - 1];
        let settled_s = time_s[0] + LEAD_S.min(0.25 * (last_s - time_s[0]));
        let from = time_s.partition_point(|t| *t < settled_s - ROUNDING_S).max(rows.start);
        Ok(Self { observer: Some(observer), ..Self::new(log, from..rows.end, None)? })
    }

    /// What keeps it near the recording.
    pub(super) const fn observer(&self) -> Option<Observer> {
        self.observer
    }

    /// The same rows with another observer.
    pub(super) fn followed(&self, observer: Observer) -> Self {
        Self { observer: Some(observer), ..self.clone() }
    }

    /// The windows.
    #[must_use]
    pub fn windows(&self) -> &[Range<usize>] {
        &self.windows
    }

    /// The log.
    #[must_use]
    pub const fn recorded(&self) -> &'a RobotLog {
        self.log
    }

    /// Runs all windows with the robot of `scenario`. What the recorded state does not show is
    /// carried from the end of a window into the next one: commands under way in drives, their
    /// currents and heat, stretched friction springs, joints that friction holds.
    #[must_use]
    pub fn run(&self, scenario: &Scenario) -> Vec<Trace> {
        let mut traces: Vec<Trace> = Vec::with_capacity(self.windows.len());
        // the window before, if it came to its end, and its last row
        let mut before: Option<(Replica, Commands<'a>, usize)> = None;
        for rows in &self.windows {
            let is_first = traces.is_empty();
            let (mut robot, mut commands) = match before.take() {
                Some((mut robot, mut commands, last)) => {
                    match self.lead(&mut robot, &mut commands, scenario, last..rows.start, LEAD_S) {
                        true => (robot, commands),
                        false => self.begin(scenario, rows.start, is_first),
                    }
                }
                None => self.begin(scenario, rows.start, is_first),
            };
            let trace = self.follow(&mut robot, &mut commands, rows.clone());
            before = trace.failure.is_none().then_some((robot, commands, rows.end - 1));
            traces.push(trace);
        }
        traces
    }

    /// Gives the plant the commands of `rows`. It is in the first of them, and stops in the last.
    fn follow(
        &self,
        robot: &mut Replica,
        commands: &mut Commands<'a>,
        rows: Range<usize>,
    ) -> Trace {
        let period_s = commands.period_s;
        let begin_s = self.log.time_s[rows.start];
        let mut trace = Trace { failure: robot.plant.failure(), ..Trace::default() };
        let (mut row, mut tick) = (rows.start + 1, 0_u64);
        let mut before = robot.shown();
        while row < rows.end && trace.failure.is_none() {
            let fresh = commands.advance(begin_s + tick as f64 * period_s) || tick == 0;
            trace.failure = robot.step(commands, fresh);
            tick += 1;
            let mut after = robot.shown();
            let now_s = begin_s + tick as f64 * period_s;
            while row < rows.end && self.log.time_s[row] <= now_s + ROUNDING_S {
                let part = 1.0 - (now_s - self.log.time_s[row]).max(0.0) / period_s;
                trace.push(row, &before, &after, part);
                row += 1;
                if let Some(observer) = self.observer {
                    robot.moved(|plant| observer.pull(plant, self.log, &trace));
                    after = robot.shown();
                    trace.failure = trace.failure.or_else(|| robot.plant.failure());
                }
            }
            before = after;
        }
        trace
    }

    /// The robot in the recorded state of a row, at the end of a run that begins earlier: so much
    /// as what its state does not show needs, or, if `is_first`, at the start of the log where
    /// that needs all.
    fn begin(&self, scenario: &Scenario, row: usize, is_first: bool) -> (Replica, Commands<'a>) {
        let time_s = &self.log.time_s;
        let drives = scenario.spec.drives.joints.iter();
        let delay_s = drives.map(|drive| 1e-6 * drive.timing.delay_us).fold(0.0, f64::max);
        let floats = scenario.model.base == Base::Floating;
        let hidden_s = hidden_s(&scenario.spec.drives, is_first);
        // twice: what drives do not know at first moves the robot off its way, but commands that
        // are under way are known at once
        let of_drives_s = if hidden_s > delay_s { 2.0 * hidden_s } else { delay_s };
        let lead_s = of_drives_s.max(if floats { LEAD_S } else { 0.0 });
        let piece_s = if floats { LEAD_S } else { hidden_s.min(LEAD_S) };
        let earliest = time_s.partition_point(|t| *t < time_s[row] - lead_s - ROUNDING_S);
        let from = (earliest..=row).find(|&row| can_begin(self.log, row)).unwrap_or(row);
        let mut robot = self.robot_at(scenario, from);
        let mut commands = Commands::new(self.log, scenario, from);
        // the command of the first row was in force before it
        let missing_s = delay_s - (time_s[row] - time_s[from]);
        if missing_s > 0.0 {
            let missing_s = whole_periods_s(&scenario.spec.drives, missing_s);
            for tick in 0..(missing_s / commands.period_s).ceil() as u64 {
                robot.step(&commands, tick == 0);
            }
            self.carry(&mut robot, scenario, from);
        }
        if from < row && !self.lead(&mut robot, &mut commands, scenario, from..row, piece_s) {
            return (self.robot_at(scenario, row), Commands::new(self.log, scenario, row));
        }
        (robot, commands)
    }

    /// Brings a robot that is in the first row to the recorded state of the row after `rows`, in
    /// pieces of `piece_s` that each begin in the recorded state; false if it stops itself on the
    /// way.
    fn lead(
        &self,
        robot: &mut Replica,
        commands: &mut Commands<'a>,
        scenario: &Scenario,
        rows: Range<usize>,
        piece_s: f64,
    ) -> bool {
        let time_s = &self.log.time_s;
        let mut at = rows.start;
        while at < rows.end {
            let piece = time_s.partition_point(|t| *t <= time_s[at] + piece_s + 2.0 * ROUNDING_S);
            let next = (piece.max(at + 2) - 1).min(rows.end);
            let next = (next..rows.end).find(|&row| can_begin(self.log, row)).unwrap_or(rows.end);
            if self.follow(robot, commands, at..next + 1).failure.is_some() {
                return false;
            }
            at = next;
            if self.observer.is_none() && at < rows.end {
                self.carry(robot, scenario, at);
            }
        }
        if self.observer.is_none() {
            self.carry(robot, scenario, rows.end);
        }
        true
    }

    /// A new robot in the recorded state of a row. Elastic drives are not stretched.
    fn robot_at(&self, scenario: &Scenario, row: usize) -> Replica {
        let (mut q, v) = self.start(scenario, row);
        for (q, drive) in q.joints.iter_mut().zip(&scenario.spec.drives.joints) {
            *q -= drive.encoder.offset_rad;
        }
        let spec = PlantSpec { q, v, ..scenario.spec.clone() };
        Replica::new(Plant::new(scenario.model.clone(), spec), &scenario.spec, self.log.time_s[row])
    }

    /// Puts a robot that has come to a row into the state that was recorded there.
    fn carry(&self, robot: &mut Replica, scenario: &Scenario, row: usize) {
        let (mut q, mut v) = self.start(scenario, row);
        for i in 0..q.joints.len() {
            // what was recorded is what the encoder shows, and a spring may be behind it
            let ([shown_q, shown_v], state) = (robot.shown_of(i), robot.plant.state());
            q.joints[i] += state.q.joints[i] - shown_q;
            v.joints[i] += state.v.joints[i] - shown_v;
        }
        robot.moved(|plant| plant.carry_to(&q, &v));
    }

    /// The recorded state in a row, joints as their encoders show them. The speed of a joint that
    /// was not sampled is the slope of the line through its positions.
    fn start(&self, scenario: &Scenario, row: usize) -> (Positions, Velocities) {
        let (mut q, mut v) = (scenario.spec.q.clone(), scenario.spec.v.clone());
        for (i, joint) in self.log.joints.iter().enumerate() {
            let known = joint.dq.as_ref().map(|dq| dq[row]).filter(|dq| !dq.is_nan());
            let sampled = near(self.log, row).map(|i| (i, joint.q[i])).filter(|(_, q)| !q.is_nan());
            let (q0, slope) = self.line(sampled, row);
            q.joints[i] = if joint.q[row].is_nan() { q0 } else { joint.q[row] };
            v.joints[i] = known.unwrap_or(slope);
        }
        if let (Base::Floating, Some(base)) = (scenario.model.base, &self.log.base) {
            let at = |i: usize| base.columns[i][row];
            q.p_WB = Vec3::new(at(0), at(1), at(2));
            q.quat_WB = Quaternion::from_wxyz([at(3), at(4), at(5), at(6)]).normalised();
            v.v_WB = Vec3::new(at(7), at(8), at(9));
            v.w_WB = Vec3::new(at(10), at(11), at(12));
        }
        (q, v)
    }

    /// Value and slope at a row of the line through values in other rows.
    fn line(&self, values: impl Iterator<Item = (usize, f64)>, row: usize) -> (f64, f64) {
        let time_s = &self.log.time_s;
        let near: Vec<(f64, f64)> = values.map(|(i, x)| (time_s[i] - time_s[row], x)).collect();
        let count = near.len() as f64;
        if near.is_empty() {
            return (0.0, 0.0);
        }
        let mean_t = near.iter().map(|p| p.0).sum::<f64>() / count;
        let mean_x = near.iter().map(|p| p.1).sum::<f64>() / count;
        let spread: f64 = near.iter().map(|p| (p.0 - mean_t) * (p.0 - mean_t)).sum();
        let along: f64 = near.iter().map(|p| (p.0 - mean_t) * (p.1 - mean_x)).sum();
        let slope = if spread > 0.0 { along / spread } else { 0.0 };
        (mean_x - slope * mean_t, slope)
    }
}

/// Rows within [`SLOPE_S`] of a row.
fn near(log: &RobotLog, row: usize) -> Range<usize> {
    let at_s = log.time_s[row];
    let from = log.time_s.partition_point(|t| *t < at_s - SLOPE_S);
    from..log.time_s.partition_point(|t| *t <= at_s + SLOPE_S)
}

fn can_begin(log: &RobotLog, row: usize) -> bool {
    log.joints.iter().all(|joint| near(log, row).any(|i| !joint.q[i].is_nan()))
}

impl Trace {
    /// `part` of the way from `before` to `after`.
    fn push(&mut self, row: usize, before: &Positions, after: &Positions, part: f64) {
        let mix = |a: f64, b: f64| a + part * (b - a);
        let joints = before.joints.iter().zip(&after.joints);
        self.rows.push(row);
        self.q.push(joints.map(|(a, b)| mix(*a, *b)).collect());
        let [a, b] = [before, after].map(|q| {
            let (p, r) = (q.p_WB, q.quat_WB);
            [p.x, p.y, p.z, r.w, r.x, r.y, r.z]
        });
        // the two orientations of one tick are close, and have the same sign
        self.base.push(std::array::from_fn(|i| mix(a[i], b[i])));
    }
}
