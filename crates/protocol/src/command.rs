//! Commands of controllers, and what one tick receives.

use serde::{Deserialize, Serialize};

use crate::limits::{CANDIDATES_MAX, EVENTS_MAX, SETPOINT_MAX};
use crate::{Event, Rejection};

/// Set-point of one joint's drive. The motor makes
/// `tau = tau_ff + kp (q − q_measured) + kd (dq − dq_measured)`, evaluated every micro-step and
/// limited to the joint's effort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointCommand {
    /// Position, rad or m.
    pub q: f64,
    /// Velocity, rad/s or m/s.
    pub dq: f64,
    /// Stiffness, N·m/rad or N/m.
    pub kp: f64,
    /// Damping, N·m·s/rad or N·s/m.
    pub kd: f64,
    /// Feed-forward effort, N·m or N.
    pub tau_ff: f64,
}

impl JointCommand {
    /// Names of its numbers, in the order in which they are sent.
    pub const NAMES: [&str; 5] = ["q", "dq", "kp", "kd", "tau_ff"];

    /// Its numbers, in that order.
    #[must_use]
    pub const fn numbers(&self) -> [f64; 5] {
        [self.q, self.dq, self.kp, self.kd, self.tau_ff]
    }
}

/// Whether set-points are such as a drive may be given; `gains_max` are the largest `kp` and `kd`.
///
/// # Errors
/// [`Rejection::NotFinite`] before [`Rejection::OutOfRange`].
pub fn check_joints(joints: &[JointCommand], gains_max: [f64; 2]) -> Result<(), Rejection> {
    let is_finite = |c: &JointCommand| c.numbers().iter().all(|x| x.is_finite());
    if !joints.iter().all(is_finite) {
        return Err(Rejection::NotFinite);
    }
    let is_in_range = |c: &JointCommand| bounded(c, gains_max).into_iter().all(Bounded::holds);
    if joints.iter().all(is_in_range) { Ok(()) } else { Err(Rejection::OutOfRange) }
}

/// A value of a set-point, and its range.
#[derive(Clone, Copy)]
struct Bounded {
    name: &'static str,
    value: f64,
    low: f64,
    high: f64,
}

impl Bounded {
    /// False for NaN.
    fn holds(self) -> bool {
        (self.low..=self.high).contains(&self.value)
    }
}

fn bounded(c: &JointCommand, [kp_max, kd_max]: [f64; 2]) -> [Bounded; 5] {
    let within = |name, value, low, high| Bounded { name, value, low, high };
    [
        within("q", c.q, -SETPOINT_MAX, SETPOINT_MAX),
        within("dq", c.dq, -SETPOINT_MAX, SETPOINT_MAX),
        within("kp", c.kp, 0.0, kp_max),
        within("kd", c.kd, 0.0, kd_max),
        within("tau", c.tau_ff, -SETPOINT_MAX, SETPOINT_MAX),
    ]
}

/// The first of these set-points that [`check_joints`] refuses: the joint's number, and the value
/// with its name and what is allowed, in words.
#[must_use]
pub fn refused_set_point(
    joints: &[JointCommand],
    gains_max: [f64; 2],
) -> Option<(usize, &'static str, f64, String)> {
    joints.iter().enumerate().find_map(|(i, c)| {
        let refused = bounded(c, gains_max).into_iter().find(|b| !b.holds())?;
        let Bounded { name, value, low, high } = refused;
        let allowed = if low < 0.0 {
            format!("it must be {low:e} to {high:e}")
        } else if value > high {
            format!("{name} is at most {high}")
        } else {
            format!("it must be {low} to {high}")
        };
        Some((i, name, value, allowed))
    })
}

/// A checked command: sizes fit the robot and all numbers are finite and in range. The leases
/// decide at the tick whether it gets authority.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Run that it is meant for.
    pub run_id: u32,
    /// The controller's session: a random number, new each time the controller starts.
    pub session: u64,
    /// Sequence number within the session, strictly increasing.
    pub seq: u64,
    /// Tick of the state that this command answers.
    pub answers_tick: u64,
    /// Tick at which it applies; 0 for at once, from a session that has not joined.
    pub applies_tick: u64,
    /// One set-point per joint of the session, in the model's order.
    pub joints: Vec<JointCommand>,
}

impl Command {
    /// Becomes a copy of `other`; does not allocate if there is room for its joints.
    pub fn copy_from(&mut self, other: &Self) {
        let joints = std::mem::take(&mut self.joints);
        *self = Self { joints, ..*other };
        self.joints.clone_from(&other.joints);
    }
}

/// Everything that one tick receives from outside, with room for the bounds in
/// [`limits`](crate::limits).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TickInput {
    /// Commands, at most [`CANDIDATES_MAX`]: those of leases first, in the order of the leases,
    /// then the others in the order of arrival.
    pub candidates: Vec<Box<Command>>,
    /// Events, at most [`EVENTS_MAX`].
    pub events: Vec<Event>,
}

impl TickInput {
    /// Empty, with all the memory it will ever need.
    #[must_use]
    pub fn new() -> Self {
        Self {
            candidates: Vec::with_capacity(CANDIDATES_MAX),
            events: Vec::with_capacity(EVENTS_MAX),
        }
    }
}
