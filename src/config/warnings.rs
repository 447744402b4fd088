//! What a scenario may say, but hardly means.

use hardstand_physics::actuator::drive::Heat;
use hardstand_physics::model::{Base, Model};
use hardstand_physics::plant::{Carrier, CollisionPoint, ContactModel, Mobility, Plant, PlantSpec};
use hardstand_physics::spatial::Vec3;
use toml::{Table, Value};

use super::merge::{DEFAULT_TOML, parse};
use super::rest::place_bodies;
use super::robot::up_W;
use super::section::number;

/// What is placed as given may be this deep in the ground, or in something else, m.
const DEPTH_MAX_M: f64 = 1e-3;

/// A robot that rests farther from the surface of the ground has the wrong springs, m.
const REST_MAX_M: f64 = 5e-3;
/// A body that its contacts throw higher than this at the start was not meant to fly, m.
const THROWN_MAX_M: f64 = 2e-3;

/// Warnings about a scenario without mistakes, whose complete table this is.
pub(super) fn warnings(table: &Table, model: &Model, spec: &PlantSpec) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(sunk(table, model, spec));
    out.extend(lifted(table, spec));
    out.extend(rests_away(table, model, spec));
    out.extend(thrown(table, model, spec));
    out.extend(overlapping(model, spec));
    out.extend(friction_without_effect(table, spec));
    out.extend(restitution_without_effect(table, spec));
    out.extend(softness_without_effect(spec));
    out.extend(nothing_touches(table, spec));
    out.extend(no_stamps(table));
    out.extend(tripped(model, spec));
    out
}

fn value<'a>(table: &'a Table, section: &str, key: &str) -> Option<&'a Value> {
    table.get(section)?.get(key)
}

/// Ticks wait for answers, which Unitree's commands are not.
fn no_stamps(table: &Table) -> Option<String> {
    let mode = value(table, "control", "mode")?.as_str()?;
    let unitree = value(table, "unitree", "enabled")?.as_bool()?;
    (unitree && mode != "realtime").then(|| {
        format!(
            "unitree.enabled is true and control.mode is \"{mode}\", where ticks wait for answers: \
             commands on rt/lowcmd have no stamp and are refused; take --mode realtime for them"
        )
    })
}

