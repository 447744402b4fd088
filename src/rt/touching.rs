//! Contact between the robots of one daemon.
//!
//! Each robot is a simulation of its own. Before a tick all of them show where their shapes are.
//! From that follows one force for each pair of links that touch, which holds for the tick: a push
//! on one robot and the opposite one on the other. The pushes are in the logs, so each robot's log
//! replays alone.
//!
//! As the force holds for a tick, the contact must be slow beside it: spring and damper follow from
//! the mass `m` of the lighter link and the period `T`, `k = 0.05 m / T²` and `c = 0.2 m / T`.
//! Friction is `min(μ N, c v)`.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use hardstand_geometry::{Patch, Pose, Workspace, contact};
use hardstand_physics::plant::{Carrier, CollisionShape};
use hardstand_physics::spatial::{Motion, Transform, Vec3};
use hardstand_protocol::Event;

use crate::limits::EVENTS_MAX;
use crate::simulation::Simulation;

/// Stiffness and damping, of `m / T²` and `m / T`.
const STIFFNESS: f64 = 0.05;
const DAMPING: f64 = 0.2;
/// Pairs of links whose forces act on a robot: the strongest. Others may push it, too.
const PAIRS_MAX: usize = 6;
/// Pairs of links that are compared at the same time.
const FOUND_MAX: usize = 64;

/// The shapes of all robots, and where they are.
#[derive(Debug)]
pub struct Touching {
    robots: Vec<Robot>,
    /// What each robot shows for even and for odd ticks: one of them may be a tick ahead.
    shown: [Vec<RwLock<Shown>>; 2],
    /// Of each robot that has run all of its ticks, the tick after them.
    last: Vec<AtomicU64>,
    period_s: f64,
}

#[derive(Debug)]
struct Robot {
    shapes: Vec<CollisionShape>,
    /// Of each shape, how far it reaches from its origin, m.
    reach_m: Vec<f64>,
    /// Of each link, kg.
    mass_kg: Vec<f64>,
}

/// Where a robot is: its links, their spatial velocities, and its shapes.
#[derive(Clone, Debug, Default)]
struct Shown {
    links: Vec<(Transform, Motion)>,
    poses: Vec<Pose>,
}

/// A force between two links, on that of the first robot.
#[derive(Clone, Copy, Debug)]
struct Force {
    links: [usize; 2],
    force_W: Vec3,
    /// Sum of the points of contact, each times its normal force.
    moment_W: Vec3,
    normal_n: f64,
}

/// What a robot needs to find its contacts, without allocation.
#[derive(Debug)]
pub struct TouchFinder {
    workspace: Workspace,
    patch: Patch,
    found: Vec<Force>,
    /// Links of the robot itself, points and forces.
    pushes: Vec<(usize, Vec3, Vec3)>,
}

impl Default for TouchFinder {
    fn default() -> Self {
        Self {
            workspace: Workspace::new(),
            patch: Patch::new(),
            found: Vec::with_capacity(FOUND_MAX),
            pushes: Vec::with_capacity(FOUND_MAX * 16),
        }
    }
}

impl Touching {
    /// Of robots that begin like this. `None` if fewer than two of them have shapes.
    #[must_use]
    pub fn of(robots: &[Simulation]) -> Option<Self> {
        let period_s = robots.first()?.spec().period_ns as f64 * 1e-9;
        let all: Vec<Robot> = robots.iter().map(Robot::of).collect();
        if all.iter().filter(|robot| !robot.shapes.is_empty()).count() < 2 {
            return None;
        }
        let shown = || robots.iter().zip(&all).map(|(s, r)| RwLock::new(r.shown(s))).collect();
        let last = all.iter().map(|_| AtomicU64::new(u64::MAX)).collect();
        Some(Self { shown: [shown(), shown()], last, robots: all, period_s })
    }

    /// What robot `k` has shown for tick `n`, or at its end.
    fn shown_by(&self, k: usize, n: u64) -> &RwLock<Shown> {
        let n = n.min(self.last[k].load(Ordering::Acquire));
        &self.shown[(n % 2) as usize][k]
    }

    /// Robot `k`, which ends before its tick `n`, stands where it is from then on.
    pub fn stand(&self, k: usize, n: u64, simulation: &Simulation) {
        self.show(k, n, simulation);
        let mut shown = self.shown_by(k, n).write().unwrap_or_else(PoisonError::into_inner);
        shown.links.iter_mut().for_each(|(_, V)| *V = Motion::zero());
        self.last[k].store(n, Ordering::Release);
    }

