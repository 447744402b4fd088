//! Corrections of masses and inertias.

use hardstand_physics::model::Model;
use hardstand_physics::spatial::SpatialInertia;

use super::section::{Range, Section};

/// Scales masses and inertias; "*" first, then the links by name.
pub(super) fn override_links(root: &Section<'_>, model: &mut Model) {
    let section = root.section("links");
    let mut names = section.keys();
    names.sort_by_key(|&n| n != "*");
    let mut scales = vec![[1.0; 2]; model.bodies.len()];
    for name in names {
        let table = section.section(name);
        let range = || Range::between(0.01, 100.0);
        let given = ["mass_scale", "inertia_scale"].map(|key| table.f64_if_given(key, range()));
        table.finish();
        let body = model.bodies.iter().position(|b| b.name == name);
        if name != "*" && body.is_none() {
            let names: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
            let text = format!("no body has this name; the bodies are {}", names.join(", "));
            section.complain(name, &text);
            continue;
        }
        for (_, scale) in
            scales.iter_mut().enumerate().filter(|(i, _)| body.is_none_or(|b| b == *i))
        {
            for (slot, value) in scale.iter_mut().zip(given) {
                *slot = value.unwrap_or(*slot);
            }
        }
    }
    for (body, [mass, inertia]) in model.bodies.iter_mut().zip(scales) {
        // so that not a bit changes without a correction
        if [mass, inertia] != [1.0; 2] {
            let old = body.inertia;
            let about_com = old.about_com() * (mass * inertia);
            body.inertia = SpatialInertia::from_com(mass * old.mass, &old.com(), &about_com);
        }
    }
}
