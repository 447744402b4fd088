//! Motor and gear: torque constant, resistance, current limit, rotor, efficiency.

use super::Key;

/// The motor before its gear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motor {
    /// Torque constant, N·m/A, which is also the back-EMF's in V·s/rad; 0: current is not known.
    pub torque_constant_nm_per_a: f64,
    /// Resistance at 25 °C, Ω. With the torque constant and a supply it limits torque by speed.
    pub resistance_ohm: f64,
    /// Largest current, A; 0: none.
    pub current_max_a: f64,
    /// Inertia of the rotor, kg·m²; 0: the joint's armature stays as it is.
    pub rotor_inertia_kg_m2: f64,
    /// Supply without a battery, V; 0: unlimited.
    pub supply_v: f64,
}

/// The gear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// Turns of the rotor for a turn of the joint.
    pub ratio: f64,
    /// Share of the power that arrives when the motor drives the load.
    pub efficiency: f64,
    /// Share of the power that arrives when the load drives the motor.
    pub efficiency_back: f64,
}

impl Gear {
    /// No gear.
    pub const NONE: Self = Self { ratio: 1.0, efficiency: 1.0, efficiency_back: 1.0 };

    /// What can be set.
    pub(super) const KEYS: [Key; 3] = [
        Key::new("gear.ratio", (1e-3, 1e4), "turns of the rotor for one of the joint", |d| {
            &mut d.gear.ratio
        }),
        Key::new("gear.efficiency", (0.01, 1.0), "of the motor driving the load", |d| {
            &mut d.gear.efficiency
        }),
        Key::new("gear.efficiency_back", (0.01, 1.0), "of the load driving the motor", |d| {
            &mut d.gear.efficiency_back
        }),
    ];

    /// Friction of the gear's efficiency under the torque `motor_nm`, N·m, when the joint moves, or
    /// is about to, in the direction of `motion`: what arrives of `τ` is `τ η` forwards and `τ / η`
    /// backwards.
    #[must_use]
    pub fn loss_nm(&self, motor_nm: f64, motion: f64) -> f64 {
        let share = if motor_nm * motion >= 0.0 {
            1.0 - self.efficiency
        } else {
            1.0 / self.efficiency_back - 1.0
        };
        share * motor_nm.abs()
    }
}

impl Motor {
    /// What can be set.
    pub(super) const KEYS: [Key; 5] = [
        Key::new("motor.torque_constant_nm_per_a", (0.0, 1e4), "of the rotor", |d| {
            &mut d.motor.torque_constant_nm_per_a
        }),
        Key::new("motor.resistance_ohm", (0.0, 1e4), "of the winding at 25 °C", |d| {
            &mut d.motor.resistance_ohm
        }),
        Key::new("motor.current_max_a", (0.0, 1e5), "largest current; 0: none", |d| {
            &mut d.motor.current_max_a
        }),
        Key::new("motor.rotor_inertia_kg_m2", (0.0, 1e3), "replaces armature; 0: does not", |d| {
            &mut d.motor.rotor_inertia_kg_m2
        }),
        Key::new("motor.supply_v", (0.0, 1e5), "without a battery; 0: unlimited", |d| {
            &mut d.motor.supply_v
        }),
    ];

    /// Current for the torque `torque_nm` at the joint, A; 0 without a torque constant.
    #[must_use]
    pub fn current_a(&self, gear: &Gear, torque_nm: f64) -> f64 {
        let per_a = self.torque_constant_nm_per_a * gear.ratio;
        if per_a > 0.0 { torque_nm / per_a } else { 0.0 }
    }

    /// Torque at the joint that the current limit allows, N·m.
    #[must_use]
    pub fn current_limit_nm(&self, gear: &Gear) -> f64 {
        let limit_nm = self.current_max_a * self.torque_constant_nm_per_a * gear.ratio;
        if limit_nm > 0.0 { limit_nm } else { f64::INFINITY }
    }

    /// Least and largest torque at the joint at its speed `v` (rad/s) with the voltage `supply_v`
    /// at the winding, of the resistance `resistance_ohm`: `kt (±V − ke ω) / R`, N·m.
    #[must_use]
    pub fn voltage_range_nm(
        &self,
        gear: &Gear,
        resistance_ohm: f64,
        supply_v: f64,
        v: f64,
    ) -> [f64; 2] {
        let per_a = self.torque_constant_nm_per_a * gear.ratio;
        if per_a <= 0.0 || resistance_ohm <= 0.0 || supply_v <= 0.0 {
            return [f64::NEG_INFINITY, f64::INFINITY];
        }
        let back_v = per_a * v;
        [-supply_v, supply_v].map(|side_v| per_a * (side_v - back_v) / resistance_ohm)
    }
}
