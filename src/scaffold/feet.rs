//! Feet: the lowest ends of the limbs, and the points with which they can touch the ground.

use std::path::Path;

use roxmltree::Document;

use super::shapes::{Part, of_link};
use crate::urdf::{Loaded, Shape};
use hardstand_physics::dynamics::{Data, Positions, Velocities, center_of_mass, kinematics};
use hardstand_physics::model::Model;
use hardstand_physics::spatial::{Quaternion, Transform, Vec3};

/// An end is a foot if it lies in the lowest part of the robot, as a share of its height.
const LOWEST_SHARE: f64 = 0.3;
/// Points this far above the lowest one belong to the sole, m.
const SOLE_M: f64 = 0.02;
/// Points nearer to each other than this are at one place, and ends of links that are as low, m.
const ONE_PLACE_M: f64 = 1e-3;
/// A flat side that is turned from the horizontal by less than this may be the sole: cosine.
const LEVEL: f64 = 0.9;
/// A biped whose file has no shape of a foot gets soles: length, width and the part of the length
/// behind the ankle, as shares of the height of the hip above the ankle. Those of people.
const ASSUMED_SOLE: [f64; 3] = [0.3, 0.1, 0.25];
/// Words in the names of links that are feet.
const WORDS: [&str; 5] = ["foot", "sole", "toe", "ankle", "feet"];
/// Feet are below the centre of mass, if this share of their distance from it is downwards.
const BELOW: f64 = 0.5;
/// Feet whose middle is nearer to the centre of mass than this, as a share of their own distances
/// from it, are around it: to neither side.
const AROUND: f64 = 0.2;

/// A foot.
#[derive(Clone, Debug)]
pub(super) struct FootProposal {
    pub(super) link: String,
    /// Body of the link, and the link's pose on it.
    pub(super) body: usize,
    pub(super) X_BL: Transform,
    /// Points that can touch the ground, in the link's frame; their spheres' radius, m.
    pub(super) points_L: Vec<Vec3>,
    pub(super) radius_m: f64,
    /// Normal of the sole, upwards.
    pub(super) up_L: Vec3,
    /// The points are those of the collision shape: the scenario need not list them.
    pub(super) by_shape: bool,
    /// What was assumed.
    note: Option<String>,
}

impl FootProposal {
    /// True if it has a sole, which is to lie flat: points beside each other.
    pub(super) fn is_flat(&self) -> bool {
        let first = self.points_L.first();
        let beside = |(p, q): (&Vec3, &Vec3)| self.up_L.cross(&(*p - *q)).norm() > ONE_PLACE_M;
        self.points_L.iter().zip(first.into_iter().cycle()).any(beside)
    }

    /// How low it reaches below the body's origin, m; `up_B` is a unit vector.
    fn lowest_m(&self, up_B: &Vec3) -> f64 {
        let up_L = self.X_BL.R.tr_mul(up_B);
        let heights = self.points_L.iter().map(|p| p.dot(&up_L));
        heights.fold(f64::INFINITY, f64::min) + self.X_BL.p.dot(up_B) - self.radius_m
    }

    /// The middle of its lowest points, in the link's frame.
    pub(super) fn middle_L(&self) -> Vec3 {
        let lowest = self.points_L.iter().map(|p| p.dot(&self.up_L)).fold(f64::INFINITY, f64::min);
        let sole = || self.points_L.iter().filter(|p| p.dot(&self.up_L) < lowest + 0.5 * SOLE_M);
        let sum = sole().fold(Vec3::zeros(), |sum, p| sum + *p);
        sum * (1.0 / sole().count().max(1) as f64) - self.up_L * self.radius_m
    }
}

/// The feet of a robot in the posture `q`, from the left front to the right rear.
pub(super) fn find(
    loaded: &Loaded,
    urdf: &str,
    folder: &Path,
    q: &Positions,
    notes: &mut Vec<String>,
) -> Vec<FootProposal> {
    let model = &loaded.model;
    let Ok(document) = Document::parse(urdf) else { return Vec::new() };
    let mut data = Data::new(model);
    kinematics(model, q, &Velocities::zero(model), &mut data);
    let mut found: Vec<(f64, Vec3, FootProposal)> = Vec::new();
    for body in (0..model.bodies.len()).filter(|&b| is_end(model, b)) {
        let up_B = data.X_WB[body].R.tr_mul(&Vec3::z());
        let Some(foot) = foot_of(loaded, (body, &up_B), &document, folder) else { continue };
        let X_WL = data.X_WB[body].compose(&foot.X_BL);
        let lowest = foot.points_L.iter().map(|p| (X_WL.R * *p + X_WL.p).z - foot.radius_m);
        found.push((lowest.fold(f64::INFINITY, f64::min), X_WL.p, foot));
    }
    let lowest = found.iter().map(|f| f.0).fold(f64::INFINITY, f64::min);
    let top = data.X_WB.iter().map(|X| X.p.z).fold(f64::NEG_INFINITY, f64::max);
    let limit = lowest + LOWEST_SHARE * (top - lowest);
    found.retain(|f| f.0 <= limit);
    found.sort_by(|a, b| b.1.x.total_cmp(&a.1.x));
    // of each pair the left one first
    found.sort_by(|a, b| {
        let near = (a.1.x - b.1.x).abs() < 0.1 * (top - lowest);
        if near { b.1.y.total_cmp(&a.1.y) } else { std::cmp::Ordering::Equal }
    });
    let mut feet: Vec<FootProposal> = found.into_iter().map(|(.., foot)| foot).collect();
    if feet.len() == 2 {
        feet.iter_mut().for_each(|foot| assume_sole(model, &data, foot));
    }
    notes.extend(feet.iter().filter_map(|foot| foot.note.clone()));
    if !feet.is_empty() && !feet.iter().any(|foot| is_named(&foot.link)) {
        let all: Vec<&str> = feet.iter().map(|foot| foot.link.as_str()).collect();
        let text = "no link is called a foot; the lowest ends are taken for feet";
        notes.push(format!("{text}: {}", all.join(", ")));
    }
    feet
}

