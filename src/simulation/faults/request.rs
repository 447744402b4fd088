//! From names and numbers to an event, and whether a plant can have a fault.

use hardstand_physics::model::{Joint, Model};
use hardstand_physics::plant::PlantSpec;
use hardstand_physics::spatial::Transform;
use hardstand_protocol::{
    Event, FaultError, FaultKind, FaultSpec, InjectedFault, Part, Place, Scope, UNTIL_CLEARED,
};

/// Largest coordinate of a payload in its body's frame, m: that of a link, and the link's own.
const POINT_MAX_M: f64 = 1e4;

/// The part of a robot or its ground that is called `name`; `word` says what it is. For a link,
/// also its frame in its body's.
#[must_use]
pub fn part_named(
    model: &Model,
    spec: &PlantSpec,
    word: &str,
    name: &str,
) -> Option<(Part, Transform)> {
    fn index<'a>(name: &str, mut names: impl Iterator<Item = &'a String>) -> Option<u32> {
        names.position(|n| n == name).map(|i| i as u32)
    }
    let part = match word {
        "joint" => Part::Joint(index(name, model.joints.iter().map(|j| &j.name))?),
        "foot" => Part::Foot(index(name, spec.feet.iter().map(|f| &f.name))?),
        "station" => Part::Station(index(name, spec.stations.iter().map(|s| &s.name))?),
        "region" => Part::Region(index(name, spec.regions.iter().map(|r| &r.name))?),
        "link" => {
            let frame = model.frame(name)?;
            return Some((Part::Body(frame.body as u32), frame.X_BF));
        }
        _ => return None,
    };
    Some((part, Transform::identity()))
}

/// The part that a fault of this kind is to affect, by a word and a name, or by none.
///
/// # Errors
/// The first [`FaultError`].
pub fn fault_part(
    row: &FaultSpec,
    model: &Model,
    spec: &PlantSpec,
    on: Option<(&str, &str)>,
) -> Result<(Part, Transform), FaultError> {
    let words = row.place.words();
    let Some((word, name)) = on else {
        return match words.first() {
            Some(word) if row.place.is_needed() => {
                Err(FaultError::new(word, format!("the name of a {word}")))
            }
            _ => Ok((Part::Whole, Transform::identity())),
        };
    };
    if !words.contains(&word) {
        let all = match words {
            [] => "left out: this fault affects no part of the robot".into(),
            words => format!("left out; this fault affects a {}", words.join(", ")),
        };
        return Err(FaultError::new(word, all));
    }
    part_named(model, spec, word, name)
        .ok_or_else(|| FaultError::new(word, format!("the name of a {word}")))
}

/// The event that begins a fault of this kind: `values` are the numbers of its parameters, `on` is
/// the part that it affects, and without `ticks` it lasts until it is cleared.
///
/// # Errors
/// The first [`FaultError`], in the order values, part, duration.
pub fn fault_event(
    row: &FaultSpec,
    model: &Model,
    spec: &PlantSpec,
    on: Option<(&str, &str)>,
    values: &[f64],
    ticks: Option<u64>,
) -> Result<Event, FaultError> {
    check_numbers(row, values)?;
    let (part, X_BF) = fault_part(row, model, spec, on)?;
    if ticks == Some(0) || (ticks.is_none() && row.needs_duration) {
        return Err(FaultError::new("duration", "at least one tick"));
    }
    let ticks_or_ever = ticks.unwrap_or(UNTIL_CLEARED);
    let at = |i: usize| values.get(i).copied().unwrap_or_default();
    let point_B = |i: usize| X_BF.point(&[at(i), at(i + 1), at(i + 2)].into()).into();
    let mut fault = InjectedFault { kind: row.kind, part, values: [at(0), at(1), at(2), at(3)] };
    match (row.kind, part) {
        (FaultKind::Push, Part::Body(body)) => {
            let force_W = [at(0), at(1), at(2)];
            return Ok(Event::Push { body, point_B: point_B(3), force_W, ticks: ticks_or_ever });
        }
        (FaultKind::Friction, _) if ticks.is_none() => {
            check_has_stations(row.kind, part, spec)?;
            let (mu_static, mu_kinetic) = (at(0), at(1));
            return Ok(Event::Friction { scope: scope(part), mu_static, mu_kinetic });
        }
        (FaultKind::Payload, _) => {
            let [x, y, z]: [f64; 3] = point_B(1);
            fault.values = [at(0), x, y, z];
        }
        _ => {}
    }
    check_fault(&fault, model, spec)?;
    Ok(Event::InjectFault { fault, ticks: ticks_or_ever })
}

