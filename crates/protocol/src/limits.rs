//! Bounds of what is sent and logged.

/// Joints of a robot.
pub const JOINTS_MAX: usize = 256;
/// Bytes of a name (robot, joint, link, foot, station, region).
pub const NAME_BYTES_MAX: usize = 96;
/// Largest coefficient of friction.
pub const FRICTION_MAX: f64 = 100.0;
/// Largest position, velocity and feed-forward effort in a command (rad, m, N·m and so on): far
/// beyond any robot, but small enough that no product of two overflows.
pub const SETPOINT_MAX: f64 = 1e6;
/// Largest `kp` and `kd` that a scenario may allow.
pub const GAIN_MAX: f64 = 1e6;
/// Largest velocity that controllers are asked for, m/s and rad/s.
pub const VELOCITY_COMMAND_MAX: f64 = 100.0;
/// Ticks that a run can reach or wait for: half of what a count holds, so that sums of two are
/// counts.
pub const TICK_MAX: u64 = 1 << 62;
/// Commands that one tick looks at; more wait for the next tick.
pub const CANDIDATES_MAX: usize = 16;
/// Events (pushes, friction changes, faults, controllers that join) that one tick applies.
pub const EVENTS_MAX: usize = 32;
/// Controllers that have joined at a time.
pub const LEASES_MAX: usize = 8;
/// Faults that act at the same time, besides pushes.
pub const FAULTS_MAX: usize = 8;
/// Ticks by which a fault of the link delays a command at most.
pub const LINK_DELAY_TICKS_MAX: u32 = 100;
/// Sessions that are remembered as revoked: their commands stay refused.
pub const REVOKED_SESSIONS: usize = 8;
/// Views that are published per second of wall time.
pub const VIEWS_PER_S_MAX: u64 = 60;
/// Free bodies of a scenario.
pub const BODIES_MAX: usize = 64;
/// Points of a message of bodies; more that touch are counted.
pub const TOUCHES_MAX: usize = 512;
/// Points of a view.
pub const TOUCHES_IN_VIEW_MAX: usize = 128;
/// Largest message on the bus: one zenoh batch. Fragments may be dropped and may block the sender.
pub const MESSAGE_BYTES_MAX: usize = 65_535;

// a message of bodies fits: its head, and what each body and each point takes
const _: () = assert!(64 + 104 * BODIES_MAX + 114 * TOUCHES_MAX <= MESSAGE_BYTES_MAX);
// a set of joints is made of words
const _: () = assert!(JOINTS_MAX.is_multiple_of(64));
