//! Feet and stations of a scenario.

use crate::limits::{FEET_MAX, NAME_BYTES_MAX, PLACES_MIN, STATIONS_MAX};
use hardstand_physics::contact::{Friction, StationShape};
use hardstand_physics::plant::{ContactModel, Foot, Station};
use hardstand_physics::spatial::{Transform, Vec3};

use super::by_mass::FittedKeys;
use super::collisions::Common;
use super::contact_law::{Law, friction_of};
use super::derived_stations::derived;
use super::posture::Posture;
use super::section::{Mistakes, Range, Section};
use super::terrain::Ground;

/// Feet and stations.
#[derive(Default)]
pub(super) struct Touching {
    pub(super) feet: Vec<Foot>,
    pub(super) stations: Vec<Station>,
    /// The keys of the spring of each station, and of each collision shape.
    pub(super) keys: FittedKeys,
    /// Links with stations: their collision shapes do not meet the ground.
    pub(super) station_links: Vec<String>,
    /// Links of feet that touch with their collision shapes.
    pub(super) shaped: Vec<(String, ShapedFoot)>,
}

/// A foot that touches with the collision shapes of its link.
pub(super) struct ShapedFoot {
    /// Index of the foot.
    pub(super) foot: usize,
    pub(super) law: Law,
    pub(super) friction: Friction,
}

pub(super) fn touching(root: &Section<'_>, common: &Common<'_>, posture: &Posture) -> Touching {
    let Common { ground, mistakes, .. } = *common;
    let mut out = Touching::default();
    for (list, is_foot) in [("feet", true), ("stations", false)] {
        for s in root.sections(list) {
            if is_foot && by_shapes(&s) {
                shaped_foot(&s, common, &mut out);
                s.finish();
                continue;
            }
            let first = out.stations.len();
            let foot = stations_of(&s, common, posture, &mut out);
            if let (true, Some((name, body, X_BF))) = (is_foot, foot) {
                let stations = (first..out.stations.len()).collect();
                out.feet.push(Foot { name, body, X_BF, stations, shapes: Vec::new() });
            }
            s.finish();
        }
    }
    mistakes.refuse_twins("feet and stations", out.stations.iter().map(|s| s.name.as_str()));
    if out.feet.len() > FEET_MAX {
        mistakes.add(format!("feet has {} entries; at most {FEET_MAX}", out.feet.len()));
    }
    check_room(&out.stations, ground, mistakes);
    check_soft(&out.stations, ground, mistakes);
    out
}

/// Only springs sink into soft ground.
fn check_soft(stations: &[Station], ground: &Ground, mistakes: &Mistakes) {
    let Some(soft) = ground.surfaces.iter().find(|s| s.soft.is_some()) else { return };
    let is_spring = |s: &&Station| matches!(s.model, ContactModel::ExponentialSpring(_));
    if let Some(station) = stations.iter().find(|s| !is_spring(s)) {
        mistakes.add(format!(
            "{} is soft, and {} does not have the contact model \"exponential_spring\", which \
             alone sinks in",
            soft.name, station.name
        ));
    }
}

/// With more stations times surfaces than there is room for, each station has places for those that
/// are near it.
fn check_room(stations: &[Station], ground: &Ground, mistakes: &Mistakes) {
    let (count, surfaces) = (stations.len(), ground.surfaces.len());
    if count * surfaces <= STATIONS_MAX {
        return;
    }
    let most = STATIONS_MAX / surfaces.clamp(1, PLACES_MIN);
    if count > most {
        mistakes.add(format!(
            "{count} stations × {surfaces} surfaces are more than {STATIONS_MAX} contacts, and so \
             at most {most} stations are allowed; contact = \"shapes\" in [[feet]] has no \
             such limit"
        ));
    }
    let hertzian = |s: &Station| matches!(s.model, ContactModel::HuntCrossley(_));
    let is_mixed = ground.materials.windows(2).any(|pair| pair[0] != pair[1]);
    if is_mixed && stations.iter().any(hertzian) {
        mistakes.add(format!(
            "{count} stations × {surfaces} surfaces are more than {STATIONS_MAX} contacts, and \
             surfaces have different materials, which \"hunt_crossley\" then cannot have"
        ));
    }
}

