//! Tables for people, and JSON for programs.

use serde_json::{Value, json};

use crate::cube::score::{Summary, TossError, summaries};

/// One predictor's errors, toss by toss.
pub(crate) struct Row {
    pub(crate) law: String,
    pub(crate) errors: Vec<TossError>,
}

/// A Markdown table with mean, median and quartiles.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| law | position, % of the width: mean | median (quartiles) \
         | rotation, °: mean | median (quartiles) |\n| --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        let [position, rotation] = summaries(&row.errors);
        text.push_str(&line(&row.law, &position, &rotation));
    }
    text
}

/// One line of the table.
pub(crate) fn line(name: &str, position: &Summary, rotation: &Summary) -> String {
    let cells = |s: &Summary| {
        let [low, middle, high] = s.quartiles;
        format!("{:.1} | {middle:.1} ({low:.1} to {high:.1})", s.mean)
    };
    format!("| {name} | {} | {} |\n", cells(position), cells(rotation))
}

/// The list that `--json` prints.
pub(crate) fn json(rows: &[Row]) -> Value {
    let object = |row: &Row| {
        let [position, rotation] = summaries(&row.errors);
        json!({
            "law": row.law,
            "position_percent_mean": position.mean,
            "position_percent_median": position.quartiles[1],
            "rotation_deg_mean": rotation.mean,
            "rotation_deg_median": rotation.quartiles[1],
            "tosses": row.errors.len(),
        })
    };
    rows.iter().map(object).collect()
}
