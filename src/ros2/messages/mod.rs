//! The ROS 2 messages that the daemon sends and receives, with the fields of their packages.
//!
//! The hashes are RIHS01 (REP-2011) and the same since ROS 2 Iron. Those of `control_msgs` and
//! `ros_gz_interfaces` are computed from the definitions of their Jazzy releases.
//! `tests/ros2/vectors.py` compares all of them with PyPI `rosbags`.

mod action;
mod control;
mod gazebo;
mod sensing;
mod services;
mod standard;

pub use action::{
    CancelAnswer, CancelRequest, FeedbackMessage, FollowFeedback, FollowGoal, FollowResult,
    GetResultAnswer, GetResultRequest, GoalInfo, GoalStatus, GoalStatusArray,
    JointComponentTolerance, JointTolerance, MultiDofPoint, MultiDofTrajectory, SendGoalAnswer,
    SendGoalRequest, Uuid,
};
pub use control::{DynamicJointState, InterfaceValue, JointTrajectory, JointTrajectoryPoint};
pub use gazebo::{Contact, Contacts, Entity, JointWrench};
pub use sensing::{
    DiagnosticArray, DiagnosticStatus, Imu, JointState, Joy, KeyValue, Odometry, TfMessage,
};
pub use services::{
    Accel, CancelGoal, ChosenPlaceRequest, Done, Empty, EntityAnswer, EntityRequest, EntityState,
    Features, GetEntityState, GetResult, GetSimulationState, GetSimulatorFeatures, PlaceRequest,
    ResetRequest, ResetSimulation, SendGoal, Service, SetBool, SetBoolRequest,
    SetChosenEntityState, SetEntityState, SetSimulationState, SimResult, SimulationState,
    SimulatorFeatures, StateAnswer, StateRequest, StepRequest, StepSimulation, Success, Trigger,
    read, written,
};
pub use standard::{
    Bool, Clock, Duration, Float64MultiArray, Header, MultiArrayDimension, MultiArrayLayout, Point,
    Pose, PoseWithCovariance, Quaternion, RosString, Time, TransformMsg, TransformStamped, Twist,
    TwistWithCovariance, UInt32, Vector3, Wrench, WrenchStamped,
};

use super::cdr::{CdrError, Writer};
use super::field::{Definition, Field};

/// A message type that a topic can have.
pub trait Message: Field {
    /// `RIHS01_` and 64 hex digits.
    const HASH: &'static str;
    /// `package/msg/Type`.
    const NAME: &'static str;

    /// Encodes the message into `out`, which is cleared first. Allocates nothing once `out` is
    /// large enough.
    fn encode(&self, out: &mut Vec<u8>) {
        self.write(&mut Writer::new(out));
    }

    /// Decodes a message. Only padding may follow it.
    ///
    /// # Errors
    /// The reason why the bytes are invalid.
    fn decode(bytes: &[u8]) -> Result<Self, CdrError> {
        read(bytes)
    }

    /// The definition for a log's schema `ros2msg`: fields, then the types that they use.
    fn definition() -> String {
        let mut all: Vec<Definition> = Vec::new();
        Self::describe(&mut all);
        let mut parts = all.into_iter();
        let mut text = parts.next().map(|own| own.text).unwrap_or_default();
        for part in parts {
            text += &format!("{}\nMSG: {}\n{}", "=".repeat(80), part.name, part.text);
        }
        text
    }
}

macro_rules! messages {
    ($($type:ident, $name:literal, $hash:literal;)*) => {
        $(impl Message for $type {
            const HASH: &'static str = concat!("RIHS01_", $hash);
            const NAME: &'static str = $name;
        })*

        /// Name, hash and definition of each message that is listed here: not of its parts, nor of
        /// services and actions.
        #[must_use]
        pub fn catalogue() -> Vec<(&'static str, &'static str, String)> {
            vec![$(($type::NAME, $type::HASH, $type::definition()),)*]
        }
    };
}

messages! {
    Clock, "rosgraph_msgs/msg/Clock",
        "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564";
    JointState, "sensor_msgs/msg/JointState",
        "a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e";
    Imu, "sensor_msgs/msg/Imu",
        "7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b";
    WrenchStamped, "geometry_msgs/msg/WrenchStamped",
        "8dc3deaf06b2ab281f9f9a742a8961c328ca7cec16e3fd6586d3a5c83fa78f77";
    Contacts, "ros_gz_interfaces/msg/Contacts",
        "2cf36dd51e105580839fb7d6c028846a6342a8dfd62fde733d05f3e0c9ec4b5b";
    Bool, "std_msgs/msg/Bool",
        "feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9";
    Odometry, "nav_msgs/msg/Odometry",
        "3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0";
    TfMessage, "tf2_msgs/msg/TFMessage",
        "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087";
    RosString, "std_msgs/msg/String",
        "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
    DiagnosticArray, "diagnostic_msgs/msg/DiagnosticArray",
        "5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e";
    DynamicJointState, "control_msgs/msg/DynamicJointState",
        "18024c98a62697680f581108eeed40b28fb4542fa0ac5a8e36f56c62b6813d26";
    Float64MultiArray, "std_msgs/msg/Float64MultiArray",
        "1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f";
    JointTrajectory, "trajectory_msgs/msg/JointTrajectory",
        "179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e";
    Twist, "geometry_msgs/msg/Twist",
        "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a";
    Joy, "sensor_msgs/msg/Joy",
        "0d356c79cad3401e35ffeb75a96a96e08be3ef896b8b83841d73e890989372c5";
}
