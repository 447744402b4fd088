//! Columns of numbers by name, as a file holds them.

use super::{CELLS_MAX, COLUMNS_MAX};
use hardstand_error::{Error, ErrorKind, Result};

/// Columns of equal length. NaN stands for an empty cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The file, for messages.
    pub file: String,
    /// What a row is called in messages: "line", "row", "message".
    pub row_word: &'static str,
    /// Number of each row in the file.
    pub rows: Vec<u64>,
    /// Names, unique.
    pub names: Vec<String>,
    /// Values of each column.
    pub values: Vec<Vec<f64>>,
    /// What the file has besides, and why it is no column.
    pub skipped: Vec<String>,
    /// What is wrong with the file, though a table was read: it breaks off.
    pub notes: Vec<String>,
    /// Columns of time that begin with the file, and when that was, ns.
    pub begin: Option<(&'static [&'static str], u64)>,
}

/// Steps of time that are accepted, in units of the median step.
#[cfg(not(target_family = "wasm"))]
const GAP_STEPS: f64 = 5.0;
/// Longest table, s: a day. Longer ones have their times in another unit.
const LENGTH_MAX_S: f64 = 86_400.0;
/// Farthest time from 0, s: three centuries.
const TIME_MAX_S: f64 = 1e10;
/// Names that an error lists.
const LISTED: usize = 40;

impl Columns {
    /// The column with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        let at = self.names.iter().position(|n| n == name)?;
        self.values.get(at).map(Vec::as_slice)
    }

    /// The column with this name.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with the names that there are.
    pub fn need(&self, name: &str) -> Result<&[f64]> {
        self.get(name).ok_or_else(|| {
            let more = if self.names.len() > LISTED { ", …" } else { "" };
            let names: Vec<&str> = self.names.iter().take(LISTED).map(String::as_str).collect();
            let names = names.join(", ");
            let skipped = if self.skipped.is_empty() {
                String::new()
            } else {
                format!("; not read: {}", self.skipped.join(", "))
            };
            let text = format!("there is no column {name:?}; the columns are: {names}{more}");
            self.error(&(text + &skipped))
        })
    }

    /// Refuses a table that is larger than a log can be.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with the sizes and the bounds.
    pub(super) fn check_size(&self, rows: usize, columns: usize) -> Result<()> {
        if columns <= COLUMNS_MAX && rows.saturating_mul(columns) <= CELLS_MAX {
            return Ok(());
        }
        Err(self.error(&format!(
            "a table of {columns} columns and {rows} rows; at most {COLUMNS_MAX} columns and \
             {CELLS_MAX} cells can be read. Split the log, or leave topics out"
        )))
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// An error about the file.
    #[must_use]
    pub fn error(&self, text: &str) -> Error {
        Error::new(ErrorKind::Input, format!("{}: {text}", self.file))
    }

    /// An error about a cell.
    #[must_use]
    pub fn cell_error(&self, row: usize, column: &str, text: &str) -> Error {
        let number = self.rows.get(row).copied().unwrap_or_default();
        self.error(&format!("{} {number}, column {column}: {text}", self.row_word))
    }

    /// Of a table, the positions of all joints.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn states(&self) -> Vec<&[f64]> {
        let columns = self.names.iter().zip(&self.values);
        columns.filter(|(name, _)| name.starts_with("q.")).map(|(_, column)| &column[..]).collect()
    }

    /// Refuses empty cells.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with the first one.
    pub fn refuse_empty(&self) -> Result<()> {
        for row in 0..self.len() {
            for (name, column) in self.names.iter().zip(&self.values) {
                if column[row].is_nan() {
                    let text = "the cell is empty; if a quantity is not sampled in every row, set \
                                time.empty = \"not_sampled\" in the mapping";
                    return Err(self.cell_error(row, name, text));
                }
            }
        }
        Ok(())
    }

    /// Refuses time (s) that does not increase, and a table without or with too much of it.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with the first row in which it happens.
    pub fn check_time(&self, name: &str, time_s: &[f64]) -> Result<()> {
        if time_s.len() < 2 {
            return Err(self.error("fewer than two rows"));
        }
        if time_s[0].is_nan() {
            return Err(self.cell_error(0, name, "the time is missing"));
        }
        for (i, pair) in time_s.windows(2).enumerate() {
            let [before, now] = [pair[0], pair[1]];
            if now.is_nan() {
                return Err(self.cell_error(i + 1, name, "the time is missing"));
            }
            if now <= before {
                let what = if now < before { "time runs back" } else { "time stands still" };
                let text = format!("{what}: {now} s after {before} s");
                return Err(self.cell_error(i + 1, name, &text));
            }
        }
        let last = time_s.len() - 1;
        if let Some(row) = [0, last].into_iter().find(|&row| time_s[row].abs() > TIME_MAX_S) {
            let text =
                format!("the time is {} s; it must be within ±{TIME_MAX_S:e} s", time_s[row]);
            return Err(self.cell_error(row, name, &text));
        }
        let length_s = time_s[last] - time_s[0];
        if length_s > LENGTH_MAX_S {
            let text = format!(
                "{length_s} s after the first row; at most {LENGTH_MAX_S} s. Is the unit of time \
                 another one (time.unit in the mapping)?"
            );
            return Err(self.cell_error(last, name, &text));
        }
        Ok(())
    }

    /// Refuses times without a sample that are longer than `gap_max_s`, by default five times the
    /// median step: of each of the columns `of` by itself, or of the rows if there are none.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with the first row after such a time.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn check_gaps(
        &self,
        name: &str,
        time_s: &[f64],
        gap_max_s: Option<f64>,
        of: &[&[f64]],
    ) -> Result<()> {
        if of.is_empty() {
            return self.check_steps(name, time_s, gap_max_s, &|_| true);
        }
        of.iter().try_for_each(|column| {
            self.check_steps(name, time_s, gap_max_s, &|row| !column[row].is_nan())
        })
    }

    #[cfg(not(target_family = "wasm"))]
    fn check_steps(
        &self,
        name: &str,
        time_s: &[f64],
        gap_max_s: Option<f64>,
        sampled: &dyn Fn(usize) -> bool,
    ) -> Result<()> {
        let rows: Vec<usize> = (0..time_s.len()).filter(|row| sampled(*row)).collect();
        let step_s = |pair: &[usize]| time_s[pair[1]] - time_s[pair[0]];
        let gap_max_s = gap_max_s.unwrap_or_else(|| {
            let mut steps: Vec<f64> = rows.windows(2).map(step_s).collect();
            steps.sort_by(f64::total_cmp);
            steps.get(steps.len().saturating_sub(1) / 2).map_or(f64::INFINITY, |s| GAP_STEPS * s)
        });
        let gap = rows.windows(2).find(|pair| step_s(pair) > gap_max_s);
        let Some(&[before, now]) = gap else { return Ok(()) };
        let text = format!(
            "a gap of {:.6} s, from {} s to {} s; at most {gap_max_s:.6} s \
             (time.gap_max_s in the mapping)",
            time_s[now] - time_s[before],
            time_s[before],
            time_s[now]
        );
        Err(self.cell_error(now, name, &text))
    }
}