/// How the base must be turned so that links that are called feet are below the rest of the robot,
/// if they are beside or above it in `q`: by 90° or 180° about an axis.
pub(super) fn turned(model: &Model, q: &Positions) -> Option<Quaternion> {
    let mut data = Data::new(model);
    kinematics(model, q, &Velocities::zero(model), &mut data);
    let feet = model.frames.iter().filter(|f| is_named(&f.name) && is_end(model, f.body));
    let places: Vec<Vec3> = feet.map(|f| data.X_WB[f.body].compose(&f.X_BF).p).collect();
    let sum = places.iter().fold(Vec3::zeros(), |sum, p| sum + *p);
    let com = center_of_mass(model, &data);
    let away = sum * (1.0 / places.len().max(1) as f64) - com;
    let [x, y, z] = away.to_array();
    let mean = |sum: f64| sum / places.len().max(1) as f64;
    let distance = mean(places.iter().map(|p| (*p - com).norm()).sum());
    let around = away.norm() < AROUND * distance;
    if places.len() < 2 || around || -z > BELOW * away.norm() {
        return None;
    }
    let quarter = std::f64::consts::FRAC_PI_2;
    let most = x.abs().max(y.abs()).max(z.abs());
    Some(if most == z.abs() {
        Quaternion::from_rpy(2.0 * quarter, 0.0, 0.0)
    } else if most == y.abs() {
        Quaternion::from_rpy(quarter.copysign(-y), 0.0, 0.0)
    } else {
        Quaternion::from_rpy(0.0, quarter.copysign(x), 0.0)
    })
}

fn is_named(link: &str) -> bool {
    WORDS.iter().any(|w| link.to_lowercase().contains(w))
}

fn is_end(model: &Model, body: usize) -> bool {
    body > 0 && model.bodies.iter().skip(1).all(|b| b.parent != body)
}

/// The foot on a body, as the collision shapes of its links have it: a link that is called a foot
/// is the best guess, then the one that is lowest in the posture.
fn by_collision(
    loaded: &Loaded,
    (body, up_B): (usize, &Vec3),
    document: &Document<'_>,
    folder: &Path,
) -> Option<FootProposal> {
    let model = &loaded.model;
    let is_simple = |shape: &Shape| matches!(shape, Shape::Sphere { .. } | Shape::Box { .. });
    let on_body = |link: &str| model.frame(link).is_some_and(|f| f.body == body);
    let mut found: Vec<(bool, f64, FootProposal)> = Vec::new();
    for shapes in loaded.collisions.chunk_by(|a, b| a.frame == b.frame) {
        let link = &shapes[0].frame;
        if !on_body(link) {
            continue;
        }
        let by_shape = shapes.len() == 1 && is_simple(&shapes[0].shape);
        let parts = of_link(document, link, "collision", folder);
        if let Some(foot) = with_sole(model, link, &parts, (up_B, by_shape)) {
            found.push((!is_named(link), foot.lowest_m(up_B), foot));
        }
    }
    let lowest = |named: bool| {
        let of = found.iter().filter(|f| f.0 == named).map(|f| f.1);
        of.fold(f64::INFINITY, f64::min)
    };
    let all = [lowest(false), lowest(true)];
    let is_lowest = |f: &&(bool, f64, FootProposal)| f.1 < all[usize::from(f.0)] + ONE_PLACE_M;
    let best = found.iter().filter(is_lowest).min_by_key(|f| (f.0, !f.2.by_shape));
    best.map(|f| f.2.clone())
}

