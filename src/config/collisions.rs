//! Shapes of a scenario that touch the ground and each other, and bodies beside the robot.

use hardstand_geometry::Shape as Geometry;
use hardstand_physics::contact::BrickContact;
use hardstand_physics::dynamics::{Data, kinematics};
use hardstand_physics::model::Model;
use hardstand_physics::plant::{
    Brick, Carrier, CollisionSet, CollisionShape, CollisionSpec, ContactModel, FreeBody, Mobility,
    PlantSpec,
};
use hardstand_physics::spatial::{Mat3, Motion, SpatialInertia, Transform, Vec3};
use toml::Value;

use crate::limits::BODIES_MAX;
use crate::urdf::{Loaded, Shape};

use super::apart;
use super::by_mass::FittedKeys;
use super::contact_law::{ContactDefaults, Law, friction_of, friction_of_contact};
use super::feet::{Touching, checked_name};
use super::free_links::free_links;
use super::hulls;
use super::materials::Materials;
use super::posture::Posture;
use super::section::{Mistakes, Range, Section};
use super::terrain::Ground;

/// Links that are nearer to each other than this at the start never touch each other, m.
const OVERLAP_M: f64 = 1e-3;
/// Edges of shapes are rounded so much, m, or with half of the smallest edge.
const EDGE_RADIUS_M: f64 = 0.002;
/// Radius of curvature of faces and edges for Hertz' law, m: 3 mm deep, a patch of 2.4 cm radius.
const FACE_RADIUS_M: f64 = 0.2;
/// Speed between two bodies up to which a contact begins in its tick, m/s.
const SPEED_M_PER_S: f64 = 10.0;
const REACH_MIN_M: f64 = 0.01;
/// Sine of the angle up to which a velocity is along the axis of a joint.
const ALONG_MAX: f64 = 1e-6;
/// A spring farther away than where its force is this share of d₁ counts as none.
const FORCE_SHARE_LN: f64 = 7.0;
/// Pairs that may be near at the same time, and points that may touch.
const PAIRS_MAX: usize = 4096;
const POINTS_MAX: usize = 1024;
/// The same for rigid contacts, whose solver needs room for each pair of points.
const RIGID_POINTS_MAX: usize = 256;

/// What every shape of a scenario needs to know.
pub(super) struct Common<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) defaults: &'a ContactDefaults,
    pub(super) materials: &'a Materials,
    pub(super) ground: &'a Ground,
    pub(super) mistakes: &'a Mistakes,
}

/// Which links have shapes that touch.
enum Links {
    Feet,
    All,
    Listed(Vec<String>),
}

/// What may touch.
pub(super) struct Collided {
    pub(super) spec: CollisionSpec,
    /// The free bodies whose place is relative to the robot's.
    pub(super) carried: Vec<usize>,
    /// Those that start where they rest, in the order in which they are placed.
    pub(super) placed: Vec<usize>,
    pub(super) warnings: Vec<String>,
}

/// Shapes of links and bodies; feet that are made of shapes get theirs.
pub(super) fn collisions(
    root: &Section<'_>,
    common: &Common<'_>,
    posture: &Posture,
    touching: &mut Touching,
) -> Collided {
    let mut out = CollisionSpec::none();
    let mut link_of = shapes_of_links(root, common, touching, &mut out);
    let mut placed = Vec::new();
    for s in root.sections("bodies") {
        let rests = above_ground(&s);
        placed.extend(rests.then_some(out.bodies.len()));
        body(&s, common, &mut touching.keys, &mut out);
        s.finish();
    }
    // bodies of the scenario are no links
    link_of.resize(out.shapes.len(), "");
    let named = (&mut touching.keys, &mut link_of);
    let carried = free_links(root, common, posture, named, &mut out);
    let names = out.bodies.iter().map(|b| b.name.as_str());
    common.mistakes.refuse_twins("bodies", names);
    if out.bodies.len() > BODIES_MAX {
        let count = out.bodies.len();
        common.mistakes.add(format!("there are {count} free bodies; at most {BODIES_MAX}"));
    }
    let model = &common.loaded.model;
    let contact = root.section("contact");
    apart::neighbours(&contact, model, &mut out);
    apart::fixed_base(model, common.ground, &mut out);
    let warnings = apart::disable(&contact, common.loaded, &link_of, &mut out);
    Collided { spec: out, carried, placed, warnings }
}

