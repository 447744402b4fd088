//! The impulses of rigid contacts within one micro-step.

use crate::contact::{
    Restitution, RigidContact, RigidRoom, solve_held, solve_on_bodies, solve_rigid,
};
use crate::dynamics::{
    Constraints, Data, PointAxes, PointResponses, Velocities, VelocityChange, advance_positions,
    advance_velocities, spread_jump,
};
use crate::model::Model;
use crate::spatial::{Motion, Quaternion, Vec3};

use super::State;
use super::collision::{BodyState, Carrier, CollisionSet, pose_of};
use super::contact_state::{ContactLaw, ContactState, RigidMemory, RigidPhase};
use super::contacts::ContactSet;
use super::flight::Flight;
use super::impacts::Impacts;
use super::rigid_points::{Active, Compliance, End, EndBody, Source, ends_of};

/// A gap up to this counts as closed, m.
pub(super) const CLOSED_M: f64 = 1e-6;
/// A contact takes part if it can close within two steps at its speed, and always below this, m.
pub(super) const NEAR_M: f64 = 1e-3;
/// Errors of position below this are left alone, m.
const EXACT_M: f64 = 1e-13;
/// Largest correction of positions in one micro-step, m: a foot that starts inside the ground comes
/// out without speed.
const CORRECTION_MAX_M: f64 = 1e-4;
const CORRECTION_SWEEPS: u32 = 20;

/// Workspace for all rigid contacts of a plant. Nothing in it outlives a micro-step.
#[derive(Debug)]
pub(super) struct RigidSolver {
    /// Rigid stations, points of shapes, and equations of constraints: room for all of them.
    room: [usize; 3],
    /// The contacts that take part in this step; the other vectors have their order.
    active: Vec<Active>,
    compliance: Compliance,
    contacts: Vec<RigidContact>,
    solve_room: RigidRoom,
    impulses: Vec<Vec3>,
    errors: Vec<Vec3>,
    held: Vec<[bool; 3]>,
    corrections: Vec<Vec3>,
    jump: VelocityChange,
    shift: VelocityChange,
    /// True if positions are to be corrected.
    shifts: bool,
    dV: Vec<Motion>,
    dv: Velocities,
    restitution: Restitution,
    impacts: Impacts,
    /// How the free bodies jump, about their origins in W: their velocities, and their poses as
    /// velocities for 1 s.
    body_jumps: Vec<[Motion; 2]>,
}

/// A derived clone would have no room, and would allocate in the loop.
impl Clone for RigidSolver {
    fn clone(&self) -> Self {
        let (responses, dv) = (self.compliance.responses().clone(), self.dv.clone());
        let clone = Self::with_room(self.room, self.dV.len(), self.body_jumps.len(), responses, dv);
        let mut clone = Self { restitution: self.restitution, ..clone };
        clone.solve_room.set_portable(self.solve_room.is_portable());
        clone
    }
}

/// How velocities jump, and then positions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jumps<'a> {
    /// Of the velocities.
    pub(super) velocities: Option<&'a VelocityChange>,
    /// Of the positions, after they have moved with the new velocities; as velocities for 1 s.
    pub(super) positions: Option<&'a VelocityChange>,
}

/// What may touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sets<'a> {
    pub(super) ground: &'a ContactSet,
    pub(super) collisions: &'a CollisionSet,
}

impl RigidSolver {
    pub(super) fn new(
        model: &Model,
        contacts: &ContactSet,
        collisions: &CollisionSet,
        constraints: &Constraints,
        restitution: Restitution,
    ) -> Self {
        let rows = constraints.row_count();
        let room = [contacts.rigid().count(), collisions.rigid_max(), rows];
        let responses = PointResponses::new(model, room[0] + 2 * room[1]);
        let free = collisions.spec().bodies.len();
        let bodies = model.bodies.len();
        let all = Self::with_room(room, bodies, free, responses, Velocities::zero(model));
        Self { restitution, ..all }
    }

