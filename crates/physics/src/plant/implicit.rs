//! The linearly implicit step: stiffness and damping of contacts and drives are taken into it.
//!
//! With the stiffness `K` and damping `D` of all forces at the state `(q, v)` where the step
//! begins, and `v⁺ = v + h a`:
//!
//! ```text
//! (M + h D + ¼ h² K) a = f(q, v) − ½ h K v        q⁺ = q ⊕ h (v + ½ h a)
//! ```
//!
//! That is the implicit midpoint rule after one Newton iteration, with the damping at the end of
//! the step where it need not be accurate. `docs/integrators.md` says what it is good for.

use crate::actuator::{JointSlopes, MotorLimits, PassiveJoint};
use crate::contact::ContactSlopes;
use crate::dynamics::{Data, aba_implicit, advance_by_mean, point_inertia, spin_inertia};
use crate::simd::SimdReal;
use crate::spatial::simd::{ArticulatedInertia, Force, Mat3, Motion, Transform, Vec3};

use super::step::add_pushes;
use super::{Integrator, Plant};

/// Longest part of a micro-step, ns, while shapes are near whose contact is not taken into it.
const STIFF_STEP_NS: u64 = 100_000;

/// What all joints and contacts of a step share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<T> {
    /// Length, s.
    pub(super) h: T,
    /// m/s².
    pub(super) gravity_W: Vec3<T>,
}

/// A contact as it was evaluated: force (N) and velocity (m/s) in C, and where it acts on the body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touching<T> {
    pub(super) f_C: Vec3<T>,
    pub(super) v_C: Vec3<T>,
    pub(super) R_WC: Mat3<T>,
    pub(super) point_B: Vec3<T>,
}

/// A damper that takes less than this share of a body's spin in a step takes it as it is: so do the
/// eight corners of a sole together.
const SAFE_SHARE: f64 = 0.125;

/// A moment against rolling and spinning (N·m), and that over the rates across the normal and about
/// it against which it acts, N·m·s/rad.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brake {
    pub(super) moment_C: Vec3<f64>,
    pub(super) damping: [f64; 2],
    pub(super) R_WC: Mat3<f64>,
}

impl Step<f64> {
    /// The same in every lane.
    #[inline(always)]
    pub(super) fn splat<T: SimdReal>(&self) -> Step<T> {
        Step { h: T::splat(self.h), gravity_W: Vec3::from_lanes(|_| self.gravity_W) }
    }
}

impl<T: SimdReal> Step<T> {
    /// Force of a contact on its body about the body's origin, less what it will have given way in
    /// the middle of the step, and the inertia that stands for the rest.
    #[inline(always)]
    pub(super) fn contact(
        &self,
        at: &Touching<T>,
        slopes: &ContactSlopes<T>,
        X_WB: &Transform<T>,
        V: &Motion<T>,
    ) -> (Force<T>, ArticulatedInertia<T>) {
        let half = T::splat(0.5) * self.h;
        let kt = half * slopes.friction_n_per_m;
        let kz = half * slopes.normal_n_per_m;
        let across = self.h * slopes.friction_n_s_per_m + half * kt;
        let along = half * slopes.normal_n_s_per_m + half * kz;
        let Vec3 { x, y, z } = at.v_C;
        let f_C = at.f_C - Vec3::new(kt * x, kt * y, kz * z);
        let R_WB = &X_WB.R;
        // `A` of the algorithm is less gravity, and not yet that of a point that the body carries
        // round
        let rest_B = R_WB.tr_mul(&self.gravity_W) + V.ang.cross(&V.at_point(&at.point_B));
        let n_B = R_WB.tr_mul(&Vec3::new(at.R_WC.x.z, at.R_WC.y.z, at.R_WC.z.z));
        let felt_B = rest_B.scaled(across) + n_B.scaled((along - across) * n_B.dot(&rest_B));
        let f_B = R_WB.tr_mul(&at.R_WC.mul(&f_C)) - felt_B;
        let added = point_inertia(across, along, &n_B, &at.point_B);
        (Force::at_point(f_B, &at.point_B), added)
    }
}

impl Step<f64> {
    /// Adds a moment on a body. If it might turn the body round within the step, also the inertia
    /// that stands for what it will have given way at the end; else it is exact as it is.
    pub(super) fn brake(&self, body: usize, brake: &Brake, data: &mut Data) {
        let Brake { moment_C, damping, R_WC } = brake;
        let R_WB = data.X_WB[body].R;
        let [across, along] = damping.map(|d| self.h * d);
        let most = if across > along { across } else { along };
        if most > SAFE_SHARE * data.added.own[body] {
            let n_B = R_WB.tr_mul(&Vec3::new(R_WC.x.z, R_WC.y.z, R_WC.z.z));
            data.added.bodies[body] += spin_inertia(across, along, &n_B);
        }
        data.f_ext[body].ang += R_WB.tr_mul(&R_WC.mul(moment_C));
    }
}

