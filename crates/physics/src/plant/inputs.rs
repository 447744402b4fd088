//! What changes a plant between two ticks: pushes, friction, motor limits, payloads.

use crate::actuator::{MotorLimits, Reference};
use crate::contact::Friction;
use crate::model::Joint;
use crate::spatial::SpatialInertia;

use super::collision::pose_of;
use super::contact_state::ContactLaw;
use super::{ActivePush, Plant};

impl Plant {
    /// Pushes a body from now on. False if it does not exist, or if all slots are taken.
    #[must_use]
    pub fn push(&mut self, push: ActivePush) -> bool {
        let is_body = (push.body as usize) < self.model.bodies.len();
        match self.state.pushes.iter_mut().find(|p| p.ticks_left == 0) {
            Some(slot) if is_body => {
                *slot = push;
                true
            }
            _ => false,
        }
    }

    /// Ends the pushes of this body, or all.
    pub fn end_pushes(&mut self, body: Option<u64>) {
        for push in self.state.pushes.iter_mut().filter(|p| body.is_none_or(|b| b == p.body)) {
            push.ticks_left = 0;
        }
    }

    /// Gives the contact with this index (stations outer, surfaces inner) coefficients of its own.
    /// [`refresh_contacts`](Self::refresh_contacts) must follow.
    pub fn set_friction(&mut self, contact: usize, friction: Friction) {
        if let Some(contact) = self.state.contacts.get_mut(contact) {
            contact.friction = friction;
        }
    }

    /// Puts the anchor of the contact with this index under its station: its friction spring is not
    /// stretched any more. [`refresh_contacts`](Self::refresh_contacts) must follow.
    pub fn reset_anchor(&mut self, contact: usize) {
        let Some(state) = self.state.contacts.get_mut(contact) else { return };
        let at = &self.contacts.evaluated()[contact];
        match &mut state.law {
            ContactLaw::Spring { memory, .. } | ContactLaw::Soft { memory, .. } => {
                memory.anchor_S = at.stretched_point_S().into();
            }
            ContactLaw::Rigid(memory) => memory.anchor_S = at.ground_point_S().into(),
            ContactLaw::HuntCrossley(_) => {}
        }
    }

    /// The same for the shapes of the foot with this index, or for all that touch.
    pub fn reset_shape_anchors(&mut self, foot: Option<usize>) {
        let Self { data, contacts, collisions, state, spec, .. } = self;
        let shapes = match foot {
            Some(foot) => spec.feet.get(foot).map(|f| f.shapes.as_slice()),
            None => None,
        };
        if foot.is_none() || shapes.is_some() {
            let pose = |carrier| pose_of(carrier, contacts, data, &state.bodies);
            collisions.reset_anchors(shapes, &mut state.touches, pose);
        }
    }

    /// Gives a region coefficients, or none. [`refresh_contacts`](Self::refresh_contacts) must
    /// follow.
    pub fn set_region_friction(&mut self, region: usize, friction: Option<Friction>) {
        if let Some(slot) = self.state.regions.get_mut(region) {
            *slot = friction;
        }
    }

    /// Coefficients with which the contact with this index began.
    #[must_use]
    pub fn initial_friction(&self, contact: usize) -> Friction {
        self.contacts.initial_friction(&self.spec, contact)
    }

    /// Evaluates the forces of this instant with the coefficients that have changed.
    pub fn refresh_contacts(&mut self) {
        self.evaluate(self.time_ns(), true);
    }

    /// Gives each motor its largest effort and velocity, and the bodies these payloads and no
    /// others.
    pub fn equip(
        &mut self,
        limits: impl Fn(usize, &Joint) -> [f64; 2],
        payloads: impl Iterator<Item = (usize, SpatialInertia)>,
    ) {
        let Self { model, bare, motors, drives, lanes, .. } = self;
        for (i, (motor, joint)) in motors.iter_mut().zip(&model.joints).enumerate() {
            let [effort_max, velocity_max] = limits(i, joint);
            *motor = MotorLimits::of(effort_max, velocity_max);
            let share = velocity_max / joint.velocity_max;
            drives.limit(i, effort_max, if share.is_finite() { share } else { 1.0 });
        }
        for (body, bare) in model.bodies.iter_mut().zip(bare) {
            body.inertia = *bare;
        }
        for (body, payload) in payloads {
            if let Some(body) = model.bodies.get_mut(body) {
                body.inertia = body.inertia.plus(&payload);
            }
        }
        lanes.equip(if drives.is_ideal() { motors } else { &drives.unlimited }, model);
    }

    /// Says whether the controller of a joint has sent a command for the coming tick: what a
    /// drive's watchdog waits for.
    pub fn note_fresh(&mut self, joint: usize, is_fresh: bool) {
        self.drives.note_fresh(joint, is_fresh);
    }

    /// What a joint's drive does to damp it with `damping`, N·m·s/rad or N·s/m.
    #[must_use]
    pub fn damper(&self, joint: usize, damping: f64) -> Reference {
        self.passive[joint].damper(damping)
    }
}
