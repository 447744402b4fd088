//! `hardstand export`: quantities of a log as a table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde::Serialize;

use crate::inspect::{Quantities, Quantity, sample};
use crate::replay::Player;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::ExportArguments;
use super::output_file::{self, OutputFile};
use super::{ExitCode, show};

/// Rows that are kept in memory before they are written.
const GROUP_ROWS: usize = 10_000;

#[derive(Serialize)]
struct ExportResult {
    #[serde(serialize_with = "crate::path_text::many")]
    files: Vec<PathBuf>,
    columns: usize,
    rows: u64,
}

pub(super) fn export(a: &ExportArguments) -> Result<ExitCode> {
    for (option, file) in [("--csv", &a.csv), ("--parquet", &a.parquet)] {
        if let Some(file) = file {
            output_file::check(option, file, [a.log.as_path()])?;
        }
    }
    if let (Some(csv), Some(parquet)) = (&a.csv, &a.parquet)
        && output_file::are_one(csv, parquet)
    {
        let text = format!("--csv and --parquet are both {}; choose two names", csv.display());
        return Err(Error::new(ErrorKind::Input, text));
    }
    let mut player = Player::open(&a.log)?;
    let known = Quantities::of(&player.scenario().simulation());
    let columns = known.select(&a.only)?;
    let mut csv = a.csv.as_deref().map(|file| CsvTable::create(file, &columns)).transpose()?;
    let mut parquet =
        a.parquet.as_deref().map(|file| ParquetTable::create(file, &columns)).transpose()?;
    let mut rows = 0;
    sample(&mut player, &columns, [0.0, f64::INFINITY], a.every, |_, values| {
        rows += 1;
        csv.as_mut().map_or(Ok(()), |table| table.add(values))?;
        parquet.as_mut().map_or(Ok(()), |table| table.add(values))
    })?;
    csv.map_or(Ok(()), CsvTable::finish)?;
    parquet.map_or(Ok(()), ParquetTable::finish)?;
    let files: Vec<PathBuf> = a.csv.iter().chain(&a.parquet).cloned().collect();
    let result = ExportResult { files, columns: columns.len(), rows };
    if a.json {
        show::json(&result)?;
    } else {
        let names: Vec<String> = result.files.iter().map(|f| f.display().to_string()).collect();
        let ExportResult { columns, rows, .. } = &result;
        let text = format!("table      {}: {columns} columns, {rows} rows", names.join(", "));
        // it is no row of a table that goes there
        let beside =
            result.files.iter().any(|file| file == Path::new(output_file::STANDARD_OUTPUT));
        if beside { show::note(&text) } else { show::line(&text) }
    }
    Ok(show::how_whole(player.damage(), "table"))
}

/// Name and unit: `base.z [m]`.
fn head(quantity: &Quantity) -> String {
    match quantity.unit {
        "" => quantity.name.clone(),
        unit => format!("{} [{unit}]", quantity.name),
    }
}

fn refused(file: &Path, e: &dyn std::fmt::Display) -> Error {
    output_file::failed("table", file, e)
}

/// A table of comma-separated values; a value that a tick does not have is empty.
struct CsvTable {
    file: PathBuf,
    out: csv::Writer<OutputFile>,
}

impl CsvTable {
    fn create(file: &Path, columns: &[&Quantity]) -> Result<Self> {
        let mut out = csv::Writer::from_writer(OutputFile::create("table", file)?);
        let heads = columns.iter().map(|q| head(q));
        out.write_record(heads).map_err(|e| refused(file, &e))?;
        Ok(Self { file: file.into(), out })
    }

    fn add(&mut self, values: &[f64]) -> Result<()> {
        // the shortest text that gives the same number again
        let text = |x: &f64| if x.is_nan() { String::new() } else { format!("{x:?}") };
        self.out.write_record(values.iter().map(text)).map_err(|e| refused(&self.file, &e))
    }

    fn finish(self) -> Result<()> {
        let out = self.out.into_inner().map_err(|e| refused(&self.file, &e))?;
        out.finish("table")
    }
}

/// A Parquet table of `DOUBLE` columns, not compressed.
struct ParquetTable {
    file: PathBuf,
    out: SerializedFileWriter<OutputFile>,
    columns: Vec<Vec<f64>>,
}

impl ParquetTable {
    fn create(file: &Path, columns: &[&Quantity]) -> Result<Self> {
        let field = |q: &&Quantity| {
            let name = head(q);
            let builder = Type::primitive_type_builder(&name, Physical::DOUBLE);
            builder.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        };
        let out = OutputFile::create("table", file)?;
        let open = || -> std::result::Result<_, ParquetError> {
            let fields = columns.iter().map(field).collect::<std::result::Result<_, _>>()?;
            let schema = Type::group_type_builder("run").with_fields(fields).build()?;
            SerializedFileWriter::new(out, Arc::new(schema), Arc::default())
        };
        let out = open().map_err(|e| refused(file, &e))?;
        Ok(Self { file: file.into(), out, columns: vec![Vec::new(); columns.len()] })
    }

    fn add(&mut self, values: &[f64]) -> Result<()> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(*value);
        }
        let full = self.columns.first().is_some_and(|column| column.len() >= GROUP_ROWS);
        if full { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<()> {
        let (out, columns) = (&mut self.out, &mut self.columns);
        let mut write = || -> std::result::Result<(), ParquetError> {
            let mut group = out.next_row_group()?;
            let mut columns = columns.iter_mut();
            while let (Some(mut writer), Some(column)) = (group.next_column()?, columns.next()) {
                writer.typed::<DoubleType>().write_batch(column, None, None)?;
                writer.close()?;
                column.clear();
            }
            group.close().map(|_written| ())
        };
        write().map_err(|e| refused(&self.file, &e))
    }

    fn finish(mut self) -> Result<()> {
        if self.columns.first().is_some_and(|column| !column.is_empty()) {
            self.write_group()?;
        }
        let out = self.out.into_inner().map_err(|e| refused(&self.file, &e))?;
        out.finish("table")
    }
}
