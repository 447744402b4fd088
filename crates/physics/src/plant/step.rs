//! One tick of the plant.

use crate::actuator::{MotorLimits, PassiveJoint, Reference};
use crate::dynamics::{
    Constraints, Data, Positions, Rk4, Velocities, aba, aba_implicit, advance_positions,
    advance_velocities, articulated_inertias, kinematics, velocities,
};
use crate::model::Model;
use crate::sensor::ImuReading;
use crate::spatial::{SpatialInertia, Vec3};

use super::collision::Around;
use super::constraint;
use super::digest::Digest;
use super::drives::Drives;
use super::imus::{imu_at_rest, velocity_W};
use super::rigid::{RigidSolver, Sets};
use super::sensors::Sensors;
use super::simd::{self, SimdStep};
use super::{
    CollisionSet, ContactSet, Integrator, OwnerWords, PlantFailure, PlantSpec, State, layout_hash,
};

/// Robot, drives, ground and sensors. See the [module](crate::plant).
#[derive(Clone, Debug)]
pub struct Plant {
    /// The robot, with its payloads.
    pub(super) model: Model,
    /// Inertias of the bodies without payloads.
    pub(super) bare: Vec<SpatialInertia>,
    pub(super) spec: PlantSpec,
    pub(super) layout_hash: u64,
    pub(super) state: State,
    pub(super) data: Data,
    pub(super) contacts: ContactSet,
    pub(super) collisions: CollisionSet,
    pub(super) constraints: Constraints,
    pub(super) rigid: RigidSolver,
    pub(super) motors: Vec<MotorLimits>,
    pub(super) passive: Vec<PassiveJoint>,
    pub(super) drives: Drives,
    pub(super) sensors: Sensors,
    pub(super) lanes: SimdStep,
    pub(super) simd_contacts: bool,
    /// Whether there are moments against rolling.
    pub(super) brakes: bool,
    pub(super) path: ComputePath,
    pub(super) tau: Vec<f64>,
    pub(super) vdot: Velocities,
    pub(super) rk4: Rk4,
    pub(super) digest: Digest,
    pub(super) imu: ImuReading,
    pub(super) second_imu: Option<ImuReading>,
    /// What the drives are to do in this tick.
    pub(super) references: Vec<Reference>,
    pub(super) failure: Option<PlantFailure>,
}

impl Plant {
    /// A plant in its initial state: anchors under their stations, drives without effort. If the
    /// initial state itself is bad, the plant has a [`failure`](Self::failure) from the start.
    #[must_use]
    pub fn new(model: Model, spec: PlantSpec) -> Self {
        let mut data = Data::new(&model);
        kinematics(&model, &spec.q, &spec.v, &mut data);
        let contacts = ContactSet::new(&spec, &data);
        let collisions = CollisionSet::new(&spec, &model);
        let memories = contacts.initial_states(&model, &spec, 0);
        let mut state = State::new(&model, &spec, memories, &collisions, &data);
        articulated_inertias(&model, &mut data);
        let h_s = spec.micro_step_ns() as f64 / 1e9;
        let stop = |(i, joint)| {
            let s = &spec.stops;
            PassiveJoint::new(joint, data.D[i + 1], s.time_constant_s, s.damping_ratio, h_s)
        };
        let passive: Vec<PassiveJoint> = model.joints.iter().enumerate().map(stop).collect();
        let motors: Vec<MotorLimits> = model.joints.iter().map(MotorLimits::new).collect();
        let springs = contacts.plane_springs(&state.contacts);
        let springs = springs.filter(|s| simd::same_topology(s));
        let simd_contacts = springs.is_some();
        let springs = springs.unwrap_or_default();
        let drives = Drives::new(&model, &spec, &data);
        let sensors = Sensors::new(&spec);
        let limits = if drives.is_ideal() { &motors } else { &drives.unlimited };
        let lanes = SimdStep::new(&model, &spec, limits, &passive, &springs, false);
        state.imu_v_before_W = velocity_W(&spec.imu, &data);
        let digest = Digest::new(&mut state);
        let imu = imu_at_rest(&spec.imu, &spec, &data);
        let second_imu = spec.second_imu.map(|unit| imu_at_rest(&unit, &spec, &data));
        let constraints = constraint::constraints(&model, &spec);
        let brakes = spec.has_rolling_friction();
        let mut plant = Self {
            layout_hash: layout_hash(&model, &spec),
            tau: vec![0.0; model.joint_count()],
            vdot: Velocities::zero(&model),
            rk4: Rk4::new(&model),
            rigid: RigidSolver::new(&model, &contacts, &collisions, &constraints, spec.restitution),
            references: vec![Reference::default(); model.joint_count()],
            failure: None,
            bare: model.bodies.iter().map(|b| b.inertia).collect(),
            model,
            spec,
            state,
            data,
            contacts,
            collisions,
            constraints,
            motors,
            passive,
            drives,
            sensors,
            lanes,
            simd_contacts,
            brakes,
            path: ComputePath::Fastest,
            digest,
            imu,
            second_imu,
        };
        plant.settle();
        plant.start_sensors();
        plant.keep_momentum();
        plant.begin_digest(&OwnerWords::default());
        if let Some(failure) = plant.check() {
            plant.freeze(failure);
        }
        plant
    }