    fn with_room(
        room: [usize; 3],
        bodies: usize,
        free: usize,
        responses: PointResponses,
        dv: Velocities,
    ) -> Self {
        let n = room[0] + room[1];
        Self {
            room,
            active: Vec::with_capacity(n),
            compliance: Compliance::new(responses, n, n + room[1], room[2]),
            contacts: Vec::with_capacity(n),
            solve_room: RigidRoom::new(n),
            impulses: Vec::with_capacity(n),
            errors: Vec::with_capacity(n),
            held: Vec::with_capacity(n),
            corrections: Vec::with_capacity(n),
            jump: VelocityChange::zero(bodies),
            shift: VelocityChange::zero(bodies),
            shifts: false,
            dV: vec![Motion::zero(); bodies],
            dv,
            restitution: Restitution::default(),
            impacts: Impacts::with_room(n),
            body_jumps: vec![[Motion::zero(); 2]; free],
        }
    }

    /// See [`PointResponses::set_portable`].
    pub(super) fn set_portable(&mut self, portable: bool) {
        self.compliance.set_portable(portable);
        self.solve_room.set_portable(portable);
    }

    /// True if there is nothing to do.
    pub(super) const fn is_idle(&self) -> bool {
        self.room[0] + self.room[1] == 0
    }

    /// The rest of a micro-step that begins at `t_ns`: changes `state.v`, the velocities that all
    /// other forces would lead to, so that rigid contacts are met; moves `state.q` to the end of
    /// the step, and takes back what the steps before have missed of the ground. `data` holds what
    /// `aba` left for the start of the step, but in `V` the velocities that all other forces lead
    /// to.
    pub(super) fn step(
        &mut self,
        model: &Model,
        data: &mut Data,
        sets: Sets<'_>,
        constraints: &mut Constraints,
        state: &mut State,
        (t_ns, h_ns): (u64, u64),
    ) {
        let h = h_ns as f64 / 1e9;
        let found = self.solve(model, data, sets, constraints, state, (t_ns, h_ns));
        self.move_bodies(sets.collisions, &mut state.bodies, h);
        if !found {
            advance_positions(&mut state.q, h, &state.v);
            return;
        }
        spread_jump(model, data, &self.jump, &mut self.dV, &mut self.dv);
        // a jump is an acceleration for one second
        advance_velocities(&mut state.v, 1.0, &self.dv);
        if !constraints.is_idle() {
            let jump = (&self.dV[..], &self.dv);
            advance_velocities(&mut state.v, 1.0, constraints.answer(model, data, jump, Some(h)));
        }
        advance_positions(&mut state.q, h, &state.v);
        if self.shifts {
            spread_jump(model, data, &self.shift, &mut self.dV, &mut self.dv);
            if !constraints.is_idle() {
                let jump = (&self.dV[..], &self.dv);
                advance_positions(&mut state.q, 1.0, constraints.answer(model, data, jump, None));
            }
            advance_positions(&mut state.q, 1.0, &self.dv);
        }
    }

    /// Finds the impulses of the step that begins at `t_ns`, and what they lead to: false if no
    /// contact takes part, else see [`jumps`](Self::jumps). `data` holds what `aba` left for the
    /// start of the step, but in `V` the velocities that all other forces lead to.
    pub(super) fn solve(
        &mut self,
        model: &Model,
        data: &Data,
        sets: Sets<'_>,
        constraints: &mut Constraints,
        state: &mut State,
        (t_ns, h_ns): (u64, u64),
    ) -> bool {
        let h = h_ns as f64 / 1e9;
        let Sets { ground, collisions } = sets;
        self.active.clear();
        self.contacts.clear();
        self.compliance.points.clear();
        self.body_jumps.fill([Motion::zero(); 2]);
        self.shifts = false;
        self.choose(ground, &mut state.contacts, data, t_ns.wrapping_add(h_ns), h);
        let stations = self.active.len();
        self.choose_shapes(sets, &state.bodies, data, t_ns.wrapping_add(h_ns), h);
        if self.active.is_empty() {
            return false;
        }
        let stations_only = stations == self.active.len();
        if !(stations_only && constraints.is_idle() && self.meet_bodies(model, data)) {
            let around = (collisions, &state.bodies[..], stations_only);
            self.meet_each(model, data, around, constraints);
        }
        if self.contacts.iter().any(|c| c.impulse != Vec3::zeros()) {
            state.flight = Flight::NONE;
        }
        self.impulses.clear();
        self.impulses.extend(self.contacts.iter().map(|c| c.impulse));
        self.compliance.jump(&self.active, &self.impulses, &mut self.jump);
        let (active, impulses) = (&self.active, &self.impulses);
        jump_bodies(active, impulses, collisions, &state.bodies, 0, &mut self.body_jumps);
        self.remember(sets, state, data, h);
        self.correct_positions(collisions, &state.bodies);
        true
    }

