//! A step of the rigid solve for all contacts at once: Newton's method on the active set.
//!
//! Sweeps over the contacts converge slowly where these share one body, as the corners of a sole
//! do. But they know soon which contacts are open, stick or slide, and in which direction. With
//! that the conditions are linear: `c = 0` where a contact sticks; `c_z = 0` and `λ_xy = μ λ_z d`
//! where one slides with its friction along `d`; `λ = 0` where it is open.

use crate::spatial::{Mat3, Vec3};

use super::rigid::RigidContact;

/// Closed contacts up to which a step is tried: its work grows with their third power.
const CONTACTS_MAX: usize = 16;
const SIZE_MAX: usize = 3 * CONTACTS_MAX;
/// Share of the mean diagonal that keeps the equations regular: several contacts of one body can
/// share its load in more than one way. The one nearest to the guess is taken.
const COMPLIANCE: f64 = 1e-9;
/// Solutions with the factors of one matrix: each takes away what compliance has left of the last.
const ROUNDS: usize = 2;

/// A closed contact, and the directions in which its impulse may change.
#[derive(Clone, Copy, Debug)]
struct Closed {
    contact: usize,
    /// Number of its first unknown.
    first: usize,
    /// `None` where it sticks: then all three directions are free.
    along: Option<Vec3>,
    impulse: Vec3,
}

impl Closed {
    const NONE: Self =
        Self { contact: 0, first: 0, along: None, impulse: Vec3::new(0.0, 0.0, 0.0) };

    const fn size(&self) -> usize {
        if self.along.is_some() { 1 } else { 3 }
    }

    /// Component of the contact's velocity that its unknown `k` has to bring to zero.
    const fn row(&self, k: usize) -> usize {
        if self.along.is_some() { 2 } else { k }
    }

    fn direction(&self, k: usize) -> Vec3 {
        self.along.unwrap_or_else(|| Vec3::from_fn(|r| if r == k { 1.0 } else { 0.0 }))
    }
}

/// Goes from the impulses of `contacts` towards those that meet all conditions with each contact
/// open, sticking or sliding as it is now, until one would leave its cone. Does nothing where too
/// many contacts are closed.
pub(super) fn newton_step(W: &[Mat3], contacts: &mut [RigidContact]) {
    let mut room = [Closed::NONE; CONTACTS_MAX];
    let Some((count, size)) = list(contacts, &mut room) else { return };
    let closed = &mut room[..count];
    let mut factors = [[0.0; SIZE_MAX]; SIZE_MAX];
    fill(W, contacts, closed, &mut factors);
    if !factorise(&mut factors, size) {
        return;
    }
    for _ in 0..ROUNDS {
        let mut x = [0.0; SIZE_MAX];
        for at in closed.iter() {
            let c = velocity(W, contacts, closed, at);
            (0..at.size()).for_each(|k| x[at.first + k] = -c[at.row(k)]);
        }
        substitute(&factors, &mut x[..size]);
        for at in closed.iter_mut() {
            for k in 0..at.size() {
                at.impulse += at.direction(k) * x[at.first + k];
            }
        }
    }
    let share = closed.iter().fold(1.0, |share: f64, at| {
        let contact = &contacts[at.contact];
        share.min(way(contact, &(at.impulse - contact.impulse)))
    });
    for at in closed.iter() {
        let contact = &mut contacts[at.contact];
        contact.impulse += (at.impulse - contact.impulse) * share;
    }
}

/// Lists the closed contacts; their number and that of their unknowns.
fn list(contacts: &[RigidContact], closed: &mut [Closed; CONTACTS_MAX]) -> Option<(usize, usize)> {
    let (mut count, mut size) = (0, 0);
    for (i, contact) in contacts.iter().enumerate() {
        let RigidContact { impulse, mu, .. } = *contact;
        if impulse.z <= 0.0 {
            continue;
        }
        let length = impulse.xy().norm();
        let along = contact.slides.then(|| match length > 0.0 {
            true => Vec3::new(mu * impulse.x / length, mu * impulse.y / length, 1.0),
            false => Vec3::z(),
        });
        *closed.get_mut(count)? = Closed { contact: i, first: size, along, impulse };
        size += closed[count].size();
        count += 1;
    }
    (count > 1).then_some((count, size))
}

/// The response of each condition to each unknown.
fn fill(
    W: &[Mat3],
    contacts: &[RigidContact],
    closed: &[Closed],
    matrix: &mut [[f64; SIZE_MAX]; SIZE_MAX],
) {
    for i in closed {
        for j in closed {
            let block = response(W, contacts, i.contact, j.contact);
            for l in 0..j.size() {
                let column = block * j.direction(l);
                (0..i.size()).for_each(|k| matrix[i.first + k][j.first + l] = column[i.row(k)]);
            }
        }
        let mean = contacts[i.contact].block().trace() / 3.0;
        for (k, row) in matrix.iter_mut().enumerate().skip(i.first).take(i.size()) {
            row[k] += COMPLIANCE * mean;
        }
    }
}

/// Velocity of contact `i` for a unit impulse at contact `j`, regular for its own.
fn response(W: &[Mat3], contacts: &[RigidContact], i: usize, j: usize) -> Mat3 {
    if i == j { *contacts[i].block() } else { W[i * contacts.len() + j] }
}

/// Velocity of a contact with the impulses of `closed`.
fn velocity(W: &[Mat3], contacts: &[RigidContact], closed: &[Closed], at: &Closed) -> Vec3 {
    closed.iter().fold(contacts[at.contact].free, |v, other| {
        v + response(W, contacts, at.contact, other.contact) * other.impulse
    })
}

/// `L U` in place, with ones on the diagonal of `L`; false if a pivot vanishes. Where all contacts
/// stick the matrix is positive definite, so none is exchanged.
fn factorise(A: &mut [[f64; SIZE_MAX]; SIZE_MAX], size: usize) -> bool {
    for k in 0..size {
        let (above, below) = A.split_at_mut(k + 1);
        let pivot_row = &above[k][..size];
        let pivot = pivot_row[k];
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        for row in &mut below[..size - k - 1] {
            let factor = row[k] / pivot;
            row[k] = factor;
            for (x, u) in row[k + 1..size].iter_mut().zip(&pivot_row[k + 1..]) {
                *x -= factor * u;
            }
        }
    }
    true
}

/// Solves `L U x = b` in place.
fn substitute(factors: &[[f64; SIZE_MAX]; SIZE_MAX], x: &mut [f64]) {
    let size = x.len();
    for i in 1..size {
        let sum: f64 = factors[i][..i].iter().zip(&x[..i]).map(|(l, x)| l * x).sum();
        x[i] -= sum;
    }
    for i in (0..size).rev() {
        let sum: f64 = factors[i][i + 1..size].iter().zip(&x[i + 1..]).map(|(u, x)| u * x).sum();
        x[i] = (x[i] - sum) / factors[i][i];
    }
}

/// Share of a step, at most 1, after which the contact is on the edge of its cone or at its tip.
fn way(contact: &RigidContact, step: &Vec3) -> f64 {
    let (from, mu) = (&contact.impulse, contact.mu);
    let share = if from.z + step.z < 0.0 { -from.z / step.z } else { 1.0 };
    if contact.slides {
        return share; // it stays on the edge
    }
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
