//! Reads logs of any known format into one table.

use std::fs;
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};

use super::{Columns, Mapping, TIME, npz, own_log, read_csv, rosbag};

/// A table and where it came from.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The table.
    pub table: Columns,
    /// What the files were.
    pub format: &'static str,
}

/// Reads `files`, which follow one another in time, and maps their columns. A folder is a rosbag2.
/// Logs of our own need no mapping.
///
/// # Errors
/// [`ErrorKind::File`] if a file cannot be read; [`ErrorKind::Input`] for an unknown format, a
/// missing mapping, and what [`Mapping::apply`] refuses.
pub fn import(files: &[PathBuf], mapping: Option<&Mapping>) -> Result<Imported> {
    let mut all: Option<(Columns, &'static str)> = None;
    let files: Result<Vec<Vec<PathBuf>>> = files.iter().map(|file| files_of(file)).collect();
    for file in files?.iter().flatten() {
        let (columns, format) = read(file, mapping)?;
        all = Some(match all {
            None => (columns, format),
            Some((before, format)) => (joined(before, columns)?, format),
        });
    }
    let (columns, format) = all.ok_or_else(|| Error::new(ErrorKind::Input, "no file was given"))?;
    let table = match mapping {
        Some(mapping) => mapping.apply(&columns)?,
        None if columns.get(TIME).is_some() && columns.names.iter().any(|n| n.contains('.')) => {
            let time_s = columns.need(TIME)?;
            columns.check_time(TIME, time_s)?;
            columns.check_gaps(TIME, time_s, None, &columns.states())?;
            columns
        }
        None => {
            let names = columns.names.join(", ");
            return Err(columns.error(&format!(
                "a log of this kind needs --map FILE (docs/calibration.md); its columns are: \
                 {names}"
            )));
        }
    };
    Ok(Imported { table, format })
}

/// The files of a rosbag2, which are numbered from 0 in the order of time: `NAME_0.mcap` and so on,
/// or `NAME_0.db3`.
/// Anything but a folder is itself.
fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let failed =
        |e: std::io::Error| Error::new(ErrorKind::File, format!("{}: {e}", path.display()));
    let entries: std::io::Result<Vec<_>> = fs::read_dir(path).map_err(failed)?.collect();
    let files: Vec<PathBuf> =
        entries.map_err(failed)?.into_iter().map(|entry| entry.path()).collect();
    let of = |ending: &str| -> Vec<PathBuf> {
        let ends = |file: &&PathBuf| file.extension().is_some_and(|e| e == ending);
        files.iter().filter(ends).cloned().collect()
    };
    let mut bags = of("mcap");
    if bags.is_empty() {
        bags = of("db3");
    }
    if bags.is_empty() {
        let text = "the folder holds no .mcap and no .db3, as that of a rosbag2 does";
        return Err(Error::new(ErrorKind::Input, format!("{}: {text}", path.display())));
    }
    bags.sort_by_cached_key(|file| (number_of(file), file.clone()));
    Ok(bags)
}

/// The number at the end of a file's name.
fn number_of(file: &Path) -> Option<u64> {
    let stem = file.file_stem()?.to_str()?;
    stem.rsplit_once('_')?.1.parse().ok()
}

fn read(file: &Path, mapping: Option<&Mapping>) -> Result<(Columns, &'static str)> {
    let name = file.to_string_lossy().to_ascii_lowercase();
    let ends = |ending: &str| name.ends_with(ending);
    if ends(".csv") || ends(".csv.gz") {
        Ok((read_csv(file)?, "CSV"))
    } else if ends(".npz") {
        Ok((npz::read_npz(file)?, "npz"))
    } else if ends(".mcap") && mapping.is_none() {
        Ok((own_log::read(file)?, "log of hardstand"))
    } else if ends(".mcap") {
        Ok((rosbag::read(file)?, "MCAP with ROS 2 messages"))
    } else if ends(".db3") {
        Ok((rosbag::read_sqlite(file)?, "SQLite with ROS 2 messages"))
    } else {
        let text = "the name must end in .csv, .csv.gz, .npz, .mcap or .db3";
        Err(Error::new(ErrorKind::Input, format!("{}: {text}", file.display())))
    }
}

fn joined(mut before: Columns, mut after: Columns) -> Result<Columns> {
    if before.names != after.names {
        return Err(after.error("the columns differ from those of the file before it"));
    }
    // times of the later file begin where the first one does
    if let (Some((names, first_ns)), Some((_, begin_ns))) = (before.begin, after.begin) {
        let later_s = (i128::from(begin_ns) - i128::from(first_ns)) as f64 / 1e9;
        for (name, column) in after.names.iter().zip(&mut after.values) {
            if names.contains(&name.as_str()) {
                column.iter_mut().for_each(|time_s| *time_s += later_s);
            }
        }
    }
    for (column, more) in before.values.iter_mut().zip(after.values) {
        column.extend(more);
    }
    before.rows.extend(after.rows);
    before.notes.extend(after.notes);
    before.file = format!("{}, {}", before.file, after.file);
    Ok(before)
}
