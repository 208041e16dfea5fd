//! Rows handed from SQLite to this program whole: a function in SQL takes all columns of a row at once. Asking for each
//! value of a row by itself costs several times as much.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Null, ValueRef};
use rusqlite::{Connection, Rows, Statement};

use crate::check::row_digests::{RowEncoder, Tags};

/// The last row that a statement has read.
#[derive(Debug, Default)]
pub(crate) struct TakenRow {
    encoder: RowEncoder,
    digest: u64,
    /// The values of the wanted columns, in their order.
    values: Vec<Value>,
    texts: Vec<u8>,
}

/// A value of a wanted column.
#[derive(Clone, Debug, Default)]
enum Value {
    #[default]
    Null,
    Integer(i64),
    Real(f64),
    Text(Range<usize>),
}

impl TakenRow {
    /// The digest of the whole row.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    pub(crate) fn is_null(&self, wanted: usize) -> bool {
        matches!(self.values.get(wanted), Some(Value::Null) | None)
    }

    pub(crate) fn integer(&self, wanted: usize) -> Option<i64> {
        match self.values.get(wanted) {
            Some(Value::Integer(value)) => Some(*value),
            Some(Value::Null | Value::Real(_) | Value::Text(_)) | None => None,
        }
    }

    pub(crate) fn real(&self, wanted: usize) -> Option<f64> {
        match self.values.get(wanted) {
            Some(Value::Real(value)) => Some(*value),
            Some(Value::Null | Value::Integer(_) | Value::Text(_)) | None => None,
        }
    }

    pub(crate) fn text(&self, wanted: usize) -> Option<&[u8]> {
        match self.values.get(wanted) {
            Some(Value::Text(range)) => self.texts.get(range.clone()),
            Some(Value::Null | Value::Integer(_) | Value::Real(_)) | None => None,
        }
    }

    fn take<'v>(&mut self, columns: &[Column], values: impl Iterator<Item = ValueRef<'v>>) {
        self.texts.clear();
        for (value, column) in values.zip(columns) {
            let (tag, place) = (column.tag, column.wanted.and_then(|at| self.values.get_mut(at)));
            match value {
                ValueRef::Null => {}
                ValueRef::Integer(value) => tag.map_or((), |tag| self.encoder.integer(tag, value)),
                ValueRef::Real(value) => tag.map_or((), |tag| self.encoder.real(tag, value)),
                ValueRef::Text(value) => tag.map_or((), |tag| self.encoder.text(tag, value)),
                ValueRef::Blob(value) => tag.map_or((), |tag| self.encoder.blob(tag, value)),
            }
            let Some(place) = place else { continue };
            *place = match value {
                ValueRef::Null | ValueRef::Blob(_) => Value::Null,
                ValueRef::Integer(value) => Value::Integer(value),
                ValueRef::Real(value) => Value::Real(value),
                ValueRef::Text(value) => {
                    let start = self.texts.len();
                    self.texts.extend_from_slice(value);
                    Value::Text(start..self.texts.len())
                }
            };
        }
        self.digest = self.encoder.finish();
    }
}

/// What a column is for.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Its tag in the row's digest.
    tag: Option<u32>,
    /// Its place among the wanted columns.
    wanted: Option<usize>,
}

/// A statement that reads a table row by row.
#[derive(Debug)]
pub(crate) struct Taking<'c> {
    statement: Statement<'c>,
    taken: Taken,
    has_all: bool,
}

/// The row that a statement has read last.
#[derive(Clone, Debug)]
pub(crate) struct Taken(Arc<Mutex<TakenRow>>);

impl Taken {
    pub(crate) fn row(&self) -> MutexGuard<'_, TakenRow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'c> Taking<'c> {
    /// Prepares to read a table in this order, with the values of the wanted columns.
    pub(crate) fn prepare(
        connection: &'c Connection,
        table: &str,
        order: &str,
        wanted: &[&str],
    ) -> rusqlite::Result<Self> {
        let described = connection.prepare(&format!("SELECT * FROM {table}"))?;
        let names = described.column_names();
        let tags = Tags::new(table, names.iter().copied());
        let columns: Vec<Column> = names
            .iter()
            .enumerate()
            .map(|(index, name)| Column {
                tag: tags.get(index),
                wanted: wanted.iter().position(|wanted| wanted == name),
            })
            .collect();
        let has_all = wanted.iter().all(|wanted| names.contains(wanted));
        let quoted: Vec<String> =
            names.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        let row = TakenRow { values: vec![Value::Null; wanted.len()], ..TakenRow::default() };
        let taken = Taken(Arc::new(Mutex::new(row)));
        let of_function = taken.clone();
        // A function of its own for each table: several are read side by side.
        let function = format!("take_{table}");
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
        connection.create_scalar_function(&*function, -1, flags, move |context| {
            let values = (0..context.len()).map(|index| context.get_raw(index));
            of_function.row().take(&columns, values);
            Ok(Null)
        })?;
        let sql = format!("SELECT {function}({}) FROM {table} {order}", quoted.join(", "));
        Ok(Self { statement: connection.prepare(&sql)?, taken, has_all })
    }

    /// Whether the table has all wanted columns.
    pub(crate) fn has_all(&self) -> bool {
        self.has_all
    }

    /// Reads the rows; each is taken when it is stepped to.
    pub(crate) fn rows(&mut self) -> rusqlite::Result<(Rows<'_>, Taken)> {
        Ok((self.statement.query([])?, self.taken.clone()))
    }
}
