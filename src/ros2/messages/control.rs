//! `control_msgs` (ros-controls/control_msgs, branches humble to master) and `trajectory_msgs`.

use super::{Duration, Header};
use crate::ros2::field::structs;

structs! {
    /// Named values of one joint.
    InterfaceValue is "control_msgs/InterfaceValue" {
        /// `position`, `velocity`, `effort`, …
        interface_names: Vec<String>,
        /// One value per name.
        values: Vec<f64>,
    }
    /// Any number of named values for each named joint.
    DynamicJointState is "control_msgs/DynamicJointState" {
        /// Time.
        header: Header,
        /// Joints.
        joint_names: Vec<String>,
        /// One entry per joint.
        interface_values: Vec<InterfaceValue>,
    }
    /// Set-points of all joints at one time.
    JointTrajectoryPoint is "trajectory_msgs/JointTrajectoryPoint" {
        /// rad or m.
        positions: Vec<f64>,
        /// rad/s or m/s.
        velocities: Vec<f64>,
        /// rad/s² or m/s².
        accelerations: Vec<f64>,
        /// N·m or N.
        effort: Vec<f64>,
        /// Since the start of the trajectory.
        time_from_start: Duration,
    }
    /// Set-points of all joints over time.
    JointTrajectory is "trajectory_msgs/JointTrajectory" {
        /// Start; 0: now.
        header: Header,
        /// Joints, in the order of the points' lists.
        joint_names: Vec<String>,
        /// In order of time.
        points: Vec<JointTrajectoryPoint>,
    }
}