/// Adds the shapes of the robot's links; returns the link of each.
fn shapes_of_links<'a>(
    root: &Section<'_>,
    common: &Common<'a>,
    touching: &mut Touching,
    out: &mut CollisionSpec,
) -> Vec<&'a str> {
    let (contact, robot) = (root.section("contact"), root.section("robot"));
    let law = Law::of_contact(common.defaults);
    law.refuse_idle_keys(&Section::new("contact".into(), None, common.mistakes));
    let friction = friction_of_contact(common.defaults);
    let links = links(&contact, &common.loaded.model);
    let mut link_of: Vec<&'a str> = Vec::new();
    for c in &common.loaded.collisions {
        let Some(frame) = common.loaded.model.frame(&c.frame) else { continue };
        let foot = touching.shaped.iter().position(|(link, _)| *link == c.frame);
        let has_stations = touching.station_links.contains(&c.frame);
        let listed = match &links {
            Links::Feet => foot.is_some(),
            Links::All => true,
            Links::Listed(names) => foot.is_some() || names.contains(&c.frame),
        };
        let shape = listed.then(|| element(&robot, &c.shape)).flatten();
        let Some(shape) = shape else { continue };
        let own = foot.map(|f| &touching.shaped[f].1);
        let (law, friction) = own.map_or((&law, friction), |own| (&own.law, own.friction));
        let Some(model) = law.of_shape(common.ground) else { continue };
        if let Some(f) = foot {
            touching.feet[touching.shaped[f].1.foot].shapes.push(out.shapes.len());
        }
        touching.keys.shapes.push(law.keys);
        link_of.push(&c.frame);
        out.shapes.push(CollisionShape {
            carrier: Carrier::Link(frame.body),
            X_BS: frame.X_BF.compose(&c.X_FC),
            shape,
            meets_ground: !has_stations,
            model,
            friction,
            rolling: law.rolling,
        });
    }
    for (link, shaped) in &touching.shaped {
        if touching.feet[shaped.foot].shapes.is_empty() {
            common.mistakes.add(format!(
                "feet: {link} has no collision sphere, box, capsule, cylinder or hull; give \
                 points_m instead of contact = \"shapes\""
            ));
        }
    }
    link_of
}

fn links(contact: &Section<'_>, model: &Model) -> Links {
    match contact.get("bodies") {
        Some(Value::String(word)) if word == "feet" => Links::Feet,
        Some(Value::String(word)) if word == "all" => Links::All,
        Some(Value::Array(_)) => {
            let names = contact.texts("bodies");
            for name in names.iter().filter(|n| model.frame(n).is_none()) {
                contact.complain("bodies", &format!("the robot has no link \"{name}\""));
            }
            Links::Listed(names)
        }
        _ => {
            contact.mistake("bodies", "\"feet\", \"all\" or a list of links");
            Links::Feet
        }
    }
}

/// A collision element of the robot's file as the geometry takes it: of a mesh its hull.
pub(super) fn element(robot: &Section<'_>, shape: &Shape) -> Option<Geometry> {
    match shape {
        Shape::Mesh { file, scale } => hulls::scaled(robot, file, scale),
        shape => geometry(shape),
    }
}

/// A shape that is no mesh as the geometry takes it; `None` for a mesh.
fn geometry(shape: &Shape) -> Option<Geometry> {
    match *shape {
        Shape::Sphere { radius_m } => Geometry::sphere(radius_m).ok(),
        Shape::Box { size_m } => {
            let least = size_m.into_iter().fold(f64::INFINITY, f64::min);
            Geometry::cuboid(size_m, EDGE_RADIUS_M.min(0.5 * least)).ok()
        }
        Shape::Cylinder { radius_m, length_m } => {
            let edge_m = EDGE_RADIUS_M.min(radius_m).min(0.5 * length_m);
            Geometry::cylinder(radius_m, length_m, edge_m).ok()
        }
        Shape::Capsule { radius_m, length_m } => Geometry::capsule(radius_m, length_m).ok(),
        Shape::Mesh { .. } => None,
    }
}

