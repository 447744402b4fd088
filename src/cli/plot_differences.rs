//! The plot of two runs: each quantity that differs most over time, one panel above the other.

use std::path::Path;

use crate::inspect::Trace;
use hardstand_error::Result;

use super::panels::{self, Line, Panel};
use super::plot::{BLUE, RED};

/// Draws `traces` from `times_s[0]` to `times_s[1]`, with a mark where the runs part.
///
/// # Errors
/// [`ErrorKind::File`](crate::ErrorKind::File) if the file cannot be written.
pub(super) fn draw(
    file: &Path,
    traces: &[Trace],
    times_s: [f64; 2],
    parted_s: f64,
    paths: [&Path; 2],
) -> Result<()> {
    let names = paths.map(|p| p.file_name().unwrap_or_default().to_string_lossy().into_owned());
    let panels: Vec<Panel<'_>> = traces
        .iter()
        .enumerate()
        .map(|(i, trace)| Panel {
            title: match trace.unit {
                "" => trace.name.clone(),
                unit => format!("{}, {unit}", trace.name),
            },
            lines: lines(trace, &names),
            mark_s: Some(parted_s),
            legend: i == 0,
        })
        .collect();
    panels::draw(file, &panels, times_s)
}

fn lines<'a>(trace: &'a Trace, names: &[String; 2]) -> Vec<Line<'a>> {
    let both = names.iter().zip([BLUE, RED]).zip(&trace.columns);
    both.map(|((name, colour), columns)| Line { name: name.clone(), colour, columns }).collect()
}
