//! The impulses of rigid contacts within one micro-step.

use crate::contact::{RigidContact, solve_held, solve_rigid};
use crate::dynamics::{
    Data, ImpulseWorkspace, Positions, Velocities, advance_positions, advance_velocities,
    impulse_response, kinematics,
};
use crate::model::Model;
use crate::spatial::{Force, Mat3, Vec3};

use super::State;
use super::contact_state::{ContactMemory, ContactState, RigidMemory, RigidPhase};
use super::contacts::ContactSet;
use super::evaluated::Evaluated;

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
    W: Vec<Mat3>,
    contacts: Vec<RigidContact>,
    errors: Vec<Vec3>,
    held: Vec<[bool; 3]>,
    corrections: Vec<Vec3>,
    impulses_B: Vec<Force>,
    work: ImpulseWorkspace,
    dv: Velocities,
}

/// A derived clone would have no room, and would allocate in the loop.
impl Clone for RigidSolver {
    fn clone(&self) -> Self {
        Self::with_room(self.count, self.impulses_B.len(), self.work.clone(), self.dv.clone())
    }
}

impl RigidSolver {
    pub(super) fn new(model: &Model, contacts: &ContactSet) -> Self {
        let (work, dv) = (ImpulseWorkspace::new(model), Velocities::zero(model));
        Self::with_room(contacts.rigid().count(), model.bodies.len(), work, dv)
    }

    fn with_room(n: usize, bodies: usize, work: ImpulseWorkspace, dv: Velocities) -> Self {
        Self {
            count: n,
            active: Vec::with_capacity(n),
            W: Vec::with_capacity(n * n),
            contacts: Vec::with_capacity(n),
            errors: Vec::with_capacity(n),
            held: Vec::with_capacity(n),
            corrections: Vec::with_capacity(n),
            impulses_B: vec![Force::zero(); bodies],
            work,
            dv,
        }
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
        kinematics(model, &state.q, &state.v, data);
        self.choose(set, &mut state.contacts, data, t_ns.wrapping_add(h_ns), h);
        if self.active.is_empty() {
            advance_positions(&mut state.q, h, &state.v);
            return;
        }
        self.respond(model, data, set);
        solve_rigid(&self.W, &mut self.contacts);
        for (k, &i) in self.active.iter().enumerate() {
            let at = &set.evaluated()[i];
            add_impulse(&mut self.impulses_B, data, at, &self.contacts[k].impulse);
        }
        impulse_response(model, data, &self.impulses_B, &mut self.work, &mut self.dv);
        self.impulses_B.fill(Force::zero());
        // a jump is an acceleration for one second
        advance_velocities(&mut state.v, 1.0, &self.dv);
        advance_positions(&mut state.q, h, &state.v);
        self.remember(set, &mut state.contacts, h);
        self.correct_positions(model, data, set, &mut state.q);
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
            let ContactMemory::Rigid(memory) = &mut states[i].memory else { continue };
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
            self.contacts.push(RigidContact { impulse, ..RigidContact::new(free, mu) });
        }
    }

    /// `W = J M⁻¹ Jᵀ`, one impulse response for each direction of each active contact.
    fn respond(&mut self, model: &Model, data: &Data, set: &ContactSet) {
        let n = self.active.len();
        self.W.clear();
        self.W.resize(n * n, Mat3::zeros());
        for (j, &from) in self.active.iter().enumerate() {
            let source = &set.evaluated()[from];
            for k in 0..3 {
                let mut unit = Vec3::zeros();
                unit[k] = 1.0;
                add_impulse(&mut self.impulses_B, data, source, &unit);
                impulse_response(model, data, &self.impulses_B, &mut self.work, &mut self.dv);
                self.impulses_B[source.body] = Force::zero();
                for (i, &to) in self.active.iter().enumerate() {
                    let at = &set.evaluated()[to];
                    let dv_B = self.work.dV[at.body].at_point(&at.point_B);
                    let dv_C = at.touch.R_WC.tr_mul(&(data.X_WB[at.body].R * dv_B));
                    self.W[i * n + j].set_column(k, &dv_C);
                }
            }
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
            if let ContactMemory::Rigid(memory) = &mut states[i].memory {
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

    /// Moves positions, not velocities, so that closed contacts lie on the ground and sticking ones
    /// where they stick.
    fn correct_positions(
        &mut self,
        model: &Model,
        data: &Data,
        set: &ContactSet,
        q: &mut Positions,
    ) {
        let wrong =
            |(e, held): (&Vec3, &[bool; 3])| (0..3).any(|k| held[k] && e[k].abs() > EXACT_M);
        if !self.errors.iter().zip(&self.held).any(wrong) {
            return;
        }
        self.corrections.clear();
        self.corrections.resize(self.errors.len(), Vec3::zeros());
        solve_held(&self.W, &self.errors, &self.held, &mut self.corrections, CORRECTION_SWEEPS);
        for (correction, &i) in self.corrections.iter().zip(&self.active) {
            add_impulse(&mut self.impulses_B, data, &set.evaluated()[i], correction);
        }
        impulse_response(model, data, &self.impulses_B, &mut self.work, &mut self.dv);
        self.impulses_B.fill(Force::zero());
        advance_positions(q, 1.0, &self.dv);
    }
}

/// Speed at which a contact may still close in a step, m/s.
fn approach(height_m: f64, h: f64) -> f64 {
    if height_m > CLOSED_M { height_m / h } else { 0.0 }
}

/// Adds an impulse in the contact's frame that acts on its body.
fn add_impulse(impulses_B: &mut [Force], data: &Data, at: &Evaluated, impulse_C: &Vec3) {
    let impulse_B = data.X_WB[at.body].R.tr_mul(&(at.touch.R_WC * impulse_C));
    impulses_B[at.body] += Force::at_point(impulse_B, &at.point_B);
}