/// Whether a foot touches with the collision shapes of its link.
fn by_shapes(s: &Section<'_>) -> bool {
    let words = [("points", false), ("shapes", true)];
    s.has("contact") && s.choice("contact", &words).unwrap_or(false)
}

fn shaped_foot(s: &Section<'_>, common: &Common<'_>, out: &mut Touching) {
    let Common { loaded, defaults, materials, .. } = *common;
    let (name, link) = (checked_name(s), s.text("link"));
    let friction = friction_of(s, defaults);
    let law = Law::read(s, defaults, materials);
    law.refuse_idle_keys(s);
    let Some(frame) = loaded.model.frame(link) else {
        s.mistake("link", "the name of a link of the robot");
        return;
    };
    let (name, body, X_BF) = (name.to_string(), frame.body, frame.X_BF);
    let shaped = ShapedFoot { foot: out.feet.len(), law, friction };
    out.shaped.push((link.to_string(), shaped));
    out.feet.push(Foot { name, body, X_BF, stations: Vec::new(), shapes: Vec::new() });
}

/// Adds the stations of one foot or patch; returns its name and frame.
fn stations_of(
    s: &Section<'_>,
    common: &Common<'_>,
    posture: &Posture,
    out: &mut Touching,
) -> Option<(String, usize, Transform)> {
    let Common { loaded, defaults, materials, ground, .. } = *common;
    let (name, link) = (checked_name(s), s.text("link"));
    let friction = friction_of(s, defaults);
    let law = Law::read(s, defaults, materials);
    law.refuse_idle_keys(s);
    out.station_links.push(link.to_string());
    let given = s.points_if_given("points_m");
    let round = round(s);
    let Some(frame) = loaded.model.frame(link) else {
        s.mistake("link", "the name of a link of the robot");
        return None;
    };
    let points: Vec<(Vec3, StationShape)> = match given {
        Some(points) => {
            if points.is_empty() {
                s.mistake("points_m", "a list of at least one point");
            }
            points.iter().map(|&p| (Vec3::from(p), round)).collect()
        }
        // a mistake in the key is already reported
        None if s.has("points_m") => Vec::new(),
        None => derived(s, frame, &round, &loaded.collisions, posture),
    };
    let several = points.len() > 1;
    for (i, (p_FS, shape)) in points.into_iter().enumerate() {
        if let Err(e) = shape.check() {
            // each key is in its own range, so the mistake is in the link's collision shape
            let text = format!("collision shapes of \"{link}\": {e}; or give points_m");
            s.complain("link", &text);
            continue;
        }
        // a mistake in the contact law is already reported
        let Some(model) = law.model(s, shape, ground, i == 0) else { continue };
        out.keys.stations.push(law.keys);
        out.stations.push(Station {
            name: if several { format!("{name}.{i}") } else { name.into() },
            body: frame.body,
            p_BS: frame.X_BF.point(&p_FS),
            shape: shape.turned(&frame.X_BF.R),
            model,
            friction,
            rolling: law.rolling,
        });
    }
    Some((name.into(), frame.body, frame.X_BF))
}

pub(super) fn checked_name<'a>(s: &Section<'a>) -> &'a str {
    let name = s.text("name");
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        s.mistake("name", &format!("1 to {NAME_BYTES_MAX} bytes long"));
    }
    name
}

/// Shape around the points that a foot gives, in the link's axes.
fn round(s: &Section<'_>) -> StationShape {
    let size = Range::between(1e-4, 10.0);
    if s.has("ring_radius_m") {
        let tube = s.f64_if_given("radius_m", Range::between(0.0, 10.0)).unwrap_or(0.0);
        let Some(axis_B) = s.direction("axis") else { return StationShape::Point };
        return StationShape::Torus {
            axis_B,
            ring_radius_m: s.f64("ring_radius_m", size),
            tube_radius_m: tube,
        };
    }
    match s.f64_if_given("radius_m", size) {
        Some(radius_m) => StationShape::Sphere { radius_m },
        None => StationShape::Point,
    }
}
