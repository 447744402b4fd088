//! What stops the plant.

/// Why the plant stopped. The state stays at the last good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantFailure {
    /// A position, velocity or acceleration became NaN or infinite: usually the contact or a gain
    /// is too stiff for the micro-step.
    NotFinite,
    /// The base or a joint became faster than 1e4 m/s or rad/s, or went farther than 1e6 m or rad,
    /// or a contact's normal force exceeded 1e9 N: a rigid contact cannot hold the load, or
    /// stiffness or dissipation are too large for the micro-step.
    OutOfRange,
    /// More shapes touch than there is room for.
    TooManyContacts,
}

/// Largest speed that still counts as a simulation of a robot, m/s or rad/s.
pub(super) const SPEED_MAX: f64 = 1e4;
/// Largest number of any kind. Squares of such numbers, which lengths are made of, and sums and
/// products of a few with places and speeds stay finite, so that a snapshot is finite if its
/// ingredients are below this.
pub(super) const NUMBER_MAX: f64 = 1e140;
/// Largest normal force of a contact, N.
pub(super) const FORCE_MAX_N: f64 = 1e9;
/// Largest distance of the base from the world's origin, m.
pub(super) const REACH_MAX_M: f64 = 1e6;
