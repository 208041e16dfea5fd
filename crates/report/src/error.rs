//! Failures of a report: what failed, why, and what to do.

use std::io;

/// What functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Classes of failures, from which a program derives its exit code and a server its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The options contradict each other, or this build lacks what they name.
    Usage,
    /// The results lack what is asked for, or a file cannot be written.
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
