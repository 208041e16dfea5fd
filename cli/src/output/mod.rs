//! What a person or a program reads on standard output.

mod csv;
mod json;
mod numbers;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
mod search;
mod table;

#[cfg(feature = "parquet")]
pub(crate) use self::parquet::rows_as_parquet;
pub(crate) use json::{Pairs, write_json, write_json_line};
pub(crate) use numbers::{count, duration_us, optional, percent, signed};
pub(crate) use rows::{RowsFormat, WriteRows, rows_as_text};
pub(crate) use search::{ended_by_text, score_text};
pub(crate) use table::{Column, TextTable};
