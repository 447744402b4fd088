//! What takes part in a rigid solve: stations on the ground, and points of shapes; and how bodies
//! give way there.

use crate::contact::{BodyPoint, Friction};
use crate::dynamics::{Constraints, Data, PointAxes, PointResponses};
use crate::model::Model;
use crate::spatial::{Mat3, Vec3};

use super::collision::{BodyState, Carrier, CollisionSet};
use super::contact_state::RigidPhase;

/// Points from which on it may pay to ask for the responses of their bodies, and bodies up to which
/// [`solve_on_bodies`](crate::contact::solve_on_bodies) has room.
const POINTS_MIN: usize = 5;
const BODIES_MAX: usize = 4;

/// Where a rigid contact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A station: the index of its contact.
    Station(usize),
    /// A point of two shapes: its index in the set.
    Shape(usize),
}

/// A rigid contact that takes part in a step, as it was at the step's begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) source: Source,
    pub(super) height_m: f64,
    /// Velocity relative to the ground or the other shape, in C, m/s.
    pub(super) v_C: Vec3,
    /// Share of its impulse that it gives back if it closes in this step, 0 to 1.
    pub(super) restitution: f64,
    pub(super) friction: Friction,
    pub(super) phase: RigidPhase,
    pub(super) ends: [Option<End>; 2],
}

/// A body that an impulse of a contact acts on.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// 1 for the body that the impulse is given for, −1 for the other.
    pub(super) sign: f64,
    pub(super) on: EndBody,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum EndBody {
    /// A link: the number of its point among those of the tree.
    Tree(usize),
    /// A free body, with the point's axes and its arm from the body's origin, both in W.
    Free { body: usize, arm_W: Vec3, R_WC: Mat3 },
}

/// The points of the tree and how all contacts give way. Preallocated.
#[derive(Debug)]
pub(super) struct Compliance {
    pub(super) points: Vec<PointAxes>,
    responses: PointResponses,
    tree: Vec<Mat3>,
    /// What constraints keep from the points, see [`Constraints::half`].
    halves: Vec<Vec3>,
    /// `W[i * n + j]`: velocity of contact `i` for a unit impulse at contact `j`; or of bodies.
    pub(super) W: Vec<Mat3>,
    impulses: Vec<Vec3>,
    /// The bodies of many points, if they are few; of them each point's.
    bodies: Vec<usize>,
    pub(super) body_points: Vec<BodyPoint>,
    /// True if `W` holds their responses.
    of_bodies: bool,
    /// The first contact of those that impulses connect, for each contact.
    islands: Vec<usize>,
}

impl Compliance {
    /// `rows` is the number of equations of constraints.
    pub(super) fn new(
        responses: PointResponses,
        contacts: usize,
        points: usize,
        rows: usize,
    ) -> Self {
        Self {
            points: Vec::with_capacity(points),
            responses,
            tree: Vec::with_capacity(points * points),
            halves: Vec::with_capacity(points * rows),
            W: Vec::with_capacity(contacts * contacts),
            impulses: Vec::with_capacity(points + 2 * BODIES_MAX),
            bodies: Vec::with_capacity(BODIES_MAX),
            body_points: Vec::with_capacity(points),
            of_bodies: false,
            islands: Vec::with_capacity(contacts),
        }
    }

    pub(super) const fn responses(&self) -> &PointResponses {
        &self.responses
    }

    /// See [`PointResponses::set_portable`].
    pub(super) fn set_portable(&mut self, portable: bool) {
        self.responses.set_portable(portable);
    }

    /// Fills `W` with the responses of bodies, see
    /// [`solve_on_bodies`](crate::contact::solve_on_bodies), if all contacts are many points on few
    /// of them; else false.
    pub(super) fn respond_of_bodies(&mut self, model: &Model, data: &Data) -> bool {
        self.of_bodies = self.points.len() >= POINTS_MIN && self.find_bodies();
        if self.of_bodies {
            self.responses.respond_of_bodies(model, data, &self.bodies, &mut self.W);
        }
        self.of_bodies
    }

    /// False if there are more bodies than pay, or than a factor has room for.
    fn find_bodies(&mut self) -> bool {
        let Self { points, bodies, body_points, .. } = self;
        bodies.clear();
        body_points.clear();
        for PointAxes { body, p_B, R_BC } in &*points {
            let known = bodies.iter().position(|b| b == body);
            let at = known.unwrap_or(bodies.len());
            if known.is_none() {
                if at == BODIES_MAX {
                    return false;
                }
                bodies.push(*body);
            }
            body_points.push(BodyPoint { body: at, p_B: *p_B, R_BC: *R_BC });
        }
        2 * bodies.len() < points.len()
    }

