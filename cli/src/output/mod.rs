//! What a person or a program reads on standard output.

mod csv;
mod json;
mod numbers;
mod search;
mod table;

pub(crate) use csv::write_csv;
pub(crate) use json::{Pairs, Rows, json_value, write_json, write_json_line};
pub(crate) use numbers::{count, duration_us, optional, percent, signed};
pub(crate) use search::{ended_by_text, score_text};
pub(crate) use table::{Column, TextTable};