/// Adds one body with its shape.
fn body(s: &Section<'_>, common: &Common<'_>, keys: &mut FittedKeys, out: &mut CollisionSpec) {
    let before = common.mistakes.count();
    let name = checked_name(s);
    let mass = s.f64("mass_kg", Range::between(1e-6, 1e6));
    let solid = solid(s, mass);
    let optional = |key: &str, range: Range| if s.has(key) { s.vec3(key, range) } else { [0.0; 3] };
    let position = s.vec3("position_m", Range::between(-1e5, 1e5));
    let rpy = optional("rpy_rad", Range::between(-10.0, 10.0));
    let fast = Range::between(-1e3, 1e3);
    let velocity = optional("velocity_m_per_s", fast);
    let turning = optional("angular_velocity_rad_per_s", fast);
    let center = Vec3::from(optional("center_m", Range::between(-1e3, 1e3)));
    let mobility = mobility(s);
    let damping = s.f64_if_given("damping", Range::at_least(0.0)).unwrap_or(0.0);
    let law = Law::read(s, common.defaults, common.materials);
    law.refuse_idle_keys(s);
    let friction = friction_of(s, common.defaults);
    let (Some((shape, I_com)), Some(mobility)) = (solid, mobility) else {
        s.know(&["contact"]);
        return;
    };
    let X_WB = Transform::from_xyz_rpy(position, rpy);
    let V_W = Motion::new(Vec3::from(turning), Vec3::from(velocity));
    refuse_what_joint_forbids(s, mobility, (&X_WB, &V_W), (center, damping));
    let brick = brick(s, &shape, &law, common);
    let geometry = match (&shape, &brick) {
        (Shape::Box { size_m }, Some(_)) => Geometry::cuboid(*size_m, 0.0).ok(),
        _ => geometry(&shape),
    };
    let (Some(model), Some(geometry)) = (law.of_shape(common.ground), geometry) else { return };
    if common.mistakes.count() > before {
        return;
    }
    let index = out.bodies.len();
    out.bodies.push(FreeBody {
        name: name.into(),
        inertia: SpatialInertia::from_com(mass, &center, &Mat3::from_diagonal(&I_com)),
        mobility,
        damping,
        X_WB,
        V_W,
    });
    keys.shapes.push(law.keys);
    out.bricks.extend(brick.map(|laws| Brick { shape: out.shapes.len(), laws }));
    out.shapes.push(CollisionShape {
        carrier: Carrier::Body(index),
        X_BS: Transform::new(Mat3::identity(), center),
        shape: geometry,
        meets_ground: true,
        model,
        friction,
        rolling: law.rolling,
    });
}

/// A free body has neither damping nor another centre; one on a joint moves as its joint does.
fn refuse_what_joint_forbids(
    s: &Section<'_>,
    mobility: Mobility,
    (X_WB, V_W): (&Transform, &Motion),
    (center_B, damping): (Vec3, f64),
) {
    let (turning, moving) = ("angular_velocity_rad_per_s", "velocity_m_per_s");
    let is_along =
        |axis_B: Vec3, rate: &Vec3| (X_WB.R * axis_B).cross(rate).norm() <= ALONG_MAX * rate.norm();
    let along = "it must be along axis as rpy_rad turns it into the world";
    match mobility {
        Mobility::Free => {
            if center_B != Vec3::zeros() {
                s.complain(
                    "center_m",
                    "only a body on a hinge or a slide has one; position_m of a free body is its \
                     centre",
                );
            }
            if damping != 0.0 {
                s.complain("damping", "only a body on a hinge or a slide has one; leave it out");
            }
        }
        Mobility::Hinge { axis_B } => {
            if V_W.lin != Vec3::zeros() {
                s.complain(
                    moving,
                    "the origin of a body on a hinge stays where it is; leave it out",
                );
            }
            if !is_along(axis_B, &V_W.ang) {
                s.complain(turning, along);
            }
        }
        Mobility::Slide { axis_B } => {
            if V_W.ang != Vec3::zeros() {
                s.complain(turning, "a body on a slide does not turn; leave it out");
            }
            if !is_along(axis_B, &V_W.lin) {
                s.complain(moving, along);
            }
        }
    }
}

/// Whether a body starts where it rests, and not at the height that is given.
fn above_ground(s: &Section<'_>) -> bool {
    let words = [("as_given", false), ("above_ground", true)];
    let placed = s.has("place") && s.choice("place", &words).unwrap_or(false);
    let joint = s.get("joint").and_then(Value::as_str);
    if placed && joint.is_some_and(|joint| joint != "free") {
        s.complain("place", "a body on a hinge or a slide stays at its position_m");
        return false;
    }
    placed
}

/// The laws of a body that meets planes as Simbody's brick does.
fn brick(
    s: &Section<'_>,
    shape: &Shape,
    law: &Law,
    common: &Common<'_>,
) -> Option<Vec<Option<BrickContact>>> {
    let words = [("patch", false), ("brick", true)];
    if !s.has("contact") || !s.choice("contact", &words)? {
        return None;
    }
    let Shape::Box { size_m } = shape else {
        s.complain("contact", "\"brick\" needs the shape \"box\"");
        return None;
    };
    law.brick(s, *size_m, common.ground)
}

