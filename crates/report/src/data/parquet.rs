//! Parquet. Its columns have one type each, stated before the rows; SQLite's have a type for each value, known only
//! after the last row. So rows wait in a temporary file until then, and memory holds one group of them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek as _, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use spelrum_answers::SqlValue;

use super::csv::plain;
use super::rows::WriteRows;
use crate::error::Result;

/// Rows per group,
const GROUP_ROWS: usize = 128 << 10;
/// or this many bytes.
const GROUP_BYTES: usize = 64 << 20;

/// Returns a writer of rows with these columns as a Parquet file.
pub(super) fn rows_as_parquet<W: Write + Send>(
    columns: Vec<String>,
    out: W,
) -> io::Result<impl WriteRows + use<W>> {
    let kinds = vec![Kinds::default(); columns.len()];
    let waiting = BufWriter::new(tempfile::tempfile()?);
    Ok(Parquet { columns, kinds, waiting, out: Some(out) })
}

struct Parquet<W> {
    columns: Vec<String>,
    kinds: Vec<Kinds>,
    waiting: BufWriter<File>,
    out: Option<W>,
}

/// Kinds of values that a column has had.
#[derive(Clone, Copy, Default)]
struct Kinds {
    integers: bool,
    reals: bool,
    texts: bool,
    blobs: bool,
}

/// Types of Parquet columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integers,
    Reals,
    Texts,
    Blobs,
}

impl Kinds {
    fn add(&mut self, value: &SqlValue) {
        match value {
            SqlValue::Null => {}
            SqlValue::Integer(_) => self.integers = true,
            SqlValue::Real(_) => self.reals = true,
            SqlValue::Text(_) => self.texts = true,
            SqlValue::Blob(_) => self.blobs = true,
        }
    }

    /// Returns integers for a column of only NULL; texts if no other type holds all values.
    fn common(self) -> Kind {
        match (self.integers, self.reals, self.texts, self.blobs) {
            (_, false, false, false) => Kind::Integers,
            (_, true, false, false) => Kind::Reals,
            (false, false, false, true) => Kind::Blobs,
            (_, _, true, _) | (true, _, _, true) | (_, true, _, true) => Kind::Texts,
        }
    }
}

impl<W: Write + Send> WriteRows for Parquet<W> {
    fn write(&mut self, rows: &[Vec<SqlValue>]) -> Result<()> {
        for row in rows {
            for (kinds, value) in self.kinds.iter_mut().zip(row) {
                kinds.add(value);
                put_value(&mut self.waiting, value)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let Some(out) = self.out.take() else { return Ok(()) };
        self.waiting.flush()?;
        self.waiting.get_mut().rewind()?;
        let mut waiting = BufReader::new(self.waiting.get_ref());
        let kinds: Vec<Kind> = self.kinds.iter().map(|kinds| kinds.common()).collect();
        let schema = schema(&self.columns, &kinds).map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut file =
            SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
        loop {
            let group = read_group(&mut waiting, kinds.len())?;
            if group.is_empty() {
                break;
            }
            let mut writer = file.next_row_group().map_err(failed)?;
            for (column, &kind) in kinds.iter().enumerate() {
                write_column(&mut writer, &group, column, kind).map_err(failed)?;
            }
            writer.close().map_err(failed)?;
        }
        Ok(file.into_inner().map_err(failed)?.flush()?)
    }
}

/// The cause is an error of reading or writing, such as a closed pipe.
fn failed(error: ParquetError) -> io::Error {
    let ParquetError::External(error) = error else { return io::Error::other(error) };
    match error.downcast::<io::Error>() {
        Ok(error) => *error,
        Err(error) => io::Error::other(error),
    }
}

/// Every column may be NULL. Columns with equal names get numbers.
fn schema(columns: &[String], kinds: &[Kind]) -> Result<TypePtr, ParquetError> {
    let mut names: Vec<String> = Vec::new();
    for column in columns {
        let numbered = (2..).map(|number| format!("{column}_{number}"));
        let mut candidates = std::iter::once(column.clone()).chain(numbered);
        names.extend(candidates.find(|name| !names.contains(name)));
    }
    let fields = names.iter().zip(kinds).map(|(name, kind)| {
        let (physical, logical) = match kind {
            Kind::Integers => (Physical::INT64, None),
            Kind::Reals => (Physical::DOUBLE, None),
            Kind::Texts => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Blobs => (Physical::BYTE_ARRAY, None),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    });
    let fields = fields.collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?))
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Vec<SqlValue>],
    column: usize,
    kind: Kind,
) -> Result<(), ParquetError> {
    let values = || rows.iter().map(|row| &row[column]).filter(|value| **value != SqlValue::Null);
    // 1 where a value is present.
    let levels: Vec<i16> =
        rows.iter().map(|row| i16::from(row[column] != SqlValue::Null)).collect();
    match kind {
        Kind::Integers => {
            let integer = |value: &SqlValue| match value {
                SqlValue::Integer(integer) => Some(*integer),
                SqlValue::Null | SqlValue::Real(_) | SqlValue::Text(_) | SqlValue::Blob(_) => None,
            };
            write_values::<Int64Type, W>(
                group,
                &values().filter_map(integer).collect::<Vec<_>>(),
                &levels,
            )
        }
        Kind::Reals => {
            let real = |value: &SqlValue| match value {
                SqlValue::Integer(integer) => Some(*integer as f64),
                SqlValue::Real(real) => Some(*real),
                SqlValue::Null | SqlValue::Text(_) | SqlValue::Blob(_) => None,
            };
            write_values::<DoubleType, W>(
                group,
                &values().filter_map(real).collect::<Vec<_>>(),
                &levels,
            )
        }
        Kind::Texts => {
            let texts: Vec<_> =
                values().map(|value| ByteArray::from(plain(value).into_bytes())).collect();
            write_values::<ByteArrayType, W>(group, &texts, &levels)
        }
        Kind::Blobs => {
            let blob = |value: &SqlValue| match value {
                SqlValue::Blob(bytes) => Some(ByteArray::from(bytes.clone())),
                SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) | SqlValue::Text(_) => {
                    None
                }
            };
            write_values::<ByteArrayType, W>(
                group,
                &values().filter_map(blob).collect::<Vec<_>>(),
                &levels,
            )
        }
    }
}

