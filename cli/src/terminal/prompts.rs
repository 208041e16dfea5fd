//! Questions to the user at the terminal.

use std::io::{self, IsTerminal as _, Write as _};

use super::streams::stderr;

/// Whether questions can be asked: both standard input and standard error are a terminal.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a yes-or-no question on standard error. Anything but yes is no.
pub(crate) fn confirm(question: &str) -> io::Result<bool> {
    let mut terminal = stderr();
    write!(terminal, "{question} [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
