//! Where shapes touch, and the force at each point.

use hardstand_geometry::{ContactPoint, POINTS_MAX, match_previous};

use crate::contact::{
    ContactSlopes, Friction, Memory, Overlap, RollingFriction, SpringForce, SurfaceShape,
    level_axes,
};
use crate::dynamics::Data;
use crate::spatial::{Transform, Vec3};

use super::super::ContactModel;
use super::super::contact_result::{no_force, shown_hertz, shown_impulse};
use super::super::contacts::ContactSet;
use super::super::regions::friction_at;
use super::ground::{from_geometry, into_geometry, into_pose};
use super::memory::{CollisionMemory, PointMemory};
use super::point::CollisionPoint;
use super::set::{CollisionSet, FIELD};
use super::weights::PairMemory;
use super::{BodyState, Carrier};
use crate::contact::HuntCrossley;

/// A point that touches continues one that was so near, m, and keeps its friction.
const SAME_POINT_M: f64 = 0.01;
/// A point of A that has moved less than this in A is still the same, m.
const ROLLED_MIN_M: f64 = 1e-9;

/// A pair whose gap is this much larger than the margin, m, or as far as it closes in `HASTE`
/// ticks, is watched through the next tick.
const NEAR_M: f64 = 1e-3;
const HASTE: f64 = 2.0;

/// Everything that the points depend on.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Around<'a> {
    pub(in super::super) data: &'a Data,
    pub(in super::super) bodies: &'a [BodyState],
    pub(in super::super) memory: &'a CollisionMemory,
    pub(in super::super) ground: &'a ContactSet,
    /// Coefficients of the regions.
    pub(in super::super) regions: &'a [Option<Friction>],
    pub(in super::super) now_ns: u64,
}

/// One place where two shapes touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) pair: u64,
    /// Numbers of the shapes of the spec; B is `None` if it is the ground.
    pub(super) shapes: (usize, Option<usize>),
    pub(super) carriers: [Carrier; 2],
    pub(super) normal_W: Vec3,
    pub(super) point_W: Vec3,
    pub(super) depth_m: f64,
    pub(super) weight: f64,
    pub(super) feature: u64,
}

/// Pose of a carrier in W.
pub(in super::super) fn pose_of(
    carrier: Carrier,
    ground: &ContactSet,
    data: &Data,
    bodies: &[BodyState],
) -> Transform {
    match carrier {
        Carrier::Surface(i) => ground.pose(i).X_WS,
        Carrier::Link(i) => data.X_WB[i],
        Carrier::Body(i) => bodies[i].pose(),
    }
}

impl Around<'_> {
    pub(super) fn pose(&self, carrier: Carrier) -> Transform {
        pose_of(carrier, self.ground, self.data, self.bodies)
    }

    fn angular_velocity_W(&self, carrier: Carrier) -> Vec3 {
        match carrier {
            Carrier::Surface(i) => self.ground.pose(i).w_W,
            Carrier::Link(i) => self.data.X_WB[i].R * self.data.V[i].ang,
            Carrier::Body(i) => self.bodies[i].w_WB,
        }
    }

    fn velocity_W(&self, carrier: Carrier, p_W: &Vec3) -> Vec3 {
        match carrier {
            Carrier::Surface(i) => self.ground.pose(i).velocity_at(p_W),
            Carrier::Link(i) => {
                self.data.point_velocity_W(i, &self.data.X_WB[i].point_inverse(p_W))
            }
            Carrier::Body(i) => self.bodies[i].velocity_at(p_W),
        }
    }
}

impl CollisionSet {
    /// Evaluates all points for the kinematics `of` this instant. With `renew` the near pairs are
    /// found anew, which belongs to the start of a tick.
    pub(in super::super) fn evaluate(&mut self, of: &Around<'_>, renew: bool) {
        if self.spec.shapes.is_empty() || (!renew && self.is_idle()) {
            return;
        }
        for i in 0..self.poses.len() {
            let carrier = match i.checked_sub(of.data.X_WB.len()) {
                None => Carrier::Link(i),
                Some(k) if k < of.bodies.len() => Carrier::Body(k),
                Some(k) => Carrier::Surface(k - of.bodies.len()),
            };
            self.poses[i] = into_pose(&of.pose(carrier));
        }
        self.world.place(&self.poses);
        if renew {
            self.world.find_near();
            self.drop_distant(of);
            self.find_near_fields(of);
        }
        self.points.clear();
        self.touch_shapes(of);
        self.touch_fields(of);
        self.spin_limit.apply(&mut self.points);
    }

