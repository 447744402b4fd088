//! One body of each of several limbs, with its joint, drive and contacts.

mod by_class;
mod exchange;

use crate::actuator::{MotorLimits, PassiveJoint, Reference};
use crate::dynamics::{
    AbaFactors, BodyKinematics, Link, VelocityChange, bias_force, by_joint_class,
};
use crate::plant::implicit::{Step, joint_slopes, joint_step};
use crate::plant::rigid::Jumps;
use crate::simd::SimdReal;
use crate::spatial::simd::{ArticulatedInertia, Force, Motion, SpatialInertia, Transform};

use super::Parts;
use super::body_springs::BodySprings;
use super::child_contribution::ChildContribution;
use super::springs::StepParams;
use by_class::{accelerate_by, inward_pass_by, jump_by, velocity_by};

/// The body and everything that acts on it; one lane for each limb. Lanes beyond the number of
/// limbs that have such a body begin each tick like the first one, and are not read.
#[derive(Clone, Debug)]
pub(super) struct Segment<T> {
    /// The model's body in each limb.
    pub(super) bodies: Vec<usize>,
    /// The segment that carries it, earlier in the same limb or trunk, if one does.
    parent: Option<usize>,
    /// True if [`start`](Self::start) has to set what the first child would.
    resets: bool,
    /// True if it is the first that hands over to its parent.
    leads: bool,
    /// 1 in the lanes that have this body, else 0, where the parent's have more.
    used: Option<T>,
    link: Link<T>,
    motor: MotorLimits<T>,
    passive: PassiveJoint<T>,
    reference: Reference<T>,
    q: T,
    qd: T,
    /// Effort of the motor in the last micro-step.
    tau_motor: T,
    pub(super) kin: BodyKinematics<T>,
    factors: AbaFactors<T>,
    contribution: ChildContribution<T>,
    pub(super) A: Motion<T>,
    /// Jumps of velocity and position under impulses.
    jumps: [Motion<T>; 2],
    springs: BodySprings<T>,
}

impl<T: SimdReal> Segment<T> {
    pub(super) fn new(parts: &Parts<'_>, bodies: Vec<usize>, parent: Option<usize>) -> Self {
        let joint = |lane: usize| bodies[if lane < bodies.len() { lane } else { 0 }] - 1;
        let link = Link::from_lanes(|i| &parts.links[joint(i)]);
        let parent_body = parts.model.bodies[bodies[0]].parent;
        Self {
            link,
            motor: MotorLimits::from_lanes(|i| &parts.motors[joint(i)]),
            passive: PassiveJoint::from_lanes(|i| &parts.passive[joint(i)]),
            springs: BodySprings::new(parts.contacts, &bodies),
            contribution: ChildContribution { I_A: link.inertia.articulated(), p_A: Force::zero() },
            reference: Reference::default(),
            q: T::splat(0.0),
            qd: T::splat(0.0),
            tau_motor: T::splat(0.0),
            kin: BodyKinematics::default(),
            factors: AbaFactors::default(),
            A: Motion::zero(),
            jumps: [Motion::zero(); 2],
            resets: false,
            used: None,
            leads: !parts.model.bodies[bodies[0] + 1..].iter().any(|b| b.parent == parent_body),
            bodies,
            parent,
        }
    }

    #[inline(always)]
    fn body(&self, lane: usize) -> usize {
        self.bodies[if lane < self.bodies.len() { lane } else { 0 }]
    }

    /// For segments to whose inertia several others add, in whatever order.
    pub(super) fn resetting(self) -> Self {
        Self { resets: true, ..self }
    }

    /// For the limbs of which some end before this body.
    pub(super) fn on_lanes_of(self, parent: Option<&Self>) -> Self {
        let count = self.bodies.len();
        let fewer = parent.is_some_and(|p| count < p.bodies.len());
        let used = fewer.then(|| T::from_lanes(|i| f64::from(i < count)));
        Self { used, ..self }
    }

