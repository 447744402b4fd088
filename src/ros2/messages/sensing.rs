//! `sensor_msgs`, `nav_msgs`, `tf2_msgs`, `diagnostic_msgs`.

use super::{
    Header, PoseWithCovariance, Quaternion, TransformStamped, TwistWithCovariance, Vector3,
};
use crate::ros2::field::{Byte, structs};

structs! {
    /// What encoders and motors say.
    JointState is "sensor_msgs/JointState" {
        /// Time.
        header: Header,
        /// Joints, in the order of the other lists.
        name: Vec<String>,
        /// rad or m.
        position: Vec<f64>,
        /// rad/s or m/s.
        velocity: Vec<f64>,
        /// N·m or N.
        effort: Vec<f64>,
    }
    /// An inertial unit.
    Imu is "sensor_msgs/Imu" {
        /// Time, and the frame of the unit.
        header: Header,
        /// Of the unit in the world.
        orientation: Quaternion,
        /// Row by row about x, y, z, rad².
        orientation_covariance: [f64; 9],
        /// rad/s, in the unit's axes.
        angular_velocity: Vector3,
        /// Row by row, (rad/s)².
        angular_velocity_covariance: [f64; 9],
        /// Specific force, m/s², in the unit's axes.
        linear_acceleration: Vector3,
        /// Row by row, (m/s²)².
        linear_acceleration_covariance: [f64; 9],
    }
    /// Pose and velocity of a base.
    Odometry is "nav_msgs/Odometry" {
        /// Time, and the frame of the pose.
        header: Header,
        /// The base, and the frame of the velocity.
        child_frame_id: String,
        /// Pose of the base.
        pose: PoseWithCovariance,
        /// Its velocity, in its own axes.
        twist: TwistWithCovariance,
    }
    /// Edges of the tree of frames.
    TfMessage is "tf2_msgs/TFMessage" {
        /// Each with its own parent and child.
        transforms: Vec<TransformStamped>,
    }
    /// A name and its value.
    KeyValue is "diagnostic_msgs/KeyValue" {
        /// Name.
        key: String,
        /// Value.
        value: String,
    }
    /// How one part does.
    DiagnosticStatus is "diagnostic_msgs/DiagnosticStatus" {
        /// 0 good, 1 warning, 2 error, 3 stale.
        level: Byte,
        /// Part.
        name: String,
        /// In words.
        message: String,
        /// Device.
        hardware_id: String,
        /// In numbers.
        values: Vec<KeyValue>,
    }
    /// How all parts do.
    DiagnosticArray is "diagnostic_msgs/DiagnosticArray" {
        /// Time.
        header: Header,
        /// One entry per part.
        status: Vec<DiagnosticStatus>,
    }
}
