//! The fast path of a micro-step: equal limbs side by side, the same bits as one after another.
//!
//! A quadruped has four equal legs, a humanoid two legs and two arms: equal limbs are equal
//! programs, and equal programs go side by side in the lanes of a processor's registers. A
//! micro-step is one sweep from the tips to the trunk (pass 2 of the articulated-body algorithm)
//! and one back (pass 3, integration, kinematics, contacts, pass 1). What happens at one body is in
//! `dynamics::body`, `actuator` and `contact`; the plain loops over all bodies that define the
//! result are in [`aba`](crate::dynamics::aba()) and [`Plant`](super::Plant).

mod group;
mod segment;
mod springs;
mod trunk;

use crate::actuator::{MotorLimits, PassiveJoint};
use crate::dynamics::{Data, EqualLimbs, Limbs, Link, links};
#[cfg(target_arch = "x86_64")]
use crate::math::{Avx2x4, Work, has_avx2, with_avx2};
use crate::math::{F64x2, F64x4, Lanes};
use crate::model::Model;

use super::contacts::PlaneSpring;
use super::{PlantSpec, State};
use group::Group;
use springs::{Surroundings, alike};
use trunk::{Trunk, TrunkSprings};

/// What the motors do in a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drive {
    /// Follow the command.
    Reference,
    /// Damp with this coefficient.
    Damped(f64),
    /// Nothing.
    Zero,
}

/// Constants by joint, and the contacts that may be taken in lanes.
#[derive(Clone, Copy, Debug)]
struct Parts<'a> {
    links: &'a [Link<f64>],
    motors: &'a [MotorLimits],
    passive: &'a [PassiveJoint],
    contacts: &'a [PlaneSpring],
}

/// The robot in lanes, on the best instructions that the machine has.
#[derive(Clone, Debug)]
pub(super) enum LaneStep {
    Portable(Robot<F64x4>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Robot<Avx2x4>),
}

/// The robot in lanes; `Q` is four of them.
#[derive(Clone, Debug)]
pub(super) struct Robot<Q> {
    h: f64,
    trunk: Trunk,
    trunk_springs: Vec<TrunkSprings<Q>>,
    pairs: Vec<Group<F64x2>>,
    quads: Vec<Group<Q>>,
}

