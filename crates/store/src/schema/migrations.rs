//! The schema, and the mark of a results database.

use sqlx::migrate::Migrator;

/// The schema, from the first migration on.
pub(crate) static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// "Splm": marks a database as one of this project (sqlite.org/pragma.html#pragma_application_id).
pub(crate) const APPLICATION_ID: u32 = 0x5370_6c6d;