fn foot_of(
    loaded: &Loaded,
    (body, up_B): (usize, &Vec3),
    document: &Document<'_>,
    folder: &Path,
) -> Option<FootProposal> {
    let model = &loaded.model;
    if let Some(foot) = by_collision(loaded, (body, up_B), document, folder) {
        return Some(foot);
    }
    let links = || model.frames.iter().filter(|f| f.body == body);
    let mut named: Vec<_> = links().collect();
    named.sort_by_key(|f| !is_named(&f.name));
    for link in &named {
        let parts = of_link(document, &link.name, "visual", folder);
        if let Some(mut foot) = with_sole(model, &link.name, &parts, (up_B, false)) {
            let text = "no collision shape that can be read; what is drawn of it is the foot";
            foot.note = Some(format!("{}: {text}", link.name));
            return Some(foot);
        }
    }
    let link = named.first()?;
    Some(FootProposal {
        link: link.name.clone(),
        body,
        X_BL: link.X_BF,
        points_L: vec![Vec3::zeros()],
        radius_m: 0.0,
        up_L: link.X_BF.R.tr_mul(up_B),
        by_shape: false,
        note: Some(format!("{}: no shape that can be read; its origin is the foot", link.name)),
    })
}

/// True if another ball contains this one, or an earlier one is as large: the end of a shank's
/// capsule lies inside the ball of its foot.
fn is_inside((p, r): &(Vec3, f64), all: &[(Vec3, f64)], i: usize) -> bool {
    all.iter().enumerate().any(|(j, (q, s))| {
        j != i && (*s > *r || j < i) && (*p - *q).norm() + r <= s + 1e-9 && *s > 0.0
    })
}

/// The foot that these shapes of a link are: its sole is the flat side with the most points, of
/// those that are about level in the posture.
fn with_sole(
    model: &Model,
    link: &str,
    parts: &[Part],
    (up_B, by_shape): (&Vec3, bool),
) -> Option<FootProposal> {
    let frame = model.frame(link)?;
    let posture_L = frame.X_BF.R.tr_mul(up_B);
    let axes = parts.iter().flat_map(Part::normals).chain([Vec3::x(), Vec3::y(), Vec3::z()]);
    let upwards = axes.map(|n| if n.dot(&posture_L) < 0.0 { -n } else { n });
    let level = upwards.filter(|n| n.dot(&posture_L) > LEVEL).chain([posture_L]);
    let below = |up: &Vec3| -> Vec<(Vec3, f64)> {
        let all: Vec<(Vec3, f64)> = parts.iter().flat_map(|part| part.touching(up)).collect();
        let outer = all.iter().enumerate().filter(|(i, ball)| !is_inside(ball, &all, *i));
        outer.map(|(_, ball)| *ball).collect()
    };
    let mut best: Option<(usize, Vec3)> = None;
    for up in level {
        let points = below(&up);
        let lowest = |(p, r): &(Vec3, f64)| p.dot(&up) - r;
        let least = points.iter().map(lowest).fold(f64::INFINITY, f64::min);
        let count = points.iter().filter(|p| lowest(p) < least + SOLE_M).count();
        if count > best.map_or(0, |b| b.0) {
            best = Some((count, up));
        }
    }
    let (count, up_L) = best?;
    let mut points = below(&up_L);
    // one ball has no sole: the side that is below is that of the posture
    let up_L = if count == 1 { posture_L } else { up_L };
    let lowest = |(p, r): &(Vec3, f64)| p.dot(&up_L) - r;
    let least = points.iter().map(lowest).fold(f64::INFINITY, f64::min);
    if !by_shape {
        points.retain(|p| lowest(p) < least + SOLE_M);
    }
    // a foot has one radius: larger spheres give way to smaller ones with the same lowest point
    let radius_m = points.iter().map(|(_, r)| *r).fold(f64::INFINITY, f64::min);
    let place = |(p, r): &(Vec3, f64)| *p - up_L * (*r - radius_m);
    let points_L = points.iter().map(place).collect();
    Some(FootProposal {
        link: link.into(),
        body: frame.body,
        X_BL: frame.X_BF,
        points_L,
        radius_m,
        up_L,
        by_shape,
        note: None,
    })
}

/// Gives a sole to a foot without any shape.
fn assume_sole(model: &Model, data: &Data, foot: &mut FootProposal) {
    if foot.points_L != [Vec3::zeros()] || foot.by_shape {
        return;
    }
    let mut hip = foot.body;
    while model.bodies[hip].parent != 0 {
        hip = model.bodies[hip].parent;
    }
    let X_WL = data.X_WB[foot.body].compose(&foot.X_BL);
    let height_m = data.X_WB[hip].p.z - X_WL.p.z;
    if height_m <= 0.0 {
        return;
    }
    let [length, width, behind] = ASSUMED_SOLE;
    let [length_m, width_m, behind_m] = [length, width, behind * length].map(|x| x * height_m);
    let corners = [(1.0, 0.5), (1.0, -0.5), (0.0, 0.5), (0.0, -0.5)];
    let at = |(x, y): (f64, f64)| Vec3::new(x * length_m - behind_m, y * width_m, 0.0);
    foot.points_L = corners.map(|c| X_WL.R.tr_mul(&at(c))).to_vec();
    foot.note = Some(format!(
        "{}: no shape of it can be read; a sole of {length_m:.2} m × {width_m:.2} m at its origin \
         is assumed: put the true corners into points_m",
        foot.link
    ));
}
