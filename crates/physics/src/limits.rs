//! Every bound of the physics in one place.

/// Joints of a robot.
pub const JOINTS_MAX: usize = 256;
/// Contacts of a scenario that there is room for. Of more stations times surfaces than this, only
/// near ones count.
pub const STATIONS_MAX: usize = 192;
/// Places that each station has at least for the surfaces that are near it.
pub const PLACES_MIN: usize = 4;
/// Constraints of a scenario.
pub const CONSTRAINTS_MAX: usize = 32;
/// Free bodies of a scenario.
pub const BODIES_MAX: usize = 64;
/// Feet of a scenario.
pub const FEET_MAX: usize = 32;
/// Surfaces of a scenario's ground: planes, and pieces of terrain.
pub const SURFACES_MAX: usize = 128;
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
/// Pushes that act at the same time.
pub const PUSHES_MAX: usize = 8;
