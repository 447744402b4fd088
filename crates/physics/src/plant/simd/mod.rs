//! The fast path of a micro-step: limbs side by side, the same bits as one after another.
//!
//! A quadruped has four equal legs, a humanoid two legs and two arms: limbs are much the same
//! programs, and equal programs go side by side in the lanes of a processor's registers. A
//! micro-step is one sweep from the tips to the trunk (pass 2 of the articulated-body algorithm)
//! and one back (pass 3, integration, kinematics, contacts, pass 1). What happens at one body is in
//! `dynamics::body`, `actuator` and `contact`; the plain loops over all bodies that define the
//! result are in [`aba`](crate::dynamics::aba()) and [`Plant`](super::Plant).

mod body_springs;
mod child_contribution;
mod group;
mod implicit;
mod impulses;
mod segment;
mod springs;
mod trunk;
mod trunk_springs;

use crate::actuator::{MotorLimits, PassiveJoint, Reference};
use crate::dynamics::{Data, LimbGroup, Limbs, Link, links};
use crate::model::Model;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2x4, has_avx2};
use crate::simd::{F64x2, SimdReal, Work};

use super::contact_result::ContactResult;
use super::contact_state::ContactState;
use super::contacts::PlaneSpring;
use super::implicit::Step;
use super::{PlantSpec, State};
use group::Group;
use springs::StepParams;
pub(super) use springs::same_topology;
use trunk::Trunk;
use trunk_springs::TrunkSprings;

/// Constants by joint, and the contacts that may be taken in lanes.
#[derive(Clone, Copy, Debug)]
struct Parts<'a> {
    model: &'a Model,
    limbs: &'a Limbs,
    links: &'a [Link<f64>],
    motors: &'a [MotorLimits],
    passive: &'a [PassiveJoint],
    contacts: &'a [PlaneSpring],
}

/// The robot in lanes, on the best instructions that the machine has.
#[derive(Clone, Debug)]
pub(super) enum SimdStep {
    Portable(Robot<F64x2>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Robot<Avx2x4>),
}

/// The robot in lanes; `Q` is a register.
#[derive(Clone, Debug)]
pub(super) struct Robot<Q> {
    /// Length of a micro-step and of its halves, s.
    h: f64,
    halves: [f64; 2],
    trunk: Trunk,
    trunk_springs: Vec<TrunkSprings<Q>>,
    groups: Vec<Group<Q>>,
}

