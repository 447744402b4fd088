//! All bounds in one place, with compile-time checks of their relations.

pub use hardstand_physics::limits::{
    BODIES_MAX, CONSTRAINTS_MAX, FEET_MAX, FRICTION_MAX, HEIGHTFIELD_SIDE_MAX, JOINTS_MAX,
    PLACES_MIN, PUSHES_MAX, REGIONS_MAX, SOLID_FACES_MAX, STAIRS_MAX, STATIONS_MAX, SURFACES_MAX,
};
pub use hardstand_protocol::limits::{
    CANDIDATES_MAX, EVENTS_MAX, FAULTS_MAX, LEASES_MAX, LINK_DELAY_TICKS_MAX, REVOKED_SESSIONS,
};

/// Places among the planned events that are kept for joins, leaves and the emergency stop.
pub const LEASE_EVENTS: usize = 16;
/// Places among the events of a tick that are kept for the emergency stop and its end.
pub const STOP_EVENTS: usize = 2;
/// Commands that may wait for the tick at which they apply: 8 of each controller, and those that
/// answer states before a faulty link has let them come.
pub const EARLY_MAX: usize = 8 * LEASES_MAX + LINK_HELD_MAX;
/// Sessions without a lease whose commands can wait at a time.
pub const OTHER_SESSIONS_MAX: usize = 55;
/// Commands that link faults can delay at the same time.
pub const LINK_HELD_MAX: usize = 128;

/// zenoh sessions that a daemon accepts at a time, unless `bus.sessions_max` is set.
pub const SESSIONS: u64 = 8;
/// The same for a daemon that is the router of ROS 2 nodes.
pub const ROS_SESSIONS: u64 = 64;
/// zenoh sessions beyond these that are kept for users who may stop the robot, and as many again
/// for those of them who may also end the stop.
pub const STOP_SESSIONS: u64 = 2;
/// Files that a daemon may open besides one for each session: it has about 30, and the rest is for
/// handshakes and the log's next part.
pub const OPEN_FILES: u64 = 64;
pub use hardstand_protocol::limits::{MESSAGE_BYTES_MAX, NAME_BYTES_MAX};
/// Elements of a sequence in a ROS 2 message.
pub const ROS_ELEMENTS_MAX: usize = 4096;
/// Most robots of a daemon.
pub const ROBOTS_MAX: usize = 16;

/// Slowest speed: simulated seconds per second of wall time.
pub const SPEED_MIN: f64 = 0.001;
/// Fastest speed that the loop paces.
pub const SPEED_MAX: f64 = 1000.0;

/// Run id of a daemon that has not been reset.
pub const FIRST_RUN_ID: u32 = 1;

/// Snapshots that can wait for the publisher.
pub const SNAPSHOT_QUEUE: usize = 32;
/// Orders from the bus that can wait for the loop.
pub const ORDER_QUEUE: usize = 32;
/// Ticks that can wait for the recorder: 2 s at 1 kHz.
pub const LOG_QUEUE: usize = 2048;
/// Tick reports that can wait for the monitor: 4 s at 1 kHz.
pub const REPORT_QUEUE: usize = 4096;
/// Events that can wait for the publisher.
pub const EVENT_QUEUE: usize = 256;

/// Cases of a campaign.
pub const CASES_MAX: usize = 1_000_000;

/// Size of a URDF file, bytes.
pub const URDF_BYTES_MAX: u64 = 16 << 20;
/// Size of a scenario file, bytes: the heights of the largest height field, with 15 digits each.
pub const SCENARIO_BYTES_MAX: u64 = 16 << 20;

// 56 bytes of header and 40 per joint
const _: () = assert!(56 + 40 * JOINTS_MAX <= MESSAGE_BYTES_MAX);
// at most 264 bytes per station and 240 per foot, and the header
const _: () = assert!(64 + 264 * STATIONS_MAX + 240 * FEET_MAX <= MESSAGE_BYTES_MAX);
// the candidate commands of one tick fit into the queue of the recorder
const _: () = assert!(CANDIDATES_MAX <= LOG_QUEUE);
// the physics and the protocol know nothing of each other
const _: () = assert!(JOINTS_MAX == hardstand_protocol::limits::JOINTS_MAX);
const _: () = assert!(BODIES_MAX == hardstand_protocol::limits::BODIES_MAX);
const _: () = assert!(FRICTION_MAX == hardstand_protocol::limits::FRICTION_MAX);
