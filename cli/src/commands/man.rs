//! `spelrum man`: the help as man pages.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;

use super::Arguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;

const EXAMPLES: &str = "\
To install them: write them into a directory where man looks, then read `man spelrum` and \
`man spelrum-run`.

Examples:
  spelrum man ~/.local/share/man/man1
  spelrum man | man -l -";

/// Write a man page for each command, or print the main one
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Man {
    /// The directory to write them to; created if it does not exist
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Man {
    /// Writes the pages.
    pub(crate) fn run(self) -> Result<Exit> {
        let Some(directory) = self.directory else {
            let mut page = Vec::new();
            Page::new(Arguments::command()).render(&mut page)?;
            std::io::stdout().write_all(&page)?;
            return Ok(Exit::Success);
        };
        std::fs::create_dir_all(&directory)
            .and_then(|()| clap_mangen::generate_to(Arguments::command(), &directory))
            .map_err(|error| {
                let action = format!("write man pages into {}", directory.display());
                CliError::new(Exit::Usage, action)
                    .because(error)
                    .help("name a directory that you may write to")
            })?;
        Ok(Exit::Success)
    }
}
