//! Merges the defaults, the scenario file and `--set` into one complete table.

use std::net::SocketAddr;

use toml::{Table, Value};

use hardstand_error::{Error, ErrorKind, Result};

use super::{drives, presets, sensors};

/// The defaults, with the documentation of every key.
pub const DEFAULT_TOML: &str = include_str!("../../config/default.toml");

/// The complete table: defaults, overwritten by `scenario`, by its `overlays`, and by `sets`
/// (`key=value`). Tables are merged key by key, everything else is replaced as a whole. Before each
/// of them come the [presets](presets) that it names.
pub(super) fn complete(
    scenario: &str,
    file: &str,
    overlays: &[Table],
    sets: &[String],
) -> Result<Table> {
    let defaults = parse(DEFAULT_TOML, "config/default.toml")?;
    let mut table = defaults.clone();
    let scenario = parse(scenario, file)?;
    if let Some(Value::Table(contact)) = scenario.get("contact") {
        presets::named_by(contact, &defaults).into_iter().for_each(|p| overwrite(&mut table, p));
    }
    overwrite(&mut table, scenario);
    for overlay in overlays {
        if let Some(Value::Table(contact)) = overlay.get("contact") {
            let named = presets::named_by(contact, &defaults);
            named.into_iter().for_each(|p| overwrite(&mut table, p));
        }
        overwrite(&mut table, overlay.clone());
    }
    let named = table.get("overlays").cloned();
    let contact: Table = sets.iter().filter_map(|set| set_in("contact", set)).collect();
    presets::named_by(&contact, &defaults).into_iter().for_each(|p| overwrite(&mut table, p));
    drives::expand(&mut table);
    sensors::expand(&mut table);
    let mut mistakes = Vec::new();
    for set in sets {
        if let Err(m) = apply_set(&mut table, set) {
            mistakes.push(m);
        }
        drives::expand(&mut table);
        sensors::expand(&mut table);
    }
    // their keys are in the table now
    let value = table.remove("overlays");
    let names = |value: &Value| value.as_array().is_some_and(|l| l.iter().all(Value::is_str));
    if value != named || !value.as_ref().is_none_or(names) {
        let value = value.map_or("missing".into(), |v| v.to_string());
        let allowed = "a list of file names, in the scenario file";
        mistakes.push(format!("{file}: overlays is {value}; it must be {allowed}"));
    }
    if mistakes.is_empty() {
        return Ok(table);
    }
    Err(Error::list(ErrorKind::Input, "--set was refused", &mistakes))
}

pub(crate) fn parse(text: &str, file: &str) -> Result<Table> {
    text.parse::<Table>().map_err(|e| {
        Error::new(ErrorKind::Input, format!("{file}: not valid TOML: {}", e.to_string().trim()))
    })
}

pub(super) fn overwrite(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(b)), Value::Table(o)) => overwrite(b, o),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Gives the key at the place `keys` a value.
///
/// # Errors
/// A sentence if there is no such place.
pub(crate) fn set(
    table: &mut Table,
    keys: &[String],
    value: Value,
) -> std::result::Result<(), String> {
    let path = keys.join(".");
    let Some((last, parents)) = keys.split_last() else {
        return Err(format!("\"{path}\": no key"));
    };
    let mut place = Place::Table(table);
    for key in parents {
        place = place.child(key).ok_or_else(|| format!("\"{path}\": there is no \"{key}\""))?;
    }
    place.insert(last, value).ok_or_else(|| format!("\"{path}\": there is no \"{last}\""))
}

/// The value of the key at the place `keys`.
pub(crate) fn get<'a>(table: &'a Table, keys: &[String]) -> Option<&'a Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(table.get(first)?, |value, key| match value {
        Value::Table(t) => t.get(key),
        Value::Array(l) => l.get(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// `a.b.c=value`: the value is as [`value_of`] reads it. A number in the path is a list index.
fn apply_set(table: &mut Table, text: &str) -> std::result::Result<(), String> {
    let Some((path, text)) = text.split_once('=') else {
        return Err(format!("\"{text}\": expected key=value, e.g. sim.micro_steps=20"));
    };
    let value = value_of(text.trim()).map_err(|m| format!("\"{}\": {m}", path.trim()))?;
    set(table, &keys_of(path.trim()), value)
}

/// A value of TOML, or else a string, as a word, a path or an address.
///
/// # Errors
/// A sentence if the text begins as a list, a table or a quoted string does, and is none.
fn value_of(text: &str) -> std::result::Result<Value, String> {
    let string = || Value::String(text.into());
    match format!("v = {text}").parse::<Table>() {
        Ok(mut table) => Ok(table.remove("v").unwrap_or_else(string)),
        // an address of IPv6 begins as a list does
        Err(_) if text.parse::<SocketAddr>().is_ok() => Ok(string()),
        Err(e) if text.starts_with(['[', '{', '"', '\'']) => {
            Err(format!("{text} is not valid TOML: {}", e.message().trim()))
        }
        Err(_) => Ok(string()),
    }
}

/// Key and value of a set that changes a key of this section.
fn set_in(section: &str, set: &str) -> Option<(String, Value)> {
    let (path, text) = set.split_once('=')?;
    match keys_of(path.trim()).as_slice() {
        // what is no value is refused where it is set
        [of, key] if of == section => Some((key.clone(), value_of(text.trim()).ok()?)),
        _ => None,
    }
}

/// The key of a change in the form of `--set`.
pub(crate) fn key_of(set: &str) -> &str {
    set.split('=').next().unwrap_or_default().trim()
}

/// The keys of a path; quoted ones may contain dots, as in TOML.
pub(crate) fn keys_of(path: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut quoted =
        format!("{path} = 0").parse::<Table>().ok().filter(|_| path.contains(['"', '\'']));
    while let Some((key, value)) = quoted.and_then(|table| table.into_iter().next()) {
        keys.push(key);
        quoted = if let Value::Table(inner) = value { Some(inner) } else { None };
    }
    if keys.is_empty() { path.split('.').map(String::from).collect() } else { keys }
}

enum Place<'a> {
    Table(&'a mut Table),
    List(&'a mut Vec<Value>),
}

impl<'a> Place<'a> {
    fn child(self, key: &str) -> Option<Self> {
        let value = match self {
            Place::Table(t) => {
                t.entry(key.to_string()).or_insert_with(|| Value::Table(Table::new()))
            }
            Place::List(l) => l.get_mut(key.parse::<usize>().ok()?)?,
        };
        match value {
            Value::Table(t) => Some(Place::Table(t)),
            Value::Array(l) => Some(Place::List(l)),
            _ => None,
        }
    }

    fn insert(self, key: &str, value: Value) -> Option<()> {
        match self {
            Place::Table(t) => {
                t.insert(key.into(), value);
            }
            Place::List(l) => *l.get_mut(key.parse::<usize>().ok()?)? = value,
        }
        Some(())
    }
}
