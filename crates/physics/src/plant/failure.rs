//! What stops the plant.

use serde::{Deserialize, Serialize};

/// Why the plant stopped. The state stays at the last good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlantFailure {
    /// A position, velocity or acceleration became NaN or infinite: usually the contact or a gain
    /// is too stiff for the micro-step.
    NotFinite,
    /// The base or a joint became faster than 1e4 m/s or rad/s, or went farther than 1e6 m or rad,
    /// or a contact's normal force exceeded 1e9 N: a rigid one was asked to hold what nothing can
    /// move out of its way, or stiffness or dissipation are too large for the micro-step.
    OutOfRange,
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

impl PlantFailure {
    /// Number on the wire; 0 is no fault.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::NotFinite => 1,
            Self::OutOfRange => 2,
        }
    }

    /// What it means and what to do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::NotFinite => {
                "a number is no longer finite; raise sim.micro_steps or lower the stiffness \
                 of the contact or the gains"
            }
            Self::OutOfRange => {
                "a speed exceeds 1e4 m/s or rad/s, the base is more than 1e6 m away, or a contact \
                 is pressed beyond 1e9 N; raise sim.micro_steps or lower the stiffness or \
                 dissipation of the contact or the gains"
            }
        }
    }
}
