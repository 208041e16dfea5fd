//! What a person or a program reads on standard output.

mod colors;
mod csv;
mod document;
mod drawing;
mod file;
mod json;
mod numbers;
#[cfg(feature = "parquet")]
mod parquet;
mod plot;
mod rows;
mod search;
mod table;
pub(crate) mod terminal;
mod text;
mod writer;

pub(crate) use colors::with_colors;
pub(crate) use csv::{CsvField, write_csv};
pub(crate) use document::{Document, LatexStyle, Part, TitledTable, chosen_columns};
pub(crate) use file::NewFile;
pub(crate) use json::{Pairs, write_json, write_json_line};
pub(crate) use numbers::{
    count, counted, duration_us, optional, percent, ratio, relative_error, signed,
};
pub(crate) use plot::{
    Axis, Board, Chart, Curves, Estimate, Figure, Heat, Intervals, Panel, PlotSize, Point,
    SERIES_MAX, Shares, plot_files, write_plots,
};
pub(crate) use rows::{RowsFormat, WriteRows};
pub(crate) use search::{ended_by_text, score_text};
pub(crate) use spelrum_tournament::results::date_time;
pub(crate) use table::{Column, TextTable};
pub(crate) use text::escaped;
pub(crate) use writer::{not_for_a_terminal, rows_writer};