/// The shape of a body and its moments of inertia about its centre, kg·m².
fn solid(s: &Section<'_>, mass: f64) -> Option<(Shape, Vec3)> {
    let size = Range::between(1e-3, 1e3);
    let round = || (s.f64("radius_m", size), s.f64("length_m", size));
    let words = [("box", 0), ("sphere", 1), ("cylinder", 2), ("capsule", 3)];
    let Some(kind) = s.choice("shape", &words) else {
        // the shape decides which of them there may be
        s.know(&["size_m", "radius_m", "length_m"]);
        return None;
    };
    Some(match kind {
        0 => {
            let size_m = s.vec3("size_m", size);
            let [x, y, z] = size_m.map(|l| l * l * mass / 12.0);
            (Shape::Box { size_m }, Vec3::new(y + z, x + z, x + y))
        }
        1 => {
            let radius_m = s.f64("radius_m", size);
            (Shape::Sphere { radius_m }, Vec3::repeat(0.4 * mass * radius_m * radius_m))
        }
        2 => {
            let (radius_m, length_m) = round();
            let square = radius_m * radius_m;
            let across = mass * (3.0 * square + length_m * length_m) / 12.0;
            let shape = Shape::Cylinder { radius_m, length_m };
            (shape, Vec3::new(across, across, 0.5 * mass * square))
        }
        _ => {
            let (radius_m, length_m) = round();
            let moments = capsule_inertia(mass, radius_m, length_m);
            (Shape::Capsule { radius_m, length_m }, moments)
        }
    })
}

fn capsule_inertia(mass: f64, r: f64, l: f64) -> Vec3 {
    // a cylinder and two half-balls by volume
    let (middle, balls) = (l, 4.0 / 3.0 * r);
    let (m_c, m_b) = (mass * middle / (middle + balls), mass * balls / (middle + balls));
    let across_c = m_c * (3.0 * r * r + l * l) / 12.0;
    // of two half-balls, each with its centre of mass 3/8 r beyond the cylinder
    let across_b = m_b * (0.4 * r * r + 0.25 * l * l + 0.375 * r * l);
    let along = 0.5 * m_c * r * r + 0.4 * m_b * r * r;
    Vec3::new(across_c + across_b, across_c + across_b, along)
}

fn mobility(s: &Section<'_>) -> Option<Mobility> {
    if !s.has("joint") {
        return Some(Mobility::Free);
    }
    match s.choice("joint", &[("free", 0), ("hinge", 1), ("slide", 2)]) {
        Some(0) => Some(Mobility::Free),
        Some(1) => Some(Mobility::Hinge { axis_B: s.direction("axis")? }),
        Some(_) => Some(Mobility::Slide { axis_B: s.direction("axis")? }),
        None => {
            // which joint it is decides whether there may be one
            s.know(&["axis"]);
            None
        }
    }
}

/// Margins and room for what may touch, once the laws are known; and links that overlap at the
/// start are kept apart. Returns their names.
pub(super) fn prepare(
    model: &Model,
    spec: &mut PlantSpec,
    mistakes: &Mistakes,
) -> Vec<(String, String)> {
    if spec.collisions.is_empty() {
        return Vec::new();
    }
    let (mut margin_m, mut rigid) = (0.0_f64, false);
    for shape in &spec.collisions.shapes {
        match &shape.model {
            ContactModel::ExponentialSpring(spring) => {
                let changed =
                    spec.ground.iter().filter_map(|surface| surface.spring.applied_to(spring).ok());
                for spring in changed.chain([*spring]) {
                    let p = spring.parameters();
                    margin_m = margin_m.max(p.d0_m + FORCE_SHARE_LN / p.d2_per_m);
                }
            }
            ContactModel::HuntCrossley(_) => {}
            ContactModel::Rigid => (margin_m, rigid) = (margin_m.max(REACH_MIN_M), true),
        }
    }
    let of = &mut spec.collisions;
    of.margin_m = margin_m.clamp(1e-3, 0.5);
    of.reach_m = (of.margin_m + SPEED_M_PER_S * spec.period_ns as f64 / 1e9).clamp(0.01, 1.0);
    of.pairs_max = PAIRS_MAX;
    of.points_max = if rigid { RIGID_POINTS_MAX } else { POINTS_MAX };
    of.face_radius_m = FACE_RADIUS_M;
    if let Err(e) = CollisionSet::checked(spec, model.bodies.len()) {
        mistakes.add(format!("contact.bodies: {e}"));
        return Vec::new();
    }
    let mut data = Data::new(model);
    kinematics(model, &spec.q, &spec.v, &mut data);
    let overlaps = CollisionSet::overlapping(spec, &data, OVERLAP_M);
    let named =
        |(a, b): &(usize, usize)| (model.bodies[*a].name.clone(), model.bodies[*b].name.clone());
    let names = overlaps.iter().map(named).collect();
    let links = |(a, b)| (Carrier::Link(a), Carrier::Link(b));
    spec.collisions.apart.extend(overlaps.into_iter().map(links));
    names
}
