//! Regions of the ground with their own friction.

use crate::limits::REGIONS_MAX;
use hardstand_physics::plant::FrictionRegion;

use super::contact_law::{ContactDefaults, friction_of};
use super::feet::checked_name;
use super::section::{Mistakes, Range, Section};
use super::terrain::Ground;

pub(super) fn regions(
    root: &Section<'_>,
    defaults: &ContactDefaults,
    ground: &Ground,
    mistakes: &Mistakes,
) -> Vec<FrictionRegion> {
    let mut regions = Vec::new();
    for s in root.sections("regions") {
        regions.push(region(&s, defaults, ground, mistakes));
        s.finish();
    }
    if regions.len() > REGIONS_MAX {
        mistakes.add(format!("regions has {} entries; at most {REGIONS_MAX}", regions.len()));
    }
    mistakes.refuse_twins("regions", regions.iter().map(|r| r.name.as_str()));
    regions
}

fn region(
    s: &Section<'_>,
    defaults: &ContactDefaults,
    ground: &Ground,
    mistakes: &Mistakes,
) -> FrictionRegion {
    let name = checked_name(s);
    let surface = match s.text_if_given("surface") {
        Some(name) => ground.surfaces.iter().position(|g| g.name == name),
        None => Some(0),
    };
    if surface.is_none() {
        let names: Vec<&str> = ground.surfaces.iter().map(|g| g.name.as_str()).collect();
        s.mistake("surface", &format!("one of {}", names.join(", ")));
    }
    let before = mistakes.count();
    let anywhere = Range::between(-1e5, 1e5);
    let (min_m, max_m) = (s.vec2("min_m", anywhere), s.vec2("max_m", anywhere));
    let empty = max_m[0] <= min_m[0] || max_m[1] <= min_m[1];
    if empty && mistakes.count() == before {
        s.mistake("max_m", &format!("above min_m in x and y, which is {min_m:?}"));
    }
    let slippery = s.has("mu_static") || s.has("mu_kinetic");
    let friction = slippery.then(|| friction_of(s, defaults));
    let surface = surface.unwrap_or(0);
    FrictionRegion { name: name.into(), surface, min_m, max_m, friction }
}
