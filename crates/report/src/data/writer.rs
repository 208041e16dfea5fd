//! Writers of rows in every format.

use std::io::Write;

use super::plotted::rows_as_plot;
use super::rows::{RowsFormat, WriteRows, rows_as_text};
use crate::error::{Error, Kind, Result};

/// Whether rows can be written as Parquet.
pub const HAS_PARQUET: bool = cfg!(feature = "parquet");

/// Returns a writer of rows with these columns.
pub fn rows_writer<'w>(
    format: RowsFormat,
    columns: Vec<String>,
    out: impl Write + Send + 'w,
) -> Result<Box<dyn WriteRows + 'w>> {
    match format {
        RowsFormat::Parquet => parquet(columns, out),
        RowsFormat::Svg => rows_as_plot(columns, out),
        RowsFormat::Table | RowsFormat::Csv | RowsFormat::Json | RowsFormat::Jsonl => {
            Ok(rows_as_text(format, columns, out))
        }
    }
}

#[cfg(feature = "parquet")]
fn parquet<'w>(
    columns: Vec<String>,
    out: impl Write + Send + 'w,
) -> Result<Box<dyn WriteRows + 'w>> {
    Ok(Box::new(super::parquet::rows_as_parquet(columns, out)?))
}

#[cfg(not(feature = "parquet"))]
fn parquet<'w>(_: Vec<String>, _: impl Write + Send + 'w) -> Result<Box<dyn WriteRows + 'w>> {
    Err(Error::new(Kind::Usage, "write Parquet")
        .because("this spelrum was built without it")
        .help("build it with cargo's --features parquet, or take --format csv"))
}

/// Why Parquet is not written to a terminal.
pub fn not_for_a_terminal(format: &str) -> Error {
    Error::new(Kind::Usage, format!("write {format}"))
        .because("it is not for a terminal")
        .help("name a file: --output FILE")
}
