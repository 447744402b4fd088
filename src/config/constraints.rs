//! Constraints of a scenario: points of links that are held on planes.

use hardstand_physics::contact::level_axes;
use hardstand_physics::model::{Base, Model};
use hardstand_physics::plant::{ConstraintSpec, PlantSpec};
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::Event;

use crate::limits::CONSTRAINTS_MAX;

use super::feet::checked_name;
use super::section::{Mistakes, Range, Section};

/// The constraints, and when they are switched, by tick.
#[derive(Debug, Default)]
pub(super) struct Constraints {
    pub(super) all: Vec<ConstraintSpec>,
    switches: Vec<(f64, u32, bool)>,
}

pub(super) fn constraints(root: &Section<'_>, model: &Model, mistakes: &Mistakes) -> Constraints {
    let mut out = Constraints::default();
    for s in root.sections("constraints") {
        constraint(&s, model, &mut out);
        s.finish();
    }
    mistakes.refuse_twins("constraints", out.all.iter().map(|c| c.name.as_str()));
    let followers = model.couplings.iter().map(|c| model.joints[c.follower].name.as_str());
    let taken: Vec<&str> = followers.collect();
    for name in out.all.iter().map(|c| c.name.as_str()).filter(|name| taken.contains(name)) {
        mistakes.add(format!(
            "constraints: the name \"{name}\" is that of a joint that follows another, under which \
             its forces are published; use another name"
        ));
    }
    if out.all.len() > CONSTRAINTS_MAX {
        let count = out.all.len();
        mistakes.add(format!("constraints has {count} entries; at most {CONSTRAINTS_MAX}"));
    }
    out
}

fn constraint(s: &Section<'_>, model: &Model, out: &mut Constraints) {
    let name = checked_name(s);
    let place = Range::between(-1e3, 1e3);
    let point = if s.has("point_m") { s.vec3("point_m", place) } else { [0.0; 3] };
    let normal = if s.has("normal") { s.direction("normal") } else { Some(Vec3::z()) };
    let slides = s.has("slides") && s.bool("slides");
    let active = !s.has("active") || s.bool("active");
    let times = if s.has("switch_at_s") {
        s.numbers_of("switch_at_s", Range::between(0.0, 1e9))
    } else {
        Vec::new()
    };
    let frame_of = |key: &str| {
        let frame = model.frame(s.text(key));
        if frame.is_none() {
            s.mistake(key, "the name of a link of the robot");
        }
        frame
    };
    let (Some(link), Some(normal)) = (frame_of("link"), normal) else { return };
    let plane = if s.has("plane_link") {
        let Some(frame) = frame_of("plane_link") else { return };
        Some(frame)
    } else {
        None
    };
    if plane.is_some_and(|p| p.body == link.body) {
        s.complain("plane_link", "it moves with link, so nothing would be held");
        return;
    }
    if plane.is_none() && model.base == Base::Fixed && link.body == 0 {
        s.complain("link", "the base is fixed, so nothing would be held");
        return;
    }
    let axes = level_axes(&normal);
    let R_SP = plane.map_or(axes, |frame| frame.X_BF.R * axes);
    let index = out.all.len() as u32;
    let mut is = active;
    for at_s in times {
        is = !is;
        out.switches.push((at_s, index, is));
    }
    out.all.push(ConstraintSpec {
        name: name.into(),
        body: link.body,
        p_BF: link.X_BF.point(&Vec3::from(point)),
        plane_body: plane.map(|frame| frame.body),
        R_SP,
        slides,
        active,
    });
}

impl Constraints {
    /// When constraints begin and end, by tick.
    pub(super) fn events(&self, spec: &PlantSpec) -> Vec<(u64, Event)> {
        let tick = |at_s: f64| (at_s * 1e9 / spec.period_ns as f64).round() as u64;
        let event = |&(at_s, index, active): &(f64, u32, bool)| {
            (tick(at_s), Event::Constraint { index, active })
        };
        self.switches.iter().map(event).collect()
    }
}
