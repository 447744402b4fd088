//! What a scenario may say, but hardly means.

use hardstand_physics::model::Model;
use hardstand_physics::plant::{ContactModel, Plant, PlantSpec};
use hardstand_physics::spatial::Vec3;
use toml::{Table, Value};

use super::merge::{DEFAULT_TOML, parse};
use super::robot::up_W;

/// A robot that is placed as given may be this deep in the ground, m.
const DEPTH_MAX_M: f64 = 1e-3;

/// Warnings about a scenario without mistakes, whose complete table this is.
pub(super) fn warnings(table: &Table, model: &Model, spec: &PlantSpec) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(sunk(table, model, spec));
    out.extend(lifted(table, spec));
    out.extend(friction_without_effect(table, spec));
    out.extend(restitution_without_effect(table, spec));
    out.extend(nothing_touches(table, spec));
    out
}

fn value<'a>(table: &'a Table, section: &str, key: &str) -> Option<&'a Value> {
    table.get(section)?.get(key)
}

/// A robot in the ground is thrown out of it.
fn sunk(table: &Table, model: &Model, spec: &PlantSpec) -> Option<String> {
    if value(table, "initial", "place")?.as_str() != Some("as_given") {
        return None;
    }
    let plant = Plant::new(model.clone(), spec.clone());
    let evaluated = plant.contacts().evaluated().iter().enumerate();
    let (i, deepest) = evaluated.min_by(|a, b| a.1.touch.p_C.z.total_cmp(&b.1.touch.p_C.z))?;
    let depth_m = -deepest.touch.p_C.z;
    if depth_m <= DEPTH_MAX_M || depth_m.is_nan() {
        return None;
    }
    let name = &spec.stations.get(i / plant.contacts().places())?.name;
    Some(format!(
        "initial.place is \"as_given\", and {name} is {depth_m:.3} m deep in the ground, which \
         will throw the robot: raise initial.position_m, or use \"above_ground\""
    ))
}

/// A robot whose keyframe is in the ground is lifted out of it.
fn lifted(table: &Table, spec: &PlantSpec) -> Option<String> {
    let initial = |key: &str| value(table, "initial", key);
    let keyframe = initial("keyframe")?.as_str().filter(|name| !name.is_empty())?;
    if initial("place")?.as_str() != Some("above_ground") {
        return None;
    }
    let given = initial("position_m")?.as_array()?.iter().filter_map(number).collect::<Vec<_>>();
    let &[x, y, z] = &given[..] else { return None };
    let rise_m = (spec.q.p_WB - Vec3::new(x, y, z)).dot(&up_W(spec));
    let lifted_m = rise_m - number(initial("clearance_m")?)?;
    (lifted_m > DEPTH_MAX_M).then(|| {
        format!(
            "the keyframe \"{keyframe}\" is in the ground; the robot was lifted by {lifted_m:.3} m"
        )
    })
}

/// Hunt–Crossley contact has the friction of its materials.
fn friction_without_effect(table: &Table, spec: &PlantSpec) -> Option<String> {
    let is_hertzian = |model: &ContactModel| matches!(model, ContactModel::HuntCrossley(_));
    if spec.stations.is_empty() || !spec.stations.iter().all(|s| is_hertzian(&s.model)) {
        return None;
    }
    let default = parse(DEFAULT_TOML, "config/default.toml").ok()?;
    let of_contact = |key: &str| value(table, "contact", key);
    let is_changed = |key: &&str| of_contact(key) != value(&default, "contact", key);
    let is_that_of = |material: &Value| {
        let material = material.as_str().and_then(|name| value(table, "materials", name));
        let of_material = |key: &str| material.and_then(|m| m.get(key));
        of_material("mu_static") == of_contact("mu_static")
            && of_material("mu_dynamic") == of_contact("mu_kinetic")
    };
    if ["material", "ground_material"].into_iter().filter_map(of_contact).all(is_that_of) {
        return None;
    }
    let first = ["mu_static", "mu_kinetic"].into_iter().find(is_changed)?;
    Some(format!(
        "contact.{first} has no effect: every contact is hunt_crossley, whose friction is \
         materials.NAME.mu_static, mu_dynamic and mu_viscous"
    ))
}

/// Only rigid contacts give speed back by a coefficient.
fn restitution_without_effect(table: &Table, spec: &PlantSpec) -> Option<String> {
    let restitution = value(table, "contact", "restitution")?;
    let shapes = spec.collisions.shapes.iter().map(|shape| &shape.model);
    let models = spec.stations.iter().map(|station| &station.model).chain(shapes);
    let is_rigid = |model: &ContactModel| *model == ContactModel::Rigid;
    if number(restitution)? <= 0.0 || models.into_iter().any(is_rigid) {
        return None;
    }
    Some(format!(
        "contact.restitution = {restitution} has no effect: no contact is \"rigid\"; use \
         contact.model = \"rigid\", or for springs a smaller contact.cz_s_per_m and for \
         hunt_crossley materials.NAME.restitution"
    ))
}

/// A robot without feet, of which only feet would touch.
fn nothing_touches(table: &Table, spec: &PlantSpec) -> Option<String> {
    let is_of_feet = value(table, "contact", "bodies")?.as_str() == Some("feet");
    let has_none = spec.feet.is_empty() && spec.stations.is_empty();
    (is_of_feet && has_none).then(|| {
        "contact.bodies is \"feet\", and there are no [[feet]]: no link touches anything; use \
         \"all\" or a list of links, or [] if that is meant"
            .into()
    })
}

fn number(x: &Value) -> Option<f64> {
    x.as_float().or_else(|| x.as_integer().map(|i| i as f64))
}
