//! Results as people and programs read them: text, Markdown, LaTeX, HTML, CSV, JSON, Parquet and plots.
//!
//! A caller (the command line; later, pages of a coordinator) asks a store or a coordinator for answers, the types of
//! `spelrum_answers`, and passes them here. Modules: [`text`] (numbers in words, aligned columns), [`document`] (tables
//! with notes, in each format), [`plot`], [`data`] (rows, CSV, JSON, files), [`tables`] (a file per table) and
//! `figures` of an [`experiment`], [`listing`] (experiments and workers at a glance), [`games`], [`replay`],
//! [`board`] (diagrams of positions), [`changes`] (of an experiment by its sweep), [`pages`] (a coordinator's, for browsers), [`networks`] and [`tree`].
//!
//! It depends on the engine and on the model of results. It must stay independent of the source of answers: no
//! database, no gRPC, no async, no arguments. Its enums that users name (formats, tables) derive `clap::ValueEnum`, so
//! that names and explanations are in one place; nothing else here concerns a command line.
//!
//! ```
//! use spelrum_report::document::{Document, Part, TitledTable};
//! use spelrum_report::text::{Column, percent};
//!
//! let columns = vec![Column::words("player"), Column::numbers("score")];
//! let mut table = TitledTable::new("scores", "Scores", columns);
//! table.row(["alpha-beta".to_owned(), percent(0.625)]);
//! let document = Document {
//!     title: "a match".to_owned(),
//!     about: String::new(),
//!     parts: vec![Part::Table(table)],
//! };
//! let mut markdown = Vec::new();
//! document.write_markdown(&mut markdown)?;
//! assert!(String::from_utf8_lossy(&markdown).contains("| alpha-beta | 62.5 % |"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod answers;
pub mod board;
pub mod changes;
pub mod data;
pub mod document;
mod error;
pub mod experiment;
mod figures;
pub mod games;
pub mod listing;
mod match_block;
pub mod match_standing;
pub mod networks;
pub mod pages;
pub mod planned;
pub mod plot;
pub mod replay;
pub mod tables;
pub mod text;
pub mod tree;

pub use error::{Error, Kind, Result};
