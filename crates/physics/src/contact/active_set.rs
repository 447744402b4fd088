//! A step of the rigid solve for all contacts at once: Newton's method on the active set.
//!
//! Sweeps over the contacts converge slowly where these share one body, as the corners of a sole
//! do. But they know soon which contacts are open, stick or slide, and in which direction. With
//! that the conditions are linear: `c = 0` where a contact sticks; `c_z = 0` and `λ_xy = μ λ_z d`
//! where one slides with its friction along `d`; `λ = 0` where it is open.

use crate::simd::SimdReal;
use crate::spatial::Vec3;

use super::response_factor::{ROUNDS, ResponseFactor};
use super::rigid::{RigidContact, SETTLED_M_PER_S, compliance, sum_of, velocity_in};
use super::row::Row;

/// Times that a step goes on with less freedom for the contacts that were in its way.
const HOLDS_MAX: usize = 16;
/// Share of the largest impulse below which a contact is at the tip of its cone.
const TIP: f64 = 1e-9;

/// A closed contact, and the directions in which its impulse may change.
#[derive(Clone, Copy, Debug)]
struct Closed {
    contact: usize,
    change: Change,
    /// Scaled.
    impulse: Vec3,
    /// What its velocity lacks, scaled.
    lack: Vec3,
    /// How much of its change keeps it in its cone, at most 1.
    share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// It sticks: in all directions.
    Free,
    /// It slides: in this one, until its normal velocity is zero.
    Along(Vec3),
    /// It sticks, on the edge of its cone: in this one, until it does not move in it.
    Edge(Vec3),
    /// Not at all: it is at the tip of its cone.
    None,
}

impl Closed {
    fn new(contact: usize, change: Change) -> Self {
        Self { contact, change, impulse: Vec3::zeros(), lack: Vec3::zeros(), share: 1.0 }
    }
}

/// Room for [`newton_step`].
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveSet(Vec<Closed>);

impl ActiveSet {
    pub(super) fn with_room(contacts: usize) -> Self {
        Self(Vec::with_capacity(contacts))
    }
}

/// Goes from the impulses of `contacts` to those that meet all conditions with each contact open,
/// sticking or sliding as it is now. One that would leave its cone remains on its edge, as others
/// of its body may take the rest of its load. If this is the `first` step, with the impulses of the
/// step before, what they leave to approach is taken for closed, too, and for sticking.
#[inline(always)]
pub(super) fn newton_step<T: SimdReal>(
    factor: &mut ResponseFactor,
    contacts: &mut [RigidContact],
    ActiveSet(closed): &mut ActiveSet,
    first: bool,
) {
    list(contacts, closed);
    if first {
        let all = sum_of::<T>(Some(factor), contacts);
        for i in 0..contacts.len() {
            let is_open = contacts[i].impulse.z <= 0.0;
            if is_open && velocity_in::<T>(factor, &all, contacts, i).z < -SETTLED_M_PER_S {
                closed.push(Closed::new(i, Change::Free));
            }
        }
    }
    for at in closed.iter_mut() {
        at.impulse = contacts[at.contact].impulse / factor.scale(at.contact);
    }
    for _ in 0..HOLDS_MAX {
        if closed.iter().filter(|at| at.change != Change::None).count() < 2 {
            return;
        }
        factor.clear_equations();
        for at in closed.iter() {
            match &at.change {
                Change::Free => (0..3).for_each(|k| factor.add_direction(at.contact, k)),
                Change::Along(direction) => factor.add_sliding::<T>(at.contact, direction),
                Change::Edge(direction) => factor.add_along::<T>(at.contact, direction),
                Change::None => {}
            }
        }
        if !factor.close_equations::<T>() {
            return;
        }
        for _ in 0..ROUNDS {
            if !improve::<T>(factor, contacts, closed) {
                break;
            }
        }
        if go(factor, contacts, closed) {
            return;
        }
    }
}

/// Lists the closed contacts.
fn list(contacts: &[RigidContact], closed: &mut Vec<Closed>) {
    closed.clear();
    for (i, contact) in contacts.iter().enumerate() {
        let RigidContact { impulse, mu, .. } = *contact;
        if impulse.z <= 0.0 {
            continue;
        }
        let length = impulse.xy().norm();
        let change = match (contact.slides, length > 0.0) {
            (false, _) => Change::Free,
            (true, false) => Change::Along(Vec3::z()),
            (true, true) => {
                let (x, y) = (mu * impulse.x / length, mu * impulse.y / length);
                Change::Along(Vec3::new(x, y, 1.0))
            }
        };
        closed.push(Closed::new(i, change));
    }
}

