//! Every bound in one place, related by compile-time checks.

/// Joints of a robot.
pub const JOINTS_MAX: usize = 256;
/// Contacts of a scenario: stations times surfaces.
pub const STATIONS_MAX: usize = 192;
/// Feet of a scenario.
pub const FEET_MAX: usize = 32;
/// Surfaces of a scenario's ground: planes, and pieces of terrain.
pub const SURFACES_MAX: usize = 48;
/// Nodes of a height field along each side.
pub const HEIGHTFIELD_SIDE_MAX: usize = 1024;
/// Faces of a convex solid.
pub const SOLID_FACES_MAX: usize = 32;
/// Steps of a flight of stairs.
pub const STAIRS_MAX: usize = 100;
/// Regions of the ground with friction of their own.
pub const REGIONS_MAX: usize = 16;
/// Largest coefficient of friction.
pub const FRICTION_MAX: f64 = 100.0;
/// Commands that one tick looks at; more wait for the next tick.
pub const OFFERS_MAX: usize = 16;
/// Events (pushes, friction changes, faults, controllers that join) that one tick applies.
pub const EVENTS_MAX: usize = 32;
/// Of these, places that are kept for controllers that come and go, and the emergency stop.
pub const LEASE_EVENTS: usize = 16;
/// Controllers that have joined at a time.
pub const LEASES_MAX: usize = 8;
/// Pushes that act at the same time.
pub const PUSHES_MAX: usize = 8;
/// Faults that act at the same time, besides pushes.
pub const FAULTS_MAX: usize = 8;
/// Ticks by which a fault of the link delays a command at most.
pub const LINK_DELAY_TICKS_MAX: u32 = 100;
/// Commands that faults of the link can hold up at the same time.
pub const LINK_HELD_MAX: usize = 128;
/// Sessions that are remembered as revoked: their commands stay refused.
pub const REVOKED_SESSIONS: usize = 8;

/// Sessions that a daemon has at a time, unless `bus.sessions_max` says otherwise.
pub const SESSIONS: u64 = 8;
/// Sessions of one that is the router of ROS 2 nodes, likewise.
pub const ROS_SESSIONS: u64 = 64;
/// Largest message on the bus: one zenoh batch. Fragments may be dropped and may block the sender.
pub const MESSAGE_BYTES_MAX: usize = 65_535;
/// Elements of a sequence in a ROS 2 message.
pub const ROS_ELEMENTS_MAX: usize = 4096;
/// Bytes of a name (robot, joint, link, foot, station, region).
pub const NAME_BYTES_MAX: usize = 96;

/// Slowest speed: simulated seconds per second of wall time.
pub const SPEED_MIN: f64 = 0.001;
/// Largest speed that is paced.
pub const SPEED_MAX: f64 = 1000.0;

/// Run number of a daemon that has not been reset.
pub const FIRST_EPOCH: u32 = 1;

/// Snapshots that may wait for the publisher.
pub const SNAPSHOT_QUEUE: usize = 32;
/// Orders from the bus that may wait for the loop.
pub const ORDER_QUEUE: usize = 32;
/// Ticks that may wait for the recorder: 2 s at 1 kHz.
pub const LOG_QUEUE: usize = 2048;
/// Tick reports that may wait for the monitor: 4 s at 1 kHz.
pub const REPORT_QUEUE: usize = 4096;
/// Occurrences that may wait to be told.
pub const OCCURRENCE_QUEUE: usize = 256;

/// Cases of a campaign.
pub const CASES_MAX: usize = 1_000_000;

/// Size of a URDF file.
pub const URDF_BYTES_MAX: u64 = 16 << 20;
/// Size of a scenario file.
pub const SCENARIO_BYTES_MAX: u64 = 1 << 20;

// 56 bytes of header and 40 per joint
const _: () = assert!(56 + 40 * JOINTS_MAX <= MESSAGE_BYTES_MAX);
// at most 264 bytes per station and 240 per foot, and the header
const _: () = assert!(64 + 264 * STATIONS_MAX + 240 * FEET_MAX <= MESSAGE_BYTES_MAX);
// a tick cannot fill the queue of offers twice
const _: () = assert!(OFFERS_MAX <= LOG_QUEUE);
// a set of joints is made of words
const _: () = assert!(JOINTS_MAX.is_multiple_of(64));