    /// Pass 2: hands over what the parent feels, in its frame.
    #[inline(always)]
    pub(super) fn inward_pass(&mut self, params: &StepParams, onto: Onto<'_, T>) {
        let (q, qd) = (self.q, self.qd);
        let asked = self.reference.pd_effort(q, qd);
        self.tau_motor = self.motor.effort(asked, qd);
        let mut tau = self.tau_motor + self.passive.effort(q, qd);
        let mut armature = self.link.armature;
        if params.implicit {
            let slopes = self.reference.slopes();
            let slopes = joint_slopes(&self.passive, &slopes, (asked, self.tau_motor), (q, qd));
            let added;
            (tau, added) = joint_step(T::splat(params.h), tau, &slopes, qd);
            armature += added;
        }
        let Self { link, kin, factors, contribution, .. } = self;
        by_joint_class!(link, inward_pass_by, (kin, contribution), (tau, armature), factors, onto);
    }

    /// Pass 3, and the velocity and position that it leads to.
    #[inline(always)]
    pub(super) fn outward_pass(&mut self, A_P: &Motion<T>, params: &StepParams) {
        let (qdd, h) = (self.accelerate(A_P), T::splat(params.h));
        if params.implicit {
            self.q += h * (self.qd + T::splat(0.5 * params.h) * qdd);
            self.qd += h * qdd;
        } else {
            self.qd += h * qdd;
            self.q += h * self.qd;
        }
    }

    #[inline(always)]
    fn accelerate(&mut self, A_P: &Motion<T>) -> T {
        let Self { link, factors, kin, A, .. } = self;
        by_joint_class!(link, accelerate_by, factors, kin, A_P, A)
    }

    /// Turns the joint to its new position.
    #[inline(always)]
    pub(super) fn turn(&mut self) {
        let Self { link, kin, q, .. } = self;
        by_joint_class!(link, BodyKinematics::turn_by, *q, kin);
    }

    /// Places the body on its parent, after [`turn`](Self::turn).
    #[inline(always)]
    pub(super) fn place(&mut self, on: &Carrier<'_, T>) {
        let Self { link, kin, qd, .. } = self;
        by_joint_class!(link, BodyKinematics::carry_by, *qd, (on.X_WB, on.V), kin);
    }

    /// Pass 3, and the velocity that it leads to, before impulses and in the same place.
    #[inline(always)]
    pub(super) fn start_jump(&mut self, parent: &Carrier<'_, T>, h: f64) {
        let qdd = self.accelerate(parent.A);
        self.qd += T::splat(h) * qdd;
        let Self { link, kin, qd, .. } = self;
        by_joint_class!(link, velocity_by, *qd, parent.V, kin);
    }

    /// The rest of a micro-step after impulses: velocity, position, place.
    #[inline(always)]
    pub(super) fn jump(
        &mut self,
        jumps: Jumps<'_>,
        jumps_P: &[Motion<T>; 2],
        parent: &Carrier<'_, T>,
        h: f64,
    ) {
        let velocity = jumps.velocities.map(|j| (self.along(j), &jumps_P[0]));
        let position = jumps.positions.map(|j| (self.along(j), &jumps_P[1]));
        let (h, under) = (T::splat(h), [velocity, position]);
        let Self { link, factors, kin, jumps, q, qd, .. } = self;
        by_joint_class!(link, jump_by, (factors, parent, h), under, (q, qd), jumps, kin);
    }

    /// The impulse along the joint.
    #[inline(always)]
    fn along(&self, jump: &VelocityChange) -> T {
        T::from_lanes(|i| jump.u[self.body(i)])
    }

    /// How it jumps, for its children.
    #[inline(always)]
    pub(super) const fn jumps(&self) -> &[Motion<T>; 2] {
        &self.jumps
    }

