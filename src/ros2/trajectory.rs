//! A trajectory of all joints in simulated time.

use super::counters::RosRejection;
use super::messages::{Duration, JointTrajectory, JointTrajectoryPoint, Time};
use super::orders::Refused;
use super::readings::ns_of;
#[cfg(feature = "zenoh")]
use super::readings::{NS, seconds};
use hardstand_protocol::{HoldGains, JointCommand, JointReading};

/// Points of a trajectory. The interpolation between two points with velocities is cubic, with
/// positions alone linear, as in `joint_trajectory_controller`; efforts are linear.
/// After the last point it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Simulated time of the start, ns; `None`: at once.
    start_ns: Option<u64>,
    /// Positions of the joints at the start.
    from: Option<Vec<Knot>>,
    points: Vec<(u64, Vec<Knot>)>,
    /// Of each joint.
    gains: Vec<HoldGains>,
}

/// One joint at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    q: f64,
    dq: Option<f64>,
    tau: f64,
}

/// A trajectory that begins later than this from now has a stamp of another clock.
#[cfg(feature = "zenoh")]
const BEGINS_WITHIN_NS: u64 = 3600 * NS;

/// Simulated time of a stamp, ns; 0 means now, and is `None`.
///
/// # Errors
/// [`RosRejection::Trajectory`] if it is negative.
fn stamp_ns(stamp: &Time) -> Result<Option<u64>, Refused> {
    let Some(ns) = ns_of(stamp.sec, stamp.nanosec) else {
        let text = format!("the stamp is {} s; it must not be negative", stamp.sec);
        return Err(Refused::new(RosRejection::Trajectory, text));
    };
    Ok(Some(ns).filter(|ns| *ns > 0))
}

pub(super) fn duration_ns(d: &Duration) -> Option<u64> {
    ns_of(d.sec, d.nanosec)
}

impl Trajectory {
    /// From a message whose joints have the indices `order`.
    ///
    /// # Errors
    /// [`RosRejection::Trajectory`].
    pub(super) fn new(
        m: &JointTrajectory,
        order: &[usize],
        gains: Vec<HoldGains>,
    ) -> Result<Self, Refused> {
        let wrong = |text: String| Refused::new(RosRejection::Trajectory, text);
        if m.points.is_empty() {
            return Err(wrong("the trajectory has no points".into()));
        }
        let mut points: Vec<(u64, Vec<Knot>)> = Vec::with_capacity(m.points.len());
        for (i, point) in m.points.iter().enumerate() {
            let at = duration_ns(&point.time_from_start)
                .filter(|at| points.last().is_none_or(|(before, _)| before < at));
            let Some(at) = at else {
                return Err(wrong(format!("points[{i}].time_from_start must be ≥ 0 and increase")));
            };
            points.push((at, knots(i, point, order).map_err(wrong)?));
        }
        Ok(Self { start_ns: stamp_ns(&m.header.stamp)?, from: None, points, gains })
    }

    /// True if the message says when it begins.
    #[must_use]
    pub const fn has_stamp(&self) -> bool {
        self.start_ns.is_some()
    }

    /// True once it has given a set-point.
    #[cfg(feature = "zenoh")]
    #[must_use]
    pub(super) const fn has_begun(&self) -> bool {
        self.from.is_some()
    }

    /// Holds these joints where they are.
    #[must_use]
    pub(super) fn still(joints: &[JointReading], gains: Vec<HoldGains>) -> Self {
        let knots = joints.iter().map(|r| Knot { q: r.q, dq: None, tau: 0.0 }).collect();
        Self { start_ns: None, from: None, points: vec![(0, knots)], gains }
    }

    /// Simulated time of the last point, ns; `None` before it has begun, if it has no stamp.
    #[must_use]
    pub fn end_ns(&self) -> Option<u64> {
        let end = self.points.last().map_or(0, |(at, _)| *at);
        Some(self.start_ns?.saturating_add(end))
    }

    /// True if the trajectory ended before `now_ns`.
    #[must_use]
    pub fn is_over(&self, now_ns: u64) -> bool {
        self.end_ns().is_some_and(|end| end < now_ns)
    }

