//! All shapes that may touch, the points where they do, and the forces on free bodies.

use hardstand_geometry::{ContactPoint, Contacts, Pose, World};

use crate::contact::BrickContact;
use crate::dynamics::Data;
use crate::model::Model;
use crate::spatial::{Force, Transform, Vec3};
use hardstand_error::Result;

use super::super::{ContactModel, PlantSpec};
use super::ground::{FieldContact, SummitTools, into_pose};
use super::memory::{CollisionMemory, PointMemory};
use super::point::CollisionPoint;
use super::scene::{bricks, field_pairs, from_the_surface, on_surfaces, scene};
use super::spin_limit::SpinLimit;
use super::{BodyState, Carrier, CollisionSpec};

/// Bit of the number of a pair of a shape and a height field.
pub(super) const FIELD: u64 = 1 << 63;

/// Shapes, near pairs and points that touch. Nothing in it outlives a tick but what
/// the memory of the points and the states of the bodies hold.
#[derive(Debug)]
pub struct CollisionSet {
    pub(super) spec: CollisionSpec,
    pub(super) world: World,
    /// What carries each shape of the world: those of the spec, then the ground.
    pub(super) carriers: Vec<Carrier>,
    /// Laws of shapes against shapes: that of the ground with springs that begin at the surface.
    pub(super) between: Vec<ContactModel>,
    /// Laws of each shape on each surface, surfaces inner; empty if no surface changes any.
    pub(super) on_surfaces: Vec<ContactModel>,
    /// Number of surfaces.
    pub(super) surfaces: usize,
    /// Radius of each shape of the spec if it is a ball or a capsule, m.
    pub(super) round_m: Vec<Option<f64>>,
    /// Corners of each shape of the spec, and the radius about them, for height fields.
    pub(super) corners: Vec<(Vec<Vec3>, f64)>,
    /// Height fields: the surface, and its highest point in S, m.
    pub(super) fields: Vec<(usize, f64)>,
    /// Pairs of shapes of the spec and of `fields` that may touch.
    pub(super) field_pairs: Vec<(u32, u32)>,
    /// Those of them that are near.
    pub(super) near_fields: Vec<(u32, u32)>,
    pub(super) poses: Vec<Pose>,
    pub(super) contacts: Contacts,
    pub(super) field_contact: FieldContact,
    pub(super) summit_tools: SummitTools,
    /// For each shape its laws as a brick, one for each surface; empty for the others.
    pub(super) bricks: Vec<Vec<Option<BrickContact>>>,
    pub(super) old: Vec<ContactPoint>,
    pub(super) points: Vec<CollisionPoint>,
    /// Force on each free body about its origin, in W.
    pub(super) forces: Vec<Force>,
    pub(super) period_s: f64,
    /// What keeps moments against rolling from turning a motion round.
    pub(super) spin_limit: SpinLimit,
    /// Whether more pairs are near, or more points touch, than there is room for.
    pub(super) overflows: bool,
}

/// A derived clone would have no room, and would allocate in the loop.
impl Clone for CollisionSet {
    fn clone(&self) -> Self {
        let mut points = Vec::with_capacity(self.points.capacity());
        points.extend_from_slice(&self.points);
        let mut near_fields = Vec::with_capacity(self.near_fields.capacity());
        near_fields.extend_from_slice(&self.near_fields);
        let mut contacts = self.world.new_contacts();
        contacts.clone_from(&self.contacts);
        Self {
            spec: self.spec.clone(),
            world: self.world.clone(),
            carriers: self.carriers.clone(),
            between: self.between.clone(),
            on_surfaces: self.on_surfaces.clone(),
            surfaces: self.surfaces,
            round_m: self.round_m.clone(),
            corners: self.corners.clone(),
            fields: self.fields.clone(),
            near_fields,
            field_pairs: self.field_pairs.clone(),
            poses: self.poses.clone(),
            contacts,
            field_contact: self.field_contact.clone(),
            summit_tools: self.summit_tools.clone(),
            bricks: self.bricks.clone(),
            old: Vec::with_capacity(hardstand_geometry::POINTS_MAX),
            points,
            forces: self.forces.clone(),
            period_s: self.period_s,
            spin_limit: self.spin_limit.clone(),
            overflows: self.overflows,
        }
    }
}

