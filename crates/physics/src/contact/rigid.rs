//! Rigid unilateral contact with dry friction: impulses that stop, hold or let slide.
//!
//! What a bilateral point-on-plane constraint leaves to its user: touchdown, sticking, sliding once
//! the cone is left, lift-off. For a step of fixed length the velocities after it are
//! `c = free + W λ`, with the impulses `λ` at the contacts and the response matrix
//! `W = J M⁻¹ Jᵀ` (Delassus). Per contact, in its frame (z is the normal):
//!
//! ```text
//! λ_z ≥ 0,  c_z ≥ 0,  λ_z c_z = 0          touch or part (Signorini)
//! |λ_xy| ≤ μ λ_z,  and c_xy = 0 inside the cone,
//! on its edge λ_xy points against c_xy     stick or slide (Coulomb)
//! ```
//!
//! Solved by block Gauss–Seidel over the contacts from the impulses of the step before. Where the
//! sweeps converge slowly, as for the corners of a sole, a step for all contacts at once comes
//! between them.

use super::active_set::{ActiveSet, newton_step};
use super::response_factor::{BodyPoint, ResponseFactor};
use super::row::Row;
use crate::simd::{FourLaneWork, SimdReal, in_four_lanes};
use crate::spatial::{Mat3, Vec3};

/// One contact in a [`solve_rigid`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidContact {
    /// Velocity after the step without any contact impulse, m/s; what it may still approach by is
    /// already added to z.
    pub free: Vec3,
    /// Coefficient of friction.
    pub mu: f64,
    /// Impulse on the follower, N·s: first guess in, solution out.
    pub impulse: Vec3,
    /// Solution: velocity after the step, m/s.
    pub velocity: Vec3,
    /// On the edge of the cone with a slip velocity: first guess in, solution out.
    pub slides: bool,
    /// The contact's own block of `W`, the same made regular, and its inverse: constant while it is
    /// solved.
    response: Mat3,
    own: Mat3,
    own_inverse: Option<Mat3>,
}

impl RigidContact {
    /// A contact that is to be solved, guessed to carry nothing.
    #[must_use]
    pub fn new(free: Vec3, mu: f64) -> Self {
        let (impulse, own) = (Vec3::zeros(), Mat3::zeros());
        let (slides, own_inverse) = (false, None);
        Self { free, mu, impulse, velocity: free, slides, response: own, own, own_inverse }
    }

    /// Takes the contact's own block of `W`.
    pub(super) fn set_block(&mut self, W: &Mat3) {
        self.response = *W;
        self.own = regular(W);
        self.own_inverse = self.own.inverse();
    }

    pub(super) const fn block(&self) -> &Mat3 {
        &self.own
    }
}

/// How well the conditions are met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Convergence {
    /// Sweeps over all contacts.
    pub sweeps: u32,
    /// Steps for all contacts at once.
    pub steps: u32,
    /// Largest change of a contact's velocity by the last sweep, m/s.
    pub change_m_per_s: f64,
}

/// Contacts that may close from which on a step comes first: more than four feet of one point.
const CROWD: usize = 5;
/// Sweeps at most.
const SWEEPS_MAX: u32 = 100;
/// Steps for all contacts at once, at most.
const STEPS_MAX: u32 = 12;
/// A sweep that changes more than this share of what the one before has changed is slow.
const SLOW: f64 = 0.1;
/// Rounds between the normal and the tangential part of one sliding contact.
const ROUNDS_MAX: u32 = 12;
/// A change of velocity below this counts as none, m/s.
pub(super) const SETTLED_M_PER_S: f64 = 1e-10;
/// Slower slip on the edge of a cone is what the sweeps have left over, m/s.
const SLIP_MIN_M_PER_S: f64 = 1e-5;
/// What a change must be below for the rounds to count as converging, m/s.
const UNSETTLED_M_PER_S: f64 = 1e-7;
/// Share of a block's mean diagonal that keeps it regular: a foot that the mechanism cannot move.
const COMPLIANCE: f64 = 1e-10;
/// Largest impulse, N·s: far above any foot's, far below overflow.
const IMPULSE_MAX: f64 = 1e9;

/// Room for the solves of a step, so that they allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct RigidRoom {
    pub(super) factor: ResponseFactor,
    active_set: ActiveSet,
    /// What each contact's position lacks, in [`solve_held`](super::solve_held).
    pub(super) lacks: Vec<Vec3>,
    pub(super) portable: bool,
}