    /// Robot `k` shows where it is before its tick `n`. It waits for no lock: what it overwrites
    /// was read for tick `n - 2`, which all have run.
    pub fn show(&self, k: usize, n: u64, simulation: &Simulation) {
        let shown = &self.shown[(n % 2) as usize][k];
        self.robots[k].show(simulation, &mut shown.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Adds the pushes on robot `k` in tick `n`, for which all have shown where they are.
    pub fn pushes(&self, k: usize, n: u64, finder: &mut TouchFinder, events: &mut Vec<Event>) {
        finder.pushes.clear();
        for other in (0..self.robots.len()).filter(|&other| other != k) {
            let pair = [k.min(other), k.max(other)];
            self.find(pair, n, finder);
            let TouchFinder { found, pushes, .. } = finder;
            for force in found.iter().filter(|force| force.normal_n > 0.0) {
                let (side, sign) = if pair[0] == k { (0, 1.0) } else { (1, -1.0) };
                let point_W = force.moment_W * (1.0 / force.normal_n);
                if pushes.len() < pushes.capacity() {
                    pushes.push((force.links[side], point_W, force.force_W * sign));
                }
            }
        }
        // the strongest; a stable order of those that are equal
        finder.pushes.sort_unstable_by(|a, b| {
            b.2.norm_squared().total_cmp(&a.2.norm_squared()).then(a.0.cmp(&b.0))
        });
        let own = self.shown_by(k, n).read().unwrap_or_else(PoisonError::into_inner);
        for &(link, point_W, force_W) in
            finder.pushes.iter().take(PAIRS_MAX.min(EVENTS_MAX - events.len()))
        {
            let p = own.links[link].0.point_inverse(&point_W);
            events.push(Event::Touch {
                body: link as u32,
                point_B: [p.x, p.y, p.z],
                force_W: [force_W.x, force_W.y, force_W.z],
            });
        }
    }

    /// Finds the forces between two robots, always in the same order: on both sides the same bits.
    fn find(&self, [i, j]: [usize; 2], n: u64, finder: &mut TouchFinder) {
        let TouchFinder { workspace, patch, found, .. } = finder;
        found.clear();
        let a = self.shown_by(i, n).read().unwrap_or_else(PoisonError::into_inner);
        let b = self.shown_by(j, n).read().unwrap_or_else(PoisonError::into_inner);
        let [first, second] = [&self.robots[i], &self.robots[j]];
        for (s, shape) in first.shapes.iter().enumerate() {
            for (t, other) in second.shapes.iter().enumerate() {
                let (x, y) = (&a.poses[s], &b.poses[t]);
                let reach_m = first.reach_m[s] + second.reach_m[t];
                if (x.p - y.p).norm_squared() > reach_m * reach_m {
                    continue;
                }
                contact((&shape.shape, x), (&other.shape, y), 0.0, workspace, patch);
                let links = [link(shape), link(other)];
                let mass_kg = first.mass_kg[links[0]].min(second.mass_kg[links[1]]);
                let mu = shape.friction.mu_kinetic().min(other.friction.mu_kinetic());
                let moving = [&a.links[links[0]], &b.links[links[1]]];
                add(found, links, patch, moving, (mass_kg, mu, self.period_s));
            }
        }
    }
}

/// Adds the force of a patch to that of its links.
fn add(
    found: &mut Vec<Force>,
    links: [usize; 2],
    patch: &Patch,
    moving: [&(Transform, Motion); 2],
    (mass_kg, mu, period_s): (f64, f64, f64),
) {
    if patch.points().is_empty() {
        return;
    }
    let place = match found.iter().position(|force| force.links == links) {
        Some(place) => place,
        None if found.len() == FOUND_MAX => return,
        None => {
            let (force_W, moment_W) = (Vec3::zeros(), Vec3::zeros());
            found.push(Force { links, force_W, moment_W, normal_n: 0.0 });
            found.len() - 1
        }
    };
    let n_W = Vec3::new(patch.normal_W.x, patch.normal_W.y, patch.normal_W.z);
    let stiffness = STIFFNESS * mass_kg / (period_s * period_s);
    let damping = DAMPING * mass_kg / period_s;
    for point in patch.points().iter().filter(|point| point.depth_m > 0.0) {
        let middle = (point.a_W + point.b_W) * 0.5;
        let p_W = Vec3::new(middle.x, middle.y, middle.z);
        let [v_A, v_B] = moving.map(|(X_WB, V)| X_WB.R * V.at_point(&X_WB.point_inverse(&p_W)));
        let v_W = v_A - v_B;
        let closing = -v_W.dot(&n_W);
        let normal_n = (point.weight * (stiffness * point.depth_m + damping * closing)).max(0.0);
        let slip_W = v_W + n_W * closing;
        let slip = slip_W.norm();
        let friction_n = (mu * normal_n).min(point.weight * damping * slip);
        let force = &mut found[place];
        force.force_W += n_W * normal_n;
        if slip > 0.0 {
            force.force_W -= slip_W * (friction_n / slip);
        }
        force.moment_W += p_W * normal_n;
        force.normal_n += normal_n;
    }
}

/// The link that carries a shape.
const fn link(shape: &CollisionShape) -> usize {
    match shape.carrier {
        Carrier::Link(link) => link,
        Carrier::Surface(_) | Carrier::Body(_) => 0,
    }
}

impl Robot {
    fn of(simulation: &Simulation) -> Self {
        let is_own = |shape: &&CollisionShape| matches!(shape.carrier, Carrier::Link(_));
        let all = simulation.spec().collisions.shapes.iter();
        let shapes: Vec<CollisionShape> = all.filter(is_own).cloned().collect();
        let reach_m = shapes.iter().map(|shape| shape.shape.reach_m()).collect();
        let bodies = &simulation.model().bodies;
        Self { reach_m, mass_kg: bodies.iter().map(|body| body.inertia.mass).collect(), shapes }
    }

    fn shown(&self, simulation: &Simulation) -> Shown {
        let still = (Transform::identity(), Motion::zero());
        let mut shown = Shown {
            links: vec![still; self.mass_kg.len()],
            poses: vec![Pose::IDENTITY; self.shapes.len()],
        };
        self.show(simulation, &mut shown);
        shown
    }

    fn show(&self, simulation: &Simulation, shown: &mut Shown) {
        let data = simulation.data();
        for (link, (X_WB, V)) in shown.links.iter_mut().zip(data.X_WB.iter().zip(&data.V)) {
            *link = (*X_WB, *V);
        }
        for (shape, pose) in self.shapes.iter().zip(&mut shown.poses) {
            *pose = shape.pose_W(&data.X_WB[link(shape)]);
        }
    }
}