impl CollisionSet {
    /// The set of a plant with this model. If its shapes are refused, it overflows.
    #[expect(clippy::expect_used, reason = "a scene without shapes has nothing to refuse")]
    pub(in super::super) fn new(spec: &PlantSpec, model: &Model) -> Self {
        let links = model.bodies.len();
        let mut set = Self::checked(spec, links).unwrap_or_else(|_| {
            let empty = PlantSpec { collisions: CollisionSpec::none(), ..spec.clone() };
            let mut refused = Self::checked(&empty, links).expect("no shapes are no mistake");
            refused.overflows = true;
            refused
        });
        if spec.has_rolling_friction() {
            set.spin_limit = SpinLimit::new(model, &set.spec.bodies, spec.micro_step_ns());
        }
        set
    }

    /// The set of a plant with this number of links.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) if there are more shapes than the
    /// geometry can hold, or the margins are out of range.
    pub fn checked(spec: &PlantSpec, links: usize) -> Result<Self> {
        let of = &spec.collisions;
        let (scene, carriers, fields) = scene(spec, links);
        let world = World::new(scene, of.reach_m, of.pairs_max.max(1))?;
        let contacts = world.new_contacts();
        let corners = of.shapes.iter().map(|s| {
            let points = s.shape.support_points();
            (points.into_iter().map(super::ground::from_geometry).collect(), s.shape.radius_m())
        });
        let corners: Vec<(Vec<Vec3>, f64)> = corners.collect();
        Ok(Self {
            between: of.shapes.iter().map(|s| from_the_surface(&s.model)).collect(),
            on_surfaces: on_surfaces(spec),
            surfaces: spec.ground.len(),
            round_m: corners.iter().map(|(c, r)| (c.len() <= 2).then_some(*r)).collect(),
            corners,
            near_fields: Vec::with_capacity(of.shapes.len() * fields.len()),
            field_pairs: field_pairs(of, &fields),
            fields,
            poses: vec![Pose::IDENTITY; links + of.bodies.len() + spec.ground.len()],
            contacts,
            field_contact: FieldContact::new(),
            summit_tools: SummitTools::new()?,
            bricks: bricks(of),
            old: Vec::with_capacity(hardstand_geometry::POINTS_MAX),
            points: Vec::with_capacity(of.points_max),
            forces: vec![Force::zero(); of.bodies.len()],
            period_s: spec.period_ns as f64 / 1e9,
            spin_limit: SpinLimit::NONE,
            overflows: false,
            spec: of.clone(),
            world,
            carriers,
        })
    }

    /// The free bodies at the start.
    pub(in super::super) fn initial_bodies(&self) -> Vec<BodyState> {
        self.spec.bodies.iter().map(BodyState::of).collect()
    }

    /// Room for what the points remember.
    pub(in super::super) fn new_memory(&self) -> CollisionMemory {
        let has_pairs = !self.spec.shapes.is_empty();
        CollisionMemory::new(if has_pairs { self.spec.points_max } else { 0 })
    }

    /// Pairs of links of which a shape is within `gap_m` of one of the other, besides those that
    /// are kept apart anyway.
    pub fn overlapping(spec: &PlantSpec, data: &Data, gap_m: f64) -> Vec<(usize, usize)> {
        let Ok(mut set) = Self::checked(spec, data.X_WB.len()) else { return Vec::new() };
        for (pose, X_WB) in set.poses.iter_mut().zip(&data.X_WB) {
            *pose = into_pose(X_WB);
        }
        for (i, body) in set.spec.bodies.iter().enumerate() {
            set.poses[data.X_WB.len() + i] = into_pose(&body.X_WB);
        }
        set.world.update(&set.poses);
        set.world.contacts_within(gap_m, &mut set.contacts);
        let mut found = Vec::new();
        for pair in set.contacts.pairs() {
            let carriers = [pair.a, pair.b].map(|id| set.carriers[id as usize]);
            if let [Carrier::Link(a), Carrier::Link(b)] = carriers
                && !found.contains(&(a, b))
            {
                found.push((a, b));
            }
        }
        found
    }

    /// What the set is made of.
    #[must_use]
    pub const fn spec(&self) -> &CollisionSpec {
        &self.spec
    }

    /// Points that touch, in the order of their pairs.
    #[must_use]
    pub fn points(&self) -> &[CollisionPoint] {
        &self.points
    }

    /// Whether contacts are missing because there is no room for them.
    #[must_use]
    pub const fn overflows(&self) -> bool {
        self.overflows
    }

    /// Pairs that may touch within this tick.
    #[must_use]
    pub fn near_count(&self) -> usize {
        self.world.near_count() + self.near_fields.len()
    }

