//! Data for programs: JSON, CSV and rows of any length, and their files.

mod csv;
mod json;
mod new_directory;
mod new_file;
#[cfg(feature = "parquet")]
mod parquet;
mod plotted;
mod rows;
mod writer;

pub(crate) use csv::plain as cell_text;
pub use csv::{CsvField, write_csv};
pub use json::{Pairs, write_json, write_json_line};
pub use new_directory::NewDirectory;
pub use new_file::NewFile;
pub(crate) use plotted::plotted_columns;
pub use rows::{RowsFormat, WriteRows};
pub use writer::{HAS_PARQUET, not_for_a_terminal, rows_writer};
