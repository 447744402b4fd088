//! All shapes of a scene, and the contacts between them.

use std::collections::BTreeSet;

use hardstand_error::{Error, ErrorKind, Result};

use crate::aabb::Aabb;
use crate::contact_point::{ContactPoint, Patch};
use crate::narrow::contact;
use crate::patch::Workspace;
use crate::shape::Shape;
use crate::sweep::Sweep;
use crate::tree::Tree;
use crate::vector::{Pose, Vec3};

/// What a shape is fixed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carrier {
    /// The world: it never moves.
    Ground,
    /// A body that moves as prescribed: it meets bodies, but neither the ground nor its like.
    Platform(usize),
    /// A body that forces move: a link or a free body.
    Body(usize),
}

impl Carrier {
    const fn body(self) -> Option<usize> {
        match self {
            Self::Ground => None,
            Self::Platform(i) | Self::Body(i) => Some(i),
        }
    }

    const fn is_moved(self) -> bool {
        matches!(self, Self::Body(_))
    }
}

/// A shape at a place of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// What it is fixed to.
    pub carrier: Carrier,
    /// Pose of the shape in the frame of the carrier.
    pub X_BS: Pose,
    /// The shape.
    pub shape: Shape,
}

/// Number of a shape: its place in the order of [`Scene::add`].
pub type ShapeId = u32;

/// What a [`World`] is made of.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    colliders: Vec<Collider>,
    excluded_shapes: BTreeSet<(ShapeId, ShapeId)>,
    excluded_carriers: BTreeSet<(Carrier, Carrier)>,
}

impl Scene {
    /// An empty scene.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a shape.
    pub fn add(&mut self, carrier: Carrier, X_BS: Pose, shape: Shape) -> ShapeId {
        self.colliders.push(Collider { carrier, X_BS, shape });
        (self.colliders.len() - 1) as ShapeId
    }

    /// The shapes of these two never touch: of links that a joint connects, say.
    pub fn exclude(&mut self, a: Carrier, b: Carrier) {
        self.excluded_carriers.insert((a.min(b), a.max(b)));
    }

    /// These two shapes never touch.
    pub fn exclude_shapes(&mut self, a: ShapeId, b: ShapeId) {
        self.excluded_shapes.insert((a.min(b), a.max(b)));
    }

    /// Whether two shapes can touch: not on one carrier, at least one of them moved by forces, and
    /// not excluded.
    #[must_use]
    pub fn may_touch(&self, a: ShapeId, b: ShapeId) -> bool {
        let (Some(of_a), Some(of_b)) =
            (self.colliders.get(a as usize), self.colliders.get(b as usize))
        else {
            return false;
        };
        let (ca, cb) = (of_a.carrier, of_b.carrier);
        ca.body() != cb.body()
            && (ca.is_moved() || cb.is_moved())
            && !(of_a.shape.is_plane() && of_b.shape.is_plane())
            && !self.excluded_shapes.contains(&(a.min(b), a.max(b)))
            && !self.excluded_carriers.contains(&(ca.min(cb), ca.max(cb)))
    }

    /// All pairs of shapes that may touch: the candidates of every step.
    #[must_use]
    pub fn candidate_count(&self) -> usize {
        let count = self.colliders.len() as ShapeId;
        let of = |a: ShapeId| (a + 1..count).filter(move |b| self.may_touch(a, *b)).count();
        (0..count).map(of).sum()
    }
}

/// The contact of two shapes in [`Contacts`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The shape with the smaller number.
    pub a: ShapeId,
    /// The shape with the larger number.
    pub b: ShapeId,
    /// Unit vector from B to A, in the world.
    pub normal_W: Vec3,
    first: u32,
    count: u32,
}

/// The contacts of one step, ordered by the numbers of their shapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    pairs: Vec<Pair>,
    points: Vec<ContactPoint>,
    evaluated: usize,
    dropped: usize,
}

impl Contacts {
    /// The pairs that touch.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The points of a pair of these contacts.
    #[must_use]
    pub fn points(&self, pair: &Pair) -> &[ContactPoint] {
        let first = pair.first as usize;
        self.points.get(first..first + pair.count as usize).unwrap_or(&[])
    }

    /// The pair of two shapes, if they touch.
    #[must_use]
    pub fn pair(&self, a: ShapeId, b: ShapeId) -> Option<&Pair> {
        let found = self.pairs.binary_search_by_key(&(a.min(b), a.max(b)), |p| (p.a, p.b));
        found.ok().map(|i| &self.pairs[i])
    }

    /// The points of two shapes, none if they do not touch.
    #[must_use]
    pub fn points_of(&self, a: ShapeId, b: ShapeId) -> &[ContactPoint] {
        let found = self.pairs.binary_search_by_key(&(a.min(b), a.max(b)), |p| (p.a, p.b));
        found.map_or(&[], |i| self.points(&self.pairs[i]))
    }

    /// Pairs whose boxes overlapped, so that their shapes were compared.
    #[must_use]
    pub const fn evaluated(&self) -> usize {
        self.evaluated
    }

