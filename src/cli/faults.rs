//! `hardstand faults`: all faults that can be asked for, and how.

use hardstand_error::Result;
use hardstand_protocol::{FaultKind, FaultSpec, Parameter};

use super::{ExitCode, show};

pub(super) fn faults() -> Result<ExitCode> {
    for row in &FaultKind::TABLE {
        show::line(&entry(row));
    }
    show::line(
        "On a running daemon: the commands shown; `hardstand ctl mend` ends faults.\n\
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
    let text = format!("--{} {}{unit}{numbers}", option(p), p.describe());
    match p.default {
        Some(default) => format!("[{text}; {default} if not given]"),
        None => text,
    }
}

/// A parameter's name on the command line.
pub(super) fn option(p: &Parameter) -> String {
    p.name.replace('_', "-")
}
