//! TOML that people write: sweeps, the engines file, the config file and the token file.
//!
//! [`parse`] turns a text into a [`Table`] in which every key and value has its place. A [`Fault`] is an error with
//! its place and a remedy; each caller adds the text and the name of its file. The crate knows no keys: a caller
//! reads its own from the table, and refuses all others with [`Table::check_keys`].
//!
//! ```
//! use spelrum_toml::{line_and_column, parse};
//!
//! let text = "at_onc = 2\n";
//! let table = parse(text, "docs/engines.md documents the format")?;
//! let fault = table.check_keys("the engine", &["at_once", "command"]).unwrap_err();
//! assert_eq!(fault.problem, "unknown key `at_onc` in the engine");
//! assert_eq!(fault.remedy, "did you mean `at_once`?");
//! assert_eq!(fault.place.map(|place| line_and_column(text, place.start)), Some((1, 1)));
//! # Ok::<(), spelrum_toml::Fault>(())
//! ```

mod fault;
mod tree;

pub use fault::{Fault, Span, did_you_mean, line_and_column, nearest};
pub use tree::{Entry, Node, Scalar, Table, Tree, parse};
