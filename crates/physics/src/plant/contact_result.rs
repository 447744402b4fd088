//! One contact: geometry, and the force of its model.

use crate::contact::{
    ContactForce, ContactSlopes, ExponentialSpring, Friction, HuntCrossley, HuntCrossleyForce,
    Memory, Overlap, Prints, RollingFriction, RollingMemory, SoftGround, SpringForce, SurfacePose,
    Touch, stretched,
};
use crate::dynamics::Data;
use crate::math;
use crate::spatial::{Mat3, Vec3};

use super::contact_state::{RigidMemory, RigidPhase, SpringMemory};
use super::implicit::Brake;

/// One contact at the instant of the last evaluation.
#[derive(Clone, Copy, Debug)]
pub struct ContactResult {
    /// Body of the station.
    pub body: usize,
    /// Number of the surface; `None` for a place that no surface has taken.
    pub surface: Option<usize>,
    /// Geometry.
    pub touch: Touch,
    /// Where the force acts, in the body's frame, m.
    pub point_B: Vec3,
    /// Velocity of that point of the body relative to the ground, in C, m/s.
    pub v_C: Vec3,
    /// True for a rigid contact: its force is an impulse of the last step, not a function of place.
    pub rigid: bool,
    /// Coefficients of friction here and now: the region's, or else the station's own.
    pub friction: Friction,
    /// All forces in the contact's frame C, whatever the model.
    pub force: SpringForce,
    /// Moment against rolling and spinning on the body, in C, N·m.
    pub moment_C: Vec3,
    /// That moment over the rates against which it acts, N·m·s/rad.
    pub(super) spin_damping: [f64; 2],
    /// How fast a Hunt–Crossley force, or soft ground, gives way; that of a spring follows from the
    /// force itself.
    pub(super) slopes: ContactSlopes,
    /// How deep soft ground has been pressed under the station, if this evaluation is committed, m.
    pub(super) pressed_m: f64,
    /// Not 0 for a rigid contact so far above the ground that nothing else was evaluated, m.
    pub(super) far_m: f64,
}

impl ContactResult {
    /// A contact that has not been evaluated yet.
    pub(super) fn new(body: usize, surface: Option<usize>, rigid: bool) -> Self {
        let (zero, R_WC) = (Vec3::zeros(), Mat3::identity());
        Self {
            body,
            surface,
            touch: Touch { X_SC: None, R_WC, p_C: zero, point_W: zero },
            point_B: zero,
            v_C: zero,
            rigid,
            friction: Friction::NONE,
            force: SpringForce::default(),
            moment_C: zero,
            spin_damping: [0.0; 2],
            slopes: ContactSlopes::default(),
            pressed_m: 0.0,
            far_m: 0.0,
        }
    }

    /// A place that no surface has taken: nothing is nearer than `reach_m`.
    pub(super) fn empty(body: usize, rigid: bool, reach_m: f64) -> Self {
        let mut at = Self::new(body, None, rigid);
        at.touch.p_C.z = reach_m;
        at.force.p_P[2] = reach_m;
        at
    }

    /// The record of this contact in W: surface 2 is the station's body.
    #[must_use]
    pub fn record_W(&self) -> ContactForce {
        ContactForce {
            point: self.touch.point_W,
            force: self.touch.R_WC * self.force.force_P(),
            moment: self.touch.R_WC * self.moment_C,
            potential_energy_j: self.force.potential_energy_j,
            power_dissipation_w: self.force.power_dissipation_w,
        }
    }

    /// The normal part of its force in W, N.
    #[must_use]
    pub fn normal_W(&self) -> Vec3 {
        self.touch.R_WC * self.force.normal_P()
    }
}

impl ContactResult {
    /// The touching point put down onto the ground, in S, m.
    pub(super) fn ground_point_S(&self) -> Vec3 {
        let p = self.touch.p_C;
        self.touch.point_S(&Vec3::new(p.x, p.y, 0.0))
    }