    /// Advances by one tick, in which the drives follow `references`, one for each joint. `owner`
    /// is what the owner of the plant adds to the digest. Total: whatever the input, it returns;
    /// it never allocates. After a failure the state is that before the tick, and stays so.
    pub fn step(
        &mut self,
        references: &[Reference],
        owner: &OwnerWords<'_>,
    ) -> Option<PlantFailure> {
        if self.failure.is_some() {
            return self.failure;
        }
        for (own, given) in self.references.iter_mut().zip(references) {
            *own = *given;
        }
        let (start_ns, second_before_W) = (self.time_ns(), self.second_imu_velocity_W());
        if !self.drives.is_ideal() {
            self.drives.send(&mut self.state.drives, self.state.tick, references);
        }
        let renewed = if self.in_lanes() {
            self.simd_micro_steps(start_ns)
        } else {
            for i in 0..u64::from(self.spec.micro_steps) {
                self.micro_step(start_ns.wrapping_add(i * self.spec.micro_step_ns()));
            }
            true
        };
        if !renewed {
            // what is near in the next tick depends on the state after this one
            let end_ns = self.time_after_ns(start_ns);
            self.contacts.move_surfaces(end_ns);
            self.touch(end_ns, true);
        }
        if !self.drives.is_ideal() {
            self.drives.end_tick(&mut self.state);
        }
        self.end_tick(second_before_W);
        match self.check() {
            Some(failure) => self.freeze(failure),
            None => self.chain_digest(owner),
        }
        self.failure
    }

    /// Begins the digest chain with the state as it is.
    pub fn begin_digest(&mut self, owner: &OwnerWords<'_>) {
        self.state.digest = 0;
        self.chain_digest(owner);
    }

    /// Advances by one micro-step that starts at `t_ns`. On entry kinematics and contacts are
    /// evaluated for the current state, and so they are on exit.
    fn micro_step(&mut self, t_ns: u64) {
        let h_ns = self.spec.micro_step_ns();
        let h = h_ns as f64 / 1e9;
        self.run_drives(t_ns);
        if self.is_implicit() {
            return self.implicit_micro_step(t_ns);
        }
        self.drive();
        if self.spec.integrator == Integrator::Rk4 && self.rigid.is_idle() {
            self.rk4_step(t_ns, h);
            self.project();
            self.move_bodies(h);
        } else {
            self.semi_implicit_step(t_ns, h_ns, h);
        }
        self.evaluate_after(t_ns.wrapping_add(h_ns));
    }

    fn semi_implicit_step(&mut self, t_ns: u64, h_ns: u64, h: f64) {
        self.accelerate(h);
        self.commit(t_ns);
        self.accelerate_bodies(h);
        self.constrain();
        let Self { model, data, contacts, collisions, constraints, rigid, state, .. } = self;
        advance_velocities(&mut state.v, h, &self.vdot);
        if rigid.is_idle() {
            advance_positions(&mut state.q, h, &state.v);
            collisions.advance_bodies(&mut state.bodies, h);
        } else {
            velocities(model, &state.v, data);
            contacts.look_again(data, h);
            let sets = Sets { ground: contacts, collisions };
            rigid.step(model, data, sets, constraints, state, (t_ns, h_ns));
        }
        self.project();
    }

    /// Lets drives that are not ideal set the efforts of the micro-step that starts at `t_ns`.
    #[inline(always)]
    pub(super) fn run_drives(&mut self, t_ns: u64) {
        if !self.drives.is_ideal() {
            let Self { drives, state, motors, references, .. } = self;
            let at = (&state.q, &state.v);
            drives.step(&mut state.drives, at, motors, t_ns, references);
        }
    }

    /// Motor efforts for the measured position and velocity, held during the micro-step.
    pub(super) fn drive(&mut self) {
        let ideal = self.drives.is_ideal();
        let motors = if ideal { &self.motors } else { &self.drives.unlimited };
        for (i, motor) in motors.iter().enumerate() {
            let (q, dq) = (self.state.q.joints[i], self.state.v.joints[i]);
            self.state.motor[i] = motor.effort(self.references[i].pd_effort(q, dq), dq);
        }
    }

    /// `vdot` for the evaluated state, of a step of `h` seconds.
    fn accelerate(&mut self, h: f64) {
        self.collect_forces(h);
        let (data, state) = (&mut self.data, &self.state);
        add_passive(&self.passive, &state.q, &state.v, &state.motor, &mut self.tau);
        let aba = if self.brakes { aba_implicit } else { aba };
        aba(&self.model, data, &self.tau, &self.spec.gravity_W, &mut self.vdot);
    }