    /// Fills `W` of the robot as `constraints` hold it. `stations_only` says that every contact has
    /// one end, in the order of the points.
    pub(super) fn respond(
        &mut self,
        model: &Model,
        data: &Data,
        active: &[Active],
        (collisions, bodies, stations_only): (&CollisionSet, &[BodyState], bool),
        constraints: &mut Constraints,
    ) {
        self.of_bodies = false;
        let tree = if stations_only { &mut self.W } else { &mut self.tree };
        self.responses.respond(model, data, &self.points, tree);
        if !constraints.is_idle() {
            self.halves.clear();
            self.points.iter().for_each(|point| constraints.half(point, &mut self.halves));
            constraints.hold(&self.halves, tree);
        }
        if stations_only {
            return;
        }
        let (n, points) = (active.len(), self.points.len());
        self.W.clear();
        for i in active {
            for j in active {
                let mut block = Mat3::zeros();
                for a in i.ends.iter().flatten() {
                    for b in j.ends.iter().flatten() {
                        let own = self.shared(a, b, points, collisions, bodies);
                        block += own * (a.sign * b.sign);
                    }
                }
                self.W.push(block);
            }
        }
        debug_assert_eq!(self.W.len(), n * n);
    }

    /// Velocity at one end for a unit impulse at the other.
    fn shared(
        &self,
        a: &End,
        b: &End,
        points: usize,
        collisions: &CollisionSet,
        bodies: &[BodyState],
    ) -> Mat3 {
        match (&a.on, &b.on) {
            (EndBody::Tree(i), EndBody::Tree(j)) => self.tree[i * points + j],
            (
                EndBody::Free { body: k, arm_W: at, R_WC: read },
                EndBody::Free { body, arm_W, R_WC },
            ) if k == body => {
                let column = |c: usize| {
                    let impulse_W = R_WC.column(c);
                    let free = &collisions.spec().bodies[*body];
                    let (dw, dv) = free.jump(&bodies[*body], arm_W, &impulse_W);
                    read.tr_mul(&(dv + dw.cross(at)))
                };
                Mat3::from_columns(&[column(0), column(1), column(2)])
            }
            _ => Mat3::zeros(),
        }
    }

    /// Finds which of `n` contacts feel each other's impulses, through however many bodies.
    pub(super) fn find_islands(&mut self, n: usize) {
        let Self { W, islands, .. } = self;
        islands.clear();
        islands.extend(0..n);
        for i in 0..n {
            for j in 0..i {
                let (one, other) = (islands[i], islands[j]);
                if one == other || W[i * n + j] == Mat3::zeros() {
                    continue;
                }
                let (first, later) = (one.min(other), one.max(other));
                islands.iter_mut().filter(|of| **of == later).for_each(|of| *of = first);
            }
        }
    }

    /// See [`find_islands`](Self::find_islands).
    pub(super) fn islands(&self) -> &[usize] {
        &self.islands
    }

    /// The jump of the tree for these impulses of the contacts.
    pub(super) fn jump(
        &mut self,
        active: &[Active],
        impulses: &[Vec3],
        jump: &mut crate::dynamics::VelocityChange,
    ) {
        self.impulses.clear();
        self.impulses.resize(self.points.len(), Vec3::zeros());
        for (contact, impulse) in active.iter().zip(impulses) {
            for end in contact.ends.iter().flatten() {
                if let EndBody::Tree(i) = end.on {
                    self.impulses[i] += *impulse * end.sign;
                }
            }
        }
        if self.of_bodies {
            self.gather_impulses();
        }
        self.responses.jump(&self.impulses, jump);
    }

    /// Makes moments and forces on bodies of the impulses at points.
    fn gather_impulses(&mut self) {
        let Self { impulses, bodies, body_points, .. } = self;
        let points = impulses.len();
        impulses.resize(points + 2 * bodies.len(), Vec3::zeros());
        let (at_points, on_bodies) = impulses.split_at_mut(points);
        for (impulse, BodyPoint { body, p_B, R_BC }) in at_points.iter().zip(body_points) {
            let impulse_B = *R_BC * *impulse;
            on_bodies[2 * *body] += p_B.cross(&impulse_B);
            on_bodies[2 * *body + 1] += impulse_B;
        }
        impulses.drain(..points);
    }
}

/// The ends of a point of two shapes; those on links add their points to `points`.
pub(super) fn ends_of(
    carriers: &[Carrier; 2],
    point_W: &Vec3,
    R_WC: &Mat3,
    data: &Data,
    bodies: &[BodyState],
    points: &mut Vec<PointAxes>,
) -> [Option<End>; 2] {
    let mut ends = [None; 2];
    for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
        ends[k] = match carriers[k] {
            Carrier::Surface(_) => None,
            Carrier::Link(body) => {
                let X_WB = &data.X_WB[body];
                let (p_B, R_BC) = (X_WB.point_inverse(point_W), X_WB.R.transpose() * *R_WC);
                points.push(PointAxes { body, p_B, R_BC });
                Some(End { sign, on: EndBody::Tree(points.len() - 1) })
            }
            Carrier::Body(body) => {
                let arm_W = point_W - bodies[body].p_WB;
                Some(End { sign, on: EndBody::Free { body, arm_W, R_WC: *R_WC } })
            }
        };
    }
    ends
}
