//! Errors and their remedies.

/// Why a shared database cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The address cannot be understood.
    #[error("failed to understand the address of the database: {problem}")]
    Address {
        /// What is wrong with it.
        problem: String,
    },
}

impl JournalError {
    /// How to fix the error, as a sentence without a final period.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Address { .. } => "write postgres://user@host:port/database".to_owned(),
        }
    }
}