    /// Drops near pairs that cannot touch within the next tick.
    fn drop_distant(&mut self, of: &Around<'_>) {
        let mut contacts = std::mem::take(&mut self.contacts);
        self.world.contacts_within(self.spec.reach_m, &mut contacts);
        self.overflows = contacts.dropped() > 0;
        let Self { world, carriers, spec, period_s, .. } = self;
        world.retain_near(|a, b| {
            let [of_a, of_b] = [a, b].map(|id| carriers[id as usize]);
            contacts.pair(a, b).is_some_and(|pair| {
                contacts.points(pair).iter().any(|point| {
                    let p_W = from_geometry(point.a_W);
                    let v_W = of.velocity_W(of_a, &p_W) - of.velocity_W(of_b, &p_W);
                    let closing = -v_W.dot(&from_geometry(pair.normal_W));
                    let way_m = NEAR_M + HASTE * *period_s * closing.max(0.0);
                    point.depth_m > -(spec.margin_m + way_m)
                })
            })
        });
        self.contacts = contacts;
    }

    /// The law of a point, and whether it is one of two shapes.
    pub(super) fn law(&self, at: &CollisionPoint) -> (bool, &ContactModel) {
        let Carrier::Surface(surface) = at.carriers[1] else {
            return (true, &self.between[at.law]);
        };
        let changed = self.on_surfaces.get(at.law * self.surfaces + surface);
        (false, changed.unwrap_or(&self.spec.shapes[at.law].model))
    }

