//! One body of each of several equal limbs, with its joint, drive and contacts.

use crate::actuator::{MotorLimits, PassiveJoint, Reference};
use crate::dynamics::{Data, Link, Placed, Through, bias_force};
use crate::math::{Lanes, Work};
use crate::plant::State;
use crate::plant::contact_state::ContactState;
use crate::plant::implicit::{Step, asked, joint_slopes, joint_step};
use crate::spatial::lanes::{ArticulatedInertia, Force, Motion, Transform};

use super::springs::{SpringBlock, Surroundings};
use super::trunk::{Carrier, Handed};
use super::{Drive, Parts, Task};

/// The body and everything that acts on it; one lane for each limb. Lanes beyond the number of
/// limbs repeat the first one.
#[derive(Clone, Debug)]
pub(super) struct Segment<T> {
    /// The model's body in each limb.
    pub(super) bodies: Vec<usize>,
    /// Segment of the parent, by index; for a limb's first segment its own.
    pub(super) parent: usize,
    link: Link<T>,
    motor: MotorLimits<T>,
    passive: PassiveJoint<T>,
    reference: Reference<T>,
    q: T,
    qd: T,
    /// Effort of the motor in the last micro-step.
    tau_motor: T,
    pub(super) placed: Placed<T>,
    through: Through<T>,
    pub(super) I_A: ArticulatedInertia<T>,
    pub(super) p_A: Force<T>,
    pub(super) A: Motion<T>,
    springs: Vec<SpringBlock<T>>,
}

impl<T: Lanes> Segment<T> {
    pub(super) fn new(parts: &Parts<'_>, bodies: Vec<usize>, parent: usize) -> Self {
        let joint = |lane: usize| bodies[if lane < bodies.len() { lane } else { 0 }] - 1;
        let link = Link::from_lanes(|i| &parts.links[joint(i)]);
        Self {
            link,
            motor: MotorLimits::from_lanes(|i| &parts.motors[joint(i)]),
            passive: PassiveJoint::from_lanes(|i| &parts.passive[joint(i)]),
            springs: SpringBlock::on_bodies(parts.contacts, &bodies),
            I_A: link.inertia.articulated(),
            reference: Reference::default(),
            q: T::splat(0.0),
            qd: T::splat(0.0),
            tau_motor: T::splat(0.0),
            placed: Placed::default(),
            through: Through::default(),
            p_A: Force::zero(),
            A: Motion::zero(),
            bodies,
            parent,
        }
    }

    #[inline(always)]
    fn body(&self, lane: usize) -> usize {
        self.bodies[if lane < self.bodies.len() { lane } else { 0 }]
    }

    /// Does what is asked of the whole robot.
    pub(super) fn perform(&mut self, task: Task<'_>) {
        T::run(Job { segment: self, task });
    }

    /// Takes over positions, velocities and places.
    #[inline(always)]
    fn load(&mut self, state: &State, data: &Data) {
        self.q = T::from_lanes(|i| state.q.joints[self.body(i) - 1]);
        self.qd = T::from_lanes(|i| state.v.joints[self.body(i) - 1]);
        self.placed = Placed::from_lanes(|i| data.placed(self.body(i)));
    }

    /// Takes over the commands and the contacts' memories.
    #[inline(always)]
    fn load_tick(&mut self, state: &State, drive: Drive) {
        if drive == Drive::Reference {
            let command = |i: usize| &state.command[self.body(i) - 1];
            self.reference = Reference {
                q: T::from_lanes(|i| command(i).q),
                dq: T::from_lanes(|i| command(i).dq),
                kp: T::from_lanes(|i| command(i).kp),
                kd: T::from_lanes(|i| command(i).kd),
                tau_ff: T::from_lanes(|i| command(i).tau_ff),
            };
        }
        for spring in &mut self.springs {
            spring.load(&state.contacts);
        }
    }

    /// Takes over the external forces.
    #[inline(always)]
    fn load_forces(&mut self, data: &Data) {
        let f_ext = Force::from_lanes(|i| data.f_ext[self.body(i)].into());
        self.start(&f_ext);
    }