/// Effort in a joint at speed `qd`, less what its motor and its own springs will have given way in
/// the middle of a step of `h` seconds, and the armature that stands for the rest.
#[inline(always)]
pub(super) fn joint_step<T: SimdReal>(h: T, effort: T, slopes: &JointSlopes<T>, qd: T) -> (T, T) {
    let half = T::splat(0.5) * h;
    let k = half * slopes.stiffness;
    (effort - k * qd, h * slopes.damping + half * k)
}

/// How the effort of a motor that was asked for `asked` and makes `made` gives way: not at all at a
/// limit.
#[inline(always)]
pub(super) fn joint_slopes<T: SimdReal>(
    passive: &PassiveJoint<T>,
    drive: &JointSlopes<T>,
    (asked, made): (T, T),
    (q, qd): (T, T),
) -> JointSlopes<T> {
    let own = passive.slopes(q, qd);
    let follows = MotorLimits::follows(asked, made);
    JointSlopes {
        stiffness: own.stiffness + follows * drive.stiffness,
        damping: own.damping + follows * drive.damping,
    }
}

impl Plant {
    /// True if this plant takes linearly implicit steps.
    pub(super) fn is_implicit(&self) -> bool {
        self.spec.integrator == Integrator::LinearlyImplicit && self.rigid.is_idle()
    }

    /// True if the next micro-step is taken in halves.
    pub(super) fn needs_substep(&self) -> bool {
        let h_s = self.spec.micro_step_ns() as f64 / 1e9;
        self.is_implicit()
            && (self.contacts.needs_substep(&self.state.contacts, h_s)
                || self.collisions.needs_substep(h_s))
    }

    /// Into how many parts the next micro-step is cut.
    pub(super) fn part_count(&self) -> u64 {
        let halves = if self.needs_substep() { 2 } else { 1 };
        if !self.collisions.stiff_is_near() {
            return halves;
        }
        halves.max(self.spec.micro_step_ns().div_ceil(STIFF_STEP_NS))
    }

    /// Advances by one micro-step that starts at `t_ns`, in one or more parts.
    pub(super) fn implicit_micro_step(&mut self, mut t_ns: u64) {
        let count = self.part_count();
        for i in 0..count {
            let h_ns = self.spec.part_ns(i, count);
            self.implicit_step(t_ns, h_ns);
            t_ns = t_ns.wrapping_add(h_ns);
        }
    }

    fn implicit_step(&mut self, t_ns: u64, h_ns: u64) {
        let h = h_ns as f64 / 1e9;
        self.drive();
        self.collect_implicit(h);
        self.add_joints(h);
        aba_implicit(&self.model, &mut self.data, &self.tau, &self.spec.gravity_W, &mut self.vdot);
        self.constrain();
        self.commit(t_ns);
        advance_by_mean(&mut self.state.q, &mut self.state.v, h, &self.vdot);
        self.project();
        self.move_bodies(h);
        self.evaluate_after(t_ns.wrapping_add(h_ns));
    }

    /// Forces and added inertias of contacts and pushes on the bodies, for a step of `h` seconds.
    pub(super) fn collect_implicit(&mut self, h: f64) {
        let Self { spec, data, contacts, collisions, state, .. } = self;
        data.clear_forces();
        data.added.clear_bodies();
        let step = Step { h, gravity_W: spec.gravity_W };
        contacts.apply_implicit(data, &state.contacts, &step);
        collisions.apply_implicit(data, &state.bodies, &step);
        add_pushes(data, &state.pushes);
    }

    /// Efforts and added armatures of the joints, for a step of `h` seconds.
    fn add_joints(&mut self, h: f64) {
        let Self { data, state, passive, tau, references, .. } = self;
        for (i, passive) in passive.iter().enumerate() {
            let (q, qd) = (state.q.joints[i], state.v.joints[i]);
            let (asked, made) = (references[i].pd_effort(q, qd), state.motor[i]);
            let slopes = joint_slopes(passive, &references[i].slopes(), (asked, made), (q, qd));
            let effort = made + passive.effort(q, qd);
            (tau[i], data.added.joints[i]) = joint_step(h, effort, &slopes, qd);
        }
    }
}
