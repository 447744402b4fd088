//! Series elasticity and backlash: motor and joint as two masses with a spring and a gap between.

use super::Key;

/// The spring between motor and joint; off while the stiffness is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Elastic {
    /// Stiffness at the joint, N·m/rad; 0: rigid.
    pub stiffness_nm_per_rad: f64,
    /// Damping at the joint, N·m·s/rad.
    pub damping_nm_s_per_rad: f64,
    /// Play of the gear, from one end of the gap to the other, rad at the joint.
    pub backlash_rad: f64,
}

impl Elastic {
    /// What can be set.
    pub(super) const KEYS: [Key; 3] = [
        Key::new("elastic.stiffness_nm_per_rad", (0.0, 1e9), "at the joint; 0: rigid", |d| {
            &mut d.elastic.stiffness_nm_per_rad
        }),
        Key::new("elastic.damping_nm_s_per_rad", (0.0, 1e6), "at the joint", |d| {
            &mut d.elastic.damping_nm_s_per_rad
        }),
        Key::new("elastic.backlash_rad", (0.0, 1.0), "gap of the gear at the joint", |d| {
            &mut d.elastic.backlash_rad
        }),
    ];

    /// True if motor and joint are two masses.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.stiffness_nm_per_rad > 0.0
    }

    /// The same, as stiff as explicit micro-steps of `h_s` allow between a rotor and a joint of
    /// these inertias, kg·m²: at most 1/12 of a period in a step.
    #[must_use]
    pub fn limited(&self, rotor_kg_m2: f64, joint_kg_m2: f64, h_s: f64) -> Self {
        let reduced_kg_m2 = 1.0 / (1.0 / rotor_kg_m2 + 1.0 / joint_kg_m2);
        let omega = 0.5 / h_s;
        Self {
            stiffness_nm_per_rad: self.stiffness_nm_per_rad.min(reduced_kg_m2 * omega * omega),
            damping_nm_s_per_rad: self.damping_nm_s_per_rad.min(0.5 * reduced_kg_m2 / h_s),
            ..*self
        }
    }

    /// Torque on the joint when the motor is `ahead` of it (rad) and moves `faster` (rad/s), N·m:
    /// none within the gap, and the faces of the gap never pull.
    #[must_use]
    pub fn torque_nm(&self, ahead: f64, faster: f64) -> f64 {
        let half = 0.5 * self.backlash_rad;
        if half <= 0.0 {
            return self.stiffness_nm_per_rad * ahead + self.damping_nm_s_per_rad * faster;
        }
        let pressed = ahead - ahead.clamp(-half, half);
        if pressed == 0.0 {
            return 0.0;
        }
        let torque_nm = self.stiffness_nm_per_rad * pressed + self.damping_nm_s_per_rad * faster;
        if torque_nm * pressed > 0.0 { torque_nm } else { 0.0 }
    }
}

/// The motor, seen at the joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rotor {
    /// Position, rad.
    pub q: f64,
    /// Speed, rad/s.
    pub dq: f64,
}

impl Rotor {
    /// Visits every number.
    #[inline(always)]
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        visit("drive.motor_q", &mut self.q);
        visit("drive.motor_dq", &mut self.dq);
    }
}
