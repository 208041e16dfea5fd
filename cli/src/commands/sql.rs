//! `spelrum sql`: read-only SQL queries.

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use spelrum_report::data::{NewFile, RowsFormat, not_for_a_terminal, rows_writer};

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::results::{Answer, ResultsSource};
use crate::terminal;

const EXAMPLES: &str = "\
One statement that only reads. docs/sql.md lists every table and view, the functions there are beside \
SQLite's own, such as elo(wins, draws, losses) and median(x), and twenty-two questions with their statements.

Any number of rows is written as it is found. A table is as wide as its first 500 rows need it. A coordinator \
gives a statement 30 seconds, beside the time that it waits for its rows to be read; a file gives it \
all the time it takes, and Ctrl-C ends it.

A plot has a line of points x and y, or where there are three columns, one for each text of the first; two \
more columns are the ends of an interval around y. It has 6 lines at most, and 10,000 points.

Examples:
  spelrum sql --db pentago-depth.db 'SELECT outcome, count(*) AS games FROM games GROUP BY outcome'
  spelrum sql --db pentago-depth.db --csv 'SELECT * FROM moves' >moves.csv
  spelrum sql --db pentago-depth.db --format parquet --output games.parquet 'SELECT * FROM games'
  spelrum sql --db pentago-depth.db --format svg --output score.svg 'SELECT player, depth, score FROM results_pentago_depth'";

/// Query the results with SQL
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[group(id = "form", multiple = false, args = ["format", "csv", "json", "jsonl"])]
pub(crate) struct Sql {
    /// The statement
    #[arg(value_name = "SELECT")]
    statement: String,
    #[command(flatten)]
    source: SourceArguments,
    /// How to write the rows: table, csv, json (an array), jsonl (an object in each line), svg (a plot), or
    /// parquet, if this spelrum was built with it
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t = RowsFormat::Table,
        hide_possible_values = true
    )]
    format: RowsFormat,
    /// The same as --format csv
    #[arg(long)]
    csv: bool,
    /// The same as --format json
    #[arg(long)]
    json: bool,
    /// The same as --format jsonl
    #[arg(long)]
    jsonl: bool,
    /// Write to this file, once all rows are there; one of this name is replaced
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most rows to fetch; all, if it is not given
    #[arg(long, value_name = "N")]
    rows_max: Option<NonZeroU32>,
    /// The most seconds that the statement may take
    #[arg(long, value_name = "N")]
    seconds_max: Option<NonZeroU32>,
}

impl Sql {
    /// Queries and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let format = self.format();
        if format == RowsFormat::Parquet && self.output.is_none() && io::stdout().is_terminal() {
            return Err(not_for_a_terminal("Parquet").into());
        }
        let source = ResultsSource::open(&self.source).await?;
        let rows_max = self.rows_max.map(NonZeroU32::get);
        let time_max = self.seconds_max.map(|most| Duration::from_secs(most.get().into()));
        let mut answer = source.query(&self.statement, rows_max, time_max).await?;
        match &self.output {
            None => write(&mut answer, format, standard_output(format)).await?,
            Some(path) => write_file(&mut answer, format, path).await?,
        }
        if answer.truncated() {
            let mut err = terminal::stderr();
            writeln!(err, "note: there are more rows than these; raise --rows-max")?;
        }
        Ok(Exit::Success)
    }

    fn format(&self) -> RowsFormat {
        match (self.csv, self.json, self.jsonl) {
            (true, ..) => RowsFormat::Csv,
            (_, true, _) => RowsFormat::Json,
            (.., true) => RowsFormat::Jsonl,
            (false, false, false) => self.format,
        }
    }
}

type Out = Box<dyn Write + Send>;

/// Standard output. Data is written raw; only tables have styles, removed where not wanted.
fn standard_output(format: RowsFormat) -> Out {
    match format {
        RowsFormat::Table => terminal::stdout(),
        RowsFormat::Csv
        | RowsFormat::Json
        | RowsFormat::Jsonl
        | RowsFormat::Parquet
        | RowsFormat::Svg => terminal::data_stdout(),
    }
}

/// Writes all rows as they arrive.
async fn write(answer: &mut Answer, format: RowsFormat, out: Out) -> Result<()> {
    let columns = answer.columns().to_vec();
    let out = BufWriter::new(out);
    let mut writer = rows_writer(format, columns, out)?;
    while let Some(rows) = answer.next().await? {
        writer.write(&rows)?;
    }
    writer.finish()?;
    Ok(())
}

/// Writes a file that appears once it is complete.
async fn write_file(answer: &mut Answer, format: RowsFormat, path: &Path) -> Result<()> {
    let (new, file) = NewFile::create(path)?;
    let out: Out = match format {
        RowsFormat::Table => Box::new(anstream::StripStream::new(file)),
        RowsFormat::Csv
        | RowsFormat::Json
        | RowsFormat::Jsonl
        | RowsFormat::Parquet
        | RowsFormat::Svg => Box::new(file),
    };
    write(answer, format, out).await?;
    Ok(new.finish()?)
}
