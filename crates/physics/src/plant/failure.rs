//! Bounds beyond which the plant stops.

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
