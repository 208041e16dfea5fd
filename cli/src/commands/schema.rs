//! `spelrum schema`: the sweep file's schema, for editors.

use std::io::Write as _;

use clap::Args;
use spelrum_sweep::sweep_schema;

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;

const EXAMPLES: &str = "\
Editors that know TOML (taplo, Even Better TOML) complete, explain and check a sweep by it, if the \
sweep's first line names it:

  #:schema ./sweep.schema.json

`spelrum new` writes both.

Examples:
  spelrum schema > sweep.schema.json";

/// Print the JSON schema of sweeps, for editors
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Schema {}

impl Schema {
    /// Prints the schema.
    pub(crate) fn run(self) -> Result<Exit> {
        terminal::stdout().write_all(text()?.as_bytes())?;
        Ok(Exit::Success)
    }
}

/// The schema's text as in a file.
pub(super) fn text() -> Result<String> {
    let text = serde_json::to_string_pretty(&sweep_schema())
        .map_err(|error| CliError::new(Exit::Internal, "write the schema").because(error))?;
    Ok(text + "\n")
}