    /// Refuses one that has ended before `now_ns`, or begins long after it.
    ///
    /// # Errors
    /// [`RosRejection::Trajectory`].
    #[cfg(feature = "zenoh")]
    pub(super) fn refuse_other_clock(&self, now_ns: u64) -> Result<(), Refused> {
        let refuse = |text: String| Err(Refused::new(RosRejection::Trajectory, text));
        let (begins_ns, now_s) = (self.start_ns.unwrap_or(now_ns), seconds(now_ns));
        if self.is_over(now_ns) {
            return refuse(
                "the trajectory ended in the past; its stamp must be in simulated time".into(),
            );
        }
        if begins_ns > now_ns.saturating_add(BEGINS_WITHIN_NS) {
            return refuse(format!(
                "the trajectory begins at {} s, and the simulation is at {now_s} s; its stamp \
                 must be in simulated time: nodes must have use_sim_time",
                seconds(begins_ns)
            ));
        }
        Ok(())
    }

    /// The set-points at `now_ns`; `measured` are the joints now.
    pub fn at(&mut self, now_ns: u64, measured: &[JointReading]) -> Vec<JointCommand> {
        let start = *self.start_ns.get_or_insert(now_ns);
        let here = |r: &JointReading| Knot { q: r.q, dq: Some(r.dq), tau: 0.0 };
        let from = self.from.get_or_insert_with(|| measured.iter().map(here).collect());
        let t = now_ns.saturating_sub(start);
        let next = self.points.partition_point(|(at, _)| *at <= t);
        let (t0, a) = match next.checked_sub(1) {
            Some(last) => (self.points[last].0, &self.points[last].1),
            None => (0, &*from),
        };
        let command = |(gains, (q, dq, tau_ff)): (&HoldGains, (f64, f64, f64))| {
            let HoldGains { kp, kd } = *gains;
            JointCommand { q, dq, kp, kd, tau_ff }
        };
        let all = |points: Vec<_>| self.gains.iter().zip(points).map(command).collect();
        match self.points.get(next) {
            // before its start it holds the measured position
            _ if now_ns < start => all(from.iter().map(|k| (k.q, 0.0, 0.0)).collect()),
            None => all(a.iter().map(|k| (k.q, 0.0, k.tau)).collect()),
            Some((t1, b)) => {
                let (s, h) = ((t - t0) as f64 * 1e-9, (t1 - t0) as f64 * 1e-9);
                all(a.iter().zip(b).map(|(a, b)| between(a, b, s, h)).collect())
            }
        }
    }
}

/// Position, velocity and effort `s` seconds after `a`, if `b` comes `h` seconds after `a`.
fn between(a: &Knot, b: &Knot, s: f64, h: f64) -> (f64, f64, f64) {
    let u = s / h;
    let tau = a.tau + (b.tau - a.tau) * u;
    let d = b.q - a.q;
    let (Some(va), Some(vb)) = (a.dq, b.dq) else {
        return (a.q + d * u, d / h, tau);
    };
    // Hermite: q(0), q'(0), q(h), q'(h)
    let c2 = 3.0 * d - h * (2.0 * va + vb);
    let c3 = h * (va + vb) - 2.0 * d;
    let q = a.q + u * (va * h + u * (c2 + u * c3));
    let dq = va + u * (2.0 * c2 + u * 3.0 * c3) / h;
    (q, dq, tau)
}

/// The joints of point `i`, in the robot's order.
fn knots(i: usize, point: &JointTrajectoryPoint, order: &[usize]) -> Result<Vec<Knot>, String> {
    let count = order.len();
    let lists = [
        ("positions", &point.positions, true),
        ("velocities", &point.velocities, false),
        ("effort", &point.effort, false),
    ];
    for (name, list, required) in lists {
        let fits = list.len() == count || (list.is_empty() && !required);
        if !fits || list.iter().any(|x| !x.is_finite()) {
            let n = list.len();
            return Err(format!("points[{i}].{name}: {n} numbers; it must be {count} finite ones"));
        }
    }
    let mut knots = vec![Knot { q: 0.0, dq: None, tau: 0.0 }; count];
    for (k, &joint) in order.iter().enumerate() {
        let dq = point.velocities.get(k).copied();
        let tau = point.effort.get(k).copied().unwrap_or(0.0);
        knots[joint] = Knot { q: point.positions[k], dq, tau };
    }
    Ok(knots)
}