/// Each number in its range; of friction the second at most the first.
fn check_numbers(row: &FaultSpec, values: &[f64]) -> Result<(), FaultError> {
    if values.len() != row.number_count() {
        let count = format!("{} numbers", row.number_count());
        return Err(FaultError::new("values", count));
    }
    let mut rest = values;
    for p in row.parameters {
        let (own, others) = rest.split_at(p.count);
        if let Some(&x) = own.iter().find(|x| !p.allows(**x)) {
            return Err(FaultError::new(p.name, p.describe()).with_value(x));
        }
        rest = others;
    }
    if row.kind == FaultKind::Friction && values[1] > values[0] {
        let most = format!("at most mu_static, which is {}", values[0]);
        return Err(FaultError::new("mu_kinetic", most));
    }
    Ok(())
}

/// What a change of friction of this part is for.
pub(in crate::simulation) const fn scope(part: Part) -> Scope {
    match part {
        Part::Foot(i) => Scope::Foot(i),
        Part::Station(i) => Scope::Station(i),
        Part::Region(i) => Scope::Region(i),
        Part::Whole | Part::Joint(_) | Part::Body(_) => Scope::All,
    }
}

/// Whether a plant can have this fault.
///
/// # Errors
/// The first [`FaultError`].
pub fn check_fault(
    fault: &InjectedFault,
    model: &Model,
    spec: &PlantSpec,
) -> Result<(), FaultError> {
    let row = fault.kind.row();
    if !fits(fault, row.place, model, spec) || fault.kind == FaultKind::Push {
        return Err(FaultError::new("part", "one that this fault can affect"));
    }
    let (mut numbers, count) = (fault.values, row.number_count());
    if fault.kind == FaultKind::Payload {
        if !fault.values[1..].iter().all(|x| x.abs() <= POINT_MAX_M) {
            let range = format!("-{POINT_MAX_M} to {POINT_MAX_M} along each axis of the body");
            return Err(FaultError::new("point_m", range));
        }
        numbers[1..].fill(0.0);
    }
    check_numbers(row, &numbers[..count])?;
    check_has_stations(fault.kind, fault.part, spec)?;
    match fault.kind {
        FaultKind::ImuAxesSwapped if !is_permutation(&fault.values) => {
            Err(FaultError::new("axes", "1, 2 and 3 in some order, each with or without -"))
        }
        FaultKind::MotorDerated => check_rated(fault, model),
        _ if numbers[count..].iter().any(|x| *x != 0.0) => {
            Err(FaultError::new("values", format!("{count} numbers and zeros")))
        }
        _ => Ok(()),
    }
}

/// Friction of shapes is no state: it stays as the scenario has it.
fn check_has_stations(kind: FaultKind, part: Part, spec: &PlantSpec) -> Result<(), FaultError> {
    let Part::Foot(i) = part else { return Ok(()) };
    match spec.feet.get(i as usize) {
        Some(foot) if kind == FaultKind::Friction && foot.stations.is_empty() => {
            let of_points = "a foot with points_m; that of a foot of shapes stays as the scenario \
                             has it";
            Err(FaultError::new("foot", of_points))
        }
        _ => Ok(()),
    }
}

/// There is no share of a limit that there is not.
fn check_rated(fault: &InjectedFault, model: &Model) -> Result<(), FaultError> {
    let without = |(i, j): (usize, &Joint)| fault.part.has_joint(i) && j.effort_max.is_infinite();
    match model.joints.iter().enumerate().find(|joint| without(*joint)) {
        Some((_, joint)) => {
            let name = &joint.name;
            let limited = format!("that of a joint with a limit of effort; {name} has none");
            Err(FaultError::new("joint", limited))
        }
        None => Ok(()),
    }
}

fn fits(fault: &InjectedFault, place: Place, model: &Model, spec: &PlantSpec) -> bool {
    let below = |i: u32, count: usize| (i as usize) < count;
    match (place, fault.part) {
        (Place::Joint | Place::Joints, Part::Joint(i)) => below(i, model.joint_count()),
        (Place::Foot | Place::Ground, Part::Foot(i)) => below(i, spec.feet.len()),
        (Place::Link, Part::Body(i)) => below(i, model.bodies.len()),
        (Place::Ground, Part::Station(i)) => below(i, spec.stations.len()),
        (Place::Ground, Part::Region(i)) => below(i, spec.regions.len()),
        (place, Part::Whole) => !place.is_needed(),
        _ => false,
    }
}

/// 1, 2 and 3 in some order, whatever their signs.
fn is_permutation(axes: &[f64; 4]) -> bool {
    [1.0, 2.0, 3.0].iter().all(|axis| axes[..3].iter().any(|x| x.abs() == *axis))
}
