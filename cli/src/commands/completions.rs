//! `spelrum completions`: shell completion for the command line.

use std::io::Write as _;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Arguments;
use crate::error::Result;
use crate::exit::Exit;

const EXAMPLES: &str = "\
To install them, write them where the shell looks:

  spelrum completions bash >~/.local/share/bash-completion/completions/spelrum
  spelrum completions zsh >~/.zfunc/_spelrum        (with fpath+=~/.zfunc before compinit)
  spelrum completions fish >~/.config/fish/completions/spelrum.fish
  spelrum completions elvish >~/.config/elvish/lib/spelrum.elv    (then: use spelrum)
  spelrum completions powershell >>$PROFILE

They take effect in the next shell.";

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    pub(crate) fn run(self) -> Result<Exit> {
        // Generated in memory, so that a closed pipe causes no panic.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "spelrum", &mut script);
        std::io::stdout().write_all(&script)?;
        Ok(Exit::Success)
    }
}
