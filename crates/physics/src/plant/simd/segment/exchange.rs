//! What a segment takes over from the plant's state, and gives back.

use crate::actuator::{MotorLimits, Reference};
use crate::dynamics::{BodyKinematics, Data, by_joint_class};
use crate::model::Model;
use crate::plant::State;
use crate::plant::contact_result::ContactResult;
use crate::plant::contact_state::ContactState;
use crate::plant::simd::Task;
use crate::simd::{SimdReal, Work};
use crate::spatial::simd::{ArticulatedInertia, Force, SpatialInertia};

use super::Segment;

impl<T: SimdReal> Segment<T> {
    /// Does what is asked of the whole robot.
    pub(in crate::plant::simd) fn perform(&mut self, task: Task<'_>) {
        T::run(Job { segment: self, task });
    }

    /// Takes over positions, velocities and places.
    #[inline(always)]
    fn load(&mut self, state: &State, data: &Data) {
        self.load_joints(state);
        self.kin = BodyKinematics::from_lanes(|i| data.kin(self.body(i)));
    }

    #[inline(always)]
    fn load_joints(&mut self, state: &State) {
        self.q = T::from_lanes(|i| state.q.joints[self.body(i) - 1]);
        self.qd = T::from_lanes(|i| state.v.joints[self.body(i) - 1]);
    }

    /// Takes over what the drives are to do and the contacts' memories.
    #[inline(always)]
    fn load_tick(&mut self, state: &State, references: &[Reference]) {
        if self.bodies.len() < T::COUNT {
            self.load_joints(state); // lanes in excess have gone their own way
        }
        self.load_references(references);
        self.springs.load(&state.contacts);
    }

    /// Takes over what the drives are to do.
    #[inline(always)]
    fn load_references(&mut self, references: &[Reference]) {
        let reference = |i: usize| &references[self.body(i) - 1];
        self.reference = Reference {
            q: T::from_lanes(|i| reference(i).q),
            dq: T::from_lanes(|i| reference(i).dq),
            kp: T::from_lanes(|i| reference(i).kp),
            kd: T::from_lanes(|i| reference(i).kd),
            tau_ff: T::from_lanes(|i| reference(i).tau_ff),
        };
    }

    /// Takes over the limits of the motors and the inertias of the bodies.
    #[inline(always)]
    fn equip(&mut self, motors: &[MotorLimits], model: &Model) {
        self.motor = MotorLimits::from_lanes(|i| &motors[self.body(i) - 1]);
        self.link.inertia =
            SpatialInertia::from_lanes(|i| model.bodies[self.body(i)].inertia.into());
        // nothing else sets that of a tip
        self.contribution.I_A = self.link.inertia.articulated();
    }

    /// Takes over the external forces.
    #[inline(always)]
    fn load_forces(&mut self, data: &Data) {
        let f_ext = Force::from_lanes(|i| data.f_ext[self.body(i)]);
        self.start(&f_ext);
    }

    /// Takes over the external forces of an implicit step, and the inertias that belong to them.
    #[inline(always)]
    fn load_implicit(&mut self, data: &Data) {
        let f_ext = Force::from_lanes(|i| data.f_ext[self.body(i)]);
        let added = ArticulatedInertia::from_lanes(|i| data.added.bodies[self.body(i)]);
        self.start_implicit(&f_ext, &added);
    }

    /// Gives back what a tick has changed.
    #[inline(always)]
    fn store(&self, state: &mut State, data: &mut Data) {
        let (link, mut kin) = (&self.link, self.kin);
        by_joint_class!(link, BodyKinematics::settle_by, &mut kin);
        let joints = T::by_lane([self.q, self.qd, self.tau_motor, T::splat(0.0)]);
        let kin = kin.by_lane();
        let lanes = joints[..T::COUNT].iter().zip(&kin).zip(&self.bodies);
        for ((&[q, qd, tau_motor, _], kin), &body) in lanes {
            state.q.joints[body - 1] = q;
            state.v.joints[body - 1] = qd;
            state.motor[body - 1] = tau_motor;
            data.set_placed(body, kin);
        }
    }

    /// Gives back the contacts' memories.
    #[inline(always)]
    fn store_contacts(&self, states: &mut [ContactState], committed_ns: u64) {
        self.springs.store(states, committed_ns);
    }

    /// Gives back what impulses need to know.
    #[inline(always)]
    pub(in crate::plant::simd) fn store_response(&self, data: &mut Data) {
        let responses = self.factors.by_lane(&self.kin.V);
        for ((V, factors), &body) in responses[..T::COUNT].iter().zip(&self.bodies) {
            data.set_response(body, V, factors);
        }
    }

    /// True if a contact had a force in this tick.
    #[inline(always)]
    fn touched(&self) -> bool {
        self.springs.touched()
    }

    /// Evaluates the contacts, for all to see.
    #[inline(always)]
    fn show(&self, all: &mut [ContactResult], h: f64) {
        self.springs.show(&self.kin.X_WB, &self.kin.V, h, all);
    }
}

/// A [`Task`] for a segment.
struct Job<'a, T> {
    segment: &'a mut Segment<T>,
    task: Task<'a>,
}

impl<T: SimdReal> Work for Job<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.task {
            Task::Load(state, data) => self.segment.load(state, data),
            Task::LoadTick(state, references) => self.segment.load_tick(state, references),
            Task::LoadReferences(references) => self.segment.load_references(references),
            Task::Equip(motors, model) => self.segment.equip(motors, model),
            Task::LoadForces(data) => self.segment.load_forces(data),
            Task::LoadImplicit(data) => self.segment.load_implicit(data),
            Task::Show(all, h) => self.segment.show(all, h),
            Task::Restart(step) => self.segment.restart(&step),
            Task::NeedsSubstep(any) => *any |= self.segment.needs_substep(),
            Task::Touched(any) => *any |= self.segment.touched(),
            Task::Store(state, data) => self.segment.store(state, data),
            Task::StoreContacts(contacts, committed_ns) => {
                self.segment.store_contacts(contacts, committed_ns);
            }
        }
    }
}
