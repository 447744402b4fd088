//! The structs of the interface. Numbers are SI; frames are REP-103 (x forward, y left, z up).

use std::ffi::c_char;

/// What `hardstand_connect` is given. A null pointer stands for the default. The texts are copied.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HardstandConnection {
    /// "tcp/HOST:PORT", "unixsock-stream/PATH" or "tls/HOST:PORT". By default the environment
    /// variable HARDSTAND_CONNECT, or else "tcp/127.0.0.1:7447".
    pub endpoint: *const c_char,
    /// Name of the robot. By default HARDSTAND_ROBOT, or else "quadruped".
    pub robot: *const c_char,
    /// Name of this program in events and logs: 1 to 64 letters, digits, "-", "_" or ".". By
    /// default "pid-" and the number of the process.
    pub asker: *const c_char,
    /// User; needs `password_file`.
    pub user: *const c_char,
    /// File with the password alone; only its owner may read it.
    pub password_file: *const c_char,
    /// PEM file of the own certificate, for an endpoint "tls/…"; needs the next two.
    pub tls_certificate: *const c_char,
    /// PEM file of the certificate's private key; only its owner may read it.
    pub tls_key: *const c_char,
    /// PEM file of the certificate authority of the daemon's certificate.
    pub tls_ca: *const c_char,
}

/// What `hardstand_join` is given. Zeros are the defaults, except for `name`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HardstandJoin {
    /// Name of the controller: 1 to 64 letters, digits, "-", "_" or ".".
    pub name: *const c_char,
    /// Names of the joints that it commands; null for all.
    pub joints: *const *const c_char,
    /// Number of those names; 0 with null.
    pub joint_count: u32,
    /// HARDSTAND_ROLE_…
    pub role: u32,
    /// Ticks between two states that it answers; 0 for 1.
    pub period_ticks: u64,
    /// Remainder of their ticks by the period.
    pub phase_ticks: u64,
    /// Ticks from the state that it answers to the tick at which the answer applies.
    pub offset_ticks: u64,
    /// Hash of robot and scenario as far as they decide the physics; 0 for any.
    pub physics_hash: u64,
    /// Secret number of the session. 0 draws one. A program that is started again and gives the
    /// same number and name continues the lease of its predecessor.
    pub session: u64,
}

/// Set-point of a joint's drive. The motor makes
/// `tau_ff + kp (q - q_measured) + kd (dq - dq_measured)`, limited to the joint's effort.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HardstandJointCommand {
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

/// State of the robot after `tick` ticks. What a robot measures comes first. What only a simulator
/// knows has `truth` in its name. The arrays belong to the handle and hold until its next call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HardstandState {
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// Tick of the state that the command in force answers; HARDSTAND_NO_TICK for none.
    pub answers_tick: u64,
    /// Digest of all ticks of the run so far.
    pub digest: u64,
    /// Run number; a reset starts the next one.
    pub run_id: u32,
    /// HARDSTAND_MODE_…
    pub mode: u8,
    /// HARDSTAND_PHASE_…
    pub phase: u8,
    /// Plant failure: 0 none, 1 not finite, 2 out of range.
    pub failure: u8,
    /// HARDSTAND_AUTHORITY_…
    pub authority: u8,
    /// Length of `q`, `dq` and `tau`: all joints of the robot.
    pub joint_count: u32,
    /// Length of `foot_contact` and `foot_normal_n`.
    pub foot_count: u32,
    /// Positions in the order of the model, rad or m.
    pub q: *const f64,
    /// Velocities, rad/s or m/s.
    pub dq: *const f64,
    /// Efforts that the motors made in the last micro-step, N·m or N.
    pub tau: *const f64,
    /// 1 if the foot is down (debounced), else 0.
    pub foot_contact: *const u8,
    /// Normal force on the foot, N.
    pub foot_normal_n: *const f64,
    /// Orientation of the IMU in the world: w, x, y, z.
    pub imu_quat_wxyz: [f64; 4],
    /// Angular velocity in IMU axes, rad/s.
    pub imu_angular_velocity_rad_per_s: [f64; 3],
    /// Specific force in IMU axes, m/s²: +9.81 on z at rest.
    pub imu_specific_force_m_per_s2: [f64; 3],
    /// Position of the base origin in the world, m.
    pub truth_base_position_m: [f64; 3],
    /// Orientation of the base in the world: w, x, y, z.
    pub truth_base_quat_wxyz: [f64; 4],
    /// Velocity of the base origin in world axes, m/s.
    pub truth_base_velocity_m_per_s: [f64; 3],
    /// Angular velocity of the base in world axes, rad/s.
    pub truth_base_angular_velocity_rad_per_s: [f64; 3],
    /// What a controller that walks is asked for: ahead and to the left, m/s; turn to the left,
    /// rad/s.
    pub velocity_command: [f64; 3],
}

