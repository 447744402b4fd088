//! What evaluated contacts do to the bodies, and to their own memory.

use super::super::contact_result::ContactResult;
use super::super::contact_state::{ContactLaw, ContactState};
use super::super::implicit::{Step, Touching};
use super::ContactSet;
use crate::contact::SpringForce;
use crate::dynamics::Data;
use crate::spatial::{Force, Vec3};

impl ContactSet {
    /// Forgets the last evaluation: no force anywhere.
    pub(in crate::plant) fn clear(&mut self) {
        for e in &mut self.evaluated {
            e.force = SpringForce::default();
            e.moment_C = Vec3::zeros();
        }
    }

    /// Adds the evaluated forces to `data.f_ext`, but for rigid contacts: those act as impulses.
    /// Moments against rolling are taken at the end of `step`, with the inertias that stand for
    /// that in `data.added`; without it, as they are.
    pub(in crate::plant) fn apply(&self, data: &mut Data, step: Option<&Step<f64>>) {
        for at in &self.evaluated {
            if !at.rigid && at.surface.is_some() {
                let f_W = at.touch.vector_to_W(&at.force.force_P());
                data.apply_force(at.body, &f_W, &at.point_B);
                if at.moment_C == Vec3::zeros() {
                    continue;
                }
                match step {
                    Some(step) => step.brake(at.body, &at.brake(), data),
                    None => data.apply_moment(at.body, &(at.touch.R_WC * at.moment_C)),
                }
            }
        }
    }

    /// As [`apply`](Self::apply) for a linearly implicit step: with what the forces will have given
    /// way, and the inertias that stand for the rest in `data.added`.
    pub(in crate::plant) fn apply_implicit(
        &self,
        data: &mut Data,
        contacts: &[ContactState],
        step: &Step<f64>,
    ) {
        for (i, (contact, at)) in contacts.iter().zip(&self.evaluated).enumerate() {
            let slopes = match &contact.law {
                ContactLaw::Spring { spring, .. } => spring.slopes(&at.force),
                ContactLaw::Soft { .. } => at.slopes,
                ContactLaw::HuntCrossley(law) => {
                    let radius_m = self.stations[i / self.places].shape.round_m();
                    law.step_slopes(&at.slopes, &at.force, radius_m, step.h)
                }
                ContactLaw::Rigid(_) => continue,
            };
            let touching = Touching {
                f_C: at.force.force_P(),
                v_C: at.v_C,
                R_WC: at.touch.R_WC,
                point_B: at.point_B,
            };
            let (X_WB, V) = (data.X_WB[at.body], data.V[at.body]);
            let (force, inertia) = step.contact(&touching, &slopes, &X_WB, &V);
            data.f_ext[at.body] += Force::from(force);
            data.added.bodies[at.body] += inertia;
            if at.moment_C != Vec3::zeros() {
                step.brake(at.body, &at.brake(), data);
            }
        }
    }

    /// True if a micro-step of `h_s` is too long for a spring that strikes the ground.
    pub(in crate::plant) fn needs_substep(&self, contacts: &[ContactState], h_s: f64) -> bool {
        let needs_substep = |(contact, at): (&ContactState, &ContactResult)| match &contact.law {
            ContactLaw::Spring { spring, .. } => spring.needs_substep(&at.force, h_s),
            ContactLaw::Soft { ground: None, spring, .. } => spring.needs_substep(&at.force, h_s),
            ContactLaw::Soft { .. } | ContactLaw::HuntCrossley(_) | ContactLaw::Rigid(_) => false,
        };
        contacts.iter().zip(&self.evaluated).any(needs_substep)
    }

    /// Commits what the last evaluation proposes.
    pub(in crate::plant) fn commit(&self, contacts: &mut [ContactState], now_ns: u64) {
        for (i, (contact, at)) in contacts.iter_mut().zip(&self.evaluated).enumerate() {
            match (&mut contact.law, at.surface) {
                (ContactLaw::Spring { memory, .. }, Some(_)) => {
                    at.commit_spring(memory, !self.is_point(i), now_ns);
                }
                (ContactLaw::Soft { ground, memory, prints, .. }, Some(_)) => {
                    at.commit_spring(memory, !self.is_point(i), now_ns);
                    if let Some(ground) = ground {
                        prints.stand(ground, at.pressed_m, &at.ground_point_S());
                    }
                }
                _ => {}
            }
        }
    }
}
