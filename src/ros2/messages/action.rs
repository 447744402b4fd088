//! The action `control_msgs/FollowJointTrajectory` (Jazzy): goals, feedback, results, and what all
//! actions have in common.

use super::{
    Duration, Header, JointTrajectory, JointTrajectoryPoint, Message, Time, TransformMsg, Twist,
};
use crate::ros2::field::structs;

structs! {
    /// Identifies a goal.
    Uuid is "unique_identifier_msgs/UUID" {
        /// Random.
        uuid: [u8; 16],
    }
    /// A goal, and when it was accepted.
    GoalInfo is "action_msgs/GoalInfo" {
        /// Which one.
        goal_id: Uuid,
        /// When.
        stamp: Time,
    }
    /// How far a goal is.
    GoalStatus is "action_msgs/GoalStatus" {
        /// Which one.
        goal_info: GoalInfo,
        /// One of the states of this type.
        status: i8,
    }
    /// The goals that are known.
    GoalStatusArray is "action_msgs/GoalStatusArray" {
        /// One entry per goal.
        status_list: Vec<GoalStatus>,
    }
    /// Request of `CancelGoal`.
    CancelRequest is "action_msgs/CancelGoal_Request" {
        /// Which one; zeros: all.
        goal_info: GoalInfo,
    }
    /// Answer of `CancelGoal`.
    CancelAnswer is "action_msgs/CancelGoal_Response" {
        /// One of the codes of this type.
        return_code: i8,
        /// Goals that are being cancelled.
        goals_canceling: Vec<GoalInfo>,
    }
    /// Allowed error of a joint; 0: the default, negative: any.
    JointTolerance is "control_msgs/JointTolerance" {
        /// Joint.
        name: String,
        /// rad or m.
        position: f64,
        /// rad/s or m/s.
        velocity: f64,
        /// rad/s² or m/s².
        acceleration: f64,
    }
    /// Allowed error of an axis of a joint with several degrees of freedom.
    JointComponentTolerance is "control_msgs/JointComponentTolerance" {
        /// Joint.
        joint_name: String,
        /// Axis.
        component: u16,
        /// rad or m.
        position: f64,
        /// rad/s or m/s.
        velocity: f64,
        /// rad/s² or m/s².
        acceleration: f64,
    }
    /// Set-points of joints with several degrees of freedom at one time.
    MultiDofPoint is "trajectory_msgs/MultiDOFJointTrajectoryPoint" {
        /// Poses.
        transforms: Vec<TransformMsg>,
        /// Velocities.
        velocities: Vec<Twist>,
        /// Accelerations.
        accelerations: Vec<Twist>,
        /// Since the start of the trajectory.
        time_from_start: Duration,
    }
    /// Set-points of joints with several degrees of freedom over time.
    MultiDofTrajectory is "trajectory_msgs/MultiDOFJointTrajectory" {
        /// Start; 0: now.
        header: Header,
        /// Joints.
        joint_names: Vec<String>,
        /// In order of time.
        points: Vec<MultiDofPoint>,
    }
    /// A trajectory to follow.
    FollowGoal is "control_msgs/FollowJointTrajectory_Goal" {
        /// Set-points.
        trajectory: JointTrajectory,
        /// Of joints with several degrees of freedom.
        multi_dof_trajectory: MultiDofTrajectory,
        /// Allowed errors on the way.
        path_tolerance: Vec<JointTolerance>,
        /// The same for axes.
        component_path_tolerance: Vec<JointComponentTolerance>,
        /// Allowed errors at the end.
        goal_tolerance: Vec<JointTolerance>,
        /// The same for axes.
        component_goal_tolerance: Vec<JointComponentTolerance>,
        /// Time after the end in which they may be reached.
        goal_time_tolerance: Duration,
    }
    /// How a trajectory ended.
    FollowResult is "control_msgs/FollowJointTrajectory_Result" {
        /// One of the codes of this type.
        error_code: i32,
        /// Reason of a failure.
        error_string: String,
    }
    /// How far a trajectory is.
    FollowFeedback is "control_msgs/FollowJointTrajectory_Feedback" {
        /// Time.
        header: Header,
        /// Joints, in the order of the lists.
        joint_names: Vec<String>,
        /// Set-points.
        desired: JointTrajectoryPoint,
        /// Measured.
        actual: JointTrajectoryPoint,
        /// Set-points less measured.
        error: JointTrajectoryPoint,
        /// Joints with several degrees of freedom.
        multi_dof_joint_names: Vec<String>,
        /// Their set-points.
        multi_dof_desired: MultiDofPoint,
        /// Measured.
        multi_dof_actual: MultiDofPoint,
        /// Set-points less measured.
        multi_dof_error: MultiDofPoint,
    }
    /// Feedback of a goal.
    FeedbackMessage is "control_msgs/FollowJointTrajectory_FeedbackMessage" {
        /// Which one.
        goal_id: Uuid,
        /// How far it is.
        feedback: FollowFeedback,
    }
    /// Request of `SendGoal`.
    SendGoalRequest is "control_msgs/FollowJointTrajectory_SendGoal_Request" {
        /// Which one.
        goal_id: Uuid,
        /// The goal.
        goal: FollowGoal,
    }
    /// Answer of `SendGoal`.
    SendGoalAnswer is "control_msgs/FollowJointTrajectory_SendGoal_Response" {
        /// True if it is followed.
        accepted: bool,
        /// When.
        stamp: Time,
    }
    /// Request of `GetResult`.
    GetResultRequest is "control_msgs/FollowJointTrajectory_GetResult_Request" {
        /// Which one.
        goal_id: Uuid,
    }
    /// Answer of `GetResult`.
    GetResultAnswer is "control_msgs/FollowJointTrajectory_GetResult_Response" {
        /// One of the states of [`GoalStatus`].
        status: i8,
        /// How it ended.
        result: FollowResult,
    }
}

impl Message for FeedbackMessage {
    const HASH: &'static str =
        "RIHS01_80398fcb9674a79081a9906e2ccf0c804dd7cb15e22e362e606ee87186beab71";
    const NAME: &'static str = "control_msgs/action/FollowJointTrajectory_FeedbackMessage";
}

impl Message for GoalStatusArray {
    const HASH: &'static str =
        "RIHS01_6c1684b00f177d37438febe6e709fc4e2b0d4248dca4854946f9ed8b30cda83e";
    const NAME: &'static str = "action_msgs/msg/GoalStatusArray";
}

impl GoalStatus {
    /// No such goal.
    pub const UNKNOWN: i8 = 0;
    /// Is being followed.
    pub const EXECUTING: i8 = 2;
    /// Will be cancelled.
    pub const CANCELING: i8 = 3;
    /// Has been reached.
    pub const SUCCEEDED: i8 = 4;
    /// Has been cancelled.
    pub const CANCELED: i8 = 5;
    /// Has failed.
    pub const ABORTED: i8 = 6;
}

impl CancelAnswer {
    /// Goals are being cancelled.
    pub const NONE: i8 = 0;
    /// No such goal.
    pub const UNKNOWN_GOAL_ID: i8 = 2;
    /// It has ended.
    pub const GOAL_TERMINATED: i8 = 3;
}

impl FollowResult {
    /// Reached.
    pub const SUCCESSFUL: i32 = 0;
    /// It is not followed any more.
    pub const INVALID_GOAL: i32 = -1;
    /// A joint was too far from it on the way.
    pub const PATH_TOLERANCE_VIOLATED: i32 = -4;
    /// A joint was too far from its end.
    pub const GOAL_TOLERANCE_VIOLATED: i32 = -5;
}
