//! Parts of the table: Parquet files that many workers write and one reader takes as one table.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hardstand_error::Result;

use super::columns::{Cell, Table};
use super::results::Results;
use super::store::{refused, replace};

/// Columns that are names of folders, `scenario=flat/fault=none`, as Hive has them.
const FOLDERS: [&str; 2] = ["scenario", "fault"];

/// Writes the parts of slice `[i, n]`: `scenario=S/fault=F/part-I-of-N.parquet` in `folder`, a file
/// for each scenario with each fault. Parts of another division into slices have the same rows, and
/// are removed, as are those of this slice that have no rows any more.
pub(super) fn write(folder: &Path, results: &Results, [i, n]: [usize; 2]) -> Result<()> {
    let table = Table::of(results);
    let places: Vec<usize> = FOLDERS
        .iter()
        .filter_map(|name| table.columns.iter().position(|(column, _)| column == name))
        .collect();
    let mut parts: BTreeMap<PathBuf, Vec<Vec<Cell>>> = BTreeMap::new();
    for mut row in table.rows {
        let mut part = folder.to_path_buf();
        for (name, place) in FOLDERS.iter().zip(&places) {
            let Cell::Text(value) = &row[*place] else { continue };
            part.push(format!("{name}={value}"));
        }
        // the last first, so that places stay
        places.iter().rev().for_each(|place| drop(row.remove(*place)));
        parts.entry(part.join(format!("part-{i}-of-{n}.parquet"))).or_default().push(row);
    }
    let mut columns = table.columns;
    columns.retain(|(name, _)| !FOLDERS.contains(&name.as_str()));
    let written: BTreeSet<PathBuf> = parts.keys().cloned().collect();
    for (file, rows) in parts {
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|e| refused(parent, &e))?;
        replace(&file, &Table { columns: columns.clone(), rows }.parquet()?)?;
    }
    for file in files(folder) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let other = !name.ends_with(&format!("-of-{n}.parquet"));
        let empty = name == format!("part-{i}-of-{n}.parquet") && !written.contains(&file);
        if name.starts_with("part-") && (other || empty) {
            fs::remove_file(&file).map_err(|e| refused(&file, &e))?;
        }
    }
    Ok(())
}

/// All files two folders below this one.
fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let scenarios = inside(folder.into()).map(|entry| entry.path());
    let faults = scenarios.flat_map(inside).map(|entry| entry.path());
    faults.flat_map(inside).map(|entry| entry.path()).collect()
}
