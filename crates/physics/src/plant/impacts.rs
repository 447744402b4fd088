//! Impacts at the begin of a micro-step, before the step itself is solved.

use crate::contact::{ImpactContact, RigidContact, SLIP_M_PER_S, solve_impact};
use crate::spatial::Vec3;

use super::rigid::CLOSED_M;
use super::rigid_points::{Active, Compliance};

/// Share of the energy of an impact that may be gained by rounding.
const ROUNDING: f64 = 1e-9;

/// Workspace for impacts; nothing in it outlives a micro-step.
#[derive(Debug)]
pub(super) struct Impacts {
    contacts: Vec<ImpactContact>,
    /// What happens to an island, by its first contact.
    islands: Vec<Struck>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Struck {
    /// Nothing in it bounces, or no impact was found: all is left to the step.
    No,
    Bounces,
    /// What bounces would have gained energy: it is stopped.
    Stops,
}

impl Impacts {
    pub(super) fn with_room(contacts: usize) -> Self {
        let (islands, contacts) = (Vec::with_capacity(contacts), Vec::with_capacity(contacts));
        Self { contacts, islands }
    }

    /// Lets those contacts bounce that `active` says do, with all that touch and feel them, and
    /// adds what that changes to the velocities that `step` will be solved for. False, and nothing
    /// is done, if none bounces.
    pub(super) fn strike(
        &mut self,
        compliance: &mut Compliance,
        active: &[Active],
        step: &mut [RigidContact],
    ) -> bool {
        if active.iter().all(|a| a.restitution == 0.0) {
            return false;
        }
        let n = active.len();
        compliance.find_islands(n);
        self.islands.clear();
        self.islands.resize(n, Struck::No);
        for (at, island) in active.iter().zip(compliance.islands()) {
            if at.restitution > 0.0 {
                self.islands[*island] = Struck::Bounces;
            }
        }
        loop {
            self.collect(compliance.islands(), active, step);
            solve_impact(&compliance.W, &mut self.contacts);
            if !self.stop_gains(compliance.islands(), active) {
                break;
            }
        }
        for (i, contact) in step.iter_mut().enumerate() {
            for (j, other) in self.contacts.iter().enumerate() {
                contact.free += compliance.W[i * n + j] * other.impulse;
            }
        }
        true
    }

    fn collect(&mut self, islands: &[usize], active: &[Active], step: &[RigidContact]) {
        self.contacts.clear();
        for ((at, contact), island) in active.iter().zip(step).zip(islands) {
            let struck = self.islands[*island];
            let touches = at.height_m <= CLOSED_M || contact.free.z < 0.0;
            let share = if struck == Struck::Bounces { at.restitution } else { 0.0 };
            let takes_part = touches && struck != Struck::No;
            self.contacts.push(ImpactContact::new(at.v_C, share, &at.friction, takes_part));
        }
    }

    /// Stops the islands that have gained energy, as with friction they can, and then leaves out
    /// those that still do; true if there are any.
    fn stop_gains(&mut self, islands: &[usize], active: &[Active]) -> bool {
        let mut any = false;
        for island in 0..active.len() {
            let next = match self.islands[island] {
                Struck::No => continue,
                Struck::Bounces => Struck::Stops,
                Struck::Stops => Struck::No,
            };
            let all = self.contacts.iter().zip(active).zip(islands);
            let (mut gained_j, mut turned_j) = (0.0_f64, 0.0_f64);
            for ((contact, at), _) in all.filter(|(_, of)| **of == island) {
                gained_j += 0.5 * contact.impulse.dot(&(at.v_C + contact.velocity));
                turned_j += contact.impulse.dot(&at.v_C).abs();
            }
            // also where an impulse is not a number
            if gained_j.is_nan() || gained_j > ROUNDING * turned_j {
                self.islands[island] = next;
                any = true;
            }
        }
        any
    }

    /// Adds the impulses of the last [`strike`](Self::strike) to those of the step.
    pub(super) fn add_to(&self, step: &mut [RigidContact]) {
        for (contact, impact) in step.iter_mut().zip(&self.contacts) {
            if impact.impulse == Vec3::zeros() {
                continue;
            }
            contact.impulse += impact.impulse;
            contact.slides = contact.velocity.xy().norm() > SLIP_M_PER_S;
        }
    }
}
