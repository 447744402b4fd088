//! `sensor_msgs`, `nav_msgs`, `tf2_msgs`, `diagnostic_msgs`.

use super::{
    Header, PoseWithCovariance, Quaternion, TransformStamped, TwistWithCovariance, Vector3,
};
use crate::ros2::field::{Byte, structs};

structs! {
    /// Readings of encoders and motors.
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
    /// Readings of an inertial measurement unit.
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
    /// Axes and buttons of a game controller.
    Joy is "sensor_msgs/Joy" {
        /// Time, and the device.
        header: Header,
        /// −1 to 1.
        axes: Vec<f32>,
        /// 1: pressed.
        buttons: Vec<i32>,
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
    /// Edges of the frame tree.
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
    /// State of one component.
    DiagnosticStatus is "diagnostic_msgs/DiagnosticStatus" {
        /// 0 good, 1 warning, 2 error, 3 stale.
        level: Byte,
        /// Component.
        name: String,
        /// Message.
        message: String,
        /// Device.
        hardware_id: String,
        /// Values.
        values: Vec<KeyValue>,
    }
    /// State of all components.
    DiagnosticArray is "diagnostic_msgs/DiagnosticArray" {
        /// Time.
        header: Header,
        /// One entry per component.
        status: Vec<DiagnosticStatus>,
    }
}
