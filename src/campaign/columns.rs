//! The table of outcomes, as columns and cells.

use super::manifest::Manifest;
use super::outcome::{Held, Outcome};
use super::plan::Case;
use super::results::Results;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// True or false.
    Flag,
}

/// A column: name and kind.
pub type Column = (String, Kind);

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    None,
    /// Of a column of texts.
    Text(String),
    /// Of one of whole numbers.
    Integer(i64),
    /// Of one of numbers.
    Number(f64),
    /// Of one of flags.
    Flag(bool),
}

/// The table of outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its columns.
    pub columns: Vec<Column>,
    /// A cell for each column in each row.
    pub rows: Vec<Vec<Cell>>,
}

/// Columns of every table. What the plan varies comes after `seed`, its conditions and measures
/// after `digest`.
pub(super) const FIXED: [(&str, Kind); 13] = [
    ("case", Kind::Text),
    ("scenario", Kind::Text),
    ("fault", Kind::Text),
    ("seed", Kind::Integer),
    ("outcome", Kind::Text),
    ("exit_code", Kind::Integer),
    ("reason", Kind::Text),
    ("ticks", Kind::Integer),
    ("time_s", Kind::Number),
    ("digest", Kind::Text),
    ("log", Kind::Text),
    ("page", Kind::Text),
    ("wall_s", Kind::Number),
];
/// So many of them stand before those of the plan that say what was varied.
const WHO: usize = 4;
/// So many stand at the end.
const LAST: usize = 3;

impl Table {
    /// The table of all cases that are finished.
    #[must_use]
    pub fn of(results: &Results) -> Self {
        let plan = &results.manifest;
        let fixed = |of: &[(&str, Kind)]| -> Vec<Column> {
            of.iter().map(|&(name, kind)| (name.to_string(), kind)).collect()
        };
        let mut columns = fixed(&FIXED[..WHO]);
        columns.extend(plan.vary.iter().map(|v| (v.column(), Kind::Number)));
        columns.extend(fixed(&FIXED[WHO..FIXED.len() - LAST]));
        for (name, _) in &plan.conditions {
            columns.push((name.clone(), Kind::Flag));
            columns.push((format!("{name}_at_s"), Kind::Number));
        }
        columns.extend(plan.measures.iter().map(|(name, _)| (name.clone(), Kind::Number)));
        columns.extend(fixed(&FIXED[FIXED.len() - LAST..]));
        let rows = results.finished().map(|(case, outcome)| row(plan, case, outcome)).collect();
        Self { columns, rows }
    }
}

fn row(plan: &Manifest, case: &Case, o: &Outcome) -> Vec<Cell> {
    let integer = |n: u64| Cell::Integer(i64::try_from(n).unwrap_or(i64::MAX));
    // CSV cannot distinguish an empty text from none
    let text = |text: &str| match text {
        "" => Cell::None,
        text => Cell::Text(text.into()),
    };
    let [scenario, fault] = plan.names(case);
    let mut row =
        vec![text(&case.id), text(scenario), text(fault), Cell::Integer(case.seed.into())];
    row.extend(plan.vary.iter().map(|v| Cell::Number(v.draw(case.seed))));
    row.extend([
        text(o.outcome.word()),
        Cell::Integer(o.exit_code.into()),
        text(&o.reason),
        integer(o.ticks),
        Cell::Number(o.time_s),
        text(&o.digest),
    ]);
    for (name, _) in &plan.conditions {
        row.extend(match o.conditions.get(name).unwrap_or(&Held::Unknown) {
            Held::Unknown => [Cell::None, Cell::None],
            Held::Never => [Cell::Flag(false), Cell::None],
            Held::AtS(first_s) => [Cell::Flag(true), Cell::Number(*first_s)],
        });
    }
    let measured = |name| o.measures.get(name).copied().flatten();
    row.extend(plan.measures.iter().map(|(m, _)| measured(m).map_or(Cell::None, Cell::Number)));
    row.extend([&o.log, &o.page].map(|file| file.as_deref().map_or(Cell::None, text)));
    row.push(Cell::Number(o.wall_s));
    row
}
