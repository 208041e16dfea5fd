//! The journal of a database that several coordinators share, on a PostgreSQL server.
//!
//! The database of each coordinator is a SQLite file, its copy. One coordinator owns the database: it appends the
//! changes of each transaction to the journal before it commits them to its copy. The others apply the journal to
//! their copies, and one of them takes over when the owner releases the database or falls silent.

mod address;
mod error;
mod member;

pub use address::Address;
pub use error::JournalError;
pub use member::{Member, Owner, fetch, share};