    fn touch_shapes(&mut self, of: &Around<'_>) {
        let mut contacts = std::mem::take(&mut self.contacts);
        self.world.contacts_within(self.spec.margin_m, &mut contacts);
        for pair in contacts.pairs() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let carriers = [self.carriers[a], self.carriers[b]];
            let other = (b < self.spec.shapes.len()).then_some(b);
            let normal_W = from_geometry(pair.normal_W);
            let key = u64::from(pair.a) << 32 | u64::from(pair.b);
            if let Some(brick) = self.brick(a, carriers[1]).copied() {
                self.touch_brick(of, key, (a, carriers[1]), &brick);
                continue;
            }
            let points = contacts.points(pair);
            let (kept, before) = self.kept(of, key, carriers[0], points);
            let first = self.points.len();
            for (i, point) in points.iter().enumerate() {
                let place = Place {
                    pair: key,
                    shapes: (a, other),
                    carriers,
                    normal_W,
                    point_W: from_geometry((point.a_W + point.b_W) * 0.5),
                    depth_m: point.depth_m,
                    weight: point.weight,
                    feature: u64::from(point.feature),
                };
                self.touch(of, &place, kept[i]);
            }
            self.weigh(first, before, of.now_ns);
        }
        self.contacts = contacts;
    }

    /// Memories that `points` of a pair continue, and what all of its points remember.
    fn kept(
        &mut self,
        of: &Around<'_>,
        key: u64,
        of_a: Carrier,
        points: &[ContactPoint],
    ) -> ([Option<PointMemory>; POINTS_MAX], PairMemory) {
        let mut kept = [None; POINTS_MAX];
        let all = of.memory.points();
        let first = all.partition_point(|m| m.pair < key);
        let count = all[first..].iter().take_while(|m| m.pair == key).count().min(POINTS_MAX);
        let pair = PairMemory::of(&all[first..first + count]);
        if count == 0 {
            return (kept, pair);
        }
        let X_WA = of.pose(of_a);
        self.old.clear();
        for m in &all[first..first + count] {
            let a_W = into_geometry(&X_WA.point(&m.marker()));
            let feature = m.feature as u32;
            self.old.push(ContactPoint { a_W, b_W: a_W, depth_m: 0.0, weight: 0.0, feature });
        }
        let found = match_previous(&self.old, points, SAME_POINT_M);
        for (kept, found) in kept.iter_mut().zip(found) {
            *kept = found.map(|o| all[first + o]);
        }
        (kept, pair)
    }

    fn find_near_fields(&mut self, of: &Around<'_>) {
        self.near_fields.clear();
        for &(k, f) in &self.field_pairs {
            let shape = &self.spec.shapes[k as usize];
            let (surface, highest_m) = self.fields[f as usize];
            let X_WA = of.pose(shape.carrier).compose(&shape.X_BS);
            let (corners, radius_m) = &self.corners[k as usize];
            let X_SA = of.ground.pose(surface).X_WS.inverse().compose(&X_WA);
            let low = corners.iter().map(|p| X_SA.point(p).z - radius_m);
            let low = low.fold(f64::INFINITY, |low, z| if z < low { z } else { low });
            if low < highest_m + self.spec.reach_m {
                self.near_fields.push((k, f));
            }
        }
    }

    fn touch_fields(&mut self, of: &Around<'_>) {
        for n in 0..self.near_fields.len() {
            let (k, f) = self.near_fields[n];
            let (a, surface) = (k as usize, self.fields[f as usize].0);
            let carrier = self.spec.shapes[a].carrier;
            let X_WS = of.ground.pose(surface).X_WS;
            let X_WA = of.pose(carrier).compose(&self.spec.shapes[a].X_BS);
            let X_SA = X_WS.inverse().compose(&X_WA);
            let SurfaceShape::Heightfield(field) = of.ground.surface_shape(surface) else {
                continue;
            };
            let (corners, radius_m) = &self.corners[a];
            let margin_m = self.spec.margin_m;
            self.field_contact.find(field, &X_SA, corners, *radius_m, margin_m);
            if corners.len() > 1 {
                let shape = (&self.spec.shapes[a].shape, &X_SA);
                let tools = &mut self.summit_tools;
                let extent = (corners.as_slice(), *radius_m);
                self.field_contact.find_summits(field, shape, extent, margin_m, tools);
            }
            self.field_contact.weigh(margin_m);
            let found = self.field_contact.clone();
            let mut points = [ContactPoint {
                a_W: hardstand_geometry::Vec3::ZERO,
                b_W: hardstand_geometry::Vec3::ZERO,
                depth_m: 0.0,
                weight: 0.0,
                feature: 0,
            }; POINTS_MAX];
            for (out, p) in points.iter_mut().zip(found.points()) {
                let touching_S = p.point_S - p.normal_S * (0.5 * p.depth_m);
                out.a_W = into_geometry(&X_WS.point(&touching_S));
                out.feature = p.feature as u32;
            }
            let key = FIELD | u64::from(k) << 32 | surface as u64;
            let carriers = [carrier, Carrier::Surface(surface)];
            let first = self.points.len();
            let (kept, before) = self.kept(of, key, carrier, &points[..found.points().len()]);
            for (i, p) in found.points().iter().enumerate() {
                let place = Place {
                    pair: key,
                    shapes: (a, None),
                    carriers,
                    normal_W: X_WS.R * p.normal_S,
                    point_W: from_geometry(points[i].a_W),
                    depth_m: p.depth_m,
                    weight: p.weight,
                    feature: p.feature,
                };
                self.touch(of, &place, kept[i]);
            }
            self.weigh(first, before, of.now_ns);
        }
    }

    /// Evaluates one point and adds it.
    pub(super) fn touch(&mut self, of: &Around<'_>, place: &Place, kept: Option<PointMemory>) {
        if self.points.len() == self.spec.points_max {
            self.overflows = true;
            return;
        }
        let [a, b] = place.carriers;
        let R_WC = level_axes(&place.normal_W);
        let v_W = of.velocity_W(a, &place.point_W) - of.velocity_W(b, &place.point_W);
        let law = self.softer(place.shapes);
        let mut at = CollisionPoint {
            carriers: place.carriers,
            point_W: place.point_W,
            R_WC,
            depth_m: place.depth_m,
            weight: place.weight,
            v_C: R_WC.tr_mul(&v_W),
            friction: self.friction(of, place),
            memory: kept.unwrap_or(PointMemory::new(place.pair, place.feature, 0.0)),
            force: SpringForce::default(),
            slopes: ContactSlopes::default(),
            moment_C: Vec3::zeros(),
            spin_damping: [0.0; 2],
            is_rigid: false,
            law,
        };
        at.memory.feature = place.feature;
        match self.law(&at).1 {
            ContactModel::ExponentialSpring(spring) => {
                let X_WA_WB = (of.pose(a), of.pose(b));
                let slides = spring.new_memory().sliding;
                at.spring(X_WA_WB, slides, of.now_ns, |memory, p_C, v_C, age_s, mu| {
                    let force = spring.evaluate(mu, memory, p_C, v_C, age_s);
                    (force, spring.slopes(&force))
                });
            }
            ContactModel::HuntCrossley(laws) => {
                let law = match b {
                    Carrier::Surface(i) => laws.get(i),
                    _ => laws.last(),
                };
                match (self.brick(place.shapes.0, b), law) {
                    (Some(brick), _) => at.corner(brick),
                    (None, Some(law)) => at.hunt_crossley(law, self.radius_m(place.shapes)),
                    (None, None) => {}
                }
            }
            ContactModel::Rigid => at.rigid((of.pose(a), of.pose(b))),
        }
        let rolling = self.rolling(place.shapes);
        if rolling.acts() && !at.is_rigid {
            let w_W = of.angular_velocity_W(a) - of.angular_velocity_W(b);
            at.roll(&rolling, &R_WC.tr_mul(&w_W));
        }
        self.points.push(at);
    }

    /// The shape whose law counts.
    fn softer(&self, (a, b): (usize, Option<usize>)) -> usize {
        let Some(b) = b else { return a };
        // a spring, then Hunt and Crossley's law, then a rigid contact
        let rank = |i: usize| match &self.spec.shapes[i].model {
            ContactModel::ExponentialSpring(s) => (0, s.parameters().kxy_n_per_m),
            ContactModel::HuntCrossley(laws) => {
                (1, laws.last().map_or(f64::INFINITY, |law| law.pair().stiffness23()))
            }
            ContactModel::Rigid => (2, 0.0),
        };
        if rank(b) < rank(a) { b } else { a }
    }

    /// Radius of the sphere on a plane that curves as the two shapes do, m.
    pub(super) fn radius_m(&self, (a, b): (usize, Option<usize>)) -> f64 {
        match (self.round_m[a], b.and_then(|b| self.round_m[b])) {
            (Some(a), Some(b)) if a + b > 0.0 => a * b / (a + b),
            (Some(r), None) | (None, Some(r)) if r > 0.0 => r,
            _ => self.spec.face_radius_m,
        }
    }

    fn rolling(&self, (a, b): (usize, Option<usize>)) -> RollingFriction {
        let own = self.spec.shapes[a].rolling;
        b.map_or(own, |b| own.between(&self.spec.shapes[b].rolling))
    }

    /// Coefficients of friction of a shape on this: of Hunt and Crossley's law those of its
    /// materials.
    fn own_friction(&self, shape: usize, other: Carrier) -> Friction {
        let shape = &self.spec.shapes[shape];
        let law = match (&shape.model, other) {
            (ContactModel::HuntCrossley(laws), Carrier::Surface(i)) => laws.get(i),
            (ContactModel::HuntCrossley(laws), _) => laws.last(),
            _ => None,
        };
        law.map_or(shape.friction, HuntCrossley::initial_friction)
    }

    fn friction(&self, of: &Around<'_>, place: &Place) -> Friction {
        let (a, b) = place.shapes;
        let own = self.own_friction(a, place.carriers[1]);
        match (b, place.carriers[1]) {
            (Some(b), _) => {
                let other = self.own_friction(b, place.carriers[0]);
                if other.mu_static() < own.mu_static() { other } else { own }
            }
            (None, Carrier::Surface(i)) => {
                let p_S = || of.ground.pose(i).X_WS.point_inverse(&place.point_W);
                friction_at(of.ground.regions(), of.regions, i, p_S, own)
            }
            (None, _) => own,
        }
    }
}