    /// Takes over the external forces of an implicit step, and the inertias that belong to them.
    #[inline(always)]
    fn load_implicit(&mut self, data: &Data) {
        let f_ext = Force::from_lanes(|i| data.f_ext[self.body(i)].into());
        let added = ArticulatedInertia::from_lanes(|i| data.added.bodies[self.body(i)]);
        self.start_implicit(&f_ext, &added);
    }

    /// Gives back what a tick has changed.
    #[inline(always)]
    fn store(&self, state: &mut State, data: &mut Data) {
        for (lane, &body) in self.bodies.iter().enumerate() {
            state.q.joints[body - 1] = self.q.lane(lane);
            state.v.joints[body - 1] = self.qd.lane(lane);
            state.motor[body - 1] = self.tau_motor.lane(lane);
            data.set_placed(body, &self.placed.lane(lane));
        }
    }

    /// Gives back the contacts' memories.
    #[inline(always)]
    fn store_contacts(&self, states: &mut [ContactState], committed_ns: u64) {
        for spring in &self.springs {
            spring.store(states, committed_ns);
        }
    }

    /// Commits what the contacts propose.
    #[inline(always)]
    fn commit(&mut self) {
        for spring in &mut self.springs {
            spring.commit();
        }
    }

    /// Pass 2: what the parent feels, in the parent's frame.
    #[inline(always)]
    fn gather(&mut self, drive: Drive, around: &Surroundings) -> (ArticulatedInertia<T>, Force<T>) {
        let (q, qd) = (self.q, self.qd);
        let (asked, slopes) = asked(drive, &self.reference, &self.passive, (q, qd));
        self.tau_motor = self.motor.effort(asked, qd);
        let mut tau = self.tau_motor + self.passive.effort(q, qd);
        let mut armature = self.link.armature;
        if around.implicit {
            let slopes = joint_slopes(&self.passive, &slopes, (asked, self.tau_motor), (q, qd));
            let added;
            (tau, added) = joint_step(T::splat(around.h), tau, &slopes, qd);
            armature += added;
        }
        let (through, I_P, p_P) =
            Through::joint(&self.link, &self.placed, (tau, armature), &self.I_A, &self.p_A);
        self.through = through;
        (I_P, p_P)
    }

    /// Pass 3 and the rest of the micro-step: velocity, position, place.
    #[inline(always)]
    fn advance(
        &mut self,
        A_P: &Motion<T>,
        X_WP: &Transform<T>,
        V_P: &Motion<T>,
        around: &Surroundings,
    ) {
        let (qdd, A) = self.through.accelerate(&self.link, &self.placed, A_P);
        let h = T::splat(around.h);
        self.A = A;
        if around.implicit {
            self.q += h * (self.qd + T::splat(0.5 * around.h) * qdd);
            self.qd += h * qdd;
        } else {
            self.qd += h * qdd;
            self.q += h * self.qd;
        }
        self.placed = Placed::on_parent(&self.link, self.q, self.qd, X_WP, V_P);
        if !around.contacts {
            return;
        }
        if around.implicit {
            for spring in &mut self.springs {
                spring.touch(&self.placed.X_WB, &self.placed.V, around);
            }
        } else {
            let f_ext = self.contact_force(around);
            self.start(&f_ext);
        }
    }

    /// The forces of the contacts where the body now is.
    #[inline(always)]
    fn contact_force(&mut self, around: &Surroundings) -> Force<T> {
        let mut f_ext = Force::zero();
        for spring in &mut self.springs {
            f_ext += spring.force(&self.placed.X_WB, &self.placed.V, around);
        }
        f_ext
    }

    /// Starts the next pass 2: the body by itself under this external force.
    #[inline(always)]
    pub(super) fn start(&mut self, f_ext: &Force<T>) {
        self.p_A = bias_force(&self.link.inertia, &self.placed.V, f_ext);
        self.I_A = self.link.inertia.articulated();
    }

    /// The same for an implicit step, with the inertia that belongs to the force.
    #[inline(always)]
    pub(super) fn start_implicit(&mut self, f_ext: &Force<T>, added: &ArticulatedInertia<T>) {
        self.start(f_ext);
        self.I_A += *added;
    }