    /// The point that stretches the friction spring, put down onto the ground, in S, m.
    pub(super) fn stretched_point_S(&self) -> Vec3 {
        let [x, y, _] = self.force.p_P;
        self.touch.point_S(&Vec3::new(x, y, 0.0))
    }

    /// The moments that belong to the evaluated force.
    pub(super) fn roll(&mut self, rolling: &RollingFriction, pose: &SurfacePose, data: &Data) {
        let w_W = data.X_WB[self.body].R * data.V[self.body].ang - pose.w_W;
        let w_C = self.touch.R_WC.tr_mul(&w_W);
        self.moment_C = rolling.moment_C(self.force.normal_n, &w_C);
        self.spin_damping = rolling.damping(self.force.normal_n, &w_C);
        self.force.power_dissipation_w -= self.moment_C.dot(&w_C);
    }

    /// What acts against rolling and spinning.
    pub(super) const fn brake(&self) -> Brake {
        let Self { moment_C, spin_damping: damping, .. } = *self;
        Brake { moment_C, damping, R_WC: self.touch.R_WC }
    }

    /// The Hertz contact of a sphere; its force acts a little inside the sphere.
    pub(super) fn hunt_crossley(
        &mut self,
        law: &HuntCrossley,
        radius_m: f64,
        pose: &SurfacePose,
        data: &Data,
    ) {
        let p_C = self.touch.p_C;
        self.force = no_force(&p_C, &self.v_C);
        self.slopes = ContactSlopes::default();
        let center_C = p_C + Vec3::z() * radius_m;
        let overlap = Overlap::sphere_at_distance(center_C.z, &Vec3::z(), &center_C, radius_m);
        let Some(overlap) = overlap else { return };
        let inside_C = law.pair().contact_point(&overlap) - p_C;
        self.touch.point_W += self.touch.R_WC * inside_C;
        self.point_B = data.X_WB[self.body].point_inverse(&self.touch.point_W);
        let ground_W = pose.velocity_at(&self.touch.point_W);
        let v_W = data.point_velocity_W(self.body, &self.point_B) - ground_W;
        self.v_C = self.touch.R_WC.tr_mul(&v_W);
        let f = law.evaluate(&self.friction, &overlap, &-self.v_C);
        self.slopes = law.slopes(&f, overlap.depth_m);
        self.force = shown_hertz(law, &f, &self.friction, self.force);
    }

    /// Soft ground, from committed memory and prints.
    pub(super) fn soft(
        &mut self,
        (ground, spring): (&SoftGround, &ExponentialSpring),
        memory: &SpringMemory,
        prints: &Prints,
        round: bool,
        data: &Data,
        now_ns: u64,
    ) {
        let (committed, p_C) = self.stretched(memory, round, data);
        let point_S = self.ground_point_S();
        let under_m = prints.under_m(ground, -p_C.z, &point_S);
        let force = ground.evaluate(-p_C.z, -self.v_C.z, under_m);
        self.pressed_m = force.deepest_m;
        let (friction, age_s) = (&self.friction, committed.age_s(now_ns));
        self.force = spring.evaluate_soft(friction, &committed, (&p_C, &self.v_C), age_s, &force);
        let [normal_n_per_m, normal_n_s_per_m] = force.slopes;
        self.slopes =
            ContactSlopes { normal_n_per_m, normal_n_s_per_m, ..spring.slopes(&self.force) };
    }

    /// The exponential spring, from its committed memory.
    pub(super) fn spring(
        &mut self,
        spring: &ExponentialSpring,
        memory: &SpringMemory,
        round: bool,
        data: &Data,
        now_ns: u64,
    ) {
        let (committed, p_C) = self.stretched(memory, round, data);
        let age_s = committed.age_s(now_ns);
        self.force = spring.evaluate(&self.friction, &committed, &p_C, &self.v_C, age_s);
    }

    /// The memory of a friction spring in C, and where the end of the spring is, m.
    fn stretched(&self, memory: &SpringMemory, round: bool, data: &Data) -> (Memory, Vec3) {
        let anchor_C = self.touch.point_C(&memory.anchor_S.into());
        let committed = memory.in_contact_frame([anchor_C.x, anchor_C.y]);
        let mut p_C = self.touch.p_C;
        if round {
            let marker_W = data.point_W(self.body, &memory.marker_B.into());
            let slip_C = self.touch.vector_from_W(&(marker_W - self.touch.point_W));
            p_C = stretched(&p_C, &slip_C);
        }
        (committed, p_C)
    }

