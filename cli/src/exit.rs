//! Exit codes: a class of outcome each, the same for every command.

use std::process::ExitCode;

/// How a command ended. The numbers are part of the command line's contract: they are listed in `spelrum --help` and
/// in the README, and a test compares the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Success,
    /// An internal error: a bug.
    Internal,
    /// The command line is wrong.
    Usage,
    /// The input is wrong: a sweep, a position, a query, an experiment's name.
    Input,
    /// The database belongs to another program, has a newer schema, or is read-only, full, damaged or unreadable.
    Database,
    /// The coordinator is unreachable, refuses the token, speaks another protocol, or failed.
    Network,
    /// A port, or the database, is in use by another program.
    Busy,
    /// Every game is settled, but some have failed; or a player forfeited more games than the sweep allows.
    FailedGames,
    /// A replayed game differs from the recorded one.
    Different,
    /// Ctrl-C (SIGINT) ended the command early; finished work is kept.
    Interrupted,
    /// SIGTERM or a like signal ended the command early; finished games are kept.
    Terminated,
}

impl Exit {
    /// The number returned to the shell.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Database => 4,
            Self::Network => 5,
            Self::Busy => 6,
            Self::FailedGames => 7,
            Self::Different => 8,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The list in `spelrum --help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    the machine has too few threads, open files or memory, or no room for the
       output; or a bug: please report it
  2    the command line is wrong
  3    a sweep, position, query, engine or name is wrong
  4    the database is not one of Spelrum's, newer, read-only, full, damaged or unreadable
  5    the coordinator is unreachable, refuses the token, speaks another protocol, or failed
  6    a port or the database is in use by another program
  7    the sweep is finished, but some games failed; or it is paused for forfeits
  8    a game that was played again differs from its record
  130  interrupted by Ctrl-C; finished games are kept
  143  terminated by SIGTERM, SIGHUP, SIGUSR1 or SIGUSR2; finished games are kept";
