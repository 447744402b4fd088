//! Tables as CSV, plain or packed with gzip.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use hardstand_error::{Error, ErrorKind, Result, open_regular};

use super::{BYTES_MAX, Columns};

fn failed(file: &Path, e: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::File, format!("{}: {e}", file.display()))
}

/// Reads a table of numbers whose first line has the names of the columns. The end of the name
/// `.gz` says that it is packed. Empty cells are NaN.
///
/// # Errors
/// [`ErrorKind::File`] if the file cannot be read; [`ErrorKind::Input`] with line and column for a
/// cell that is not a finite number, for a line with another number of cells, and for a file that
/// is cut off in its last cell.
pub fn read_csv(file: &Path) -> Result<Columns> {
    let opened = open_regular(file).map_err(|e| failed(file, &e))?;
    let packed = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let bytes: Box<dyn Read> =
        if packed { Box::new(MultiGzDecoder::new(opened)) } else { Box::new(opened) };
    let name = file.display().to_string();
    let refused = |e: csv::Error| Error::new(ErrorKind::Input, format!("{name}: {e}"));
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(Ending { inner: bytes.take(BYTES_MAX), last: b'\n' });
    let names: Vec<String> = reader.headers().map_err(refused)?.iter().map(String::from).collect();
    let mut out = Columns {
        file: name.clone(),
        row_word: "line",
        rows: Vec::new(),
        values: vec![Vec::new(); names.len()],
        names,
        ..Columns::default()
    };
    out.check_size(1, out.names.len())?;
    let bad = |name: &&String| name.contains([';', '\t']);
    if let Some(name) = out.names.iter().find(bad).filter(|_| out.names.len() == 1) {
        let text = format!("line 1: {name:?} is one column; separate columns by commas");
        return Err(out.error(&text));
    }
    if let Some(twice) = twice(&out.names) {
        return Err(out.error(&format!("line 1: two columns are called {twice:?}")));
    }
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(refused)? {
        let line = record.position().map_or(0, csv::Position::line);
        out.rows.push(line);
        out.check_size(out.rows.len(), out.names.len())?;
        check_count(&record, &out, line)?;
        for (column, text) in record.iter().enumerate() {
            let value = match text {
                "" => f64::NAN,
                _ => number(text).map_err(|why| {
                    let name = out.names.get(column).map_or("", String::as_str);
                    out.error(&format!("line {line}, column {name}: {text:?} {why}"))
                })?,
            };
            out.values[column].push(value);
        }
    }
    let Ending { inner, last } = reader.into_inner();
    if inner.limit() == 0 {
        return Err(out.error(&format!("longer than {BYTES_MAX} bytes, unpacked")));
    }
    let empty_at_end =
        out.values.last().and_then(|column| column.last()).is_some_and(|x| x.is_nan());
    if empty_at_end && !matches!(last, b'\n' | b'\r') {
        let (line, name) = (out.rows.last().unwrap_or(&0), &out.names[out.names.len() - 1]);
        let text = "the file ends before a number and without a line break, as one that was cut \
                    off; remove the line, or end it";
        return Err(out.error(&format!("line {line}, column {name}: {text}")));
    }
    Ok(out)
}

/// Remembers the last byte that was read.
struct Ending<R> {
    inner: R,
    last: u8,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some(last) = buffer[..count].last() {
            self.last = *last;
        }
        Ok(count)
    }
}

/// Refuses a line with another number of cells than there are columns.
fn check_count(record: &csv::StringRecord, out: &Columns, line: u64) -> Result<()> {
    let (cells, columns) = (record.len(), out.names.len());
    let text = match out.names.get(cells) {
        Some(name) => format!("column {name}: the line ends before it"),
        None if cells > columns => format!("cell {}: there are {columns} columns", columns + 1),
        None => return Ok(()),
    };
    Err(out.error(&format!("line {line}, {text}; it has {cells} cells")))
}

fn number(text: &str) -> std::result::Result<f64, &'static str> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err("is not finite"),
        Err(_) => Err("is not a number"),
    }
}

fn twice(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name)
}

/// Writes a table as CSV, `packed` with gzip. NaN becomes an empty cell. Each number is the
/// shortest text that gives it again.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(out: &mut impl Write, packed: bool, table: &Columns) -> std::io::Result<()> {
    if !packed {
        return write_rows(out, table);
    }
    let mut out = GzEncoder::new(out, Compression::default());
    write_rows(&mut out, table)?;
    out.finish().map(|_all| ())
}

fn write_rows(out: &mut impl Write, table: &Columns) -> std::io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&table.names)?;
    let text = |x: f64| if x.is_nan() { String::new() } else { format!("{x}") };
    for row in 0..table.len() {
        writer.write_record(table.values.iter().map(|column| text(column[row])))?;
    }
    writer.flush()
}
