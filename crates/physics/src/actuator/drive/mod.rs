//! Drives as they are on robots: limits by speed and voltage, delay, friction, elasticity, heat.
//!
//! [`Drive`] has the numbers of one joint's drive, all of them at the joint unless their name says
//! otherwise; by default each part is ideal and does nothing. One file has one law, its numbers by
//! name ([`Key`]) and its state. [`DriveJoint::step`] takes them in the order of the signal:
//!
//! ```text
//! command ─► delay ─► interpolation ─► PD at the control rate ◄─ encoder
//!                                        │
//!             current limit, derating ◄──┘
//!                      │
//!             current loop ─► voltage and speed ─► cogging ─► friction ─► spring and gap ─► joint
//! ```
//!
//! For prismatic joints read N for N·m, and m for rad.

mod battery;
mod cogging;
mod elastic;
mod encoder;
mod friction;
mod heat;
mod key;
mod motor;
mod response;
mod sizes;
mod state;
mod step;
mod timing;
mod torque_speed;
mod watchdog;

pub use battery::Battery;
pub use cogging::Cogging;
pub use elastic::{Elastic, Rotor};
pub use encoder::{Encoder, Measured};
pub use friction::{DriveFriction, StictionState, Teeth};
pub use heat::{Heat, Temperatures};
pub use key::Key;
pub use motor::{Gear, Motor};
pub use response::Bench;
pub use sizes::Size;
pub use state::DriveState;
pub use step::{DriveJoint, Instant, Output};
pub use timing::{Interpolation, Timing, to_ns};
pub use torque_speed::TorqueSpeed;
pub use watchdog::{Watchdog, flags};

/// The numbers of a joint's drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Delay, rates, bandwidth.
    pub timing: Timing,
    /// Encoder.
    pub encoder: Encoder,
    /// Torque by speed.
    pub torque_speed: TorqueSpeed,
    /// Motor.
    pub motor: Motor,
    /// Gear.
    pub gear: Gear,
    /// Friction.
    pub friction: DriveFriction,
    /// Cogging.
    pub cogging: Cogging,
    /// Series elasticity and backlash.
    pub elastic: Elastic,
    /// Heat.
    pub heat: Heat,
    /// Watchdog.
    pub watchdog: Watchdog,
}

impl Drive {
    /// Torque at once, as asked for.
    pub const IDEAL: Self = Self {
        timing: Timing { delay_us: 0.0, control_hz: 0.0, bandwidth_hz: 0.0, interpolation_us: 0.0 },
        encoder: Encoder { counts_per_turn: 0.0, offset_rad: 0.0, velocity_cutoff_hz: 0.0 },
        torque_speed: TorqueSpeed {
            stall_nm: 0.0,
            no_load_rad_per_s: 0.0,
            knee_rad_per_s: 0.0,
            braking_nm: 0.0,
            nominal_v: 0.0,
        },
        motor: Motor {
            torque_constant_nm_per_a: 0.0,
            resistance_ohm: 0.0,
            current_max_a: 0.0,
            rotor_inertia_kg_m2: 0.0,
            supply_v: 0.0,
        },
        gear: Gear::NONE,
        friction: DriveFriction::NONE,
        cogging: Cogging { amplitude_nm: 0.0, periods_per_turn: 0.0 },
        elastic: Elastic {
            stiffness_nm_per_rad: 0.0,
            damping_nm_s_per_rad: 0.0,
            backlash_rad: 0.0,
        },
        heat: Heat::NONE,
        watchdog: Watchdog { timeout_us: 0.0, damping_nm_s_per_rad: 0.0 },
    };

