//! The impulses of rigid contacts within one micro-step.

use crate::contact::{RigidContact, solve_held, solve_rigid};
use crate::dynamics::{
    Data, PointAxes, PointResponses, Velocities, VelocityChange, advance_positions,
    advance_velocities, spread_jump, velocities,
};
use crate::model::Model;
use crate::spatial::{Mat3, Motion, Vec3};

use super::State;
use super::contact_state::{ContactLaw, ContactState, RigidMemory, RigidPhase};
use super::contacts::ContactSet;

/// A gap up to this counts as closed, m.
pub(super) const CLOSED_M: f64 = 1e-6;
/// A contact takes part if it can close within two steps at its speed, and always below this, m.
const NEAR_M: f64 = 1e-3;
/// Errors of position below this are left alone, m.
const EXACT_M: f64 = 1e-13;
/// Largest correction of positions in one micro-step, m: a foot that starts inside the ground comes
/// out without speed.
const CORRECTION_MAX_M: f64 = 1e-4;
const CORRECTION_SWEEPS: u32 = 20;

/// Workspace for all rigid contacts of a plant. Nothing in it outlives a micro-step.
#[derive(Debug)]
pub(super) struct RigidSolver {
    /// Rigid contacts of the plant: room for all of them.
    count: usize,
    /// Indices of the contacts that take part in this step; the other vectors have their order.
    active: Vec<usize>,
    points: Vec<PointAxes>,
    responses: PointResponses,
    W: Vec<Mat3>,
    contacts: Vec<RigidContact>,
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
}

