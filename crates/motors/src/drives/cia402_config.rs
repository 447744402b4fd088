//! What one CiA 402 drive has of its own, and its units on the wire.

use std::f64::consts::TAU;

/// What is the drive's own, at its shaft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cia402Config {
    /// Counts of the encoder in a turn.
    pub counts_per_rev: u32,
    /// Torque that the thousandths on the wire are of.
    pub rated_torque_nm: f64,
    /// Torque that the drive never exceeds.
    pub max_torque_nm: f64,
    /// Stiffness in N·m/rad at power-on, object 0x2001:01.
    pub stiffness: f32,
    /// Damping in N·m·s/rad at power-on, object 0x2001:02.
    pub damping: f32,
}

impl Default for Cia402Config {
    fn default() -> Self {
        Self {
            counts_per_rev: 1 << 20,
            rated_torque_nm: 10.0,
            max_torque_nm: 30.0,
            stiffness: 100.0,
            damping: 3.0,
        }
    }
}

impl Cia402Config {
    pub(super) fn counts(&self, rad: f64) -> f64 {
        (rad / TAU * f64::from(self.counts_per_rev)).round()
    }

    pub(super) fn rad(&self, counts: i32) -> f64 {
        f64::from(counts) / f64::from(self.counts_per_rev) * TAU
    }

    /// Thousandths of the rated torque.
    pub(super) fn permille(&self, nm: f64) -> i64 {
        i64::from((nm / self.rated_torque_nm * 1000.0).round() as i16)
    }

    pub(super) fn nm(&self, permille: f64) -> f64 {
        permille / 1000.0 * self.rated_torque_nm
    }
}
