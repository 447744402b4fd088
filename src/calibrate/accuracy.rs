//! How far the simulated robot is from the recorded one.

use serde::Serialize;

use hardstand_physics::model::{Joint, JointKind};

use super::playback::{Playback, Trace};
use crate::robot_log::RobotLog;

/// Length that stands for one radian where positions and angles are added up, m: about that of a
/// leg.
const LENGTH_M: f64 = 0.3;

/// Errors of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct Accuracy {
    /// Root of the mean square over all joints and samples, rad (m for prismatic joints).
    pub rms_rad: f64,
    /// The same between the recorded position and the commanded one.
    pub tracking_rms_rad: Option<f64>,
    /// Of each joint.
    pub joints: Vec<JointAccuracy>,
    /// Root mean square of the base's position, m, and orientation, rad, if it is free.
    pub base_rms_m: Option<f64>,
    /// See `base_rms_m`.
    pub base_rms_rad: Option<f64>,
    /// Samples of one joint.
    pub samples: usize,
    /// Windows in which the plant stopped itself.
    pub failures: usize,
}

/// Errors of one joint, simulated minus recorded, rad or m; NaN, `null` in JSON, of a joint without
/// a sample.
#[derive(Clone, Debug, Serialize)]
pub struct JointAccuracy {
    /// Its name.
    pub name: String,
    /// Unit of its position: `rad`, or `m` of a prismatic joint.
    pub unit: &'static str,
    /// Root of the mean square.
    pub rms_rad: f64,
    /// Mean.
    pub mean_rad: f64,
    /// Largest absolute value.
    pub max_rad: f64,
    /// When that was, s.
    pub max_at_s: f64,
}

/// The difference of two angles or positions in every row of all windows, NaN where nothing was
/// sampled: joint by joint, then position and orientation of a free base.
pub(super) fn residuals(playback: &Playback<'_>, traces: &[Trace]) -> Vec<f64> {
    let log = playback.recorded();
    let mut out = Vec::new();
    for (trace, window) in traces.iter().zip(playback.windows()) {
        for (at, row) in trace.rows.iter().enumerate() {
            let joints = trace.q[at].iter().zip(&log.joints);
            out.extend(joints.map(|(q, joint)| q - joint.q[*row]));
            if let Some([p, r]) = base_error(playback, trace, at) {
                out.extend(p.map(|x| x / LENGTH_M));
                out.extend(r);
            }
        }
        // a plant that has stopped is as wrong as can be
        let missing = window.len() - 1 - trace.rows.len();
        out.extend(std::iter::repeat_n(f64::INFINITY, missing * width(log)));
    }
    out
}

/// Residuals of a row in which everything was sampled.
pub(super) fn width(log: &RobotLog) -> usize {
    log.joints.len() + if log.base.is_some() { 6 } else { 0 }
}

/// Where a residual is.
pub(super) struct Place {
    /// The window.
    pub(super) window: usize,
    /// How many rows of the window with residuals come before.
    pub(super) at: usize,
    /// The row of the log.
    pub(super) row: usize,
    /// Which one of its row, below [`width`].
    pub(super) column: usize,
}

/// The places of the [`residuals`] that were sampled, in their order.
pub(super) fn places(playback: &Playback<'_>) -> impl Iterator<Item = Place> {
    let log = playback.recorded();
    let rows = playback.windows().iter().enumerate().flat_map(|(window, rows)| {
        rows.clone().skip(1).enumerate().map(move |(at, row)| (window, at, row))
    });
    rows.flat_map(move |(window, at, row)| {
        let is_sampled = move |j: &usize| log.joints.get(*j).is_none_or(|t| !t.q[row].is_nan());
        let place = move |column| Place { window, at, row, column };
        (0..width(log)).filter(is_sampled).map(place)
    })
}

/// Of the base: position, m, and the rotation vector of the orientation to first order, rad.
fn base_error(playback: &Playback<'_>, trace: &Trace, at: usize) -> Option<[[f64; 3]; 2]> {
    let columns = &playback.recorded().base.as_ref()?.columns;
    let real = |i: usize| columns[i][trace.rows[at]];
    let ours = &trace.base[at];
    let p = std::array::from_fn(|i| ours[i] - real(i));
    let quaternion = |at: &dyn Fn(usize) -> f64| [at(3), at(4), at(5), at(6)];
    Some([p, turn_between(quaternion(&real), quaternion(&|i| ours[i]))])
}