impl CollisionPoint {
    /// The exponential spring. Its stretch is the way of A's point relative to B since both were at
    /// one place: neither rolls nor moves with the edge of a patch.
    fn spring(
        &mut self,
        (X_WA, X_WB): (Transform, Transform),
        new_sliding: f64,
        now_ns: u64,
        law: impl Fn(&Memory, &Vec3, &Vec3, f64, &Friction) -> (SpringForce, ContactSlopes),
    ) {
        let is_new = self.memory.committed_ns.is_none();
        let in_C = |p_W: Vec3| self.R_WC.tr_mul(&(p_W - self.point_W));
        let (marker, anchor) = if is_new {
            (Vec3::zeros(), Vec3::zeros())
        } else {
            let anchor_B = Vec3::from(self.memory.anchor_B);
            (in_C(X_WA.point(&self.memory.marker())), in_C(X_WB.point(&anchor_B)))
        };
        let memory = Memory {
            anchor_P: [anchor.x, anchor.y],
            sliding: if is_new { new_sliding } else { self.memory.sliding },
            committed_ns: self.memory.committed_ns,
        };
        let p_C = Vec3::new(marker.x, marker.y, -self.depth_m);
        let age_s = memory.age_s(now_ns);
        (self.force, self.slopes) = law(&memory, &p_C, &self.v_C, age_s, &self.friction);
        // what it will remember, if this evaluation is committed
        let point_A = X_WA.point_inverse(&self.point_W);
        let [mut x, mut y] = self.force.next_anchor_P;
        let way_A = point_A - self.memory.marker();
        if is_new || way_A.norm_squared() > ROLLED_MIN_M * ROLLED_MIN_M {
            (x, y) = (x - p_C.x, y - p_C.y);
            self.memory.marker_A = point_A.into();
        }
        let anchor_W = self.point_W + self.R_WC * Vec3::new(x, y, 0.0);
        self.memory.anchor_B = X_WB.point_inverse(&anchor_W).into();
        self.memory.sliding = self.force.next_sliding;
    }

