//! What is fitted: keys of a scenario, alone or in groups that have one value.

use toml::{Table, Value};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::actuator::drive::{Drive, Key};
use hardstand_physics::model::Model;

use crate::config::{Scenario, get, keys_of, set};

/// A number that is fitted. It can stand for several keys of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: `friction@FL_calf_joint`.
    pub name: String,
    /// The keys that it sets.
    pub paths: Vec<Vec<String>>,
    /// Value that the search begins with.
    pub start: f64,
    /// The scenario's value, of several keys the mean, if it has a number for each of them.
    pub own: Option<f64>,
    /// A size that matters; smaller values are near to zero.
    pub typical: f64,
    /// The plant acts in whole multiples of this (a delay, in whole micro-steps); 0: in any value.
    pub grid: f64,
    /// 0 switches what it is a number of off, so the search does not go there.
    pub zero_is_off: bool,
    /// Largest value.
    pub max: f64,
}

impl Parameter {
    /// The value nearest to `value` in which the plant can act.
    #[must_use]
    pub fn nearest(&self, value: f64) -> f64 {
        if self.grid > 0.0 { (value / self.grid).round() * self.grid } else { value }
    }
}

/// Keys of a joint, and sizes that matter.
const JOINT_KEYS: [(&str, f64); 5] =
    [("armature", 0.01), ("damping", 0.1), ("friction", 0.1), ("hold_kp", 5.0), ("hold_kd", 0.2)];
/// Keys of a link.
const LINK_KEYS: [(&str, f64); 2] = [("mass_scale", 0.2), ("inertia_scale", 0.2)];
/// Short forms.
const ALIASES: [(&str, &str); 2] = [("inertia", "inertia_scale"), ("mass", "mass_scale")];
/// What the names of a drive's numbers begin with.
const DRIVE: &str = "drive.";

/// Reads a list like `friction@each`, `hold_kp@*_calf_joint=20`, `contact.mu_static`: a key of each
/// joint (`[joints]`), of its drive (`drive.…`), of each link (`[links]`), or any other key of the
/// scenario; then, of joints and links, `@each` for a value of its own for each of them, or `@` and
/// a name in which `*` stands for any text; then the value to begin with, by default the
/// scenario's. A table of a drive, `drive.friction`, stands for all numbers in it.
///
/// # Errors
/// [`ErrorKind::Input`] for a name that does not exist, a key that two parameters set, and a key
/// without a number to begin with.
pub fn parse_list(list: &[String], scenario: &Scenario) -> Result<Vec<Parameter>> {
    let table: Table = scenario
        .complete_toml
        .parse()
        .map_err(|e| Error::new(ErrorKind::Internal, format!("the complete scenario: {e}")))?;
    let mut out: Vec<Parameter> = Vec::new();
    for text in list {
        let members = members(text.trim())?;
        let parsed = members.iter().map(|text| parse(text, scenario, &table));
        for parameter in parsed.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            let both = |other: &&Parameter| other.paths.iter().any(|p| parameter.paths.contains(p));
            if let Some(other) = out.iter().find(both) {
                let text = format!("{} and {} set the same key", other.name, parameter.name);
                return Err(refused(&text));
            }
            out.push(parameter);
        }
    }
    if out.is_empty() {
        return Err(refused("it names no parameter"));
    }
    Ok(out)
}

fn refused(text: &str) -> Error {
    Error::new(ErrorKind::Input, format!("--fit was refused: {text}"))
}

/// The numbers that a name stands for: those of a table of a drive, or itself.
fn members(text: &str) -> Result<Vec<String>> {
    let end = text.find(['@', '=']).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    let inside = |key: &&Key| {
        let table = head.strip_prefix(DRIVE).and_then(|table| key.name.strip_prefix(table));
        table.is_some_and(|rest| rest.starts_with('.'))
    };
    let names: Vec<&str> = Drive::keys().filter(inside).map(|key| key.name).collect();
    if names.is_empty() {
        return Ok(vec![text.into()]);
    }
    if rest.contains('=') {
        let what = format!("{text}: {head} is a table; give a value to a number in it:");
        return Err(refused(&format!("{what} {}", names.join(", "))));
    }
    Ok(names.iter().map(|name| format!("{DRIVE}{name}{rest}")).collect())
}

fn parse(text: &str, scenario: &Scenario, table: &Table) -> Result<Vec<Parameter>> {
    let (head, start) = match text.split_once('=') {
        Some((head, number)) => {
            let value = number.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            let value = value.ok_or_else(|| refused(&format!("{text}: {number} is no number")))?;
            (head.trim(), Some(value))
        }
        None => (text, None),
    };
    let (key, pattern) = head.split_once('@').map_or((head, None), |(k, p)| (k, Some(p)));
    let given = key;
    let key = ALIASES.iter().find(|(short, _)| *short == key).map_or(key, |(_, long)| *long);
    let of_joints = key.starts_with(DRIVE) || JOINT_KEYS.iter().any(|(k, _)| *k == key);
    let of_links = LINK_KEYS.iter().any(|(k, _)| *k == key);
    let (section, names) = match (of_joints, of_links) {
        (true, _) => ("joints", joint_names(&scenario.model)),
        (_, true) => ("links", body_names(&scenario.model)),
        _ if pattern.is_some() => {
            return Err(refused(&format!("{text}: {key} is no key of joints or links")));
        }
        _ => {
            let paths = vec![keys_of(key)];
            return Ok(vec![build(head.into(), paths, start, key, scenario, table)?]);
        }
    };
    let wanted = |name: &&String| match pattern {
        None | Some("each") => true,
        Some(pattern) => matches(pattern, name),
    };
    let chosen: Vec<&String> = names.iter().filter(wanted).collect();
    if chosen.is_empty() {
        let text = format!("{text}: no name matches; there are {}", names.join(", "));
        return Err(refused(&text));
    }
    let path = |name: &str| {
        let mut path = vec![section.to_string(), name.to_string()];
        path.extend(keys_of(key));
        path
    };
    if pattern == Some("each") {
        let one = |name: &&String| {
            build(format!("{given}@{name}"), vec![path(name)], start, key, scenario, table)
        };
        return chosen.iter().map(one).collect();
    }
    let paths = chosen.iter().map(|name| path(name)).collect();
    let name = pattern.map_or(given.into(), |pattern| format!("{given}@{pattern}"));
    Ok(vec![build(name, paths, start, key, scenario, table)?])
}