/// The rotation vector from one orientation (w, x, y, z) to another in the axes of the first, to
/// first order, rad.
pub(super) fn turn_between([a, b, c, d]: [f64; 4], [w, x, y, z]: [f64; 4]) -> [f64; 3] {
    // conj(first) ⊗ second
    let turn = [
        a * w + b * x + c * y + d * z,
        a * x - b * w - c * z + d * y,
        a * y + b * z - c * w - d * x,
        a * z - b * y + c * x - d * w,
    ];
    let sign = if turn[0] < 0.0 { -2.0 } else { 2.0 };
    [sign * turn[1], sign * turn[2], sign * turn[3]]
}

impl JointAccuracy {
    /// A thousandth of its unit.
    #[must_use]
    pub fn milli_unit(&self) -> &'static str {
        if self.unit == "m" { "mm" } else { "mrad" }
    }
}

impl Accuracy {
    /// A thousandth of the unit of all joints together.
    #[must_use]
    pub fn milli_unit(&self) -> &'static str {
        let count = |unit: &str| self.joints.iter().filter(|j| j.unit == unit).count();
        match [count("rad"), count("m")] {
            [_, 0] => "mrad",
            [0, _] => "mm",
            _ => "mrad and mm",
        }
    }

    /// Of the replay of all windows with `joints`, those of the robot.
    #[must_use]
    pub fn of(playback: &Playback<'_>, traces: &[Trace], joints: &[Joint]) -> Self {
        let log = playback.recorded();
        let joints = log.joints.iter().zip(joints).enumerate();
        let (mut all, mut tracking) = (Square::default(), Square::default());
        let joints = joints.map(|(j, (track, joint))| {
            let (mut square, mut sum, mut largest) = (Square::default(), 0.0, (0.0_f64, 0.0));
            for trace in traces {
                for (at, &row) in trace.rows.iter().enumerate() {
                    let error = trace.q[at][j] - track.q[row];
                    if error.is_nan() {
                        continue;
                    }
                    square.add(error);
                    all.add(error);
                    sum += error;
                    if error.abs() > largest.0 {
                        largest = (error.abs(), log.time_s[row]);
                    }
                    if let Some(q_des) = &track.command[0] {
                        tracking.add(track.q[row] - q_des[row]);
                    }
                }
            }
            JointAccuracy {
                name: joint.name.clone(),
                unit: if joint.kind == JointKind::Prismatic { "m" } else { "rad" },
                rms_rad: square.root(),
                mean_rad: if square.count > 0 { sum / square.count as f64 } else { f64::NAN },
                max_rad: if square.count > 0 { largest.0 } else { f64::NAN },
                max_at_s: if square.count > 0 { largest.1 } else { f64::NAN },
            }
        });
        let joints: Vec<JointAccuracy> = joints.collect();
        let (mut p, mut r) = (Square::default(), Square::default());
        for trace in traces {
            for at in 0..trace.rows.len() {
                let Some(error) = base_error(playback, trace, at) else { continue };
                for (square, vector) in [&mut p, &mut r].into_iter().zip(error) {
                    square.add(vector.iter().map(|x| x * x).sum::<f64>().sqrt());
                }
            }
        }
        let rows: usize = traces.iter().map(|trace| trace.rows.len()).sum();
        Self {
            rms_rad: all.root(),
            tracking_rms_rad: (tracking.count > 0).then(|| tracking.root()),
            joints,
            base_rms_m: log.base.is_some().then(|| p.root()),
            base_rms_rad: log.base.is_some().then(|| r.root()),
            samples: rows,
            failures: traces.iter().filter(|trace| trace.failure.is_some()).count(),
        }
    }
}

#[derive(Default)]
struct Square {
    sum: f64,
    count: usize,
}

impl Square {
    fn add(&mut self, x: f64) {
        // what was not sampled does not count
        if !x.is_nan() {
            self.sum += x * x;
            self.count += 1;
        }
    }

    /// NaN of nothing: what was not compared is not exact.
    fn root(&self) -> f64 {
        if self.count > 0 { (self.sum / self.count as f64).sqrt() } else { f64::NAN }
    }
}
