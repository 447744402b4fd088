//! What goes into a tick: commands offered by controllers, and events.

use serde::{Deserialize, Serialize};

use crate::actuator::Reference;
use crate::limits::{EVENTS_MAX, OFFERS_MAX};

use super::{FaultKind, Grant, InjectedFault, Part, Rejection};

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

/// Largest position, velocity and feed-forward effort in a command (rad, m, N·m and so on): far
/// beyond any robot, but small enough that no product of two overflows.
const SETPOINT_MAX: f64 = 1e6;

/// Whether set-points are such as a drive may be given; `gains_max` are the largest `kp` and `kd`.
///
/// # Errors
/// [`Rejection::NotFinite`] before [`Rejection::OutOfRange`].
pub fn check_joints(joints: &[JointCommand], gains_max: [f64; 2]) -> Result<(), Rejection> {
    let is_finite = |c: &JointCommand| c.numbers().iter().all(|x| x.is_finite());
    if !joints.iter().all(is_finite) {
        return Err(Rejection::NotFinite);
    }
    let is_in_range = |c: &JointCommand| {
        let setpoints = [c.q, c.dq, c.tau_ff].iter().all(|x| x.abs() <= SETPOINT_MAX);
        let [kp_max, kd_max] = gains_max;
        setpoints && (0.0..=kp_max).contains(&c.kp) && (0.0..=kd_max).contains(&c.kd)
    };
    if joints.iter().all(is_in_range) { Ok(()) } else { Err(Rejection::OutOfRange) }
}

impl From<JointCommand> for Reference {
    fn from(c: JointCommand) -> Self {
        Self { q: c.q, dq: c.dq, kp: c.kp, kd: c.kd, tau_ff: c.tau_ff }
    }
}

/// A checked command: sizes fit the robot and all numbers are finite and in range. Whether it gets
/// authority is decided at use, by the [`Leases`](super::Leases) or, without one, by the
/// [`Watchdog`](super::Watchdog).
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

/// What a friction change is for: the own coefficients of stations, or those of a region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scope {
    /// All stations. Regions that have coefficients keep theirs.
    All,
    /// All contacts of the station with this index.
    Station(u32),
    /// All contacts of the foot with this index.
    Foot(u32),
    /// The region of the ground with this index, whoever touches it.
    Region(u32),
}

/// Something that happens to the robot or the ground at the start of a tick. Events are part of
/// the tick's input, so they are logged and replayed like commands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A constant force for some ticks.
    Push {
        /// Body that is pushed.
        body: u32,
        /// Point of attack in the body's frame, m.
        point_B: [f64; 3],
        /// Force in W, N.
        force_W: [f64; 3],
        /// Duration in ticks.
        ticks: u64,
    },
    /// New coefficients of friction.
    Friction {
        /// Whose coefficients.
        scope: Scope,
        /// Static coefficient, at least 0.
        mu_static: f64,
        /// Kinetic coefficient, at least 0.
        mu_kinetic: f64,
    },
    /// A controller joins.
    Grant(Grant),
    /// The controller with this session leaves.
    Leave {
        /// Session.
        session: u64,
    },
    /// Emergency stop: all joints are damped, and no command is obeyed.
    Stop,
    /// The emergency stop ends.
    Arm,
    /// A fault begins; one of the same kind on the same part gives way.
    InjectFault {
        /// The fault.
        fault: InjectedFault,
        /// Ticks in which it acts, at least 1; [`UNTIL_CLEARED`](super::UNTIL_CLEARED) for no end.
        ticks: u64,
    },
    /// Faults end, pushes among them; of friction, the scenario's coefficients are back.
    ClearFaults {
        /// Faults of which kind; `None` for all.
        kind: Option<FaultKind>,
        /// Those of which part; `None` for all.
        part: Option<Part>,
    },
}

impl Event {
    /// True if it is about who commands, and not about robot or ground.
    #[must_use]
    pub const fn is_of_leases(&self) -> bool {
        matches!(self, Self::Grant(_) | Self::Leave { .. } | Self::Stop | Self::Arm)
    }
}

/// Everything that one tick receives from outside, with room for the bounds in
/// [`limits`](crate::limits).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TickInput {
    /// Commands, at most [`OFFERS_MAX`]: those of leases first, in the order of the leases, then
    /// the others in the order of arrival.
    pub offers: Vec<Box<Command>>,
    /// Events, at most [`EVENTS_MAX`].
    pub events: Vec<Event>,
}

impl TickInput {
    /// Empty, with all the memory it will ever need.
    #[must_use]
    pub fn new() -> Self {
        Self { offers: Vec::with_capacity(OFFERS_MAX), events: Vec::with_capacity(EVENTS_MAX) }
    }
}