/// What can be asked of every segment of a robot.
#[derive(Debug)]
enum Task<'a> {
    /// Take over a state and its kinematics.
    Load(&'a State, &'a Data),
    /// Take over the commands, coefficients and committed memories of a tick.
    LoadTick(&'a State, &'a [Reference]),
    /// Take over the commands of a micro-step.
    LoadReferences(&'a [Reference]),
    /// Take over the limits of the motors and the inertias of the bodies.
    Equip(&'a [MotorLimits], &'a Model),
    /// Take over the external forces for the next micro-step.
    LoadForces(&'a Data),
    /// Take over the external forces for the next implicit step, and the inertias that belong to
    /// them.
    LoadImplicit(&'a Data),
    /// Start an implicit step from the contacts as evaluated; but for the trunk.
    Restart(Step<f64>),
    /// Set the flag if a contact strikes the ground.
    NeedsSubstep(&'a mut bool),
    /// Set the flag if a contact had a force in this tick.
    Touched(&'a mut bool),
    /// Evaluate the contacts, so many seconds after their memory was committed.
    Show(&'a mut [ContactResult], f64),
    /// Give back positions, velocities, motor efforts and kinematics.
    Store(&'a mut State, &'a mut Data),
    /// Give back the contacts' memories, committed at this time.
    StoreContacts(&'a mut [ContactState], u64),
}

impl Task<'_> {
    /// The same once more.
    fn reborrow(&mut self) -> Task<'_> {
        match self {
            Self::Load(state, data) => Task::Load(state, data),
            Self::LoadTick(state, references) => Task::LoadTick(state, references),
            Self::LoadReferences(references) => Task::LoadReferences(references),
            Self::Equip(motors, model) => Task::Equip(motors, model),
            Self::LoadForces(data) => Task::LoadForces(data),
            Self::LoadImplicit(data) => Task::LoadImplicit(data),
            Self::Restart(step) => Task::Restart(*step),
            Self::NeedsSubstep(any) => Task::NeedsSubstep(any),
            Self::Touched(any) => Task::Touched(any),
            Self::Show(all, h) => Task::Show(all, *h),
            Self::Store(state, data) => Task::Store(state, data),
            Self::StoreContacts(contacts, t_ns) => Task::StoreContacts(contacts, *t_ns),
        }
    }
}

impl SimdStep {
    /// `contacts` are all contacts of the plant, if they are of the kind that lanes can take.
    pub(super) fn new(
        model: &Model,
        spec: &PlantSpec,
        motors: &[MotorLimits],
        passive: &[PassiveJoint],
        contacts: &[PlaneSpring],
        portable: bool,
    ) -> Self {
        let limbs = Limbs::find(model);
        let links = links(model, &limbs);
        let parts = Parts { model, limbs: &limbs, links: &links, motors, passive, contacts };
        #[cfg(target_arch = "x86_64")]
        if has_avx2() && !portable {
            return Self::Avx2(Robot::new(model, spec, &parts));
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = portable;
        Self::Portable(Robot::new(model, spec, &parts))
    }

    fn perform(&mut self, task: Task<'_>) {
        match self {
            Self::Portable(robot) => robot.perform(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(robot) => robot.perform(task),
        }
    }

    /// Takes over a state and its kinematics.
    pub(super) fn load(&mut self, state: &State, data: &Data) {
        self.perform(Task::Load(state, data));
    }

    /// Takes over the commands, coefficients and committed memories of a tick.
    pub(super) fn load_tick(&mut self, state: &State, references: &[Reference]) {
        self.perform(Task::LoadTick(state, references));
    }

    /// Takes over the commands of a micro-step.
    pub(super) fn load_references(&mut self, references: &[Reference]) {
        self.perform(Task::LoadReferences(references));
    }

    /// Takes over the limits of the motors and the inertias of the bodies.
    pub(super) fn equip(&mut self, motors: &[MotorLimits], model: &Model) {
        self.perform(Task::Equip(motors, model));
    }

    /// Takes over the external forces for the next micro-step.
    pub(super) fn load_forces(&mut self, data: &Data) {
        self.perform(Task::LoadForces(data));
    }

    /// `count` micro-steps. The contacts are evaluated between them, not after the last one: on
    /// return, kinematics are those of the new state; forces are not valid.
    pub(super) fn advance(&mut self, count: u32, state: &mut State) {
        match self {
            Self::Portable(robot) => robot.advance(count, state),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(robot) => robot.advance(count, state),
        }
    }

    /// Gives back positions, velocities, motor efforts and kinematics.
    pub(super) fn store(&mut self, state: &mut State, data: &mut Data) {
        self.perform(Task::Store(state, data));
    }

    /// Evaluates the contacts where the robot is, `h` seconds after their memory was committed.
    pub(super) fn show(&mut self, all: &mut [ContactResult], h: f64) {
        self.perform(Task::Show(all, h));
    }

    /// True if a contact that was evaluated between the micro-steps of this tick had a force.
    pub(super) fn touched(&mut self) -> bool {
        let mut touched = false;
        self.perform(Task::Touched(&mut touched));
        touched
    }

    /// Gives back the contacts' memories.
    pub(super) fn store_contacts(&mut self, state: &mut State, committed_ns: u64) {
        self.perform(Task::StoreContacts(&mut state.contacts, committed_ns));
    }
}

impl<Q: SimdReal> Robot<Q> {
    fn new(model: &Model, spec: &PlantSpec, parts: &Parts<'_>) -> Self {
        let limbs = parts.limbs;
        let in_lanes = |group: &LimbGroup| {
            let registers = group.limbs.chunks(Q::COUNT);
            registers.map(|limbs| LimbGroup { limbs: limbs.to_vec() }).collect::<Vec<_>>()
        };
        let groups: Vec<LimbGroup> = limbs.groups.iter().flat_map(in_lanes).collect();
        Self {
            h: spec.micro_step_ns() as f64 / 1e9,
            halves: [0, 1].map(|i| spec.part_ns(i, 2) as f64 / 1e9),
            trunk: Trunk::new(parts, spec.gravity_W, &limbs.trunk, &groups),
            trunk_springs: TrunkSprings::on_trunk(parts.contacts, &limbs.trunk),
            groups: groups.iter().map(|g| Group::new(parts, model, &limbs.trunk, g)).collect(),
        }
    }

    fn perform(&mut self, mut task: Task<'_>) {
        self.trunk.perform(&mut task);
        for springs in &mut self.trunk_springs {
            match &mut task {
                Task::Show(all, h) => springs.show(&self.trunk, all, *h),
                task => springs.perform(task),
            }
        }
        self.on_limbs(task);
    }

    fn on_limbs(&mut self, mut task: Task<'_>) {
        for segment in self.groups.iter_mut().flat_map(|g| &mut g.segments) {
            segment.perform(task.reborrow());
        }
    }

    fn advance(&mut self, count: u32, state: &mut State) {
        let h = self.h;
        let params = StepParams { h, micro_step_s: h, implicit: false, contacts: true };
        Q::run(Steps { robot: self, count, params, state });
    }
}

/// Steps one after another. The contacts are evaluated between them and, if `params` says so of
/// implicit steps, after the last one.
struct Steps<'a, Q> {
    robot: &'a mut Robot<Q>,
    count: u32,
    params: StepParams,
    state: &'a mut State,
}

impl<Q: SimdReal> Work for Steps<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { robot, count, params, state } = self;
        let Robot { trunk, trunk_springs, groups, .. } = robot;
        let (q, v) = (&mut state.q, &mut state.v);
        for left in (0..count).rev() {
            let contacts = params.contacts && (left > 0 || params.implicit);
            let params = &StepParams { contacts, ..params };
            for (group, lanes) in groups.iter_mut().zip(&mut trunk.contribution) {
                group.inward_pass(params, lanes);
            }
            trunk.inward_pass(params, q, v);
            trunk.outward_pass(params);
            for group in groups.iter_mut() {
                group.outward_pass(trunk, params);
            }
            trunk.place(q, v, trunk_springs, params);
            for group in groups.iter_mut() {
                group.place(trunk, params);
            }
        }
    }
}
