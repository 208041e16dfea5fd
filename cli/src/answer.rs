//! A query's result, read by column name.

use spelrum_coordinator::store::{SqlValue, Table, questions};
use spelrum_proto::limits::QUERY_ROWS_MAX;
use spelrum_tournament::ExperimentId;

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::ResultsSource;

/// The experiment's id in this database.
pub(crate) async fn experiment_id(source: &ResultsSource, uuid: &str) -> Result<ExperimentId> {
    let experiments = ask(source, questions::EXPERIMENTS).await?;
    for row in experiments.rows() {
        if row.text("uuid")? == uuid {
            return Ok(ExperimentId(row.integer("experiment_id")?));
        }
    }
    Err(unexpected("uuid", &format!("has no {uuid}")))
}

/// Asks one question; its answer is whole.
pub(crate) async fn ask(source: &ResultsSource, sql: &str) -> Result<Answer> {
    let table = source.query(sql, QUERY_ROWS_MAX).await?;
    if table.truncated {
        return Err(CliError::new(Exit::Input, "report on the whole experiment")
            .because(format!("it has more than {QUERY_ROWS_MAX} rows of results"))
            .help("ask for a part of it: spelrum sql"));
    }
    Ok(Answer::new(table))
}

/// A query's result, read by column name.
pub(crate) struct Answer {
    table: Table,
}

impl Answer {
    /// What a source of results answered.
    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }

    /// The rows, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.table.rows.iter().map(|values| Row { columns: &self.table.columns, values })
    }
}

/// One row of it.
pub(crate) struct Row<'a> {
    columns: &'a [String],
    values: &'a [SqlValue],
}

impl Row<'_> {
    fn value(&self, column: &str) -> Result<&SqlValue> {
        self.columns
            .iter()
            .position(|name| name == column)
            .and_then(|index| self.values.get(index))
            .ok_or_else(|| unexpected(column, "is missing"))
    }

    /// An integer.
    pub(crate) fn integer(&self, column: &str) -> Result<i64> {
        let value = self.value(column)?;
        let SqlValue::Integer(integer) = value else { return Err(wrong_type(column, value)) };
        Ok(*integer)
    }

    /// An integer that is not negative.
    pub(crate) fn count(&self, column: &str) -> Result<u64> {
        let integer = self.integer(column)?;
        integer.try_into().map_err(|_| unexpected(column, &format!("is {integer}")))
    }

    /// A number, or nothing for NULL.
    pub(crate) fn optional_real(&self, column: &str) -> Result<Option<f64>> {
        match self.value(column)? {
            SqlValue::Null => Ok(None),
            SqlValue::Real(real) => Ok(Some(*real)),
            SqlValue::Integer(integer) => Ok(Some(*integer as f64)),
            wrong @ (SqlValue::Text(_) | SqlValue::Blob(_)) => Err(wrong_type(column, wrong)),
        }
    }

    /// A number.
    pub(crate) fn real(&self, column: &str) -> Result<f64> {
        self.optional_real(column)?.ok_or_else(|| unexpected(column, "is NULL"))
    }

    /// An integer, or nothing for NULL.
    pub(crate) fn optional_integer(&self, column: &str) -> Result<Option<i64>> {
        match self.value(column)? {
            SqlValue::Null => Ok(None),
            SqlValue::Integer(integer) => Ok(Some(*integer)),
            wrong @ (SqlValue::Real(_) | SqlValue::Text(_) | SqlValue::Blob(_)) => {
                Err(wrong_type(column, wrong))
            }
        }
    }

    /// A text, or nothing for NULL.
    pub(crate) fn optional_text(&self, column: &str) -> Result<Option<String>> {
        match self.value(column)? {
            SqlValue::Null => Ok(None),
            SqlValue::Text(text) => Ok(Some(text.clone())),
            wrong @ (SqlValue::Integer(_) | SqlValue::Real(_) | SqlValue::Blob(_)) => {
                Err(wrong_type(column, wrong))
            }
        }
    }

    /// A text.
    pub(crate) fn text(&self, column: &str) -> Result<String> {
        let value = self.value(column)?;
        let SqlValue::Text(text) = value else { return Err(wrong_type(column, value)) };
        Ok(text.clone())
    }
}

fn wrong_type(column: &str, value: &SqlValue) -> CliError {
    unexpected(column, &format!("is {value:?}"))
}

/// The error of an answer that this program does not understand.
pub(crate) fn unexpected(column: &str, what: &str) -> CliError {
    CliError::new(Exit::Internal, "read the results")
        .because(format!("column {column} {what}"))
        .help("use the version of spelrum that serves or wrote this database")
}