    /// Pairs that were near but did not fit into the limits of the [`World`]. More than 0 means
    /// that contacts are missing: always the same ones for the same poses.
    #[must_use]
    pub const fn dropped(&self) -> usize {
        self.dropped
    }
}

/// A scene prepared for the steps of a simulation.
///
/// ```
/// use hardstand_geometry::{Carrier, Pose, Scene, Shape, Vec3, World};
/// let mut scene = Scene::new();
/// let floor = scene.add(Carrier::Ground, Pose::IDENTITY, Shape::plane());
/// let ball = scene.add(Carrier::Body(0), Pose::IDENTITY, Shape::sphere(0.1)?);
/// let mut world = World::new(scene, 0.005, 16)?;
/// let mut contacts = world.new_contacts();
/// world.update(&[Pose::at(Vec3::new(0.0, 0.0, 0.099))]);
/// world.contacts(&mut contacts);
/// assert!((contacts.points_of(floor, ball)[0].depth_m - 1e-3).abs() < 1e-15);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct World {
    scene: Scene,
    margin_m: f64,
    pairs_max: usize,
    poses: Vec<Pose>,
    /// Numbers of the shapes that move and end, and their boxes.
    moving: Vec<ShapeId>,
    bounds: Vec<Aabb>,
    planes: Vec<ShapeId>,
    sweep: Sweep,
    tree: Tree,
    /// For each pair of moving shapes whether it may touch.
    allowed: Vec<bool>,
    has_exclusions: bool,
    near: Vec<u64>,
    overflow: usize,
    workspace: Workspace,
    patch: Patch,
}

impl World {
    /// Prepares a scene. Contacts are reported up to a gap of `margin_m`; at most `pairs_max` pairs
    /// are compared in a step.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the margin is not 0 to 1 m, `pairs_max` is 0 or above 2²⁰, there
    /// are more than 2²⁰ shapes or 2¹² that move, or the pose of a shape is not finite.
    pub fn new(scene: Scene, margin_m: f64, pairs_max: usize) -> Result<Self> {
        check(&scene, margin_m, pairs_max)?;
        let (mut moving, mut planes, mut fixed) = (Vec::new(), Vec::new(), Vec::new());
        for (i, collider) in scene.colliders.iter().enumerate() {
            let id = i as ShapeId;
            if collider.shape.is_plane() {
                planes.push(id);
            } else if collider.carrier == Carrier::Ground {
                fixed.push((id, bounds_of(&collider.shape, &collider.X_BS, 0.0)));
            } else {
                moving.push(id);
            }
        }
        let pairs = moving.iter().flat_map(|a| moving.iter().map(|b| scene.may_touch(*a, *b)));
        let allowed = pairs.collect();
        Ok(Self {
            margin_m,
            pairs_max,
            poses: scene.colliders.iter().map(|c| c.X_BS).collect(),
            bounds: vec![Aabb::EMPTY; moving.len()],
            sweep: Sweep::new(moving.len()),
            tree: Tree::new(fixed),
            allowed,
            has_exclusions: !(scene.excluded_shapes.is_empty()
                && scene.excluded_carriers.is_empty()),
            near: Vec::with_capacity(pairs_max),
            overflow: 0,
            workspace: Workspace::new(),
            patch: Patch::new(),
            moving,
            planes,
            scene,
        })
    }

    /// Room for the contacts of a step.
    #[must_use]
    pub fn new_contacts(&self) -> Contacts {
        Contacts {
            pairs: Vec::with_capacity(self.pairs_max),
            points: Vec::with_capacity(self.pairs_max * crate::POINTS_MAX),
            evaluated: 0,
            dropped: 0,
        }
    }

    /// The scene.
    #[must_use]
    pub const fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Pose of a shape in the world at the last [`update`](Self::update).
    #[must_use]
    pub fn pose(&self, id: ShapeId) -> Option<&Pose> {
        self.poses.get(id as usize)
    }

    /// Moves all bodies and finds the near pairs: [`place`](Self::place), then
    /// [`find_near`](Self::find_near).
    pub fn update(&mut self, X_WB: &[Pose]) {
        self.place(X_WB);
        self.find_near();
    }

    /// Moves all bodies: `X_WB[i]` is the pose of body or platform `i`. A shape whose body has no
    /// pose, or one that is not finite, touches nothing. The near pairs stay those of the last
    /// [`find_near`](Self::find_near).
    pub fn place(&mut self, X_WB: &[Pose]) {
        for (pose, collider) in self.poses.iter_mut().zip(&self.scene.colliders) {
            if let Some(body) = collider.carrier.body() {
                let nowhere = Pose::at(Vec3::new(f64::NAN, f64::NAN, f64::NAN));
                *pose = X_WB.get(body).map_or(nowhere, |X| X.compose(&collider.X_BS));
            }
        }
    }

    /// Finds the pairs that are at most the margin of this world apart, as far as their boxes tell.
    pub fn find_near(&mut self) {
        // boxes of fixed shapes have no margin, so those of moving shapes have all of it
        for (bounds, id) in self.bounds.iter_mut().zip(&self.moving) {
            let i = *id as usize;
            *bounds = bounds_of(&self.scene.colliders[i].shape, &self.poses[i], self.margin_m);
        }
        self.find_overlaps();
    }