/// One of the things that a robot in lanes can be asked to do.
#[derive(Debug)]
enum Task<'a> {
    Load(&'a State, &'a Data),
    LoadTick(&'a State, Drive),
    LoadForces(&'a Data),
    Advance(u32, Drive, &'a mut State),
    Store(&'a mut State, &'a mut Data),
    StoreContacts(&'a mut State, u64),
}

#[cfg(target_arch = "x86_64")]
struct Job<'a>(&'a mut Robot<Avx2x4>, Task<'a>);

#[cfg(target_arch = "x86_64")]
impl Work for Job<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.perform(self.1);
    }
}

impl LaneStep {
    /// `contacts` are all contacts of the plant, if they are of the kind that lanes can take.
    pub(super) fn new(
        model: &Model,
        spec: &PlantSpec,
        motors: &[MotorLimits],
        passive: &[PassiveJoint],
        contacts: &[PlaneSpring],
        portable: bool,
    ) -> Self {
        let links = links(model);
        let parts = Parts { links: &links, motors, passive, contacts };
        #[cfg(target_arch = "x86_64")]
        if has_avx2() && !portable {
            return Self::Avx2(Robot::new(model, spec, &parts));
        }
        Self::Portable(Robot::new(model, spec, &parts))
    }

    #[inline(always)]
    fn perform(&mut self, task: Task<'_>) {
        match self {
            Self::Portable(robot) => robot.perform(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(robot) => with_avx2(Job(robot, task)),
        }
    }

    /// Takes over a state and its kinematics.
    pub(super) fn load(&mut self, state: &State, data: &Data) {
        self.perform(Task::Load(state, data));
    }

    /// Takes over the commands, coefficients and committed memories of a tick.
    pub(super) fn load_tick(&mut self, state: &State, drive: Drive) {
        self.perform(Task::LoadTick(state, drive));
    }

    /// Takes over the external forces for the next micro-step.
    pub(super) fn load_forces(&mut self, data: &Data) {
        self.perform(Task::LoadForces(data));
    }

    /// `count` micro-steps. The contacts are evaluated between them, not after the last one: on
    /// return, kinematics are those of the new state, and forces nobody's.
    pub(super) fn advance(&mut self, count: u32, drive: Drive, state: &mut State) {
        self.perform(Task::Advance(count, drive, state));
    }

    /// Gives back positions, velocities, motor efforts and kinematics.
    pub(super) fn store(&mut self, state: &mut State, data: &mut Data) {
        self.perform(Task::Store(state, data));
    }

    /// Gives back the contacts' memories.
    pub(super) fn store_contacts(&mut self, state: &mut State, committed_ns: u64) {
        self.perform(Task::StoreContacts(state, committed_ns));
    }
}

/// True if contacts like these can be taken in lanes.
pub(super) fn in_lanes(contacts: &[PlaneSpring]) -> bool {
    alike(contacts)
}

impl<Q: Lanes> Robot<Q> {
    fn new(model: &Model, spec: &PlantSpec, parts: &Parts<'_>) -> Self {
        let limbs = Limbs::find(model);
        let (twos, fours): (Vec<&EqualLimbs>, Vec<&EqualLimbs>) =
            limbs.equal.iter().partition(|l| l.roots.len() == 2);
        Self {
            h: spec.micro_step_ns() as f64 / 1e9,
            trunk: Trunk::new(parts, model, spec.gravity_W, &limbs.trunk),
            trunk_springs: TrunkSprings::on_trunk(parts.contacts, &limbs.trunk),
            pairs: twos.iter().map(|l| Group::new(parts, model, &limbs.trunk, l)).collect(),
            quads: fours.iter().map(|l| Group::new(parts, model, &limbs.trunk, l)).collect(),
        }
    }

    #[inline(always)]
    fn perform(&mut self, task: Task<'_>) {
        match task {
            Task::Load(state, data) => self.load(state, data),
            Task::LoadTick(state, drive) => self.load_tick(state, drive),
            Task::LoadForces(data) => self.load_forces(data),
            Task::Advance(count, drive, state) => self.advance(count, drive, state),
            Task::Store(state, data) => self.store(state, data),
            Task::StoreContacts(state, committed_ns) => self.store_contacts(state, committed_ns),
        }
    }

    fn load(&mut self, state: &State, data: &Data) {
        self.trunk.load(data);
        for s in &mut self.trunk.segments {
            s.load(state, data);
        }
        for group in &mut self.pairs {
            for s in &mut group.segments {
                s.load(state, data);
            }
        }
        for group in &mut self.quads {
            for s in &mut group.segments {
                s.load(state, data);
            }
        }
    }

    #[inline(always)]
    fn load_tick(&mut self, state: &State, drive: Drive) {
        for s in &mut self.trunk_springs {
            s.block.load(&state.contacts);
        }
        for s in &mut self.trunk.segments {
            s.load_tick(state, drive);
        }
        for group in &mut self.pairs {
            for s in &mut group.segments {
                s.load_tick(state, drive);
            }
        }
        for group in &mut self.quads {
            for s in &mut group.segments {
                s.load_tick(state, drive);
            }
        }
    }

    #[inline(always)]
    fn load_forces(&mut self, data: &Data) {
        self.trunk.load_forces(data);
        for s in &mut self.trunk.segments {
            s.load_forces(data);
        }
        for group in &mut self.pairs {
            for s in &mut group.segments {
                s.load_forces(data);
            }
        }
        for group in &mut self.quads {
            for s in &mut group.segments {
                s.load_forces(data);
            }
        }
    }

    #[inline(always)]
    fn advance(&mut self, count: u32, drive: Drive, state: &mut State) {
        let (q, v) = (&mut state.q, &mut state.v);
        for left in (0..count).rev() {
            let Self { h, trunk, trunk_springs, pairs, quads } = self;
            let around = Surroundings { h: *h, contacts: left > 0 };
            for g in &mut *quads {
                g.gather(drive, trunk);
            }
            for g in &mut *pairs {
                g.gather(drive, trunk);
            }
            trunk.gather(drive, *h, q, v);
            trunk.advance(q, v, trunk_springs, &around);
            for g in &mut *pairs {
                g.advance(trunk, &around);
            }
            for g in &mut *quads {
                g.advance(trunk, &around);
            }
            if around.contacts {
                self.commit();
            }
        }
    }

    /// Commits what the contacts propose, for the next micro-step.
    #[inline(always)]
    fn commit(&mut self) {
        for s in &mut self.trunk_springs {
            s.block.commit();
        }
        for group in &mut self.pairs {
            for s in &mut group.segments {
                s.commit();
            }
        }
        for group in &mut self.quads {
            for s in &mut group.segments {
                s.commit();
            }
        }
    }

    #[inline(always)]
    fn store(&self, state: &mut State, data: &mut Data) {
        self.trunk.store(data);
        for s in &self.trunk.segments {
            s.store(state, data);
        }
        for group in &self.pairs {
            for s in &group.segments {
                s.store(state, data);
            }
        }
        for group in &self.quads {
            for s in &group.segments {
                s.store(state, data);
            }
        }
    }

    #[inline(always)]
    fn store_contacts(&self, state: &mut State, committed_ns: u64) {
        let contacts = &mut state.contacts;
        for s in &self.trunk_springs {
            s.block.store(contacts, committed_ns);
        }
        for group in &self.pairs {
            for s in &group.segments {
                s.store_contacts(contacts, committed_ns);
            }
        }
        for group in &self.quads {
            for s in &group.segments {
                s.store_contacts(contacts, committed_ns);
            }
        }
    }
}
