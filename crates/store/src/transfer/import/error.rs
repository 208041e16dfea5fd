//! Import errors, and how to fix them.

use std::path::PathBuf;

use crate::error::StoreError;

/// Why an import failed or was incomplete.
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
        /// Path of the file.
        path: PathBuf,
        /// Schema number of the file.
        found: i64,
        /// Schema number of this release.
        known: i64,
    },
    /// The file was not written by Spelrum, or is damaged.
    #[error("failed to import {}: {what}", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// The problem.
        what: String,
    },
    /// An experiment has games, players or rules unknown to this release.
    #[error("failed to import {}: {name}: {what}", path.display())]
    Unknown {
        /// Path of the file.
        path: PathBuf,
        /// Name of the experiment.
        name: String,
        /// The unknown part.
        what: String,
    },
    /// Another experiment has this name.
    #[error("failed to import {name}: there is another experiment of this name")]
    NameTaken {
        /// Name of the experiment.
        name: String,
    },
    /// The experiment was changed in both databases since they parted.
    #[error("failed to import {name}: its sweep was changed in both databases since they parted")]
    Diverged {
        /// Name of the experiment.
        name: String,
    },
    /// The experiment exists here and chooses its own cells, which differ.
    #[error("failed to import {name}: it is there, and has other cells, which it chose by itself")]
    OtherCourse {
        /// Name of the experiment.
        name: String,
    },
    /// The caller cancelled the import.
    #[error("failed to import: it was given up; what was imported stays, and is whole")]
    GivenUp,
}

impl ImportError {
    /// How to fix the error, as a sentence without a final period.
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
                "give --new to have both, as in spelrum submit --new; their UUIDs distinguish them"
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