impl RigidRoom {
    /// For up to `contacts`.
    #[must_use]
    pub fn new(contacts: usize) -> Self {
        let factor = ResponseFactor::with_room(contacts);
        let active_set = ActiveSet::with_room(contacts);
        Self { factor, active_set, lacks: Vec::with_capacity(contacts), portable: false }
    }

    /// Whether to use only instructions that any machine has. No bit depends on it.
    pub const fn set_portable(&mut self, portable: bool) {
        self.portable = portable;
    }

    /// See [`set_portable`](Self::set_portable).
    #[must_use]
    pub const fn is_portable(&self) -> bool {
        self.portable
    }
}

/// Finds the impulses of `contacts`; `W[i * n + j]` is the velocity of contact `i` for a unit
/// impulse at contact `j`, m/s per N·s, each in the axes of its own contact.
///
/// ```
/// use hardstand_physics::contact::{RigidContact, RigidRoom, solve_rigid};
/// use hardstand_physics::spatial::{Mat3, Vec3};
/// // 2 kg fall at 1 m/s and slide at 0.1 m/s: μ λ_z = 1 N·s is enough to stop both
/// let W = [Mat3::identity() * 0.5];
/// let free = Vec3::new(0.1, 0.0, -1.0);
/// let mut contact = [RigidContact::new(free, 0.5)];
/// solve_rigid(&W, &mut contact, &mut RigidRoom::default());
/// assert!((contact[0].impulse - Vec3::new(-0.2, 0.0, 2.0)).norm() < 1e-8);
/// ```
pub fn solve_rigid(W: &[Mat3], contacts: &mut [RigidContact], room: &mut RigidRoom) -> Convergence {
    let solve = Solve { responses: Responses::OfContacts(W), contacts, room };
    in_four_lanes(solve.room.portable, solve).unwrap_or_default()
}

/// The same for many contacts on few bodies, up to four: `B` holds the responses of the bodies.
/// `B[i * n + j]`, with `n` twice the number of bodies, is what a unit moment about the origin of a
/// body (`j` even) or a unit force on it (odd), along its axes, does to the angular (`i` even) or
/// linear velocity (odd) of another. `points` says where the contacts are. None, and nothing is
/// done, if a point cannot be moved.
///
/// ```
/// use hardstand_physics::contact::{BodyPoint, RigidContact, RigidRoom, solve_on_bodies};
/// use hardstand_physics::spatial::{Mat3, Vec3};
/// // 2 kg fall at 1 m/s onto two points, and do not turn
/// let B = [Mat3::identity(), Mat3::zeros(), Mat3::zeros(), Mat3::identity() * 0.5];
/// let point = |x: f64| BodyPoint { body: 0, p_B: Vec3::x() * x, R_BC: Mat3::identity() };
/// let mut contacts = [RigidContact::new(-Vec3::z(), 0.5); 2];
/// let points = [point(0.1), point(-0.1)];
/// assert!(solve_on_bodies(&B, &points, &mut contacts, &mut RigidRoom::default()).is_some());
/// assert!((contacts[0].impulse + contacts[1].impulse - Vec3::z() * 2.0).norm() < 1e-8);
/// ```
pub fn solve_on_bodies(
    B: &[Mat3],
    points: &[BodyPoint],
    contacts: &mut [RigidContact],
    room: &mut RigidRoom,
) -> Option<Convergence> {
    let solve = Solve { responses: Responses::OfBodies(B, points), contacts, room };
    in_four_lanes(solve.room.portable, solve)
}

/// How contacts give way.
#[derive(Clone, Copy, Debug)]
enum Responses<'a> {
    OfContacts(&'a [Mat3]),
    OfBodies(&'a [Mat3], &'a [BodyPoint]),
}

/// The work of [`solve_rigid`] and [`solve_on_bodies`].
struct Solve<'a> {
    responses: Responses<'a>,
    contacts: &'a mut [RigidContact],
    room: &'a mut RigidRoom,
}