/// A drive in air as hot as its limit has switched off before the first tick.
fn tripped(model: &Model, spec: &PlantSpec) -> Option<String> {
    let mut drives = model.joints.iter().zip(spec.drives.joints.iter().map(|drive| &drive.heat));
    let off = |heat: &Heat| heat.acts() && heat.trip_c > 0.0 && heat.air_c >= heat.trip_c;
    let (joint, heat) = drives.find(|(_, heat)| off(heat))?;
    Some(format!(
        "the drive of {} has switched off before the first tick: heat.trip_c is {}, and \
         heat.air_c {}",
        joint.name, heat.trip_c, heat.air_c
    ))
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

/// A robot that rests far above or below the ground has springs for another weight.
fn rests_away(table: &Table, model: &Model, spec: &PlantSpec) -> Option<String> {
    let initial = |key: &str| value(table, "initial", key);
    if initial("place")?.as_str() != Some("above_ground") || model.base == Base::Fixed {
        return None;
    }
    // what gives way for good is meant to
    if spec.ground.is_empty() || spec.ground.iter().any(|surface| surface.soft.is_some()) {
        return None;
    }
    let up_W = up_W(spec);
    let mut at_rest = spec.clone();
    at_rest.q.p_WB -= up_W * number(initial("clearance_m")?)?;
    let plant = Plant::new(model.clone(), at_rest);
    let stations = plant.contacts().evaluated().iter().map(|at| at.touch.p_C.z);
    let of_links =
        |at: &&CollisionPoint| matches!(at.carriers, [Carrier::Link(_), Carrier::Surface(_)]);
    let shapes = plant.collisions().points().iter().filter(of_links).map(|at| -at.depth_m);
    let lowest_m = stations.chain(shapes).fold(f64::INFINITY, f64::min);
    if !lowest_m.is_finite() || lowest_m.abs() <= REST_MAX_M {
        return None;
    }
    let side = if lowest_m > 0.0 { "above" } else { "below" };
    let (mass_kg, mm) = (model.total_mass(), 1e3 * lowest_m.abs());
    Some(format!(
        "the robot, {mass_kg:.3} kg, rests {mm:.1} mm {side} the surface of the ground, as its \
         contacts are for another weight: with contact.spring = \"by_mass\" it rests 1 mm deep \
         (Hunt–Crossley: take a material of another stiffness)"
    ))
}

/// A body that begins in the springs of the ground, or of anything else, is thrown.
fn thrown(table: &Table, model: &Model, spec: &PlantSpec) -> Vec<String> {
    let up_W = up_W(spec);
    let along = -spec.gravity_W.dot(&up_W);
    if spec.collisions.bodies.is_empty() || along <= 0.0 {
        return Vec::new();
    }
    let stored = |spec: &PlantSpec| {
        let plant = Plant::new(model.clone(), spec.clone());
        let mut of_bodies = vec![(0.0, 0.0); spec.collisions.bodies.len()];
        for at in plant.collisions().points().iter().filter(|at| !at.is_rigid) {
            for (side, carrier) in at.carriers.iter().enumerate() {
                let Carrier::Body(k) = *carrier else { continue };
                let sign = if side == 0 { 1.0 } else { -1.0 };
                of_bodies[k].0 += at.record_W().potential_energy_j;
                of_bodies[k].1 += sign * at.force_W().dot(&up_W);
            }
        }
        of_bodies
    };
    let at_start = stored(spec);
    let mut out = Vec::new();
    for (k, body) in spec.collisions.bodies.iter().enumerate() {
        let weight_n = along * body.inertia.mass;
        let (energy_j, force_n) = at_start[k];
        if body.mobility != Mobility::Free || energy_j < THROWN_MAX_M * weight_n {
            continue;
        }
        let mut resting = spec.clone();
        place_bodies(model, &mut resting, &[k]);
        let rise_m = (resting.collisions.bodies[k].X_WB.p - body.X_WB.p).dot(&up_W);
        let spare_m = (energy_j - stored(&resting)[k].0) / weight_n - rise_m;
        if spare_m > THROWN_MAX_M {
            let (name, mm) = (&body.name, 1e3 * spare_m);
            let (pushed, remedy) = (pushed(force_n, weight_n), remedy(table, name, rise_m));
            out.push(format!(
                "body \"{name}\" begins where its contacts {pushed} and may throw it {mm:.0} mm \
                 high: {remedy}"
            ));
        }
    }
    out
}

/// Rigid contacts that overlap at the start are pushed apart, without speed.
fn overlapping(model: &Model, spec: &PlantSpec) -> Option<String> {
    if !spec.collisions.shapes.iter().any(|shape| shape.model == ContactModel::Rigid) {
        return None;
    }
    let plant = Plant::new(model.clone(), spec.clone());
    let rigid = plant.collisions().points().iter().filter(|at| at.is_rigid);
    let deepest = rigid.max_by(|a, b| a.depth_m.total_cmp(&b.depth_m))?;
    let name = |carrier: Carrier| match carrier {
        Carrier::Link(i) => format!("link \"{}\"", model.bodies[i].name),
        Carrier::Body(k) => format!("body \"{}\"", spec.collisions.bodies[k].name),
        Carrier::Surface(i) => format!("the surface \"{}\"", spec.ground[i].name),
    };
    (deepest.depth_m > DEPTH_MAX_M).then(|| {
        let ([one, other], mm) = (deepest.carriers.map(name), 1e3 * deepest.depth_m);
        format!(
            "{one} begins {mm:.0} mm deep in {other}: rigid contacts part without speed, by 0.1 mm \
             in each micro-step; let them begin apart"
        )
    })
}

/// Contacts that balance each other, or push down, store as much energy.
fn pushed(up_n: f64, weight_n: f64) -> String {
    if up_n > 0.0 {
        return format!("push it up with {up_n:.0} N, {:.1} times its weight,", up_n / weight_n);
    }
    "are pressed together".into()
}

fn remedy(table: &Table, body: &str, rise_m: f64) -> String {
    if rise_m <= 0.0 {
        return "let it begin where it touches nothing".into();
    }
    let named = |b: &Value| b.get("name").and_then(Value::as_str) == Some(body);
    let bodies = table.get("bodies").and_then(Value::as_array);
    let higher = format!("{:.1} mm higher", 1e3 * rise_m);
    if bodies.is_some_and(|all| all.iter().any(named)) {
        format!(
            "give it place = \"above_ground\", which lets it begin where it rests, {higher}, or \
             use contact.spring = \"by_mass\""
        )
    } else {
        format!("let it begin {higher}, where it rests, or use contact.spring = \"by_mass\"")
    }
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

/// Only stations with springs sink in.
fn softness_without_effect(spec: &PlantSpec) -> Option<String> {
    let soft = spec.ground.iter().find(|surface| surface.soft.is_some())?;
    spec.stations.is_empty().then(|| {
        format!(
            "soft of \"{}\" has no effect: only feet and stations of points sink in, and there are \
             none; shapes meet it as firm ground",
            soft.name
        )
    })
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
