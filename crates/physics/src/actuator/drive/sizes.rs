//! How large a change of each number matters, for a fit that begins at or near 0.

use super::{Drive, Key};

/// How large a change of a number matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// A change that shows in a robot's motion, in the number's unit.
    pub typical: f64,
    /// 0 does not mean "little" but that the law is off, or that another number stands for it, so
    /// no fit can begin at 0 or go there.
    pub zero_is_off: bool,
}

/// A number that may go to 0.
const fn from_zero(typical: f64) -> Size {
    Size { typical, zero_is_off: false }
}

/// A number whose 0 switches its law off.
const fn above_zero(typical: f64) -> Size {
    Size { typical, zero_is_off: true }
}

/// In the order of [`Drive::keys`].
const SIZES: [(&str, Size); 45] = [
    ("delay_us", from_zero(2000.0)),
    ("control_hz", above_zero(50.0)),
    ("bandwidth_hz", above_zero(10.0)),
    ("interpolation_us", from_zero(2000.0)),
    ("encoder.counts_per_turn", above_zero(500.0)),
    ("encoder.offset_rad", from_zero(0.02)),
    ("encoder.velocity_cutoff_hz", above_zero(10.0)),
    ("torque_speed.stall_nm", above_zero(2.0)),
    ("torque_speed.no_load_rad_per_s", above_zero(2.0)),
    ("torque_speed.knee_rad_per_s", from_zero(2.0)),
    ("torque_speed.braking_nm", above_zero(2.0)),
    ("torque_speed.nominal_v", above_zero(2.0)),
    ("motor.torque_constant_nm_per_a", above_zero(0.01)),
    ("motor.resistance_ohm", above_zero(0.05)),
    ("motor.current_max_a", above_zero(2.0)),
    ("motor.rotor_inertia_kg_m2", above_zero(1e-5)),
    ("motor.supply_v", above_zero(2.0)),
    ("gear.ratio", from_zero(1.0)),
    ("gear.efficiency", from_zero(0.05)),
    ("gear.efficiency_back", from_zero(0.05)),
    ("friction.coulomb_nm", from_zero(0.1)),
    ("friction.viscous_nm_s_per_rad", from_zero(0.1)),
    ("friction.stribeck_nm", from_zero(0.1)),
    ("friction.stribeck_speed_rad_per_s", from_zero(0.05)),
    ("friction.stribeck_exponent", from_zero(1.0)),
    ("friction.load_motor", from_zero(0.1)),
    ("friction.load_external", from_zero(0.1)),
    ("friction.load_motor_stribeck", from_zero(0.1)),
    ("friction.load_external_stribeck", from_zero(0.1)),
    ("friction.load_motor_quadratic_per_nm", from_zero(0.05)),
    ("friction.load_external_quadratic_per_nm", from_zero(0.05)),
    ("cogging.amplitude_nm", from_zero(0.1)),
    ("cogging.periods_per_turn", above_zero(1.0)),
    ("elastic.stiffness_nm_per_rad", above_zero(20.0)),
    ("elastic.damping_nm_s_per_rad", from_zero(0.1)),
    ("elastic.backlash_rad", from_zero(0.005)),
    ("heat.winding_j_per_k", above_zero(10.0)),
    ("heat.housing_j_per_k", from_zero(20.0)),
    ("heat.winding_to_housing_k_per_w", from_zero(0.2)),
    ("heat.housing_to_air_k_per_w", from_zero(0.2)),
    ("heat.air_c", from_zero(10.0)),
    ("heat.derate_c", above_zero(10.0)),
    ("heat.trip_c", above_zero(10.0)),
    ("watchdog.timeout_us", above_zero(10_000.0)),
    ("watchdog.damping_nm_s_per_rad", from_zero(0.1)),
];

impl Drive {
    /// How large a change of the number `key` matters.
    #[must_use]
    pub fn size(key: &Key) -> Option<Size> {
        SIZES.iter().find(|(name, _)| *name == key.name).map(|(_, size)| *size)
    }
}
