//! Recorded commands drive the plant.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::actuator::Reference;
use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::Base;
use hardstand_physics::plant::{OwnerWords, Plant, PlantFailure};
use hardstand_physics::spatial::{Quaternion, Vec3};

use crate::config::Scenario;
use crate::robot_log::{JointTrack, RobotLog};

/// Time over which the velocity at the start of a window is estimated, s: a straight line through
/// the positions within this distance.
const SLOPE_S: f64 = 0.02;
/// A row counts for a tick that begins at most this much before it, s.
const ROUNDING_S: f64 = 1e-9;

/// A log, cut into windows that each begin in the recorded state.
#[derive(Clone, Debug)]
pub struct Playback<'a> {
    log: &'a RobotLog,
    /// Rows of each window. The first row is the start.
    windows: Vec<Range<usize>>,
}

/// What the simulated robot did, one entry for each row of a window but the first.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The rows.
    pub rows: Vec<usize>,
    /// Positions of the joints in each row, rad or m.
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
            let text = format!(
                "{}: no window has two rows and begins where each joint has a sample within \
                 {SLOPE_S} s",
                log.file
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
        Ok(Self { log, windows })
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

    /// Runs window `window` with the robot of `scenario`.
    #[must_use]
    pub fn run(&self, scenario: &Scenario, window: usize) -> Trace {
        let rows = self.windows[window].clone();
        let mut spec = scenario.spec.clone();
        (spec.q, spec.v) = self.start(scenario, rows.start);
        let mut plant = Plant::new(scenario.model.clone(), spec);
        let mut commands = self.prime(&mut plant, scenario, rows.start);
        let period_s = scenario.spec.period_ns as f64 * 1e-9;
        let begin_s = self.log.time_s[rows.start];
        let mut trace = Trace { failure: plant.failure(), ..Trace::default() };
        let (mut row, mut tick) = (rows.start + 1, 0_u64);
        let mut before = plant.state().q.clone();
        while row < rows.end && trace.failure.is_none() {
            let fresh = commands.advance(begin_s + tick as f64 * period_s) || tick == 0;
            trace.failure = commands.step(&mut plant, fresh);
            tick += 1;
            let after = &plant.state().q;
            let now_s = begin_s + tick as f64 * period_s;
            while row < rows.end && self.log.time_s[row] <= now_s + ROUNDING_S {
                let part = 1.0 - (now_s - self.log.time_s[row]).max(0.0) / period_s;
                trace.push(row, &before, after, part);
                row += 1;
            }
            before.clone_from(after);
        }
        trace
    }

    /// Gives drives with a delay what was commanded before the window, so that they do not begin
    /// without a command. The rest of the plant's state stays as it is.
    fn prime(&self, plant: &mut Plant, scenario: &Scenario, row: usize) -> Commands<'a> {
        let period_ns = scenario.spec.period_ns as f64;
        let drives = scenario.spec.drives.joints.iter();
        let longest_ns = drives.map(|drive| 1e3 * drive.timing.delay_us).fold(0.0, f64::max);
        let ticks = (longest_ns / period_ns).ceil() as u64;
        if ticks == 0 {
            return Commands::new(self.log, scenario, row);
        }
        let at_s = |tick: u64| self.log.time_s[row] - (ticks - tick) as f64 * period_ns * 1e-9;
        let before = self.log.time_s.partition_point(|t| *t <= at_s(0) + ROUNDING_S);
        let mut commands = Commands::new(self.log, scenario, before.saturating_sub(1));
        let mut begun = plant.state().clone();
        for tick in 0..ticks {
            let fresh = commands.advance(at_s(tick)) || tick == 0;
            // a plant that stops here is put back all the same
            let _ = commands.step(plant, fresh);
        }
        let primed = plant.state_mut();
        begun.tick = primed.tick;
        std::mem::swap(&mut begun.drives, &mut primed.drives);
        begun.drives.joints.clone_from(&primed.drives.joints);
        begun.drives.bus_v = primed.drives.bus_v;
        let (q, v) = (&begun.q, &begun.v);
        let base = (q.quat_WB, q.p_WB, v.w_WB, v.v_WB);
        *primed = begun;
        plant.place_base(base.0, base.1, base.2, base.3);
        commands
    }

    /// The recorded state in a row. The speed of a joint that was not sampled is the slope of the
    /// line through its positions.
    fn start(&self, scenario: &Scenario, row: usize) -> (Positions, Velocities) {
        let (mut q, mut v) = (scenario.spec.q.clone(), scenario.spec.v.clone());
        for (i, joint) in self.log.joints.iter().enumerate() {
            let known = joint.dq.as_ref().map(|dq| dq[row]).filter(|dq| !dq.is_nan());
            let (q0, slope) = self.line(&joint.q, row);
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

    /// Value and slope at a row of the line through the samples near it.
    fn line(&self, values: &[f64], row: usize) -> (f64, f64) {
        let time_s = &self.log.time_s;
        let near: Vec<(f64, f64)> = near(self.log, row)
            .filter(|&i| !values[i].is_nan())
            .map(|i| (time_s[i] - time_s[row], values[i]))
            .collect();
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

/// The commands in force.
struct Commands<'a> {
    log: &'a RobotLog,
    next: usize,
    references: Vec<Reference>,
}

impl<'a> Commands<'a> {
    /// Those in force in row `row`; gains that the log does not have are the scenario's.
    fn new(log: &'a RobotLog, scenario: &Scenario, row: usize) -> Self {
        let reference = |(joint, gains): (&JointTrack, &hardstand_protocol::HoldGains)| {
            let last = |column: &Option<Vec<f64>>, else_: f64| {
                let column = column.as_deref().unwrap_or_default();
                let known = column.get(..=row).unwrap_or_default();
                let first = column.iter().find(|x| !x.is_nan());
                known.iter().rev().find(|x| !x.is_nan()).or(first).copied().unwrap_or(else_)
            };
            let [q, dq, kp, kd, tau_ff] = &joint.command;
            let gain = |own: f64| if q.is_some() { own } else { 0.0 };
            Reference {
                q: last(q, 0.0),
                dq: last(dq, 0.0),
                kp: last(kp, gain(gains.kp)),
                kd: last(kd, gain(gains.kd)),
                tau_ff: last(tau_ff, 0.0),
            }
        };
        let references = log.joints.iter().zip(&scenario.hold_gains).map(reference).collect();
        Self { log, next: row + 1, references }
    }

    /// A tick of `plant` with them.
    fn step(&self, plant: &mut Plant, fresh: bool) -> Option<PlantFailure> {
        for joint in 0..self.references.len() {
            plant.note_fresh(joint, fresh);
        }
        plant.step(&self.references, &OwnerWords::default())
    }

    /// Takes the rows up to `time_s`; true if there was one.
    fn advance(&mut self, time_s: f64) -> bool {
        let before = self.next;
        while self.log.time_s.get(self.next).is_some_and(|t| *t <= time_s + ROUNDING_S) {
            for (reference, joint) in self.references.iter_mut().zip(&self.log.joints) {
                let Reference { q, dq, kp, kd, tau_ff } = reference;
                for (slot, column) in [q, dq, kp, kd, tau_ff].into_iter().zip(&joint.command) {
                    if let Some(column) = column
                        && !column[self.next].is_nan()
                    {
                        *slot = column[self.next];
                    }
                }
            }
            self.next += 1;
        }
        self.next > before
    }
}

/// The results of `work` for 0 to `count`, in that order, computed on up to `threads` threads; on
/// the caller's alone if that is one, as machines without threads need it.
pub fn parallel<T: Send>(
    count: usize,
    threads: NonZeroUsize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if threads.get() == 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..threads.get().min(count) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        return;
                    }
                    let result = work(i);
                    done.lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push((i, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}