/// Solves for what the conditions lack with the impulses of `closed`; false if that is nothing.
#[inline(always)]
fn improve<T: SimdReal>(
    factor: &ResponseFactor,
    contacts: &[RigidContact],
    closed: &mut [Closed],
) -> bool {
    let mut all = Row::NOTHING;
    for at in closed.iter() {
        factor.add::<T>(&mut all, at.contact, &at.impulse);
    }
    let (mut sum, mut most) = (Row::NOTHING, 0.0_f64);
    for at in closed.iter_mut() {
        let (contact, scale) = (&contacts[at.contact], factor.scale(at.contact));
        let own = at.impulse * (compliance(contact.block()) * scale * scale);
        at.lack = -(contact.free * scale + factor.velocity::<T>(at.contact, &all) + own);
        let pushed = match at.change {
            Change::Free => at.lack,
            Change::Along(direction) => direction * at.lack.z,
            Change::Edge(direction) => direction * direction.dot(&at.lack),
            Change::None => continue,
        };
        most = (pushed.norm() / scale).larger(most);
        factor.add::<T>(&mut sum, at.contact, &pushed);
    }
    if most <= 0.1 * SETTLED_M_PER_S {
        return false;
    }
    let common = factor.common(&sum);
    for at in closed.iter_mut() {
        if at.change == Change::None {
            continue;
        }
        let unknowns = factor.unknowns::<T>(at.contact, &at.lack, &common);
        at.impulse += match at.change {
            Change::Along(direction) => direction * unknowns.z,
            Change::Edge(direction) => direction * direction.dot(&unknowns),
            Change::Free | Change::None => unknowns,
        };
    }
    true
}

/// Moves the impulses of `contacts` as far as all remain in their cones. True if that was all the
/// way; else the next begins there, with the contacts that were in the way on the edges of their
/// cones.
fn go(factor: &ResponseFactor, contacts: &mut [RigidContact], closed: &mut [Closed]) -> bool {
    let end = |at: &Closed| at.impulse * factor.scale(at.contact);
    let (mut share, mut size) = (1.0_f64, 0.0_f64);
    for at in closed.iter_mut() {
        let contact = &contacts[at.contact];
        let step = end(at) - contact.impulse;
        at.share = match at.change {
            Change::None => 1.0,
            Change::Free => way(contact, &step),
            Change::Along(_) | Change::Edge(_) => way_to_tip(contact, &step),
        };
        share = share.smaller(at.share);
        size = contact.impulse.z.larger(size);
    }
    for at in closed.iter_mut().filter(|at| at.change != Change::None) {
        let contact = &mut contacts[at.contact];
        let is_in_the_way = share < 1.0 && at.share <= share;
        contact.impulse += (end(at) - contact.impulse) * share;
        if is_in_the_way {
            at.change = match at.change {
                Change::Free if contact.impulse.z > TIP * size => {
                    Change::Edge(contact.impulse / contact.impulse.z)
                }
                _ => Change::None,
            };
        }
        at.impulse = contact.impulse / factor.scale(at.contact);
    }
    share >= 1.0
}

/// Share of a step, at most 1, after which the contact is at the tip of its cone.
fn way_to_tip(contact: &RigidContact, step: &Vec3) -> f64 {
    let z = contact.impulse.z;
    if z + step.z < 0.0 { z.larger(0.0) / -step.z } else { 1.0 }
}

/// The same, or on the edge.
fn way(contact: &RigidContact, step: &Vec3) -> f64 {
    let (from, mu) = (&contact.impulse, contact.mu);
    let share = way_to_tip(contact, step);
    // |from + s step|² = μ² (z + s dz)², which is negative inside
    let (z, dz) = (mu * from.z, mu * step.z);
    let a = step.xy().norm_squared() - dz * dz;
    let b = from.xy().dot(&step.xy()) - z * dz;
    let c = (from.xy().norm_squared() - z * z).min(0.0);
    let inside = a * share * share + 2.0 * b * share + c <= 0.0;
    if inside {
        return share;
    }
    let root = (b * b - a * c).max(0.0).sqrt();
    // the smaller positive root, in the form that does not cancel
    let s = if b > 0.0 { -c / (b + root) } else { (root - b) / a };
    if s.is_finite() { s.clamp(0.0, share) } else { 0.0 }
}
