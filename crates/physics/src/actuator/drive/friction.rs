//! Friction of motor and gear: Coulomb, viscous, Stribeck and load, and holding at rest.
//!
//! The largest friction at the speed `v`, with the torques `τm` of the motor and `τe` of the load
//! on the same axis, is that of the models M1 to M6 of M. Duclusaud, G. Passault, V. Padois, O. Ly,
//! "Extended Friction Models for the Physics Simulation of Servo Actuators":
//!
//! ```text
//! F(v) = Kc + |Ke τe − Km τm| + s (Kcs + |Kes τe − Kms τm| + quadratic) + Kv |v|
//! s = exp(−|v / vs|^α)
//! ```
//!
//! M1 has `Kc` and `Kv`, M2 adds `Kcs`, M3 and M4 have `Ke = Km` and `Kes = Kms`, M5 and M6 all.
//! Their simulator takes the torque that stops the joint in a step, up to `F`. Here a spring of the
//! stiffness `k`, a few µrad long, stands for the gear's teeth at rest: below `F` the joint does
//! not creep, whatever the load does, and above it the spring's end slides along.

use crate::math;

use super::{Key, limited};

/// Coefficients of friction at the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveFriction {
    /// Coulomb friction, N·m.
    pub coulomb_nm: f64,
    /// Viscous friction, N·m·s/rad.
    pub viscous_nm_s_per_rad: f64,
    /// What friction at rest has on top of Coulomb friction: the breakaway torque is the sum, N·m.
    pub stribeck_nm: f64,
    /// Speed at which that has fallen to 1/e, rad/s.
    pub stribeck_speed_rad_per_s: f64,
    /// Exponent of the fall.
    pub stribeck_exponent: f64,
    /// Share of the motor's torque, and of the load's.
    pub load_motor: f64,
    /// See `load_motor`.
    pub load_external: f64,
    /// The same, at rest on top.
    pub load_motor_stribeck: f64,
    /// See `load_motor_stribeck`.
    pub load_external_stribeck: f64,
    /// Share of the square of the motor's torque where the load drives the motor, 1/(N·m).
    pub load_motor_quadratic_per_nm: f64,
    /// Share of the square of the load's torque where the motor drives the load, 1/(N·m).
    pub load_external_quadratic_per_nm: f64,
}

impl DriveFriction {
    /// No friction.
    pub const NONE: Self = Self {
        coulomb_nm: 0.0,
        viscous_nm_s_per_rad: 0.0,
        stribeck_nm: 0.0,
        stribeck_speed_rad_per_s: 0.1,
        stribeck_exponent: 2.0,
        load_motor: 0.0,
        load_external: 0.0,
        load_motor_stribeck: 0.0,
        load_external_stribeck: 0.0,
        load_motor_quadratic_per_nm: 0.0,
        load_external_quadratic_per_nm: 0.0,
    };

    /// What can be set.
    pub(super) const KEYS: [Key; 11] = [
        Key::new("friction.coulomb_nm", (0.0, 1e6), "Coulomb friction", |d| {
            &mut d.friction.coulomb_nm
        }),
        Key::new("friction.viscous_nm_s_per_rad", (0.0, 1e6), "viscous friction", |d| {
            &mut d.friction.viscous_nm_s_per_rad
        }),
        Key::new("friction.stribeck_nm", (0.0, 1e6), "breakaway torque less Coulomb's", |d| {
            &mut d.friction.stribeck_nm
        }),
        Key::new(
            "friction.stribeck_speed_rad_per_s",
            (1e-6, 1e4),
            "speed at which stribeck_nm has fallen to 1/e",
            |d| &mut d.friction.stribeck_speed_rad_per_s,
        ),
        Key::new("friction.stribeck_exponent", (0.1, 20.0), "exponent of that fall", |d| {
            &mut d.friction.stribeck_exponent
        }),
        Key::new("friction.load_motor", (0.0, 10.0), "share of the motor's torque", |d| {
            &mut d.friction.load_motor
        }),
        Key::new("friction.load_external", (0.0, 10.0), "share of the load's torque", |d| {
            &mut d.friction.load_external
        }),
        Key::new(
            "friction.load_motor_stribeck",
            (0.0, 10.0),
            "share of the motor's torque at rest, on top",
            |d| &mut d.friction.load_motor_stribeck,
        ),
        Key::new(
            "friction.load_external_stribeck",
            (0.0, 10.0),
            "share of the load's torque at rest, on top",
            |d| &mut d.friction.load_external_stribeck,
        ),
        Key::new(
            "friction.load_motor_quadratic_per_nm",
            (0.0, 10.0),
            "share of the motor's torque squared at rest, driven by the load",
            |d| &mut d.friction.load_motor_quadratic_per_nm,
        ),
        Key::new(
            "friction.load_external_quadratic_per_nm",
            (0.0, 10.0),
            "share of the load's torque squared at rest, driven by the motor",
            |d| &mut d.friction.load_external_quadratic_per_nm,
        ),
    ];

