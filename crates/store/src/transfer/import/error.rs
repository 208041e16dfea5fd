//! Why experiments could not be imported, and what to do about it.

use std::path::PathBuf;

use crate::error::StoreError;

/// Why nothing, or not everything, was imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// One of the two databases cannot be opened, read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file has an older schema.
    #[error(
        "failed to import {}: its schema has number {found}, and this release imports number {known}",
        path.display()
    )]
    OlderSchema {
        /// The file.
        path: PathBuf,
        /// The number of its schema.
        found: i64,
        /// The number of ours.
        known: i64,
    },
    /// The file is not what spelrum writes.
    #[error("failed to import {}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// An experiment in it is of games, players or rules that this release does not know.
    #[error("failed to import {}: {name}: {what}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The experiment.
        name: String,
        /// What is not known.
        what: String,
    },
    /// There is another experiment of this name.
    #[error("failed to import {name}: there is another experiment of this name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The experiment was changed in both databases since they parted.
    #[error("failed to import {name}: its sweep was changed in both databases since they parted")]
    Diverged {
        /// The name.
        name: String,
    },
    /// The experiment decides by itself which cells it gets, and it is there.
    #[error("failed to import {name}: it is there, and has other cells, which it chose by itself")]
    OtherCourse {
        /// The name.
        name: String,
    },
    /// Nobody wants it any more.
    #[error("failed to import: it was given up; what was imported stays, and is whole")]
    GivenUp,
}

impl ImportError {
    /// What to do about it, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Store(error) => error.remedy(),
            Self::OlderSchema { .. } => {
                "upgrade a copy of it and import that: spelrum backup COPY --db FILE, then start spelrum \
                 coordinator --db COPY and end it with Ctrl-C"
                    .to_owned()
            }
            Self::Damaged { .. } => {
                "export it again: this file was changed or damaged since it was written, and nothing of it was \
                 imported"
                    .to_owned()
            }
            Self::Unknown { .. } => {
                "import it with the version of spelrum that wrote it, or a later one".to_owned()
            }
            Self::NameTaken { .. } => {
                "give --new to have both, as in spelrum submit --new; they are told apart by their UUIDs"
                    .to_owned()
            }
            Self::Diverged { .. } => {
                "import it into a database of its own, which report and sql read as well".to_owned()
            }
            Self::OtherCourse { .. } => "import it into a database of its own".to_owned(),
            Self::GivenUp => "import it again: that completes it".to_owned(),
        }
    }
}
