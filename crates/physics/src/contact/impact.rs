//! Impacts of rigid contacts that bounce: a compression, an expansion, and slip that turns.
//!
//! An impact takes no time, but has an order. In the compression the contacts stop each other's
//! approach; in the expansion each gives back the share `e` of its normal impulse (Poisson's
//! hypothesis), while the others yield or stop what that sets in motion. Both go in *intervals*
//! (T. K. Uchida, M. A. Sherman and S. L. Delp, *Making a meaningful impact*, Proc. R. Soc. A 471,
//! 2015): a contact that slides at the begin of an interval has all its friction of that interval
//! against this slip, and the interval ends where the slip ends or has turned by 30°. A contact
//! that does not slide sticks, or if its cone does not hold it, slides as [`solve_rigid`] has it.
//!
//! [`solve_rigid`]: super::solve_rigid

use crate::spatial::{Mat3, Vec3};

use super::rigid::{least_in_disc, one_contact};
use super::{Friction, RigidContact};

/// Slower slip counts as none, m/s: the transition velocity of Simbody's runs.
pub const SLIP_M_PER_S: f64 = 0.01;
/// The tangent of 30°, by which slip may turn in an interval.
const TURN: f64 = 0.577_350_269_189_625_8;
/// Slower approach after an expansion is not corrected, m/s.
const APPROACH_M_PER_S: f64 = 1e-5;
/// Slip that an interval ends with is exactly none, m/s.
const HALTED_M_PER_S: f64 = 1e-13;
/// An interval is whole if no more than this share of it is missing.
const SLIVER: f64 = 1.5e-8;
/// In the last interval of a round no slip has a direction, so that it is the last one.
const INTERVALS_MAX: u32 = 40;
const SWEEPS_MAX: u32 = 200;
/// Sweeps that change a velocity by more lead nowhere, m/s.
const LOST_M_PER_S: f64 = 1e6;
/// A change of velocity below this counts as none, m/s.
const SETTLED_M_PER_S: f64 = 1e-10;

/// One contact in an impact, in its own axes (z is the normal).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactContact {
    /// Velocity, m/s: before the impact in, after it out.
    pub velocity: Vec3,
    /// Share of the normal impulse of the compression that the expansion gives back, 0 to 1.
    pub restitution: f64,
    /// Solution: impulse on the follower, N·s.
    pub impulse: Vec3,
    mu: f64,
    /// Touches; the others feel nothing and give nothing.
    takes_part: bool,
    /// Comes nearer before the impact.
    approaches: bool,
    /// Normal impulse of the expansion that is still to come, N·s; `None` if the normal impulse is
    /// what stops the approach.
    known: Option<f64>,
    /// Unit vector of the slip at the begin of the interval.
    slip: Option<[f64; 2]>,
    /// Impulse of the interval, N·s, and the velocity after it, m/s.
    step: Vec3,
    end: Vec3,
    own: RigidContact,
}

impl ImpactContact {
    /// A contact before an impact. Its coefficient of friction is that of its slip then. One that
    /// does not take part touches nothing.
    #[must_use]
    pub fn new(velocity: Vec3, restitution: f64, friction: &Friction, takes_part: bool) -> Self {
        let slides = velocity.xy().norm() > SLIP_M_PER_S;
        let mu = if slides { friction.mu_kinetic() } else { friction.mu_static() };
        Self {
            velocity,
            restitution,
            impulse: Vec3::zeros(),
            mu,
            takes_part,
            approaches: velocity.z < -APPROACH_M_PER_S,
            known: None,
            slip: None,
            step: Vec3::zeros(),
            end: velocity,
            own: RigidContact::new(velocity, mu),
        }
    }

    /// Impulse of the interval against `b`, the velocity by everything else.
    fn answer(&self, b: &Vec3) -> Vec3 {
        let W = self.own.block();
        if let (Some(slip), None) = (self.slip, self.known) {
            let against = W[(2, 0)] * slip[0] + W[(2, 1)] * slip[1];
            let gives = W[(2, 2)] - self.mu * against;
            // where friction jams the contact it stops at once
            if gives > 1e-6 * W[(2, 2)] {
                return self.sliding(slip, (-b.z / gives).max(0.0));
            }
        }
        match (self.slip, self.known) {
            (Some(slip), Some(z)) => self.sliding(slip, z),
            (None, Some(z)) => {
                let a = [b.x + W[(0, 2)] * z, b.y + W[(1, 2)] * z];
                let xy = least_in_disc([W[(0, 0)], W[(0, 1)], W[(1, 1)]], a, self.mu * z);
                Vec3::new(xy[0], xy[1], z)
            }
            (_, None) => one_contact(&self.own, b).0,
        }
    }

    fn sliding(&self, slip: [f64; 2], z: f64) -> Vec3 {
        Vec3::new(-self.mu * z * slip[0], -self.mu * z * slip[1], z)
    }

