//! Report failures: the action, the reason and the remedy.

use std::io;

/// Result type of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Classes of failures, from which a program derives its exit code and a server its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The options contradict each other, or this build lacks a feature that they name.
    Usage,
    /// The results lack the requested data, or a file cannot be written.
    Input,
    /// The database is damaged or newer than this program.
    Database,
    /// Writing the output failed; the cause is an [`io::Error`].
    Output,
    /// A bug.
    Internal,
}

/// A failure, with a remedy where there is one.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action}")]
pub struct Error {
    /// The class.
    pub kind: Kind,
    /// Completes the sentence "failed to …".
    pub action: String,
    /// The cause.
    #[source]
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// The remedy.
    pub help: Option<String>,
}

impl Error {
    /// Makes a failure of this class: "failed to `action`".
    pub fn new(kind: Kind, action: impl Into<String>) -> Self {
        Self { kind, action: action.into(), cause: None, help: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::new(Kind::Output, "write the output").because(error)
    }
}
