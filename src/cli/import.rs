//! `hardstand import`.

use std::path::PathBuf;

use serde::Serialize;

use crate::robot_log::{Mapping, TIME, import as read, write_csv};
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::ImportArguments;
use super::{ExitCode, output_file, show};

#[derive(Serialize)]
struct ImportResult {
    #[serde(serialize_with = "crate::path_text::one")]
    file: PathBuf,
    format: &'static str,
    rows: usize,
    columns: usize,
    from_s: f64,
    to_s: f64,
    notes: Vec<String>,
}

pub(super) fn import(a: &ImportArguments) -> Result<ExitCode> {
    let name = a.output.to_string_lossy();
    if !(name.ends_with(".csv") || name.ends_with(".csv.gz")) {
        let text = format!("--output is {name}; its name must end in .csv or .csv.gz");
        return Err(Error::new(ErrorKind::Input, text));
    }
    let inputs = a.files.iter().chain(&a.map).map(PathBuf::as_path);
    output_file::check("--output", &a.output, inputs)?;
    let mapping = a.map.as_deref().map(Mapping::load).transpose()?;
    let imported = read(&a.files, mapping.as_ref())?;
    let table = &imported.table;
    let time_s = table.need(TIME)?;
    let result = ImportResult {
        file: a.output.clone(),
        format: imported.format,
        rows: table.len(),
        columns: table.names.len(),
        from_s: time_s[0],
        to_s: time_s[time_s.len() - 1],
        notes: table.notes.clone(),
    };
    let packed = name.ends_with(".gz");
    output_file::write("table", &a.output, |out| Ok(write_csv(out, packed, table)?))?;
    result.notes.iter().for_each(|note| show::note(note));
    if a.json {
        show::json(&result)?;
    } else {
        let ImportResult { file, format, rows, columns, from_s, to_s, .. } = &result;
        show::line(&format!("read       {format}"));
        show::line(&format!(
            "table      {}: {columns} columns, {rows} rows, {from_s:.3} to {to_s:.3} s",
            file.display()
        ));
    }
    Ok(ExitCode::Done)
}
