//! `hardstand faults`: the faults that can be injected.

use serde::Serialize;

use hardstand_error::Result;
use hardstand_protocol::{FaultKind, FaultSpec, Parameter};

use super::arguments::FaultsArguments;
use super::{ExitCode, show};

/// A kind of fault.
#[derive(Debug, Serialize)]
struct FaultRow {
    name: &'static str,
    /// What it does.
    effect: &'static str,
    /// Kinds of parts that it acts on, such as `"joint"`.
    places: &'static [&'static str],
    /// A part must be named.
    needs_place: bool,
    /// A duration must be given.
    needs_duration: bool,
    parameters: Vec<ParameterRow>,
    /// Arguments of `hardstand ctl fault NAME` that work with the quadruped.
    example: &'static str,
}

/// A parameter of a fault.
#[derive(Debug, Serialize)]
struct ParameterRow {
    /// Key in a scenario; the option has `-` for `_`.
    name: &'static str,
    unit: &'static str,
    /// Count of numbers.
    count: usize,
    min: f64,
    max: f64,
    /// Only whole numbers are allowed.
    whole: bool,
    /// `null` if it must be given.
    default: Option<f64>,
}

impl FaultRow {
    fn of(row: &FaultSpec) -> Self {
        let parameter = |p: &Parameter| ParameterRow {
            name: p.name,
            unit: p.unit,
            count: p.count,
            min: p.range[0],
            max: p.range[1],
            whole: p.whole,
            default: p.default,
        };
        Self {
            name: row.name,
            effect: row.what,
            places: row.place.words(),
            needs_place: row.place.is_needed(),
            needs_duration: row.needs_duration,
            parameters: row.parameters.iter().map(parameter).collect(),
            example: row.example,
        }
    }
}

pub(super) fn faults(a: &FaultsArguments) -> Result<ExitCode> {
    if a.json {
        let rows: Vec<FaultRow> = FaultKind::TABLE.iter().map(FaultRow::of).collect();
        show::json(&rows)?;
        return Ok(ExitCode::Done);
    }
    for row in &FaultKind::TABLE {
        show::line(&entry(row));
    }
    show::line(
        "On a running daemon: the commands shown; `hardstand ctl clear` ends faults.\n\
         In a scenario: [[events]] with at_s, kind and the same parameters with _ for -, and\n\
         duration_s for --duration.",
    );
    Ok(ExitCode::Done)
}

/// Name and what it does; what it needs, with ranges and units; an example.
fn entry(row: &FaultSpec) -> String {
    let (name, what, example) = (row.name, row.what, row.example);
    let mut needs: Vec<String> = Vec::new();
    let words = row.place.words().iter().map(|w| format!("--{w} NAME")).collect::<Vec<_>>();
    match (words.is_empty(), row.place.is_needed()) {
        (true, _) => {}
        (false, true) => needs.push(words.join(" or ")),
        (false, false) => needs.push(format!("[{}]", words.join(" or "))),
    }
    needs.extend(row.parameters.iter().map(described));
    needs.push(if row.needs_duration { "--duration s" } else { "[--duration s]" }.into());
    let needs = needs.join("\n    ");
    format!("{name}: {what}\n    {needs}\n    hardstand ctl fault {name} {example}\n")
}

fn described(p: &Parameter) -> String {
    let numbers = if p.count == 1 { "" } else { " three times" };
    let unit = if p.unit.is_empty() { String::new() } else { format!(" {}", p.unit) };
    let text = format!("--{} {}{unit}{numbers}", p.name.replace('_', "-"), p.describe());
    match p.default {
        Some(default) => format!("[{text}; {default} if not given]"),
        None => text,
    }
}