fn write_values<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: &[i16],
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, Some(levels), None)?;
        column.close()?;
    }
    Ok(())
}

/// Writes a waiting value: a letter for its kind, then the value.
fn put_value(out: &mut impl Write, value: &SqlValue) -> io::Result<()> {
    let mut put = |kind: u8, bytes: &[u8]| {
        out.write_all(&[kind])?;
        out.write_all(bytes)
    };
    match value {
        SqlValue::Null => put(b'n', &[]),
        SqlValue::Integer(integer) => put(b'i', &integer.to_le_bytes()),
        SqlValue::Real(real) => put(b'r', &real.to_le_bytes()),
        SqlValue::Text(text) => {
            put(b't', &(text.len() as u64).to_le_bytes())?;
            out.write_all(text.as_bytes())
        }
        SqlValue::Blob(bytes) => {
            put(b'b', &(bytes.len() as u64).to_le_bytes())?;
            out.write_all(bytes)
        }
    }
}

/// Reads the next waiting rows, up to a group; empty after the last.
fn read_group(waiting: &mut impl Read, width: usize) -> io::Result<Vec<Vec<SqlValue>>> {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while rows.len() < GROUP_ROWS && bytes < GROUP_BYTES {
        let mut row = Vec::with_capacity(width);
        for _ in 0..width {
            let mut kind = [0];
            if waiting.read(&mut kind)? == 0 {
                // The end lies between two rows, because only whole rows were written.
                return Ok(rows);
            }
            bytes += size_of::<SqlValue>();
            let mut eight = [0; 8];
            if kind != *b"n" {
                waiting.read_exact(&mut eight)?;
            }
            let mut read_payload = || {
                let mut text = vec![0; u64::from_le_bytes(eight) as usize];
                waiting.read_exact(&mut text)?;
                bytes += text.len();
                Ok::<_, io::Error>(text)
            };
            row.push(match kind[0] {
                b'i' => SqlValue::Integer(i64::from_le_bytes(eight)),
                b'r' => SqlValue::Real(f64::from_le_bytes(eight)),
                b't' => {
                    SqlValue::Text(String::from_utf8(read_payload()?).map_err(io::Error::other)?)
                }
                b'b' => SqlValue::Blob(read_payload()?),
                _ => SqlValue::Null,
            });
        }
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    /// The rows as read by another reader.
    fn read_again(columns: &[&str], rows: &[Vec<SqlValue>]) -> Vec<Vec<(String, Field)>> {
        let mut file = tempfile::tempfile().unwrap();
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        let mut writer = rows_as_parquet(columns, file.try_clone().unwrap()).unwrap();
        rows.chunks(1_000).for_each(|rows| writer.write(rows).unwrap());
        writer.finish().unwrap();
        file.rewind().unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), rows.len() as i64);
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().into_columns()).collect()
    }

    #[test]
    fn a_column_has_the_type_that_holds_all_its_values() {
        let (integer, real) = (SqlValue::Integer, SqlValue::Real);
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let blob = || SqlValue::Blob(vec![0, 255]);
        let columns = ["integers", "reals", "texts", "blobs", "nothing", "mixed", "mixed"];
        let rows = [
            vec![
                integer(i64::MIN),
                integer(1),
                text("é"),
                blob(),
                SqlValue::Null,
                integer(7),
                text("a"),
            ],
            vec![
                SqlValue::Null,
                real(0.5),
                SqlValue::Null,
                blob(),
                SqlValue::Null,
                blob(),
                real(0.5),
            ],
        ];
        let read = read_again(&columns, &rows);
        let names: Vec<_> = read[0].iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["integers", "reals", "texts", "blobs", "nothing", "mixed", "mixed_2"]);
        let values =
            |row: usize| read[row].iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
        let string = |text: &str| Field::Str(text.to_owned());
        let bytes = || Field::Bytes(ByteArray::from(vec![0, 255]));
        assert_eq!(
            values(0),
            [
                Field::Long(i64::MIN),
                Field::Double(1.0),
                string("é"),
                bytes(),
                Field::Null,
                string("7"),
                string("a")
            ]
        );
        assert_eq!(
            values(1),
            [
                Field::Null,
                Field::Double(0.5),
                Field::Null,
                bytes(),
                Field::Null,
                string("00ff"),
                string("0.5")
            ]
        );
    }

    #[test]
    fn there_may_be_no_rows_and_many() {
        assert!(read_again(&["a", "b"], &[]).is_empty());
        let row = |number: usize| {
            vec![SqlValue::Integer(number as i64), SqlValue::Text(number.to_string())]
        };
        let rows: Vec<_> = (0..GROUP_ROWS + 10).map(row).collect();
        let read = read_again(&["a", "b"], &rows);
        assert_eq!(read.len(), rows.len());
        assert_eq!(read[GROUP_ROWS + 9][0].1, Field::Long(GROUP_ROWS as i64 + 9));
    }
}
