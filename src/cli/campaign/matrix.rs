//! Matrices of cases: two of their parameters as rows and columns.

use std::fmt::Write as _;

use crate::campaign::{Case, Grade, Manifest, Outcome, Results};

use super::super::html::escape;

/// Intervals of a drawn key.
const INTERVALS: usize = 5;
/// More seeds are no axis that can be read.
const SEEDS_MAX: usize = 40;

/// A parameter of the cases, as an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    /// All cases in one place.
    All,
    Scenario,
    Fault,
    Seed,
    /// Intervals of the drawn key of this index.
    Drawn(usize),
}

/// The cases of one place.
#[derive(Clone, Copy, Default)]
struct Place {
    passed: usize,
    /// Failed, or did not reach their end.
    failed: usize,
    missing: usize,
}

/// All matrices of the campaign: of its first two parameters that vary, and of each drawn key.
pub(super) fn matrices(results: &Results) -> String {
    let m = &results.manifest;
    let wide = |axis: &Axis| labels(m, *axis).len() > 1;
    let mut fixed = vec![Axis::Scenario, Axis::Fault];
    if m.seeds.len() <= SEEDS_MAX {
        fixed.push(Axis::Seed);
    }
    fixed.retain(wide);
    let rows = fixed.first().copied().unwrap_or(Axis::All);
    let columns = fixed.get(1).copied().unwrap_or(Axis::All);
    let mut out = matrix(results, rows, columns);
    let rows = if rows == Axis::Seed { Axis::All } else { rows };
    for i in 0..m.vary.len() {
        out += &matrix(results, rows, Axis::Drawn(i));
    }
    out
}

fn name(m: &Manifest, axis: Axis) -> String {
    match axis {
        Axis::All => "all cases".into(),
        Axis::Scenario => "scenario".into(),
        Axis::Fault => "fault".into(),
        Axis::Seed => "seed".into(),
        Axis::Drawn(i) => m.vary.get(i).map_or(String::new(), |v| v.key.clone()),
    }
}

fn labels(m: &Manifest, axis: Axis) -> Vec<String> {
    match axis {
        Axis::All => vec!["all".into()],
        Axis::Scenario => m.scenarios.iter().map(|s| s.name.clone()).collect(),
        Axis::Fault => m.faults.clone(),
        Axis::Seed => m.seeds.iter().map(u32::to_string).collect(),
        Axis::Drawn(i) => {
            let [low, high] = m.vary.get(i).map_or([0.0; 2], |v| v.between);
            let end = |k: usize| low + (high - low) * k as f64 / INTERVALS as f64;
            (0..INTERVALS).map(|k| format!("{:.4} to {:.4}", end(k), end(k + 1))).collect()
        }
    }
}

/// Where on the axis a case lies.
fn index(m: &Manifest, axis: Axis, case: &Case) -> usize {
    match axis {
        Axis::All => 0,
        Axis::Scenario => case.scenario(),
        Axis::Fault => case.fault(),
        Axis::Seed => m.seeds.iter().position(|seed| *seed == case.seed()).unwrap_or(0),
        Axis::Drawn(i) => m.vary.get(i).map_or(0, |v| {
            let [low, high] = v.between;
            let part = (v.draw(case.seed()) - low) / (high - low).max(f64::MIN_POSITIVE);
            ((part * INTERVALS as f64) as usize).min(INTERVALS - 1)
        }),
    }
}

impl Place {
    fn add(&mut self, results: &Results, outcome: Option<&Outcome>) {
        match results.judge(outcome).grade {
            Grade::Passed => self.passed += 1,
            Grade::Failed | Grade::Broken => self.failed += 1,
            Grade::Unfinished => self.missing += 1,
        }
    }

    /// Class, which has a colour, and text.
    fn cell(self) -> (&'static str, String) {
        let count = self.passed + self.failed;
        let (class, mark) = match self.failed {
            _ if count == 0 => ("none", "–"),
            0 => ("good", "✓"),
            n if n == count => ("all", "✗"),
            n if 2 * n >= count => ("most", "✗"),
            _ => ("some", "✗"),
        };
        let missing = match self.missing {
            0 => String::new(),
            n => format!(" +{n} missing"),
        };
        (class, format!("{mark} {}/{count}{missing}", self.failed))
    }
}

fn matrix(results: &Results, rows: Axis, columns: Axis) -> String {
    let m = &results.manifest;
    let (row_labels, column_labels) = (labels(m, rows), labels(m, columns));
    let mut places = vec![vec![Place::default(); column_labels.len()]; row_labels.len()];
    for (case, outcome) in &results.cases {
        let row = places.get_mut(index(m, rows, case));
        if let Some(place) = row.and_then(|row| row.get_mut(index(m, columns, case))) {
            place.add(results, outcome.as_ref());
        }
    }
    let (row_name, column_name) = (name(m, rows), name(m, columns));
    let mut out = format!(
        "<div class=\"wide\"><table class=\"matrix\">\n<caption>{} by {}</caption>\n<tr><th></th>",
        escape(&row_name),
        escape(&column_name)
    );
    for label in &column_labels {
        let _infallible = write!(out, "<th>{}</th>", escape(label));
    }
    out.push_str("</tr>\n");
    for (label, row) in row_labels.iter().zip(places) {
        let _infallible = write!(out, "<tr><th>{}</th>", escape(label));
        for place in row {
            let (class, text) = place.cell();
            let _infallible = write!(out, "<td class=\"{class}\">{text}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    out
}