impl FourLaneWork for Solve<'_> {
    type Output = Option<Convergence>;

    #[inline(always)]
    fn run<T: SimdReal>(self) -> Option<Convergence> {
        let Self { responses, contacts, room } = self;
        let RigidRoom { factor, active_set, .. } = room;
        let n = contacts.len();
        let W = match responses {
            Responses::OfContacts(W) => {
                factor.forget();
                for (i, contact) in contacts.iter_mut().enumerate() {
                    contact.set_block(&W[i * n + i]);
                }
                W
            }
            Responses::OfBodies(B, points) => {
                if !factor.know_bodies::<T>(B, points, contacts) {
                    return None;
                }
                &[] // no contact's response to another is needed
            }
        };
        let mut out = Convergence::default();
        let may_close = |c: &&RigidContact| c.impulse.z > 0.0 || c.free.z < 0.0;
        let mut is_slow = contacts.iter().filter(may_close).count() >= CROWD;
        while out.sweeps < SWEEPS_MAX {
            if is_slow && out.steps < STEPS_MAX && factor.know::<T>(W, n) {
                newton_step::<T>(factor, contacts, active_set, out.sweeps == 0);
                out.steps += 1;
            }
            out.sweeps += 1;
            let before = out.change_m_per_s;
            out.change_m_per_s = sweep::<T>(W, factor.known(), contacts);
            if out.change_m_per_s < SETTLED_M_PER_S {
                break;
            }
            is_slow = out.sweeps > 1 && out.change_m_per_s > SLOW * before;
        }
        let factor = factor.known();
        let all = sum_of::<T>(factor, contacts);
        // where contacts are redundant one may be on the edge of its cone and yet stand still
        for i in 0..n {
            let velocity = match factor {
                Some(factor) => velocity_in::<T>(factor, &all, contacts, i),
                None => velocity_by(W, contacts, i, n),
            };
            contacts[i].slides = contacts[i].slides && velocity.xy().norm() > SLIP_MIN_M_PER_S;
            contacts[i].velocity = velocity;
        }
        Some(out)
    }
}

/// Solves each contact once against the others; the largest change of a velocity, m/s.
#[inline(always)]
fn sweep<T: SimdReal>(
    W: &[Mat3],
    factor: Option<&ResponseFactor>,
    contacts: &mut [RigidContact],
) -> f64 {
    let n = contacts.len();
    let mut largest: f64 = 0.0;
    let mut all = sum_of::<T>(factor, contacts);
    for i in 0..n {
        let others = match factor {
            Some(factor) => {
                velocity_in::<T>(factor, &all, contacts, i)
                    - contacts[i].response * contacts[i].impulse
            }
            None => velocity_by(W, contacts, i, i),
        };
        let (own, before) = (contacts[i].own, contacts[i].impulse);
        (contacts[i].impulse, contacts[i].slides) = one_contact(&contacts[i], &others);
        let change = contacts[i].impulse - before;
        largest = (own * change).norm().larger(largest);
        if let Some(factor) = factor {
            factor.add::<T>(&mut all, i, &(change / factor.scale(i)));
        }
    }
    largest
}

/// The sum of all impulses, where there is a factor for it.
#[inline(always)]
pub(super) fn sum_of<T: SimdReal>(
    factor: Option<&ResponseFactor>,
    contacts: &[RigidContact],
) -> Row {
    let mut all = Row::NOTHING;
    if let Some(factor) = factor {
        for (i, contact) in contacts.iter().enumerate() {
            factor.add::<T>(&mut all, i, &(contact.impulse / factor.scale(i)));
        }
    }
    all
}

/// Velocity of contact `i` after the step for a sum of all impulses.
#[inline(always)]
pub(super) fn velocity_in<T: SimdReal>(
    factor: &ResponseFactor,
    all: &Row,
    contacts: &[RigidContact],
    i: usize,
) -> Vec3 {
    contacts[i].free + factor.velocity::<T>(i, all) / factor.scale(i)
}

/// Velocity of contact `i` after the step, without the impulse of contact `except`.
fn velocity_by(W: &[Mat3], contacts: &[RigidContact], i: usize, except: usize) -> Vec3 {
    let mut v = contacts[i].free;
    for (j, other) in contacts.iter().enumerate().filter(|(j, _)| *j != except) {
        v += W[i * contacts.len() + j] * other.impulse;
    }
    v
}

/// A block that can be divided by.
pub(super) fn regular(W: &Mat3) -> Mat3 {
    W + Mat3::identity() * compliance(W)
}

/// What makes a block regular.
pub(super) fn compliance(W: &Mat3) -> f64 {
    COMPLIANCE * (W.trace() / 3.0) + 1e-12
}

