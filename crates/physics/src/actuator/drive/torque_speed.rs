//! What a motor can make at a speed, in four quadrants.
//!
//! ```text
//!        torque
//!   stall ┤───────╮ knee            driving: flat up to the knee, then the line to no-load
//!         │        ╲
//!  ───────┼─────────╲──── speed     beyond no-load the supply's voltage brakes the motor
//!         │       no-load
//! braking ┤──────────────           braking: flat
//! ```
//!
//! With a supply of another voltage, no-load speed follows it and the slope of the line stays:
//! torque falls by `kt ke / R` for each rad/s.

use super::{Key, limited};

/// Limits of torque by speed; off while `stall_nm` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TorqueSpeed {
    /// Torque from rest up to the knee, N·m; 0: no such limit.
    pub stall_nm: f64,
    /// Speed without load at the nominal voltage, rad/s.
    pub no_load_rad_per_s: f64,
    /// Speed up to which the motor makes its stall torque, rad/s.
    pub knee_rad_per_s: f64,
    /// Torque against the motion, N·m; 0: as at stall.
    pub braking_nm: f64,
    /// Voltage of the supply for which the numbers hold, V; 0: they hold at any.
    pub nominal_v: f64,
}

impl TorqueSpeed {
    /// What can be set.
    pub(super) const KEYS: [Key; 5] = [
        Key::new("torque_speed.stall_nm", (0.0, 1e6), "torque at rest; 0: no limit", |d| {
            &mut d.torque_speed.stall_nm
        }),
        Key::new("torque_speed.no_load_rad_per_s", (0.0, 1e6), "speed without load", |d| {
            &mut d.torque_speed.no_load_rad_per_s
        }),
        Key::new("torque_speed.knee_rad_per_s", (0.0, 1e6), "speed up to which it is flat", |d| {
            &mut d.torque_speed.knee_rad_per_s
        }),
        Key::new("torque_speed.braking_nm", (0.0, 1e6), "torque when braking; 0: stall", |d| {
            &mut d.torque_speed.braking_nm
        }),
        Key::new("torque_speed.nominal_v", (0.0, 1e5), "supply of these numbers; 0: any", |d| {
            &mut d.torque_speed.nominal_v
        }),
    ];

    /// True if it limits anything.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.stall_nm > 0.0
    }

    /// Least and largest torque at the speed `v` (rad/s) with the supply at `voltage` times its
    /// nominal value, N·m. At rest both are the stall torque; beyond no-load speed both are against
    /// the motion.
    #[must_use]
    pub fn range_nm(&self, v: f64, voltage: f64) -> [f64; 2] {
        if !self.acts() {
            return [f64::NEG_INFINITY, f64::INFINITY];
        }
        let braking_nm = if self.braking_nm > 0.0 { self.braking_nm } else { self.stall_nm };
        let fall = self.no_load_rad_per_s - self.knee_rad_per_s;
        let slope = self.stall_nm / fall.max(1e-9);
        let driving_nm = slope * (self.no_load_rad_per_s * voltage - v.abs());
        let driving_nm = limited(driving_nm, [-braking_nm, self.stall_nm]);
        // at rest nothing brakes, to either side
        let against_nm = if v == 0.0 { driving_nm } else { braking_nm };
        if v < 0.0 { [-driving_nm, against_nm] } else { [-against_nm, driving_nm] }
    }
}
