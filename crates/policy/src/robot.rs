//! What a policy has to know about a robot, and what it sees of it.

/// The robot that a contract is checked against.
///
/// Arrays have a number for each of `joints`, in their order; what is beyond the end of an array is
/// not checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobotFacts {
    /// Names, in the order of [`Sensors::q_rad`].
    pub joints: Vec<String>,
    /// Time between two ticks, s.
    pub period_s: f64,
    /// Least positions, rad.
    pub q_min: Vec<f64>,
    /// Greatest positions, rad.
    pub q_max: Vec<f64>,
    /// Greatest stiffness that a command may have, N m/rad.
    pub kp_max: f64,
    /// Greatest damping that a command may have, N m s/rad.
    pub kd_max: f64,
    /// Count of feet with a contact sensor.
    pub feet: usize,
    /// Orientation of the IMU's axes in those of its body, w x y z.
    pub imu_quat_wxyz: [f64; 4],
    /// Whether the IMU is on the base link.
    pub imu_on_base: bool,
    /// Joints that slide.
    pub prismatic: Vec<bool>,
}

/// Readings of one instant.
///
/// A reading that is missing, because a slice is short or `truth` is None, is NaN, and so are the
/// observations and targets that depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensors<'a> {
    /// Angular velocity in the axes of the IMU, rad/s.
    pub gyro_rad_per_s: [f64; 3],
    /// Specific force in the axes of the IMU, m/s².
    pub acc_m_per_s2: [f64; 3],
    /// Orientation of the IMU in the world, w x y z.
    pub imu_quat_wxyz: [f64; 4],
    /// Positions of [`RobotFacts::joints`], rad.
    pub q_rad: &'a [f64],
    /// Velocities of the joints, rad/s.
    pub dq_rad_per_s: &'a [f64],
    /// Whether each foot touches the ground.
    pub foot_contact: &'a [bool],
    /// What only a simulator knows.
    pub truth: Option<Truth>,
}

/// What only a simulator knows; a contract uses it after `truth = true`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Velocity of the base in the world, m/s.
    pub base_velocity_m_per_s: [f64; 3],
    /// Orientation of the base in the world, w x y z.
    pub base_quat_wxyz: [f64; 4],
    /// Position of the base in the world, m; z is up.
    pub base_position_m: [f64; 3],
}