/// Exact impulse of one contact against `b`, its velocity by everything else.
pub(super) fn one_contact(contact: &RigidContact, b: &Vec3) -> (Vec3, bool) {
    if b.z >= 0.0 {
        return (Vec3::zeros(), false);
    }
    let (W, mu) = (&contact.own, contact.mu);
    if let Some(inverse) = &contact.own_inverse {
        let stick = -(inverse * b);
        let tangential = stick.xy().norm();
        if stick.z > 0.0 && stick.z < IMPULSE_MAX && tangential <= mu * stick.z {
            return (stick, false);
        }
    }
    // normal and tangential part in turn; each alone is solved exactly
    let mut impulse = contact.impulse;
    let mut change = f64::MAX;
    for _ in 0..ROUNDS_MAX {
        let z = -(b.z + W[(2, 0)] * impulse.x + W[(2, 1)] * impulse.y) / W[(2, 2)];
        // NaN and overflow end here
        let z = if z > 0.0 { z.min(IMPULSE_MAX) } else { 0.0 };
        let a = [b.x + W[(0, 2)] * z, b.y + W[(1, 2)] * z];
        let xy = least_in_disc([W[(0, 0)], W[(0, 1)], W[(1, 1)]], a, mu * z);
        let next = Vec3::new(xy[0], xy[1], z);
        change = (W * (next - impulse)).norm();
        impulse = next;
        if change < 0.1 * SETTLED_M_PER_S {
            break;
        }
    }
    // where friction presses the contact together the rounds need not end
    if change > UNSETTLED_M_PER_S {
        impulse = bracketed(W, b, mu);
    }
    (impulse, true)
}

/// The same by bisection: with the best friction for each normal impulse `z`, the normal velocity
/// after the step is continuous in `z`, negative at 0, and at last grows without bound for any
/// positive definite `W` and any `mu`.
fn bracketed(W: &Mat3, b: &Vec3, mu: f64) -> Vec3 {
    let at = |z: f64| {
        let a = [b.x + W[(0, 2)] * z, b.y + W[(1, 2)] * z];
        let xy = least_in_disc([W[(0, 0)], W[(0, 1)], W[(1, 1)]], a, mu * z);
        let normal = b.z + W[(2, 0)] * xy[0] + W[(2, 1)] * xy[1] + W[(2, 2)] * z;
        (Vec3::new(xy[0], xy[1], z), normal)
    };
    let (mut low, mut high) = (0.0, (-b.z / W[(2, 2)]).min(IMPULSE_MAX));
    while high < IMPULSE_MAX && at(high).1 < 0.0 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if at(middle).1 < 0.0 { low = middle } else { high = middle }
    }
    at(high).0
}

/// The `x` with `|x| ≤ radius` that makes `½ xᵀ A x + aᵀ x` least, `A = [[a₀, a₁], [a₁, a₂]]`
/// positive definite. On the edge `A x + a = −σ x` with `σ ≥ 0`: friction against the slip.
pub(super) fn least_in_disc(A: [f64; 3], a: [f64; 2], radius: f64) -> [f64; 2] {
    let mut x = [0.0; 2];
    if radius <= 0.0 {
        return x;
    }
    let mut sigma = 0.0;
    // Newton's method on 1/|x(σ)| − 1/radius, which is concave: it approaches from below
    for _ in 0..30 {
        let (p, q, r) = (A[0] + sigma, A[1], A[2] + sigma);
        let det = p * r - q * q;
        x = [(q * a[1] - r * a[0]) / det, (q * a[0] - p * a[1]) / det];
        let length = (x[0] * x[0] + x[1] * x[1]).sqrt();
        if length <= radius * (1.0 + 1e-14) {
            break;
        }
        // d|x|²/dσ = −2 xᵀ (A + σ)⁻¹ x
        let y = [(r * x[0] - q * x[1]) / det, (p * x[1] - q * x[0]) / det];
        let slope = x[0] * y[0] + x[1] * y[1];
        sigma += length * length / slope * (length / radius - 1.0);
    }
    let length = (x[0] * x[0] + x[1] * x[1]).sqrt();
    let shrink = if length > radius { radius / length } else { 1.0 };
    if shrink.is_finite() { [x[0] * shrink, x[1] * shrink] } else { [0.0; 2] }
}