    /// Finds the impulses of many points on few bodies, if that is what there is.
    fn meet_bodies(&mut self, model: &Model, data: &Data) -> bool {
        let Self { active, compliance, contacts, solve_room, .. } = self;
        if active.iter().any(|a| a.restitution > 0.0) || !compliance.respond_of_bodies(model, data)
        {
            return false;
        }
        let (B, points) = (&compliance.W, &compliance.body_points);
        solve_on_bodies(B, points, contacts, solve_room).is_some()
    }

    /// Finds the impulses, from how each contact gives way to each other.
    fn meet_each(
        &mut self,
        model: &Model,
        data: &Data,
        around: (&CollisionSet, &[BodyState], bool),
        constraints: &mut Constraints,
    ) {
        self.compliance.respond(model, data, &self.active, around, constraints);
        let struck = self.impacts.strike(&mut self.compliance, &self.active, &mut self.contacts);
        solve_rigid(&self.compliance.W, &mut self.contacts, &mut self.solve_room);
        if struck {
            self.impacts.add_to(&mut self.contacts);
        }
    }

    /// Share of its impulse that a contact gives back that would close in this step.
    fn share(&self, height_m: f64, v_C: &Vec3, free: &Vec3, h: f64) -> f64 {
        let closes = free.z + approach(height_m, h) < 0.0;
        if closes { self.restitution.at(-v_C.z) } else { 0.0 }
    }

    /// Moves the free bodies for `h` seconds with what the last [`solve`](Self::solve) has found.
    pub(super) fn move_bodies(&self, collisions: &CollisionSet, bodies: &mut [BodyState], h: f64) {
        for (body, [jump, _]) in bodies.iter_mut().zip(&self.body_jumps) {
            body.w_WB += jump.ang;
            body.v_WB += jump.lin;
        }
        collisions.advance_bodies(bodies, h);
        if self.shifts {
            for (body, [_, shift]) in bodies.iter_mut().zip(&self.body_jumps) {
                body.p_WB += shift.lin;
                let turn = Quaternion::from_rotation_vector(&shift.ang);
                body.quat_WB = turn.mul(&body.quat_WB).renormalised();
            }
        }
    }