    /// Starts pass 2 of an implicit step, whose length is now known, from the contacts as
    /// evaluated.
    #[inline(always)]
    fn restart(&mut self, step: &Step<f64>) {
        let step = step.splat();
        let (mut f_ext, mut added) = (Force::zero(), ArticulatedInertia::default());
        for spring in &self.springs {
            let (force, inertia) = spring.implicit(&self.placed.X_WB, &self.placed.V, &step);
            f_ext += force;
            added += inertia;
        }
        self.start_implicit(&f_ext, &added);
    }

    /// True if a contact strikes the ground.
    fn strikes(&self) -> bool {
        self.springs.iter().any(SpringBlock::strikes)
    }
}

/// A [`Task`] for a segment.
struct Job<'a, T> {
    segment: &'a mut Segment<T>,
    task: Task<'a>,
}

impl<T: Lanes> Work for Job<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.task {
            Task::Load(state, data) => self.segment.load(state, data),
            Task::LoadTick(state, drive) => self.segment.load_tick(state, drive),
            Task::LoadForces(data) => self.segment.load_forces(data),
            Task::LoadImplicit(data) => self.segment.load_implicit(data),
            Task::Restart(step) => self.segment.restart(&step),
            Task::Strikes(any) => *any |= self.segment.strikes(),
            Task::Commit => self.segment.commit(),
            Task::Store(state, data) => self.segment.store(state, data),
            Task::StoreContacts(contacts, committed_ns) => {
                self.segment.store_contacts(contacts, committed_ns);
            }
        }
    }
}

/// Pass 2 at a segment whose parent is a segment.
pub(super) struct Gather<'a, T> {
    pub(super) segment: &'a mut Segment<T>,
    pub(super) parent: &'a mut Segment<T>,
    pub(super) drive: Drive,
    pub(super) around: Surroundings,
}

impl<T: Lanes> Work for Gather<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (I_P, p_P) = self.segment.gather(self.drive, &self.around);
        self.parent.I_A += I_P;
        self.parent.p_A += p_P;
    }
}

/// Pass 2 at a segment whose parent is a body of the trunk.
pub(super) struct GatherToTrunk<'a, T> {
    pub(super) segment: &'a mut Segment<T>,
    pub(super) handed: &'a mut [Handed],
    pub(super) drive: Drive,
    pub(super) around: Surroundings,
}

impl<T: Lanes> Work for GatherToTrunk<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (I_P, p_P) = self.segment.gather(self.drive, &self.around);
        // over all lanes, so that it is unrolled
        for lane in 0..T::COUNT {
            if let Some(&body) = self.segment.bodies.get(lane) {
                self.handed[body] = (I_P.lane(lane), p_P.lane(lane));
            }
        }
    }
}

/// Pass 3 and the motion of a segment on this parent.
pub(super) struct Advance<'a, T> {
    pub(super) segment: &'a mut Segment<T>,
    pub(super) parent: &'a Segment<T>,
    pub(super) around: Surroundings,
}

impl<T: Lanes> Work for Advance<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Segment { A, placed, .. } = self.parent;
        self.segment.advance(A, &placed.X_WB, &placed.V, &self.around);
    }
}

/// The same on bodies of the trunk: one for each lane, or one for all.
pub(super) struct AdvanceOnTrunk<'a, T> {
    pub(super) segment: &'a mut Segment<T>,
    pub(super) carriers: &'a [Carrier],
    pub(super) around: Surroundings,
}

impl<T: Lanes> Work for AdvanceOnTrunk<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { segment, carriers, around } = self;
        if let [one] = carriers {
            let (A_P, V_P) = (Motion::from_lanes(|_| one.A), Motion::from_lanes(|_| one.V));
            segment.advance(&A_P, &Transform::from_lanes(|_| one.X_WB), &V_P, &around);
        } else {
            let at = |i: usize| &carriers[if i < carriers.len() { i } else { 0 }];
            let (A_P, V_P) = (Motion::from_lanes(|i| at(i).A), Motion::from_lanes(|i| at(i).V));
            segment.advance(&A_P, &Transform::from_lanes(|i| at(i).X_WB), &V_P, &around);
        }
    }
}
