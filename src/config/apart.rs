//! What never touches: neighbours, a fixed base and the ground, and pairs of `contact.disable`.

use hardstand_physics::model::{Base, Model};
use hardstand_physics::plant::{Carrier, CollisionSpec};

use super::section::Section;
use super::terrain::Ground;
use crate::urdf::Loaded;

/// Keeps neighbours apart, and without `contact.self_collision` all links.
pub(super) fn neighbours(contact: &Section<'_>, model: &Model, out: &mut CollisionSpec) {
    let count = model.bodies.len();
    let mut apart = connected(model, out);
    if !contact.bool("self_collision") {
        let all = |a: usize| (a + 1..count).map(move |b| (a, b));
        apart = (0..count).flat_map(all).collect();
    }
    let links = |(a, b)| (Carrier::Link(a), Carrier::Link(b));
    out.apart.extend(apart.into_iter().map(links));
}

/// Links that a joint connects, or several in a row with nothing between them that has mass or
/// shape: a planar joint, say, which is two slides and a turn.
fn connected(model: &Model, out: &CollisionSpec) -> Vec<(usize, usize)> {
    let has_shape = |body| out.shapes.iter().any(|shape| shape.carrier == Carrier::Link(body));
    let is_step =
        |body: usize| body > 0 && model.bodies[body].inertia.mass <= 0.0 && !has_shape(body);
    let above = |body: usize| {
        let mut link = model.bodies[body].parent;
        while is_step(link) {
            link = model.bodies[link].parent;
        }
        link
    };
    (1..model.bodies.len()).map(|body| (above(body), body)).collect()
}

/// Keeps a fixed base and ground at rest apart: neither can move.
pub(super) fn fixed_base(model: &Model, ground: &Ground, out: &mut CollisionSpec) {
    if model.base == Base::Fixed {
        let surfaces = ground.surfaces.iter().enumerate();
        let still = surfaces.filter(|(_, surface)| surface.platform.is_none());
        out.apart.extend(still.map(|(i, _)| (Carrier::Link(0), Carrier::Surface(i))));
    }
}

/// Pairs in `contact.disable`: the shapes of these two links alone, not of what is fixed to them.
/// `link_of` has the link of each shape of the robot's file. Returns warnings about pairs that keep
/// nothing apart.
pub(super) fn disable(
    contact: &Section<'_>,
    loaded: &Loaded,
    link_of: &[&str],
    out: &mut CollisionSpec,
) -> Vec<String> {
    let shapes_of = |link: &str| {
        let all = link_of.iter().enumerate().filter(|(_, name)| **name == link);
        all.map(|(shape, _)| shape).collect::<Vec<_>>()
    };
    let flies = |link: &str| loaded.free.iter().any(|free| free.links.iter().any(|l| l == link));
    let mut shapeless: Vec<&str> = Vec::new();
    let rows = contact.text_rows("disable");
    for (i, pair) in rows.iter().enumerate() {
        let links = pair.iter().filter(|name| loaded.model.frame(name).is_some() || flies(name));
        let ([a, b], 2) = (pair.as_slice(), links.count()) else {
            let text = format!("entry {i} is {pair:?}; it must be two links of the robot");
            contact.complain("disable", &text);
            continue;
        };
        shapeless.extend(pair.iter().map(String::as_str).filter(|link| !has_shape(loaded, link)));
        let (of_a, of_b) = (shapes_of(a), shapes_of(b));
        let pairs = of_a.iter().flat_map(|a| of_b.iter().map(|b| (*a, *b)));
        out.apart_shapes.extend(pairs);
    }
    shapeless.sort_unstable();
    shapeless.dedup();
    let warning = |link: &str| {
        format!(
            "contact.disable names \"{link}\", which has no collision shape, so that its pairs \
             keep nothing apart{}",
            meant(loaded, link)
        )
    };
    shapeless.into_iter().map(warning).collect()
}

/// Whether the file has a shape of the link, which `contact.bodies` may leave out.
fn has_shape(loaded: &Loaded, link: &str) -> bool {
    let of_free = loaded.free.iter().flat_map(|free| &free.collisions);
    loaded.collisions.iter().chain(of_free).any(|c| c.frame == link)
}

/// Links that are fixed to `link` and have shapes: those that are meant, most often.
fn meant(loaded: &Loaded, link: &str) -> String {
    let model = &loaded.model;
    let Some(body) = model.frame(link).map(|frame| frame.body) else { return String::new() };
    let fixed = model.frames.iter().filter(|f| f.body == body && has_shape(loaded, &f.name));
    let names: Vec<String> = fixed.map(|f| format!("\"{}\"", f.name)).collect();
    match &names[..] {
        [] => String::new(),
        names => {
            format!("; of the links that are fixed to it, these have shapes: {}", names.join(", "))
        }
    }
}