    /// Keeps the near pairs for which `keep` is true.
    pub fn retain_near(&mut self, mut keep: impl FnMut(ShapeId, ShapeId) -> bool) {
        self.near.retain(|key| {
            let (a, b) = pair_of(*key);
            keep(a, b)
        });
    }

    /// The near pairs.
    pub fn near(&self) -> impl Iterator<Item = (ShapeId, ShapeId)> + '_ {
        self.near.iter().copied().map(pair_of)
    }

    /// Number of near pairs.
    #[must_use]
    pub const fn near_count(&self) -> usize {
        self.near.len()
    }

    /// Fills `near` with the pairs whose boxes overlap, sorted by number.
    fn find_overlaps(&mut self) {
        let Self { scene, moving, bounds, planes, near, sweep, tree, allowed, .. } = self;
        let (pairs_max, has_exclusions) = (self.pairs_max, self.has_exclusions);
        near.clear();
        let mut overflow = 0;
        let mut push = |a: ShapeId, b: ShapeId| {
            if near.len() < pairs_max {
                near.push(u64::from(a.min(b)) << 32 | u64::from(a.max(b)));
            } else {
                overflow += 1;
            }
        };
        let count = moving.len();
        sweep.pairs(bounds, |i, j| {
            let (i, j) = (i as usize, j as usize);
            if allowed[i * count + j] {
                push(moving[i], moving[j]);
            }
        });
        for (of, id) in bounds.iter().zip(moving.iter()) {
            if !scene.colliders[*id as usize].carrier.is_moved() {
                continue;
            }
            tree.query(of, |fixed| {
                if !has_exclusions || scene.may_touch(*id, fixed) {
                    push(*id, fixed);
                }
            });
        }
        for plane in planes.iter() {
            let pose = &self.poses[*plane as usize];
            let up = pose.R.mul(Vec3::Z);
            for (of, id) in bounds.iter().zip(moving.iter()) {
                let corner = |k: usize, n: f64| if n > 0.0 { of.low[k] } else { of.high[k] };
                let lowest = Vec3::new(corner(0, up.x), corner(1, up.y), corner(2, up.z));
                // false for boxes without bounds, whose heights are not numbers or infinite
                let height = up.dot(lowest - pose.p);
                if height <= 0.0 && height.is_finite() && scene.may_touch(*plane, *id) {
                    push(*plane, *id);
                }
            }
        }
        near.sort_unstable();
        self.overflow = overflow;
    }

    /// The contacts of the near pairs at the present poses.
    pub fn contacts(&mut self, out: &mut Contacts) {
        self.contacts_within(self.margin_m, out);
    }

    /// The same, but only up to a gap of `margin_m`.
    pub fn contacts_within(&mut self, margin_m: f64, out: &mut Contacts) {
        out.pairs.clear();
        out.points.clear();
        out.evaluated = self.near.len();
        out.dropped = self.overflow;
        for key in &self.near {
            let (a, b) = pair_of(*key);
            let of =
                |id: ShapeId| (&self.scene.colliders[id as usize].shape, &self.poses[id as usize]);
            contact(of(a), of(b), margin_m, &mut self.workspace, &mut self.patch);
            let points = self.patch.points();
            if points.is_empty() {
                continue;
            }
            let (first, count) = (out.points.len() as u32, points.len() as u32);
            out.pairs.push(Pair { a, b, normal_W: self.patch.normal_W, first, count });
            out.points.extend_from_slice(points);
        }
    }
}

/// The shapes of a near pair.
const fn pair_of(key: u64) -> (ShapeId, ShapeId) {
    ((key >> 32) as ShapeId, key as ShapeId)
}

fn bounds_of(shape: &Shape, pose: &Pose, margin_m: f64) -> Aabb {
    let (center, half) = shape.bounds();
    let margin = Vec3::new(margin_m, margin_m, margin_m);
    Aabb::about(pose.point(center), pose.R.abs_mul(half) + margin)
}

fn check(scene: &Scene, margin_m: f64, pairs_max: usize) -> Result<()> {
    const MOST: usize = 1 << 20;
    let mut mistakes = Vec::new();
    if !(0.0..=1.0).contains(&margin_m) {
        mistakes.push(format!("margin_m is {margin_m}; it must be 0 to 1"));
    }
    if !(1..=MOST).contains(&pairs_max) {
        mistakes.push(format!("pairs_max is {pairs_max}; it must be 1 to {MOST}"));
    }
    if scene.colliders.len() > MOST {
        let count = scene.colliders.len();
        mistakes.push(format!("there are {count} shapes; there may be {MOST}"));
    }
    let moving = scene.colliders.iter().filter(|c| c.carrier != Carrier::Ground).count();
    if moving > 1 << 12 {
        mistakes.push(format!("{moving} shapes move; at most {} may", 1 << 12));
    }
    for (i, collider) in scene.colliders.iter().enumerate() {
        if !collider.X_BS.is_finite() {
            mistakes.push(format!("the pose of shape {i} is not finite"));
        }
    }
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(Error::list(ErrorKind::Input, "contact geometry", &mistakes))
}