    /// The force of the last step's impulse, as parts that can be shown, and how far it has moved
    /// from where it sticks: `p_P` less the anchor.
    fn rigid(&mut self, (X_WA, X_WB): (Transform, Transform)) {
        let before = self.memory;
        let force_C = Vec3::from(before.force_C);
        self.spring((X_WA, X_WB), 1.0, 0, |memory, p_C, v_C, _, _| {
            let force = SpringForce { next_anchor_P: memory.anchor_P, ..no_force(p_C, v_C) };
            (force, ContactSlopes::default())
        });
        self.is_rigid = true;
        self.weight = 1.0;
        self.memory.sliding = before.sliding;
        let slides = before.sliding > 0.5;
        let motion = SpringForce { next_sliding: before.sliding, ..self.force };
        self.force = shown_impulse(&force_C, slides, &self.friction, motion);
    }

    /// The moments that belong to the evaluated force; `w_C` is the angular velocity of A less that
    /// of B.
    fn roll(&mut self, rolling: &RollingFriction, w_C: &Vec3) {
        self.moment_C = rolling.moment_C(self.force.normal_n, w_C);
        self.spin_damping = rolling.damping(self.force.normal_n, w_C);
        self.force.power_dissipation_w -= self.moment_C.dot(w_C);
    }

    /// Hertz' law with the radius of a sphere on a plane, m.
    fn hunt_crossley(&mut self, law: &HuntCrossley, radius_m: f64) {
        let p_C = Vec3::new(0.0, 0.0, -self.depth_m);
        self.force = no_force(&p_C, &self.v_C);
        let center_C = p_C + Vec3::z() * radius_m;
        let overlap = Overlap::sphere_at_distance(center_C.z, &Vec3::z(), &center_C, radius_m);
        let Some(overlap) = overlap else { return };
        let f = law.evaluate(&self.friction, &overlap, &-self.v_C);
        self.slopes = law.slopes(&f, overlap.depth_m);
        self.force = shown_hertz(law, &f, &self.friction, self.force);
    }
}