/// A controller's part in the run. The arrays belong to the handle and hold until its next call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HardstandJoined {
    /// The first state that it answers.
    pub first_tick: u64,
    /// The number by which its session is published; 0 for an observer.
    pub session: u64,
    /// How often it was late for too long, lost its joints and joined again.
    pub losses: u64,
    /// In real time: states that were skipped because a newer one was there already.
    pub skipped: u64,
    /// Run number.
    pub run_id: u32,
    /// HARDSTAND_MODE_…
    pub mode: u8,
    /// Number of its joints: the length of a command, and of the arrays.
    pub joint_count: u32,
    /// Places of its joints in the model, ascending.
    pub joint_index: *const u32,
    /// Set-points in force until its first command applies.
    pub in_force: *const HardstandJointCommand,
}

/// A joint. No limit is ±infinity.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HardstandJoint {
    /// Name in the URDF.
    pub name: *const c_char,
    /// 0 revolute (rad, N·m), 1 prismatic (m, N).
    pub kind: u32,
    /// Initial position.
    pub q_initial: f64,
    /// Lower position limit.
    pub q_min: f64,
    /// Upper position limit.
    pub q_max: f64,
    /// Largest effort.
    pub effort_max: f64,
    /// Largest velocity.
    pub velocity_max: f64,
    /// Stiffness with which the scenario suggests to hold a position.
    pub hold_kp: f64,
    /// Damping for that.
    pub hold_kd: f64,
}

/// An event of the daemon. The texts belong to the handle and hold until its next call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HardstandEvent {
    /// The tick in which it happened: the state before it has this number.
    pub tick: u64,
    /// Time of that state, ns.
    pub time_ns: u64,
    /// Run number.
    pub run_id: u32,
    /// One word: join, leave, stop, arm, push, friction, fault, clear, conflict, gave_up,
    /// plant_failure, lost or order.
    pub kind: *const c_char,
    /// The controller that it is about; empty if it is about none.
    pub controller: *const c_char,
    /// Sender of the order; empty for anything else.
    pub asker: *const c_char,
    /// For people.
    pub text: *const c_char,
}

/// How the daemon is doing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HardstandStatus {
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// Run number.
    pub run_id: u32,
    /// HARDSTAND_MODE_…
    pub mode: u8,
    /// HARDSTAND_PHASE_…, or 4 if a tick waits for a controller.
    pub phase: u8,
    /// Plant failure: 0 none, 1 not finite, 2 out of range.
    pub failure: u8,
    /// HARDSTAND_AUTHORITY_…
    pub authority: u8,
    /// Controllers that have joined.
    pub controller_count: u32,
    /// Controllers that the loop waits for now.
    pub missing_count: u32,
    /// Simulated seconds per second of wall time that the loop tries to keep; 0 for no limit.
    pub speed: f64,
    /// Simulated seconds per second of wall time since the last status.
    pub real_time_factor: f64,
}

/// A constant force on a link, for some ticks.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HardstandPush {
    /// Name of the link.
    pub link: *const c_char,
    /// Point of attack in the link's frame, m.
    pub point_link_m: [f64; 3],
    /// Force in world axes, N.
    pub force_world_n: [f64; 3],
    /// Duration, ticks.
    pub ticks: u64,
}