/// A derived clone would have no room, and would allocate in the loop.
impl Clone for RigidSolver {
    fn clone(&self) -> Self {
        let (responses, dv) = (self.responses.clone(), self.dv.clone());
        Self::with_room(self.count, self.dV.len(), responses, dv)
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

impl RigidSolver {
    pub(super) fn new(model: &Model, contacts: &ContactSet) -> Self {
        let n = contacts.rigid().count();
        let responses = PointResponses::new(model, n);
        Self::with_room(n, model.bodies.len(), responses, Velocities::zero(model))
    }

    fn with_room(n: usize, bodies: usize, responses: PointResponses, dv: Velocities) -> Self {
        Self {
            count: n,
            active: Vec::with_capacity(n),
            points: Vec::with_capacity(n),
            responses,
            W: Vec::with_capacity(n * n),
            contacts: Vec::with_capacity(n),
            impulses: Vec::with_capacity(n),
            errors: Vec::with_capacity(n),
            held: Vec::with_capacity(n),
            corrections: Vec::with_capacity(n),
            jump: VelocityChange::zero(bodies),
            shift: VelocityChange::zero(bodies),
            shifts: false,
            dV: vec![Motion::zero(); bodies],
            dv,
        }
    }

    /// See [`PointResponses::set_portable`].
    pub(super) fn set_portable(&mut self, portable: bool) {
        self.responses.set_portable(portable);
    }

    /// True if there is nothing to do.
    pub(super) const fn is_idle(&self) -> bool {
        self.count == 0
    }

    /// The rest of a micro-step that begins at `t_ns`: changes `state.v`, the velocities that all
    /// other forces would lead to, so that rigid contacts are met; moves `state.q` to the end of
    /// the step, and takes back what the steps before have missed of the ground. `data` holds what
    /// `aba` left for the start of the step.
    pub(super) fn step(
        &mut self,
        model: &Model,
        data: &mut Data,
        set: &ContactSet,
        state: &mut State,
        t_ns: u64,
        h_ns: u64,
    ) {
        let h = h_ns as f64 / 1e9;
        velocities(model, &state.v, data);
        if !self.solve(model, data, set, &mut state.contacts, t_ns, h_ns) {
            advance_positions(&mut state.q, h, &state.v);
            return;
        }
        spread_jump(model, data, &self.jump, &mut self.dV, &mut self.dv);
        // a jump is an acceleration for one second
        advance_velocities(&mut state.v, 1.0, &self.dv);
        advance_positions(&mut state.q, h, &state.v);
        if self.shifts {
            spread_jump(model, data, &self.shift, &mut self.dV, &mut self.dv);
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
        set: &ContactSet,
        states: &mut [ContactState],
        t_ns: u64,
        h_ns: u64,
    ) -> bool {
        let h = h_ns as f64 / 1e9;
        self.choose(set, states, data, t_ns.wrapping_add(h_ns), h);
        if self.active.is_empty() {
            return false;
        }
        self.points.clear();
        for &i in &self.active {
            let at = &set.evaluated()[i];
            let R_BC = data.X_WB[at.body].R.transpose() * at.touch.R_WC;
            self.points.push(PointAxes { body: at.body, p_B: at.point_B, R_BC });
        }
        self.responses.respond(model, data, &self.points, &mut self.W);
        solve_rigid(&self.W, &mut self.contacts);
        self.impulses.clear();
        self.impulses.extend(self.contacts.iter().map(|c| c.impulse));
        self.responses.jump(&self.impulses, &mut self.jump);
        self.remember(set, states, h);
        self.correct_positions();
        true
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
        self.active.clear();
        self.contacts.clear();
        for i in set.rigid() {
            let at = &set.evaluated()[i];
            let friction = at.friction;
            let ContactLaw::Rigid(memory) = &mut states[i].law else { continue };
            // the velocity without any contact impulse, relative to the ground
            let (R_WC, p_W) = (&at.touch.R_WC, &at.touch.point_W);
            let ground_W = set.ground_velocity_W(i, p_W, end_ns, h);
            let v_W = data.point_velocity_W(at.body, &at.point_B) - ground_W;
            let mut free = R_WC.tr_mul(&v_W);
            let height_m = at.touch.p_C.z;
            if height_m > NEAR_M + 2.0 * h * free.norm() {
                *memory = RigidMemory::NEW;
                continue;
            }
            free.z += approach(height_m, h);
            let slides = memory.phase == RigidPhase::Slides;
            let mu = if slides { friction.mu_kinetic() } else { friction.mu_static() };
            let impulse = at.touch.vector_C(&memory.force_S.into()) * h;
            self.active.push(i);
            let mut contact = RigidContact::new(free, mu);
            contact.impulse = impulse;
            self.contacts.push(contact);
        }
    }

    /// Stores impulses as mean forces, and where contacts stick.
    fn remember(&mut self, set: &ContactSet, states: &mut [ContactState], h: f64) {
        self.errors.clear();
        self.held.clear();
        for (contact, &i) in self.contacts.iter().zip(&self.active) {
            let at = &set.evaluated()[i];
            let mut error = Vec3::zeros();
            let mut held = [false; 3];
            if let ContactLaw::Rigid(memory) = &mut states[i].law {
                let before = memory.phase;
                memory.force_S = at.touch.vector_S(&(contact.impulse / h)).into();
                memory.phase = match (contact.impulse.z > 0.0, contact.slides) {
                    (false, _) => RigidPhase::Open,
                    (true, false) => RigidPhase::Sticks,
                    (true, true) => RigidPhase::Slides,
                };
                // what the impulse takes from the motion, by the mean of the velocities
                let height_m = at.touch.p_C.z;
                let mut mean = (at.v_C + contact.velocity) * 0.5;
                mean.z -= 0.5 * approach(height_m, h);
                memory.power_w = -contact.impulse.dot(&mean) / h;
                held[2] = memory.phase != RigidPhase::Open && height_m <= CLOSED_M;
                error.z = height_m;
                if memory.phase == RigidPhase::Sticks && set.is_point(i) {
                    if before != RigidPhase::Sticks {
                        memory.anchor_S = at.ground_point_S().into();
                    }
                    let anchor_C = at.touch.point_C(&memory.anchor_S.into());
                    error.x = at.touch.p_C.x - anchor_C.x;
                    error.y = at.touch.p_C.y - anchor_C.y;
                    (held[0], held[1]) = (true, true);
                }
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
    fn correct_positions(&mut self) {
        let wrong =
            |(e, held): (&Vec3, &[bool; 3])| (0..3).any(|k| held[k] && e[k].abs() > EXACT_M);
        self.shifts = self.errors.iter().zip(&self.held).any(wrong);
        if !self.shifts {
            return;
        }
        self.corrections.clear();
        self.corrections.resize(self.errors.len(), Vec3::zeros());
        let (errors, held, found) = (&self.errors, &self.held, &mut self.corrections);
        solve_held(&self.W, errors, held, found, EXACT_M, CORRECTION_SWEEPS);
        self.responses.jump(&self.corrections, &mut self.shift);
    }
}

/// Speed at which a contact may still close in a step, m/s.
fn approach(height_m: f64, h: f64) -> f64 {
    if height_m > CLOSED_M { height_m / h } else { 0.0 }
}
