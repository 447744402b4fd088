//! The complete state, as a sequence of words.

use crate::contact::Friction;
use crate::dynamics::{Data, Positions, Velocities};
use crate::limits::PUSHES_MAX;
use crate::model::Model;
use crate::sensor::FootSwitch;
use crate::spatial::Vec3;

use super::collision::CollisionMemory;
use super::contact_state::{ContactState, walk3};
use super::regions::walk_region;
use super::{
    BodyState, CollisionSet, ConstraintState, DriveStates, Flight, PlantSpec, SensorStates, Walk,
    Word,
};

/// A push that is acting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActivePush {
    /// Body that is pushed.
    pub body: u64,
    /// Point of attack in the body's frame, m.
    pub point_B: [f64; 3],
    /// Force in W, N.
    pub force_W: [f64; 3],
    /// Ticks left; 0 for a free slot.
    pub ticks_left: u64,
}

/// Everything that a tick depends on besides model, spec and input. Snapshot, restore and continue
/// gives the same bits as never having stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Ticks done.
    pub tick: u64,
    /// Digest chain up to this tick.
    pub digest: u64,
    /// Generalized positions.
    pub q: Positions,
    /// Generalized velocities.
    pub v: Velocities,
    /// Motor efforts of the last micro-step, N·m or N; of a drive that is not ideal, before gear
    /// and friction.
    pub motor: Vec<f64>,
    /// Pushes.
    pub pushes: [ActivePush; PUSHES_MAX],
    /// Velocity of the IMU in W at the end of the tick before, m/s: the IMU's memory.
    pub imu_v_before_W: Vec3,
    /// Foot switches.
    pub switches: Vec<FootSwitch>,
    /// Coefficients of the regions, in the order of the spec.
    pub regions: Vec<Option<Friction>>,
    /// Poses and velocities of the free bodies.
    pub bodies: Vec<BodyState>,
    /// Which constraints act, and where.
    pub constraints: Vec<ConstraintState>,
    pub(super) flight: Flight,
    pub(super) contacts: Vec<ContactState>,
    pub(super) touches: CollisionMemory,
    /// Drives; without words if they are ideal.
    pub drives: DriveStates,
    /// Sensors; without words if they show the truth.
    pub sensors: SensorStates,
}

impl State {
    /// The initial state.
    #[must_use]
    pub(super) fn new(
        model: &Model,
        spec: &PlantSpec,
        contacts: Vec<ContactState>,
        collisions: &CollisionSet,
        data: &Data,
    ) -> Self {
        Self {
            tick: 0,
            digest: 0,
            q: spec.q.clone(),
            v: spec.v.clone(),
            motor: vec![0.0; model.joint_count()],
            pushes: [ActivePush::default(); PUSHES_MAX],
            imu_v_before_W: Vec3::zeros(),
            switches: vec![FootSwitch::default(); spec.feet.len()],
            regions: spec.regions.iter().map(|r| r.friction).collect(),
            bodies: collisions.initial_bodies(),
            constraints: spec.constraints.iter().map(|c| c.initial_state(data)).collect(),
            flight: Flight::NONE,
            contacts,
            touches: collisions.new_memory(),
            drives: DriveStates::new(spec),
            sensors: SensorStates::new(spec),
        }
    }

    /// Most words that a walk can visit.
    pub(super) fn words_max(&mut self) -> usize {
        let touching = self.touches.len() * CollisionMemory::POINT_WORDS;
        self.word_count() - touching + self.touches.words_max()
    }

    /// Makes room for the points of a snapshot of `words` words, of which `others` are not this
    /// state's; false if no snapshot of this plant has so many.
    pub fn fit(&mut self, words: usize, others: usize) -> bool {
        self.touches.resize(0);
        let Some(more) = words.checked_sub(others + self.word_count()) else { return false };
        more % CollisionMemory::POINT_WORDS == 0
            && self.touches.resize(more / CollisionMemory::POINT_WORDS)
    }

    /// Visits the words of time and motion, the first part of a [`Walk`].
    // inlined with all its parts, so that the visitor's place in its output stays in a register
    #[inline(always)]
    pub fn walk_motion(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        visit("tick", 0, Word::U64(&mut self.tick));
        let quat = &mut self.q.quat_WB;
        for (i, x) in [&mut quat.w, &mut quat.x, &mut quat.y, &mut quat.z].into_iter().enumerate() {
            visit("base.quat_WB_wxyz", i, Word::F64(x));
        }
        walk_all("base.p_WB", self.q.p_WB.iter_mut(), visit);
        walk_all("joint.q", self.q.joints.iter_mut(), visit);
        walk_all("base.w_WB", self.v.w_WB.iter_mut(), visit);
        walk_all("base.v_WB", self.v.v_WB.iter_mut(), visit);
        walk_all("joint.dq", self.v.joints.iter_mut(), visit);
        walk_all("joint.tau", self.motor.iter_mut(), visit);
        walk_all("imu.v_before_W", self.imu_v_before_W.iter_mut(), visit);
    }

    /// Visits the words of the pushes, the second part.
    #[inline(always)]
    pub fn walk_pushes(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        for (i, push) in self.pushes.iter_mut().enumerate() {
            visit("push.body", i, Word::U64(&mut push.body));
            walk3("push.point_B", i, &mut push.point_B, visit);
            walk3("push.force_W", i, &mut push.force_W, visit);
            visit("push.ticks_left", i, Word::U64(&mut push.ticks_left));
        }
    }

    /// Visits the words of foot switches, contacts, regions, free bodies and points of shapes that
    /// touch, the last part. How many points touch is a word of its own.
    #[inline(always)]
    pub fn walk_contacts(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        for (i, switch) in self.switches.iter_mut().enumerate() {
            let mut closed = u64::from(switch.closed);
            visit("foot_switch.closed", i, Word::U64(&mut closed));
            switch.closed = closed != 0;
            visit("foot_switch.pending_ticks", i, Word::U64(&mut switch.pending_ticks));
        }
        for (i, contact) in self.contacts.iter_mut().enumerate() {
            contact.walk(i, visit);
        }
        for (i, slot) in self.regions.iter_mut().enumerate() {
            walk_region(i, slot, visit);
        }
        self.drives.walk(visit);
        self.sensors.walk(visit);
        for (i, body) in self.bodies.iter_mut().enumerate() {
            body.walk(i, visit);
        }
        for (i, constraint) in self.constraints.iter_mut().enumerate() {
            constraint.walk(i, visit);
        }
        self.flight.walk(visit);
        self.touches.walk(visit);
    }
}

impl Walk for State {
    #[inline(always)]
    fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        self.walk_motion(visit);
        self.walk_pushes(visit);
        self.walk_contacts(visit);
    }
}

#[inline(always)]
fn walk_all<'a>(
    name: &'static str,
    values: impl Iterator<Item = &'a mut f64>,
    visit: &mut impl FnMut(&'static str, usize, Word<'_>),
) {
    for (i, x) in values.enumerate() {
        visit(name, i, Word::F64(x));
    }
}