    /// Share of the interval after which the slip has ended or turned far enough.
    fn share(&self) -> f64 {
        if self.slip.is_none() || self.step.z == 0.0 {
            return 1.0;
        }
        let (from, to) = (self.velocity.xy(), self.end.xy());
        let way = to - from;
        let (square, along) = (from.dot(&from), from.dot(&way));
        let nearest = (-along / way.dot(&way)).clamp(0.0, 1.0);
        let halts = (from + way * nearest).norm() <= SLIP_M_PER_S;
        let turned = (from.x * way.y - from.y * way.x).abs();
        let goes_on = to.norm() > SLIP_M_PER_S && turned <= TURN * (square + along);
        if goes_on || to.norm() <= HALTED_M_PER_S {
            return 1.0;
        }
        if halts { nearest } else { TURN * square / (turned - TURN * along) }
    }
}

/// Finds the impulses of `contacts` and the velocities after the impact; `W` as for
/// [`solve_rigid`](super::solve_rigid).
///
/// ```
/// use hardstand_physics::contact::{Friction, ImpactContact, solve_impact};
/// use hardstand_physics::spatial::{Mat3, Vec3};
/// // 2 kg strike at 2 m/s, slide at 5 m/s, and give back 0.6 of it: 4 N·s, and 2.4 N·s
/// let W = [Mat3::identity() * 0.5];
/// let before = Vec3::new(5.0, 0.0, -2.0);
/// let mut contact = [ImpactContact::new(before, 0.6, &Friction::new(0.5, 0.5), true)];
/// solve_impact(&W, &mut contact);
/// assert!((contact[0].velocity - Vec3::new(3.4, 0.0, 1.2)).norm() < 1e-8);
/// ```
pub fn solve_impact(W: &[Mat3], contacts: &mut [ImpactContact]) {
    let n = contacts.len();
    for (i, contact) in contacts.iter_mut().enumerate() {
        contact.own.set_block(&W[i * n + i]);
    }
    round(W, contacts);
    for contact in contacts.iter_mut() {
        let back = contact.restitution * contact.impulse.z;
        contact.known = (contact.approaches && back > 0.0).then_some(back);
    }
    if contacts.iter().all(|c| c.known.is_none()) {
        return;
    }
    round(W, contacts);
    contacts.iter_mut().for_each(|c| c.known = None);
    if contacts.iter().any(|c| c.takes_part && c.velocity.z < -APPROACH_M_PER_S) {
        round(W, contacts);
    }
}

/// A compression or an expansion: intervals, until nothing is left to do.
fn round(W: &[Mat3], contacts: &mut [ImpactContact]) {
    let n = contacts.len();
    for interval in 1..=INTERVALS_MAX {
        for contact in contacts.iter_mut() {
            let slip = contact.velocity.xy();
            let speed = slip.norm();
            let slides = interval < INTERVALS_MAX && speed > SLIP_M_PER_S;
            contact.slip = slides.then(|| [slip.x / speed, slip.y / speed]);
            contact.step = Vec3::new(0.0, 0.0, contact.known.unwrap_or(0.0));
        }
        if !sweep(W, contacts) {
            // nothing satisfies all these directions at once: friction as in a step
            for contact in contacts.iter_mut() {
                contact.slip = None;
                contact.step = Vec3::new(0.0, 0.0, contact.known.unwrap_or(0.0));
            }
            sweep(W, contacts);
        }
        for i in 0..n {
            contacts[i].end = velocity_by(W, contacts, i, n);
        }
        let mut share = contacts.iter().map(ImpactContact::share).fold(1.0, f64::min);
        if share > 1.0 - SLIVER {
            share = 1.0;
        }
        for contact in contacts.iter_mut() {
            contact.velocity += (contact.end - contact.velocity) * share;
            contact.impulse += contact.step * share;
            contact.known = contact.known.map(|left| left * (1.0 - share));
        }
        if share == 1.0 {
            return;
        }
    }
}

/// The impulses of an interval, by block Gauss–Seidel; false if they do not settle.
fn sweep(W: &[Mat3], contacts: &mut [ImpactContact]) -> bool {
    let n = contacts.len();
    for _ in 0..SWEEPS_MAX {
        let mut change = 0.0_f64;
        for i in 0..n {
            if !contacts[i].takes_part {
                continue;
            }
            let b = velocity_by(W, contacts, i, i);
            let answer = contacts[i].answer(&b);
            change = change.max((*contacts[i].own.block() * (answer - contacts[i].step)).norm());
            contacts[i].step = answer;
        }
        if change < SETTLED_M_PER_S {
            return true;
        }
        if change.is_nan() || change > LOST_M_PER_S {
            return false;
        }
    }
    false
}

/// Velocity of contact `i` after the interval, without the impulse of contact `except`.
fn velocity_by(W: &[Mat3], contacts: &[ImpactContact], i: usize, except: usize) -> Vec3 {
    let mut v = contacts[i].velocity;
    for (j, other) in contacts.iter().enumerate() {
        if j != except && other.takes_part {
            v += W[i * contacts.len() + j] * other.step;
        }
    }
    v
}