    /// Largest friction without its viscous part at the speed `v` (rad/s), N·m; `motor_nm` and
    /// `load_nm` are the torques of motor and load on the same axis.
    #[must_use]
    pub fn budget_nm(&self, motor_nm: f64, load_nm: f64, v: f64) -> f64 {
        let sliding = (self.load_external * load_nm - self.load_motor * motor_nm).abs();
        let at_rest_more = self.stribeck_nm
            + (self.load_external_stribeck * load_nm - self.load_motor_stribeck * motor_nm).abs()
            + self.quadratic_nm(motor_nm, load_nm);
        let budget = self.coulomb_nm + sliding;
        if at_rest_more > 0.0 { budget + self.rest_share(v) * at_rest_more } else { budget }
    }

    fn quadratic_nm(&self, motor_nm: f64, load_nm: f64) -> f64 {
        if motor_nm * load_nm > 0.0 {
            return 0.0; // both the same way: nothing presses on the gear from both sides
        }
        if load_nm.abs() < motor_nm.abs() {
            self.load_external_quadratic_per_nm * load_nm * load_nm
        } else {
            self.load_motor_quadratic_per_nm * motor_nm * motor_nm
        }
    }

    /// 1 at rest, falling to 0 with speed.
    fn rest_share(&self, v: f64) -> f64 {
        let x = v.abs() / self.stribeck_speed_rad_per_s;
        math::exp(-math::pow(x, self.stribeck_exponent))
    }
}

/// The gear's teeth at rest: where the far end of their spring is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StictionState {
    /// Position at which the spring is relaxed, rad.
    pub anchor_rad: f64,
}

impl StictionState {
    /// Friction against the motion at position `q` and speed `v`, N·m, at most `budget_nm`. The
    /// spring has the stiffness and damping of `teeth`.
    pub fn friction_nm(&mut self, teeth: &Teeth, budget_nm: f64, q: f64, v: f64) -> f64 {
        let stretched_nm = teeth.stiffness_nm_per_rad * (q - self.anchor_rad);
        if stretched_nm.abs() > budget_nm {
            let held_nm = budget_nm.copysign(stretched_nm);
            self.anchor_rad = q - held_nm / teeth.stiffness_nm_per_rad;
        }
        let held_nm = teeth.stiffness_nm_per_rad * (q - self.anchor_rad);
        let asked_nm = held_nm + teeth.damping_nm_s_per_rad * v;
        limited(asked_nm, [-budget_nm, budget_nm])
    }

    /// Visits every number.
    #[inline(always)]
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        visit("drive.anchor", &mut self.anchor_rad);
    }
}

/// The spring at rest, as stiff as explicit micro-steps allow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Teeth {
    /// N·m/rad.
    pub stiffness_nm_per_rad: f64,
    /// N·m·s/rad.
    pub damping_nm_s_per_rad: f64,
}

impl Teeth {
    /// For the inertia that moves with the spring (kg·m²) and micro-steps of `h_s`: critically
    /// damped, with a period of thirty micro-steps.
    #[must_use]
    pub fn of(inertia_kg_m2: f64, h_s: f64) -> Self {
        let omega = 0.2 / h_s;
        Self {
            stiffness_nm_per_rad: inertia_kg_m2 * omega * omega,
            damping_nm_s_per_rad: 2.0 * inertia_kg_m2 * omega,
        }
    }
}