    /// Stage 0 uses the forces of the memory committed before; then the memory is committed, and
    /// the other stages use the new one (Simbody's order).
    fn rk4_step(&mut self, t_ns: u64, h: f64) {
        let Self {
            model,
            spec,
            state,
            data,
            contacts,
            collisions,
            constraints,
            passive,
            tau,
            rk4,
            ..
        } = self;
        let State { pushes, motor, regions, bodies, contacts: memory, touches, .. } = state;
        let h_ns = spec.micro_step_ns();
        rk4.step(model.base, &mut state.q, &mut state.v, h, |stage, q, v, vdot| {
            if stage > 0 {
                let t = t_ns.wrapping_add(if stage < 3 { h_ns / 2 } else { h_ns });
                kinematics(model, q, v, data);
                contacts.evaluate(data, memory, regions, t, true);
                let ground = &*contacts;
                let memory = &*touches;
                collisions
                    .evaluate(&Around { data, bodies, memory, ground, regions, now_ns: t }, false);
            }
            data.clear_forces();
            contacts.apply(data, None);
            collisions.apply(data, bodies, None);
            add_pushes(data, pushes);
            add_passive(passive, q, v, motor, tau);
            aba(model, data, tau, &spec.gravity_W, vdot);
            if !constraints.is_idle() {
                constraints.constrain(model, data, &spec.gravity_W, vdot);
            }
            if stage == 0 {
                contacts.commit(memory, t_ns);
                collisions.commit(touches, t_ns);
            }
        });
    }

    /// Kinematics and contact forces of the current state at `t_ns`; with `renew` the near pairs of
    /// shapes are found anew.
    pub(super) fn evaluate(&mut self, t_ns: u64, renew: bool) {
        kinematics(&self.model, &self.state.q, &self.state.v, &mut self.data);
        self.evaluate_contacts(t_ns, renew);
    }

    /// [`evaluate`](Self::evaluate) where a micro-step of this tick has ended.
    pub(super) fn evaluate_after(&mut self, t_ns: u64) {
        self.evaluate(t_ns, self.ends_tick(t_ns));
    }

    /// The same for kinematics that are evaluated.
    pub(super) fn evaluate_contacts_after(&mut self, t_ns: u64) {
        self.evaluate_contacts(t_ns, self.ends_tick(t_ns));
    }

    /// What is near in the next tick depends on the state after this one.
    fn ends_tick(&self, t_ns: u64) -> bool {
        t_ns == self.time_after_ns(self.time_ns())
    }

    fn evaluate_contacts(&mut self, t_ns: u64, renew: bool) {
        let Self { contacts, spec, data, state, .. } = self;
        if renew {
            contacts.find_near(spec, data, &mut state.contacts, t_ns);
        }
        contacts.evaluate(data, &state.contacts, &state.regions, t_ns, renew);
        self.touch(t_ns, renew);
    }

    /// Kinematics and contact forces of a state that does not come out of a tick.
    pub(super) fn settle(&mut self) {
        self.take_constraints();
        self.evaluate(self.time_ns(), true);
        self.lanes.load(&self.state, &self.data);
    }

    /// Counts the tick, ends pushes, reads the sensors that have a memory.
    fn end_tick(&mut self, second_before_W: Option<Vec3>) {
        self.state.tick += 1;
        self.keep_momentum();
        for push in &mut self.state.pushes {
            push.ticks_left = push.ticks_left.saturating_sub(1);
        }
        self.read_imus(second_before_W);
        self.read_sensors();
    }

    /// Ends a good tick: its words are what a bad one goes back to.
    fn chain_digest(&mut self, owner: &OwnerWords<'_>) {
        self.digest.take(&mut self.state);
        self.state.digest = self.digest.after(self.state.digest, owner);
    }
}

/// How a plant computes. All ways give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComputePath {
    /// Limbs side by side, with the best instructions that the machine has.
    #[default]
    Fastest,
    /// Limbs side by side, with instructions that any machine has.
    Portable,
    /// One body after another: the definition.
    OneByOne,
}

pub(super) fn add_pushes(data: &mut Data, pushes: &[super::ActivePush]) {
    for push in pushes.iter().filter(|p| p.ticks_left > 0) {
        let (f_W, p_B) = (Vec3::from(push.force_W), Vec3::from(push.point_B));
        data.apply_force(push.body as usize, &f_W, &p_B);
    }
}

/// Efforts in the joints: the motor's, held, and the joint's own at this position and velocity.
fn add_passive(
    passive: &[PassiveJoint],
    q: &Positions,
    v: &Velocities,
    motor: &[f64],
    tau: &mut [f64],
) {
    for (i, passive) in passive.iter().enumerate() {
        tau[i] = motor[i] + passive.effort(q.joints[i], v.joints[i]);
    }
}