    /// All numbers that can be set, in the order of the signal.
    ///
    /// ```
    /// # use hardstand_physics::actuator::drive::Drive;
    /// let mut drive = Drive::IDEAL;
    /// let key = Drive::keys().find(|key| key.name == "friction.coulomb_nm").unwrap();
    /// key.set(&mut drive, 0.2);
    /// assert_eq!(drive.friction.coulomb_nm, 0.2);
    /// ```
    pub fn keys() -> impl Iterator<Item = &'static Key> {
        let of_time = Timing::KEYS.iter().chain(&Encoder::KEYS);
        let of_torque = TorqueSpeed::KEYS.iter().chain(&Motor::KEYS).chain(&Gear::KEYS);
        let of_gear = DriveFriction::KEYS.iter().chain(&Cogging::KEYS).chain(&Elastic::KEYS);
        of_time.chain(of_torque).chain(of_gear).chain(&Heat::KEYS).chain(&Watchdog::KEYS)
    }

    /// What is wrong with numbers that are each in their range, and the key that is to blame.
    #[must_use]
    pub fn contradiction(&self) -> Option<(&'static str, String)> {
        let t = &self.torque_speed;
        if t.acts() && t.no_load_rad_per_s <= t.knee_rad_per_s {
            let above = format!("above torque_speed.knee_rad_per_s, {}", t.knee_rad_per_s);
            return Some(("torque_speed.no_load_rad_per_s", above));
        }
        let h = &self.heat;
        if h.derate_c > 0.0 && h.derate_c >= h.trip_c {
            return Some(("heat.derate_c", format!("below heat.trip_c, {}", h.trip_c)));
        }
        let m = &self.motor;
        if h.acts() && (m.torque_constant_nm_per_a <= 0.0 || m.resistance_ohm <= 0.0) {
            let what = "0 without motor.torque_constant_nm_per_a and motor.resistance_ohm";
            return Some(("heat.winding_j_per_k", what.into()));
        }
        if m.current_max_a > 0.0 && m.torque_constant_nm_per_a <= 0.0 {
            let what = "0 without motor.torque_constant_nm_per_a";
            return Some(("motor.current_max_a", what.into()));
        }
        if self.elastic.acts() && m.rotor_inertia_kg_m2 <= 0.0 {
            let what = "0 without motor.rotor_inertia_kg_m2 or the joint's armature";
            return Some(("elastic.stiffness_nm_per_rad", what.into()));
        }
        if self.elastic.backlash_rad > 0.0 && !self.elastic.acts() {
            let what = "0 without elastic.stiffness_nm_per_rad: a gap is between two masses";
            return Some(("elastic.backlash_rad", what.into()));
        }
        self.idle()
    }

    /// A number that has no effect without another one.
    fn idle(&self) -> Option<(&'static str, String)> {
        let (t, m) = (&self.torque_speed, &self.motor);
        let (line, constant) = ("torque_speed.stall_nm", "motor.torque_constant_nm_per_a");
        let (makes_torque, resists) = (m.torque_constant_nm_per_a > 0.0, m.resistance_ohm > 0.0);
        let (elastic, watchdog) = (&self.elastic, &self.watchdog);
        let numbers = [
            ("torque_speed.no_load_rad_per_s", t.no_load_rad_per_s, t.acts(), line),
            ("torque_speed.knee_rad_per_s", t.knee_rad_per_s, t.acts(), line),
            ("torque_speed.braking_nm", t.braking_nm, t.acts(), line),
            ("torque_speed.nominal_v", t.nominal_v, t.acts(), line),
            ("motor.resistance_ohm", m.resistance_ohm, makes_torque, constant),
            ("motor.supply_v", m.supply_v, makes_torque, constant),
            ("motor.supply_v", m.supply_v, resists, "motor.resistance_ohm"),
            ("heat.trip_c", self.heat.trip_c, self.heat.acts(), "heat.winding_j_per_k"),
            (
                "elastic.damping_nm_s_per_rad",
                elastic.damping_nm_s_per_rad,
                elastic.acts(),
                "elastic.stiffness_nm_per_rad",
            ),
            (
                "watchdog.damping_nm_s_per_rad",
                watchdog.damping_nm_s_per_rad,
                watchdog.timeout_us > 0.0,
                "watchdog.timeout_us",
            ),
        ];
        let idle = numbers.into_iter().find(|(_, value, acts, _)| *value > 0.0 && !acts);
        idle.map(|(key, _, _, other)| (key, format!("0 without {other}")))
    }

    /// Rotor inertia at the joint, kg·m².
    #[must_use]
    pub fn reflected_kg_m2(&self) -> f64 {
        self.motor.rotor_inertia_kg_m2 * self.gear.ratio * self.gear.ratio
    }

    /// Settles whose the rotor's inertia is, given the joint's `armature` (kg·m²); returns the new
    /// armature. A rotor inertia replaces the armature; behind a spring the rotor, or an armature
    /// that stands for it, no longer belongs to the joint.
    #[must_use]
    pub fn settle_armature(&mut self, armature: f64) -> f64 {
        if self.elastic.acts() {
            if self.motor.rotor_inertia_kg_m2 <= 0.0 {
                self.motor.rotor_inertia_kg_m2 = armature / (self.gear.ratio * self.gear.ratio);
            }
            0.0
        } else if self.motor.rotor_inertia_kg_m2 > 0.0 {
            self.reflected_kg_m2()
        } else {
            armature
        }
    }
}

impl Default for Drive {
    fn default() -> Self {
        Self::IDEAL
    }
}

/// `x`, at least `min` and at most `max`; `min` where they contradict each other. NaN stays NaN.
fn limited(x: f64, [min, max]: [f64; 2]) -> f64 {
    let x = if x > max { max } else { x };
    if x < min { min } else { x }
}