fn build(
    name: String,
    paths: Vec<Vec<String>>,
    start: Option<f64>,
    key: &str,
    scenario: &Scenario,
    table: &Table,
) -> Result<Parameter> {
    let of_drive = key.strip_prefix(DRIVE).map(drive_key).transpose()?;
    let value = |path: &Vec<String>| current(path, of_drive, scenario, table);
    let values: Option<Vec<f64>> = paths.iter().map(value).collect();
    let own = values.map(|v| v.iter().sum::<f64>() / v.len().max(1) as f64);
    let Some(start) = start.or(own) else {
        let text = format!(
            "{name}: the scenario has no number there; check the key, or give the first value with \
             {name}=VALUE"
        );
        return Err(refused(&text));
    };
    let size = of_drive.and_then(Drive::size);
    let zero_is_off = size.is_some_and(|size| size.zero_is_off);
    let known = JOINT_KEYS.iter().chain(&LINK_KEYS).find(|(k, _)| *k == key).map(|(_, x)| *x);
    let known = known.or(size.map(|size| size.typical));
    if start == 0.0 && (zero_is_off || known.is_none()) {
        let off = if zero_is_off { ", which switches it off" } else { "" };
        let how = format!("give a value of the size that it can have, {name}=VALUE");
        return Err(refused(&format!("{name} begins at 0{off}; {how}")));
    }
    let typical = known.unwrap_or(0.2 * start.abs());
    let micro_step_us = scenario.spec.micro_step_ns() as f64 * 1e-3;
    let grid = if key.ends_with("delay_us") { micro_step_us } else { 0.0 };
    let max = of_drive.map_or(f64::INFINITY, |key| key.max);
    Ok(Parameter { name, paths, start, own, typical, grid, zero_is_off, max })
}

/// The number of a drive with this name.
fn drive_key(name: &str) -> Result<&'static Key> {
    Drive::keys().find(|key| key.name == name).ok_or_else(|| {
        let known: Vec<&str> = Drive::keys().map(|key| key.name).collect();
        let known = known.join(", ");
        refused(&format!("{DRIVE}{name} is no number of a drive; they are {known}"))
    })
}

fn joint_names(model: &Model) -> Vec<String> {
    model.joints.iter().map(|j| j.name.clone()).collect()
}

fn body_names(model: &Model) -> Vec<String> {
    model.bodies.iter().map(|b| b.name.clone()).collect()
}

/// True if `name` is `pattern`, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    let mut ends = rest.char_indices().map(|(i, _)| i).chain([rest.len()]);
    ends.any(|end| matches(after, &rest[end..]))
}

/// The number in force at a place of the scenario, which is that of a drive if `of_drive` is given.
fn current(
    path: &[String],
    of_drive: Option<&Key>,
    scenario: &Scenario,
    table: &Table,
) -> Option<f64> {
    let joint = || scenario.model.joint_index(path.get(1)?);
    if let Some(key) = of_drive {
        // a scenario without drives has none in its list
        let drive = scenario.spec.drives.joints.get(joint()?);
        return Some(key.get(drive.unwrap_or(&Drive::IDEAL)));
    }
    let number = |v: &Value| v.as_float().or_else(|| v.as_integer().map(|i| i as f64));
    if let Some(value) = get(table, path).and_then(number) {
        return Some(value);
    }
    let [section, _, key @ ..] = path else { return None };
    let mut all = path.to_vec();
    all[1] = "*".into();
    if let Some(value) = get(table, &all).and_then(number) {
        return Some(value);
    }
    match (section.as_str(), key) {
        ("joints", [key]) => {
            let i = joint()?;
            let (joint, gains) = (&scenario.model.joints[i], &scenario.hold_gains[i]);
            match key.as_str() {
                "armature" => Some(joint.armature),
                "damping" => Some(joint.damping),
                "friction" => Some(joint.friction),
                "hold_kp" => Some(gains.kp),
                "hold_kd" => Some(gains.kd),
                _ => None,
            }
        }
        ("links", _) => Some(1.0),
        _ => None,
    }
}

/// Puts a value into a complete scenario: the nearest one in which the plant can act.
///
/// # Errors
/// [`ErrorKind::Input`] if there is no such place.
pub fn apply(table: &mut Table, parameter: &Parameter, value: f64) -> Result<()> {
    let value = parameter.nearest(value);
    for path in &parameter.paths {
        set(table, path, Value::Float(value)).map_err(|e| refused(&e))?;
    }
    Ok(())
}
