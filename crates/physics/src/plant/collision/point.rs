//! One point of contact of two shapes.

use crate::contact::{ContactForce, ContactSlopes, Friction, SpringForce};
use crate::spatial::{Mat3, Vec3};

use super::super::implicit::Brake;
use super::Carrier;
use super::memory::PointMemory;
use super::set::FIELD;

/// One point at the instant of the last evaluation. A and B are the shapes, B the ground where one
/// of them is; C is the frame of the contact: z is the normal, from B to A.
#[derive(Clone, Copy, Debug)]
pub struct CollisionPoint {
    /// What carries A and B.
    pub carriers: [Carrier; 2],
    /// Where the force acts, in W, m.
    pub point_W: Vec3,
    /// Axes of C in W.
    pub R_WC: Mat3,
    /// How deep the shapes overlap, m; negative for a gap.
    pub depth_m: f64,
    /// Share of the point in its patch: the force counts with it.
    pub weight: f64,
    /// Velocity of A relative to B at the point, in C, m/s.
    pub v_C: Vec3,
    /// Coefficients of friction here and now.
    pub friction: Friction,
    /// What it remembered when it was evaluated.
    pub(in super::super) memory: PointMemory,
    /// All forces on A in C, for a weight of 1; those of a rigid contact as they are.
    pub(in super::super) force: SpringForce,
    pub(super) slopes: ContactSlopes,
    /// Moment against rolling and spinning on A, in C, N·m, for a weight of 1.
    pub(super) moment_C: Vec3,
    /// That moment over the rates against which it acts, N·m·s/rad.
    pub(super) spin_damping: [f64; 2],
    /// Whether its force is the impulse of the last step, and not a function of place.
    pub is_rigid: bool,
    /// Place of its force law among those of the set.
    pub(super) law: usize,
}

impl CollisionPoint {
    /// Force on A in W, N.
    #[must_use]
    pub fn force_W(&self) -> Vec3 {
        self.R_WC * (self.force.force_P() * self.weight)
    }

    /// Moment on A in W about the point, N·m.
    #[must_use]
    pub fn moment_W(&self) -> Vec3 {
        self.R_WC * (self.moment_C * self.weight)
    }

    /// True for a moment of a link against rolling on the ground.
    pub(super) fn brakes_on_ground(&self) -> bool {
        let on_ground = matches!(self.carriers, [Carrier::Link(_), Carrier::Surface(_)]);
        on_ground && self.moment_C != Vec3::zeros()
    }

    /// What acts on A against rolling and spinning.
    pub(super) fn brake(&self) -> Brake {
        let damping = self.spin_damping.map(|d| d * self.weight);
        Brake { moment_C: self.moment_C * self.weight, damping, R_WC: self.R_WC }
    }

    /// Leaves this share of the moment against rolling, and of the power that it takes.
    pub(super) fn weaken_moment(&mut self, share: f64) {
        let ([across, along], m) = (self.spin_damping, self.moment_C);
        let power_w = |square: f64, damping: f64| {
            if damping > 0.0 { square / damping } else { 0.0 }
        };
        let taken_w = power_w(m.x * m.x + m.y * m.y, across) + power_w(m.z * m.z, along);
        self.force.power_dissipation_w -= (1.0 - share) * taken_w;
        self.moment_C = m * share;
        self.spin_damping = [across * share, along * share];
    }

    /// Numbers of the shapes A and B; the ground's come after those of the spec.
    #[must_use]
    pub const fn shapes(&self) -> [usize; 2] {
        let pair = self.memory.pair & !FIELD;
        [
            (pair >> 32) as usize,
            if self.memory.pair & FIELD == 0 { pair as u32 as usize } else { usize::MAX },
        ]
    }

    /// Normal force on A in W, N.
    #[must_use]
    pub fn normal_W(&self) -> Vec3 {
        self.R_WC * (self.force.normal_P() * self.weight)
    }

    /// Normal force, N.
    #[must_use]
    pub fn normal_n(&self) -> f64 {
        self.force.normal_n * self.weight
    }

    /// Whether it slides: 0 sticks, 1 slides.
    #[must_use]
    pub const fn sliding(&self) -> f64 {
        self.force.next_sliding
    }

    /// How far a rigid contact has moved from where it sticks, in C, m.
    pub(in super::super) fn stretch_C(&self) -> Vec3 {
        let ([x, y, _], [x0, y0]) = (self.force.p_P, self.force.next_anchor_P);
        Vec3::new(x - x0, y - y0, 0.0)
    }

    /// Force on A in W where it acts, with energy and power.
    #[must_use]
    pub fn record_W(&self) -> ContactForce {
        ContactForce {
            point: self.point_W,
            force: self.force_W(),
            moment: self.moment_W(),
            potential_energy_j: self.force.potential_energy_j * self.weight,
            power_dissipation_w: self.force.power_dissipation_w * self.weight,
        }
    }

    /// The numbers of the force, for a weight of 1, in C.
    #[must_use]
    pub const fn spring_force(&self) -> &SpringForce {
        &self.force
    }
}
