//! A goal of `follow_joint_trajectory`: its tolerances, its feedback, and how it ends.

use super::counters::RosRejection;
use super::messages::{
    FollowFeedback, FollowGoal, FollowResult, GoalStatus, Header, JointTolerance,
    JointTrajectoryPoint,
};
use super::orders::Refused;
use super::readings::time;
use super::trajectory::{Trajectory, duration_ns};
use hardstand_protocol::{Rejection, StateReading};

/// How a goal ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Of [`GoalStatus`].
    pub(super) status: i8,
    /// Of [`FollowResult`].
    pub(super) error_code: i32,
    /// Reason of a failure.
    pub(super) error_string: String,
}

impl Outcome {
    const fn reached() -> Self {
        let (status, error_code) = (GoalStatus::SUCCEEDED, FollowResult::SUCCESSFUL);
        Self { status, error_code, error_string: String::new() }
    }

    fn failed(error_code: i32, why: &str) -> Self {
        Self { status: GoalStatus::ABORTED, error_code, error_string: why.into() }
    }

    pub(super) fn replaced() -> Self {
        Self::failed(FollowResult::INVALID_GOAL, "a newer goal has taken its place")
    }

    /// The robot no longer follows it: if its set-points were refused, for `refused`.
    pub(super) fn taken_over(refused: Option<Rejection>) -> Self {
        let Some(reason) = refused else {
            let why = "another command or a reset has ended it, or another controller has the \
                       robot";
            return Self::failed(FollowResult::INVALID_GOAL, why);
        };
        let why = format!(
            "its set-points were refused ({}); the daemon's terminal names joint and value",
            reason.name()
        );
        Self::failed(FollowResult::INVALID_GOAL, &why)
    }

    pub(super) const fn cancelled() -> Self {
        let (status, error_code) = (GoalStatus::CANCELED, FollowResult::SUCCESSFUL);
        Self { status, error_code, error_string: String::new() }
    }

    /// True if the robot is to stop where it is.
    pub(super) const fn stops(&self) -> bool {
        self.error_code != FollowResult::INVALID_GOAL && self.error_code != FollowResult::SUCCESSFUL
    }
}

/// Of each joint, infinite where none is given.
fn tolerances(
    field: &str,
    given: &[JointTolerance],
    joints: &[String],
) -> Result<Vec<f64>, Refused> {
    let mut all = vec![f64::INFINITY; joints.len()];
    for JointTolerance { name, position, .. } in given {
        let Some(i) = joints.iter().position(|joint| joint == name) else {
            let text = format!("{field} names {name:?}; the joints are {}", joints.join(", "));
            return Err(Refused::new(RosRejection::Names, text));
        };
        if position.is_nan() {
            let text = format!("{field} of {name} is {position}; it must be a number");
            return Err(Refused::new(RosRejection::Trajectory, text));
        }
        if *position > 0.0 {
            all[i] = *position;
        }
    }
    Ok(all)
}

/// A goal that is followed.
#[derive(Clone, Debug)]
pub(super) struct Goal {
    /// What the robot follows, once it has begun.
    trajectory: Option<Trajectory>,
    /// Largest errors of the positions on the way, in the order of the joints; infinite for any.
    path: Vec<f64>,
    /// The same at the end.
    end: Vec<f64>,
    /// Time after the end in which it may be reached, ns.
    late_ns: u64,
    names: Vec<String>,
}

impl Goal {
    /// # Errors
    /// [`RosRejection::Names`] for the tolerance of a joint that the robot does not have,
    /// [`RosRejection::Trajectory`] for one that is no number.
    pub(super) fn new(goal: &FollowGoal, joints: &[String]) -> Result<Self, Refused> {
        Ok(Self {
            trajectory: None,
            path: tolerances("path_tolerance", &goal.path_tolerance, joints)?,
            end: tolerances("goal_tolerance", &goal.goal_tolerance, joints)?,
            late_ns: duration_ns(&goal.goal_time_tolerance).unwrap_or(0),
            names: joints.to_vec(),
        })
    }

    /// Takes over the trajectory with the start that it has for the robot, if it has begun.
    pub(super) fn begin(&mut self, begun: impl FnOnce() -> Option<Trajectory>) {
        self.trajectory = self.trajectory.take().or_else(begun);
    }

    /// How it ends with this state, if it does.
    pub(super) fn look(&mut self, state: &StateReading) -> Option<Outcome> {
        let trajectory = self.trajectory.as_mut()?;
        let desired = trajectory.at(state.time_ns, &state.joints);
        let errors = desired.iter().zip(&state.joints).map(|(d, r)| (d.q - r.q).abs());
        let errors: Vec<f64> = errors.collect();
        let violated = |tolerances: &[f64], code: i32| {
            let mut all = errors.iter().zip(tolerances).zip(&self.names);
            let ((error, most), name) = all.find(|((error, most), _)| error > most)?;
            let why = format!("{name} is {error:.4} from its set-point; allowed are {most:.4}");
            Some(Outcome::failed(code, &why))
        };
        let end_ns = trajectory.end_ns()?;
        if state.time_ns < end_ns {
            return violated(&self.path, FollowResult::PATH_TOLERANCE_VIOLATED);
        }
        match violated(&self.end, FollowResult::GOAL_TOLERANCE_VIOLATED) {
            None => Some(Outcome::reached()),
            Some(_) if state.time_ns < end_ns.saturating_add(self.late_ns) => None,
            missed => missed,
        }
    }

    /// How far it is; `None` before it has begun.
    pub(super) fn feedback(
        &mut self,
        state: &StateReading,
        joints: &[String],
    ) -> Option<FollowFeedback> {
        let desired = self.trajectory.as_mut()?.at(state.time_ns, &state.joints);
        let point = |of: &dyn Fn(usize) -> (f64, f64)| JointTrajectoryPoint {
            positions: (0..desired.len()).map(|i| of(i).0).collect(),
            velocities: (0..desired.len()).map(|i| of(i).1).collect(),
            ..JointTrajectoryPoint::default()
        };
        let measured = |i: usize| state.joints.get(i).map_or((0.0, 0.0), |r| (r.q, r.dq));
        let wanted = |i: usize| (desired[i].q, desired[i].dq);
        Some(FollowFeedback {
            header: Header { stamp: time(state.time_ns), frame_id: String::new() },
            joint_names: joints.to_vec(),
            desired: point(&wanted),
            actual: point(&measured),
            error: point(&|i| {
                let ((q, dq), (q_now, dq_now)) = (wanted(i), measured(i));
                (q - q_now, dq - dq_now)
            }),
            ..FollowFeedback::default()
        })
    }
}