    /// Evaluates the contacts where the body now is, and starts the next step under their forces;
    /// an implicit one has to wait for [`restart`](Self::restart).
    #[inline(always)]
    pub(super) fn touch(&mut self, params: &StepParams) {
        let f_ext = self.springs.touch(&self.kin.X_WB, &self.kin.V, params);
        if !params.implicit {
            self.start(&f_ext);
        }
    }

    /// Where children hand over to.
    #[inline(always)]
    pub(super) fn contribution(&mut self) -> &mut ChildContribution<T> {
        &mut self.contribution
    }

    /// Where this child of a limb hands over to.
    #[inline(always)]
    fn onto<'a>(&self, parent: &'a mut Self, params: &StepParams) -> Onto<'a, T> {
        // implicit steps have set the inertia that contacts add to
        if self.leads && !params.implicit {
            Onto::Body(&parent.link.inertia, &mut parent.contribution)
        } else {
            Onto::More(&mut parent.contribution)
        }
    }

    /// Pass 2 of this child of a limb.
    #[inline(always)]
    pub(super) fn inward_pass_onto(&mut self, parent: &mut Self, params: &StepParams) {
        let Some(used) = self.used else {
            return self.inward_pass(params, self.onto(parent, params));
        };
        let mut share = ChildContribution::default();
        self.inward_pass(params, Onto::Nothing(&mut share));
        if self.leads && !params.implicit {
            parent.contribution.I_A = parent.link.inertia.articulated();
        }
        parent.contribution.add_where(used.above(T::splat(0.0)), &share);
    }

    /// How it moves, for its children.
    #[inline(always)]
    pub(super) fn carrier(&self) -> Carrier<'_, T> {
        Carrier { A: &self.A, X_WB: &self.kin.X_WB, V: &self.kin.V }
    }

    /// Starts the next pass 2: the body by itself under this external force.
    #[inline(always)]
    pub(super) fn start(&mut self, f_ext: &Force<T>) {
        self.contribution.p_A = bias_force(&self.link.inertia, &self.kin.V, f_ext);
        if self.resets {
            self.contribution.I_A = self.link.inertia.articulated();
        }
    }

    /// The same for an implicit step, with the inertia that belongs to the force.
    #[inline(always)]
    pub(super) fn start_implicit(&mut self, f_ext: &Force<T>, added: &ArticulatedInertia<T>) {
        self.start(f_ext);
        self.contribution.I_A = self.link.inertia.articulated();
        self.contribution.I_A += *added;
    }

    /// Starts pass 2 of an implicit step, whose length is now known, from the contacts as
    /// evaluated.
    #[inline(always)]
    fn restart(&mut self, step: &Step<f64>) {
        let step = step.splat();
        let (f_ext, added) = self.springs.implicit(&self.kin.X_WB, &self.kin.V, &step);
        self.start_implicit(&f_ext, &added);
    }

    /// True if a contact strikes the ground.
    fn needs_substep(&self) -> bool {
        self.springs.needs_substep()
    }
}

/// Segment `k`, and the one that carries it.
#[inline(always)]
pub(super) fn with_parent<T>(
    segments: &mut [Segment<T>],
    k: usize,
) -> (Option<&mut Segment<T>>, &mut Segment<T>) {
    let (before, rest) = segments.split_at_mut(k);
    let segment = &mut rest[0];
    (segment.parent.map(|p| &mut before[p]), segment)
}

/// What a child's share in pass 2 is added to.
pub(super) enum Onto<'a, T> {
    /// Nothing was there.
    Nothing(&'a mut ChildContribution<T>),
    /// The parent's own inertia, and its `p_A`.
    Body(&'a SpatialInertia<T>, &'a mut ChildContribution<T>),
    /// What is there.
    More(&'a mut ChildContribution<T>),
}

/// What a child needs to know of its parent in pass 3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier<'a, T> {
    pub(super) A: &'a Motion<T>,
    pub(super) X_WB: &'a Transform<T>,
    pub(super) V: &'a Motion<T>,
}
