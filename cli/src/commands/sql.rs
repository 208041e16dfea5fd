//! `spelrum sql`: any question, read-only.

use std::io::Write as _;

use clap::Args;
use spelrum_coordinator::store::{SqlValue, Table};
use spelrum_proto::limits::QUERY_ROWS_MAX;

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{Column, Rows, TextTable, json_value, write_csv, write_json};
use crate::results::ResultsSource;

const EXAMPLES: &str = "\
One read-only statement, bounded in time and rows. docs/sql.md lists every table and view.

Examples:
  spelrum sql --db pentago-depth.db 'SELECT outcome, count(*) AS games FROM games GROUP BY outcome'
  spelrum sql --db pentago-depth.db --csv 'SELECT * FROM moves' >moves.csv";

/// Ask the results anything, in SQL
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Sql {
    /// The statement
    #[arg(value_name = "SELECT")]
    statement: String,
    #[command(flatten)]
    source: SourceArguments,
    /// Print a JSON array with an object for each row
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV
    #[arg(long)]
    csv: bool,
    /// The most rows to fetch
    #[arg(long, value_name = "N", default_value_t = QUERY_ROWS_MAX)]
    rows_max: u32,
}

impl Sql {
    /// Asks and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let table = source.query(&self.statement, self.rows_max).await?;
        let mut out = std::io::BufWriter::new(anstream::stdout().lock());
        if self.json {
            write_json(&mut out, &Rows(&table))?;
        } else if self.csv {
            write_csv(&mut out, &table)?;
        } else {
            text(&table).write(&mut out)?;
        }
        out.flush()?;
        if table.truncated {
            let mut err = anstream::stderr().lock();
            writeln!(err, "note: there are more rows than these; raise --rows-max")?;
        }
        Ok(Exit::Success)
    }
}

fn text(table: &Table) -> TextTable {
    let columns: Vec<_> = table
        .columns
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let numeric = table.rows.iter().all(|row| {
                matches!(row[index], SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_))
            });
            if numeric { Column::numbers(name) } else { Column::words(name) }
        })
        .collect();
    let mut text = TextTable::new(&columns);
    for row in &table.rows {
        text.row(row.iter().map(|value| match value {
            SqlValue::Null => String::new(),
            SqlValue::Text(text) => text.clone(),
            SqlValue::Integer(integer) => integer.to_string(),
            SqlValue::Real(real) => real.to_string(),
            SqlValue::Blob(_) => json_value(value).as_str().unwrap_or_default().to_owned(),
        }));
    }
    text
}