    /// Whether nothing can touch within this tick.
    pub(in super::super) fn is_idle(&self) -> bool {
        self.near_count() == 0
    }

    /// Whether shapes are near whose contact acts through a linearly implicit step as it was at its
    /// start: free bodies, and links that meet links.
    pub(in super::super) fn stiff_is_near(&self) -> bool {
        let on_ground =
            |a: Carrier, b: Carrier| matches!([a, b], [Carrier::Link(_), Carrier::Surface(_)]);
        let Self { world, carriers, near_fields, spec, .. } = self;
        let stiff = |(a, b): (u32, u32)| !on_ground(carriers[a as usize], carriers[b as usize]);
        let is_body = |k: u32| matches!(spec.shapes[k as usize].carrier, Carrier::Body(_));
        world.near().any(stiff) || near_fields.iter().any(|(k, _)| is_body(*k))
    }

    /// Potential energy of all points, J.
    #[must_use]
    pub fn potential_energy(&self) -> f64 {
        self.points.iter().map(|p| p.weight * p.force.potential_energy_j).sum()
    }

    /// Points of these shapes.
    pub fn of_shapes<'a>(
        &'a self,
        shapes: &'a [usize],
    ) -> impl Iterator<Item = &'a CollisionPoint> + Clone + 'a {
        let is_one = |p: &&CollisionPoint| p.shapes().iter().any(|id| shapes.contains(id));
        self.points.iter().filter(is_one)
    }

    /// Sum of the normal forces of these shapes, N.
    pub(in super::super) fn normal_sum_n(&self, shapes: &[usize]) -> f64 {
        if shapes.is_empty() {
            return 0.0;
        }
        self.of_shapes(shapes).map(CollisionPoint::normal_n).sum()
    }

    /// Forgets all points: no force anywhere.
    pub(in super::super) fn clear(&mut self) {
        self.points.clear();
        self.overflows = false;
    }

    /// Takes over what the points of the last evaluation remember.
    pub(in super::super) fn commit(&self, memory: &mut CollisionMemory, now_ns: u64) {
        memory.clear();
        for point in &self.points {
            // a rigid contact gets the force of this step from the solver, if it takes part
            let (committed_ns, force_C) = (Some(now_ns), [0.0; 3]);
            let next = PointMemory { committed_ns, force_C, ..point.memory };
            if !memory.push(next) {
                return;
            }
        }
    }

    /// Lets the friction springs of these shapes, or of all, begin where their points are now.
    pub(in super::super) fn reset_anchors(
        &self,
        shapes: Option<&[usize]>,
        memory: &mut CollisionMemory,
        pose: impl Fn(Carrier) -> Transform,
    ) {
        // the order of the points of the last commit need not be that of the last evaluation
        for m in memory.points_mut() {
            let at = self.points.iter().find(|p| p.memory.is_of(m));
            let Some(at) = at else { continue };
            let is_meant = |shapes: &[usize]| at.shapes().iter().any(|id| shapes.contains(id));
            if shapes.is_none_or(is_meant) {
                let [a, b] = at.carriers.map(&pose);
                m.anchor_B = b.point_inverse(&a.point(&m.marker())).into();
            }
        }
    }

    /// Moves the anchors as far as their points were moved, from the poses `before` to those
    /// `after`.
    pub(in super::super) fn carry_anchors(
        &self,
        memory: &mut CollisionMemory,
        before: impl Fn(Carrier) -> Transform,
        after: impl Fn(Carrier) -> Transform,
    ) {
        for m in memory.points_mut() {
            let Some(at) = self.points.iter().find(|p| p.memory.is_of(m)) else { continue };
            let in_b = |[a, b]: [Transform; 2]| b.point_inverse(&a.point(&m.marker()));
            let by_B = in_b(at.carriers.map(&after)) - in_b(at.carriers.map(&before));
            m.anchor_B = (Vec3::from(m.anchor_B) + by_B).into();
        }
    }

    /// Points whose contact is rigid.
    pub(in super::super) fn rigid(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.points.len()).filter(|&i| self.points[i].is_rigid)
    }

    /// Room for rigid contacts: none if no shape has one.
    pub(in super::super) fn rigid_max(&self) -> usize {
        let rigid = self.spec.shapes.iter().any(|s| matches!(s.model, ContactModel::Rigid));
        if rigid { self.spec.points_max } else { 0 }
    }
}
