//! The table as CSV and as Parquet.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use hardstand_error::{Error, ErrorKind, Result};

use super::columns::{Cell, Column, Kind, Table};

impl Table {
    /// The table as CSV with a line of names; a cell without a value is empty.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if it cannot be put into bytes.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let failed = |e| Error::new(ErrorKind::Internal, format!("table as CSV: {e}"));
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record(self.columns.iter().map(|(name, _)| name)).map_err(failed)?;
        for row in &self.rows {
            out.write_record(row.iter().map(text)).map_err(failed)?;
        }
        out.into_inner().map_err(|e| Error::new(ErrorKind::Internal, format!("CSV: {e}")))
    }

    /// The table as Parquet: columns `UTF8`, `INT64`, `DOUBLE` and `BOOLEAN`, all optional, not
    /// compressed.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if it cannot be put into bytes.
    pub fn parquet(&self) -> Result<Vec<u8>> {
        self.write_parquet()
            .map_err(|e| Error::new(ErrorKind::Internal, format!("table as Parquet: {e}")))
    }

    fn write_parquet(&self) -> std::result::Result<Vec<u8>, ParquetError> {
        let fields = self.columns.iter().map(field).collect::<std::result::Result<_, _>>()?;
        let schema = Type::group_type_builder("campaign").with_fields(fields).build()?;
        let mut out = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default())?;
        let mut group = out.next_row_group()?;
        let mut columns = self.columns.iter().enumerate();
        while let (Some(writer), Some((i, (_, kind)))) = (group.next_column()?, columns.next()) {
            let cells = self.rows.iter().map(|row| &row[i]);
            match kind {
                Kind::Text => write::<ByteArrayType>(writer, cells, |cell| match cell {
                    Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                    _ => None,
                }),
                Kind::Integer => write::<Int64Type>(writer, cells, |cell| match cell {
                    Cell::Integer(n) => Some(*n),
                    _ => None,
                }),
                Kind::Number => write::<DoubleType>(writer, cells, |cell| match cell {
                    Cell::Number(x) => Some(*x),
                    _ => None,
                }),
                Kind::Flag => write::<BoolType>(writer, cells, |cell| match cell {
                    Cell::Flag(flag) => Some(*flag),
                    _ => None,
                }),
            }?;
        }
        group.close()?;
        out.into_inner()
    }
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::None => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Integer(n) => n.to_string(),
        Cell::Number(x) => format!("{x:?}"),
        Cell::Flag(flag) => flag.to_string(),
    }
}

fn field((name, kind): &Column) -> std::result::Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (Physical::INT64, None),
        Kind::Number => (Physical::DOUBLE, None),
        Kind::Flag => (Physical::BOOLEAN, None),
    };
    let builder = Type::primitive_type_builder(name, physical).with_logical_type(logical);
    builder.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
}

/// Writes one column: 1 for each cell with a value, 0 for one without, and the values.
fn write<'a, T: DataType>(
    mut writer: SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a Cell>,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> std::result::Result<(), ParquetError> {
    let found: Vec<Option<T::T>> = cells.map(value).collect();
    let levels: Vec<i16> = found.iter().map(|v| i16::from(v.is_some())).collect();
    let values: Vec<T::T> = found.into_iter().flatten().collect();
    writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
    writer.close()
}