    /// What the last [`solve`](Self::solve) has found.
    pub(super) fn jumps(&self) -> Jumps<'_> {
        Jumps { velocities: Some(&self.jump), positions: self.shifts.then_some(&self.shift) }
    }

    /// Collects the contacts that may close in this step; the others open.
    fn choose(
        &mut self,
        set: &ContactSet,
        states: &mut [ContactState],
        data: &Data,
        end_ns: u64,
        h: f64,
    ) {
        for i in set.rigid() {
            let at = &set.evaluated()[i];
            let ContactLaw::Rigid(memory) = &mut states[i].law else { continue };
            if at.surface.is_none() || at.far_m > 0.0 {
                *memory = RigidMemory::NEW;
                continue; // a place without a surface touches nothing
            }
            // the velocity without any contact impulse, relative to the ground
            let (R_WC, p_W) = (&at.touch.R_WC, &at.touch.point_W);
            let ground_W = set.ground_velocity_W(i, p_W, end_ns, h);
            let v_W = data.point_velocity_W(at.body, &at.point_B) - ground_W;
            let free = R_WC.tr_mul(&v_W);
            let height_m = at.touch.p_C.z;
            if is_far(height_m, &free, h) {
                *memory = RigidMemory::NEW;
                continue;
            }
            let restitution = self.share(height_m, &at.v_C, &free, h);
            let impulse = Vec3::from(memory.force_C) * h;
            let R_BC = data.X_WB[at.body].R.transpose() * at.touch.R_WC;
            let points = &mut self.compliance.points;
            points.push(PointAxes { body: at.body, p_B: at.point_B, R_BC });
            let end = End { sign: 1.0, on: EndBody::Tree(points.len() - 1) };
            let active = Active {
                source: Source::Station(i),
                height_m,
                v_C: at.v_C,
                restitution,
                friction: at.friction,
                phase: memory.phase,
                ends: [Some(end), None],
            };
            self.take(active, free, impulse, h);
        }
    }

    /// Takes a contact into the solve: `free` is its velocity without its impulse, `impulse` the
    /// one to begin with, both in C.
    #[inline(always)]
    fn take(&mut self, active: Active, mut free: Vec3, impulse: Vec3, h: f64) {
        let (slides, friction) = (active.phase == RigidPhase::Slides, &active.friction);
        let mu = if slides { friction.mu_kinetic() } else { friction.mu_static() };
        free.z += approach(active.height_m, h);
        let mut contact = RigidContact::new(free, mu);
        (contact.impulse, contact.slides) = (impulse, slides);
        self.active.push(active);
        self.contacts.push(contact);
    }

    /// Stores impulses as mean forces, and where contacts stick.
    fn remember(&mut self, sets: Sets<'_>, state: &mut State, data: &Data, h: f64) {
        self.errors.clear();
        self.held.clear();
        for (contact, active) in self.contacts.iter().zip(&self.active) {
            let height_m = active.height_m;
            let phase = RigidPhase::of(contact.impulse.z > 0.0, contact.slides);
            let sticks = phase == RigidPhase::Sticks;
            let mut error = Vec3::z() * height_m;
            let carries = phase != RigidPhase::Open;
            // what overlaps parts, also where nothing presses it together
            let closed = height_m < -CLOSED_M || (carries && height_m <= CLOSED_M);
            let mut held = [false, false, closed];
            let stretch = match active.source {
                Source::Station(i) => {
                    let ContactLaw::Rigid(memory) = &mut state.contacts[i].law else { continue };
                    let at = &sets.ground.evaluated()[i];
                    memory.force_C = (contact.impulse / h).into();
                    memory.phase = phase;
                    // what the impulse takes from the motion, by the mean of the velocities
                    let mut mean = (active.v_C + contact.velocity) * 0.5;
                    mean.z -= 0.5 * approach(height_m, h);
                    memory.power_w = -contact.impulse.dot(&mean) / h;
                    let holds = sticks && sets.ground.is_point(i);
                    if holds && active.phase != RigidPhase::Sticks {
                        memory.anchor_S = at.ground_point_S().into();
                    }
                    let anchor_C = at.touch.point_C(&memory.anchor_S.into());
                    holds.then(|| at.touch.p_C - anchor_C)
                }
                Source::Shape(i) => {
                    let at = &sets.collisions.points()[i];
                    let stretch = at.stretch_C();
                    let Some(memory) = state.touches.get_mut(i) else { continue };
                    let X_WB = pose_of(at.carriers[1], sets.ground, data, &state.bodies);
                    memory.force_C = (contact.impulse / h).into();
                    memory.sliding = if sticks { 0.0 } else { 1.0 };
                    if !sticks || active.phase != RigidPhase::Sticks {
                        memory.anchor_B = X_WB.point_inverse(&at.point_W).into();
                        let X_WA = pose_of(at.carriers[0], sets.ground, data, &state.bodies);
                        memory.marker_A = X_WA.point_inverse(&at.point_W).into();
                    }
                    (sticks && active.phase == RigidPhase::Sticks).then_some(stretch)
                }
            };
            if let Some(stretch) = stretch {
                (error.x, error.y) = (stretch.x, stretch.y);
                (held[0], held[1]) = (true, true);
            }
            for k in 0..3 {
                error[k] = error[k].clamp(-CORRECTION_MAX_M, CORRECTION_MAX_M);
            }
            self.errors.push(error);
            self.held.push(held);
        }
    }

    /// Finds the jump of positions, not velocities, after which closed contacts lie on the ground
    /// and sticking ones where they stick.
    fn correct_positions(&mut self, collisions: &CollisionSet, bodies: &[BodyState]) {
        let wrong =
            |(e, held): (&Vec3, &[bool; 3])| (0..3).any(|k| held[k] && e[k].abs() > EXACT_M);
        self.shifts = self.errors.iter().zip(&self.held).any(wrong);
        if !self.shifts {
            return;
        }
        self.corrections.clear();
        self.corrections.resize(self.errors.len(), Vec3::zeros());
        let (errors, held, found) = (&self.errors, &self.held, &mut self.corrections);
        let (W, until) = (&self.compliance.W, (EXACT_M, CORRECTION_SWEEPS));
        solve_held(W, errors, held, found, &mut self.solve_room, until);
        self.compliance.jump(&self.active, &self.corrections, &mut self.shift);
        let (active, corrections) = (&self.active, &self.corrections);
        jump_bodies(active, corrections, collisions, bodies, 1, &mut self.body_jumps);
    }

    /// Collects the points of shapes that may close in this step.
    fn choose_shapes(
        &mut self,
        sets: Sets<'_>,
        bodies: &[BodyState],
        data: &Data,
        end_ns: u64,
        h: f64,
    ) {
        let all = sets.collisions.points();
        for i in sets.collisions.rigid() {
            let at = &all[i];
            let height_m = -at.depth_m;
            let velocity_W = |carrier: Carrier| match carrier {
                Carrier::Surface(s) => sets.ground.surface_velocity_W(s, &at.point_W, end_ns, h),
                Carrier::Link(b) => {
                    data.point_velocity_W(b, &data.X_WB[b].point_inverse(&at.point_W))
                }
                Carrier::Body(k) => bodies[k].velocity_at(&at.point_W),
            };
            let v_W = velocity_W(at.carriers[0]) - velocity_W(at.carriers[1]);
            let free = at.R_WC.tr_mul(&v_W);
            if is_far(height_m, &free, h) {
                continue;
            }
            let restitution = self.share(height_m, &at.v_C, &free, h);
            let phase = RigidPhase::of(at.force.normal_n > 0.0, at.memory.sliding > 0.5);
            let points = &mut self.compliance.points;
            let ends = ends_of(&at.carriers, &at.point_W, &at.R_WC, data, bodies, points);
            let (source, v_C, friction) = (Source::Shape(i), at.v_C, at.friction);
            let active = Active { source, height_m, v_C, restitution, friction, phase, ends };
            self.take(active, free, at.force.force_P() * h, h);
        }
    }
}

/// Adds the jumps of the free bodies for these impulses of the contacts: of their velocities for
/// `part` 0, of their poses for 1.
fn jump_bodies(
    active: &[Active],
    impulses: &[Vec3],
    collisions: &CollisionSet,
    bodies: &[BodyState],
    part: usize,
    jumps: &mut [[Motion; 2]],
) {
    for (contact, impulse) in active.iter().zip(impulses) {
        for end in contact.ends.iter().flatten() {
            let EndBody::Free { body, arm_W, R_WC } = &end.on else { continue };
            let impulse_W = *R_WC * (*impulse * end.sign);
            let free = &collisions.spec().bodies[*body];
            let (dw, dv) = free.jump(&bodies[*body], arm_W, &impulse_W);
            jumps[*body][part] += Motion::new(dw, dv);
        }
    }
}

/// True if a contact with this velocity cannot close within two steps.
#[inline(always)]
fn is_far(height_m: f64, velocity_C: &Vec3, h: f64) -> bool {
    height_m > NEAR_M + 2.0 * h * velocity_C.norm()
}

/// Speed at which a contact may still close in a step, m/s.
fn approach(height_m: f64, h: f64) -> f64 {
    if height_m > CLOSED_M { height_m / h } else { 0.0 }
}
