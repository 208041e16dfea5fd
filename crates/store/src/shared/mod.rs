//! A database that several coordinators share.
//!
//! Each coordinator has a copy of the database in a file of its own. One of them owns the database: each of its
//! transactions goes into a [`Journal`] before it is committed in its copy, so that an acknowledged result outlives this
//! machine. The others apply the journal to their copies ([`LocalCopy`]), and one of them goes on where the owner ended.
//!
//! A change of the journal has the rows that a transaction wrote, as they are at its end, and the keys of those it
//! deleted. So it does not depend on how they were computed, and a copy is the same as the owner's, row by row.

pub(crate) mod capture;
mod changes;
mod journal;
mod local_copy;

pub use journal::{Journal, Place};
pub use local_copy::LocalCopy;

use crate::schema::migrations::MIGRATIONS;

/// The number of the last migration that this build knows.
#[must_use]
pub fn schema() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}
