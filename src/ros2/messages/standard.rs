//! `builtin_interfaces`, `rosgraph_msgs`, `std_msgs`, `geometry_msgs`.

use crate::ros2::field::structs;

structs! {
    /// A point in time.
    Time is "builtin_interfaces/Time" {
        /// Whole seconds.
        sec: i32,
        /// Nanoseconds to add.
        nanosec: u32,
    }
    /// A length of time.
    Duration is "builtin_interfaces/Duration" {
        /// Whole seconds.
        sec: i32,
        /// Nanoseconds to add, ≥ 0 for negative durations too.
        nanosec: u32,
    }
    /// Simulated time.
    Clock is "rosgraph_msgs/Clock" {
        /// Simulated time.
        clock: Time,
    }
    /// Time and frame.
    Header is "std_msgs/Header" {
        /// Simulated time of the measurement.
        stamp: Time,
        /// Frame of the values.
        frame_id: String,
    }
    /// A boolean.
    Bool is "std_msgs/Bool" {
        /// The value.
        data: bool,
    }
    /// A number.
    UInt32 is "std_msgs/UInt32" {
        /// The value.
        data: u32,
    }
    /// A string.
    RosString is "std_msgs/String" {
        /// The value.
        data: String,
    }
    /// One dimension of an array.
    MultiArrayDimension is "std_msgs/MultiArrayDimension" {
        /// Name.
        label: String,
        /// Elements along it.
        size: u32,
        /// Elements from one slice to the next.
        stride: u32,
    }
    /// The shape of an array.
    MultiArrayLayout is "std_msgs/MultiArrayLayout" {
        /// Dimensions, outermost first.
        dim: Vec<MultiArrayDimension>,
        /// Padding before the data.
        data_offset: u32,
    }
    /// Numbers.
    Float64MultiArray is "std_msgs/Float64MultiArray" {
        /// Their shape.
        layout: MultiArrayLayout,
        /// The numbers.
        data: Vec<f64>,
    }
    /// A vector.
    Vector3 is "geometry_msgs/Vector3" {
        /// Along x.
        x: f64,
        /// Along y.
        y: f64,
        /// Along z.
        z: f64,
    }
    /// A position, m.
    Point is "geometry_msgs/Point" {
        /// Along x.
        x: f64,
        /// Along y.
        y: f64,
        /// Along z.
        z: f64,
    }
    /// A rotation. The scalar comes last.
    Quaternion is "geometry_msgs/Quaternion" {
        /// First imaginary part.
        x: f64,
        /// Second imaginary part.
        y: f64,
        /// Third imaginary part.
        z: f64,
        /// Real part.
        w: f64,
    }
    /// Position and orientation.
    Pose is "geometry_msgs/Pose" {
        /// Position, m.
        position: Point,
        /// Orientation.
        orientation: Quaternion,
    }
    /// A pose and its covariance.
    PoseWithCovariance is "geometry_msgs/PoseWithCovariance" {
        /// The pose.
        pose: Pose,
        /// Row by row: x, y, z, rotation about X, Y, Z.
        covariance: [f64; 36],
    }
    /// Linear and angular velocity.
    Twist is "geometry_msgs/Twist" {
        /// m/s.
        linear: Vector3,
        /// rad/s.
        angular: Vector3,
    }
    /// A velocity and its covariance.
    TwistWithCovariance is "geometry_msgs/TwistWithCovariance" {
        /// The velocity.
        twist: Twist,
        /// Row by row: x, y, z, rotation about X, Y, Z.
        covariance: [f64; 36],
    }
    /// From the child's frame to the parent's.
    TransformMsg is "geometry_msgs/Transform" {
        /// m.
        translation: Vector3,
        /// Orientation of the child in the parent.
        rotation: Quaternion,
    }
    /// One edge of the frame tree.
    TransformStamped is "geometry_msgs/TransformStamped" {
        /// Time, and the parent's frame.
        header: Header,
        /// The child's frame.
        child_frame_id: String,
        /// Pose of the child in the parent.
        transform: TransformMsg,
    }
    /// Force and torque.
    Wrench is "geometry_msgs/Wrench" {
        /// N.
        force: Vector3,
        /// N·m about the origin of the frame.
        torque: Vector3,
    }
    /// Force and torque in a frame.
    WrenchStamped is "geometry_msgs/WrenchStamped" {
        /// Time and frame.
        header: Header,
        /// Force and torque.
        wrench: Wrench,
    }
}