    /// Commits what the last evaluation proposes for a spring.
    pub(super) fn commit_spring(&self, memory: &mut SpringMemory, round: bool, now_ns: u64) {
        let marker_B = Vec3::from(memory.marker_B);
        let (p_C, point_B) = (self.touch.p_C, self.point_B);
        let next = match round {
            true => RollingMemory::rolled(marker_B, &self.force, &p_C, &point_B),
            false => RollingMemory::fixed(marker_B, &self.force),
        };
        let [x, y] = next.friction.anchor_P;
        *memory = SpringMemory {
            anchor_S: self.touch.point_S(&Vec3::new(x, y, 0.0)).into(),
            sliding: next.friction.sliding,
            committed_ns: Some(now_ns),
            marker_B: Vec3::from(next.marker_B).into(),
        };
    }

    /// The force of the last step's impulse, as parts that can be shown.
    pub(super) fn rigid_impulse(&mut self, memory: &RigidMemory) {
        let force_C = Vec3::from(memory.force_C);
        let (sticks, slides) =
            (memory.phase == RigidPhase::Sticks, memory.phase == RigidPhase::Slides);
        let (p, v) = (self.touch.p_C, self.v_C);
        let anchor = if sticks { self.touch.point_C(&memory.anchor_S.into()) } else { p };
        let motion = SpringForce {
            p_P: p.into(),
            v_P: v.into(),
            next_anchor_P: [anchor.x, anchor.y],
            next_sliding: if sticks { 0.0 } else { 1.0 },
            power_dissipation_w: memory.power_w,
            ..Default::default()
        };
        self.force = shown_impulse(&force_C, slides, &self.friction, motion);
    }
}

/// The numbers of a Hertz contact, over those of its motion.
pub(super) fn shown_hertz(
    law: &HuntCrossley,
    f: &HuntCrossleyForce,
    friction: &Friction,
    motion: SpringForce,
) -> SpringForce {
    SpringForce {
        normal_elastic_n: f.normal_elastic_n,
        normal_damping_n: f.normal_n - f.normal_elastic_n,
        normal_n: f.normal_n,
        mu: if f.normal_n > 0.0 { f.friction.norm() / f.normal_n } else { 0.0 },
        friction_limit_n: friction.mu_static() * f.normal_n,
        friction_damping_P: [f.friction.x, f.friction.y],
        next_sliding: math::step_up(f.slip_m_per_s / law.transition_velocity_m_per_s()),
        potential_energy_j: f.contact.potential_energy_j,
        power_dissipation_w: f.contact.power_dissipation_w,
        ..motion
    }
}

/// The force of an impulse in C, as parts that can be shown, over the numbers of its motion.
pub(super) fn shown_impulse(
    force_C: &Vec3,
    slides: bool,
    friction: &Friction,
    motion: SpringForce,
) -> SpringForce {
    let mu = if slides { friction.mu_kinetic() } else { friction.mu_static() };
    let (plane, none, normal_n) = ([force_C.x, force_C.y], [0.0; 2], force_C.z.max(0.0));
    let (held, rubbed) = if slides { (none, plane) } else { (plane, none) };
    SpringForce {
        normal_elastic_n: normal_n,
        normal_n,
        mu,
        friction_limit_n: mu * normal_n,
        friction_elastic_P: held,
        friction_damping_P: rubbed,
        ..motion
    }
}

/// A contact in flight, as a slider that carries nothing.
pub(super) fn no_force(p_C: &Vec3, v_C: &Vec3) -> SpringForce {
    SpringForce {
        p_P: (*p_C).into(),
        v_P: (*v_C).into(),
        next_anchor_P: [p_C.x, p_C.y],
        next_sliding: 1.0,
        ..SpringForce::default()
    }
}
