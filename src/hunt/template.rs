//! Events with draws in the places of values.

use toml::Value;

use super::draw::Draw;

/// The draws of a template, in the order in which [`fill`] takes their values.
///
/// # Errors
/// What is wrong with one.
pub(super) fn draws(template: &Value) -> Result<Vec<Draw>, String> {
    let mut found = Vec::new();
    collect(template, &mut found)?;
    Ok(found)
}

fn collect(value: &Value, draws: &mut Vec<Draw>) -> Result<(), String> {
    if let Some(draw) = Draw::of(value)? {
        draws.push(draw);
        return Ok(());
    }
    match value {
        Value::Table(t) => t.values().try_for_each(|v| collect(v, draws)),
        Value::Array(l) => l.iter().try_for_each(|v| collect(v, draws)),
        _ => Ok(()),
    }
}

/// The template with the values in the places of its draws.
pub(super) fn fill<'a>(template: &Value, values: &mut impl Iterator<Item = &'a Value>) -> Value {
    if matches!(Draw::of(template), Ok(Some(_))) {
        return values.next().unwrap_or(template).clone();
    }
    match template {
        Value::Table(t) => {
            Value::Table(t.iter().map(|(k, v)| (k.clone(), fill(v, values))).collect())
        }
        Value::Array(l) => Value::Array(l.iter().map(|v| fill(v, values)).collect()),
        other => other.clone(),
    }
}

/// The names of the draws of a template.
pub(super) fn names(template: &Value) -> Vec<String> {
    let mut names = Vec::new();
    name_draws(template, "", &mut names);
    names
}

fn name_draws(value: &Value, at: &str, names: &mut Vec<String>) {
    if matches!(Draw::of(value), Ok(Some(_))) {
        names.push(at.into());
        return;
    }
    let below = |key: &str| if at.is_empty() { key.to_string() } else { format!("{at}.{key}") };
    match value {
        Value::Table(t) => t.iter().for_each(|(k, v)| name_draws(v, &below(k), names)),
        Value::Array(l) => {
            l.iter().enumerate().for_each(|(i, v)| name_draws(v, &below(&i.to_string()), names));
        }
        _ => {}
    }
}

/// An event in words: `push at 1.2 s with link "trunk", duration_s 0.1`.
pub(super) fn words(event: &Value) -> String {
    let Some(table) = event.as_table() else { return event.to_string() };
    let kind = table.get("kind").and_then(Value::as_str).unwrap_or("velocity command");
    let at = table.get("at_s").map_or(String::new(), |at| format!(" at {at} s"));
    let others: Vec<String> = table
        .iter()
        .filter(|(key, _)| !["kind", "at_s"].contains(&key.as_str()))
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    let with =
        if others.is_empty() { String::new() } else { format!(" with {}", others.join(", ")) };
    format!("{kind}{at}{with}")
}
