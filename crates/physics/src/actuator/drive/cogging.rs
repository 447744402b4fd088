//! Cogging: torque of the magnets that repeats with the rotor's position.

use crate::math;

use super::Key;

/// A sine over the joint's position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cogging {
    /// Amplitude at the joint, N·m.
    pub amplitude_nm: f64,
    /// Periods in a turn of the joint.
    pub periods_per_turn: f64,
}

impl Cogging {
    /// What can be set.
    pub(super) const KEYS: [Key; 2] = [
        Key::new("cogging.amplitude_nm", (0.0, 1e6), "amplitude at the joint", |d| {
            &mut d.cogging.amplitude_nm
        }),
        Key::new("cogging.periods_per_turn", (0.0, 1e6), "periods in a turn of the joint", |d| {
            &mut d.cogging.periods_per_turn
        }),
    ];

    /// Torque at the motor's position `q` (rad, at the joint), N·m.
    #[must_use]
    pub fn torque_nm(&self, q: f64) -> f64 {
        if self.amplitude_nm > 0.0 {
            self.amplitude_nm * math::sin_cos(self.periods_per_turn * q).0
        } else {
            0.0
        }
    }
}
