//! The journal of a database that several coordinators share, on a PostgreSQL server.
//!
//! The database of each coordinator is a SQLite file, its copy. One coordinator owns the database: it appends the
//! changes of each transaction to the journal before it commits them to its copy. The others apply the journal to
//! their copies, and one of them takes over when the owner releases the database or falls silent.
//!
//! Three tables have all of it: `spelrum_owner`, a row with the owner's term and the last change's number;
//! `spelrum_changes`; and `spelrum_bases`, a complete file, to which the changes after it can be applied.

mod address;
mod base;
mod compression;
mod error;
mod log;
mod member;
mod owner;
mod ownership;
mod patience;
mod replica;
mod server;
#[cfg(test)]
mod simulation;
mod tables;
mod trouble;

pub use address::Address;
pub use base::Temporary;
pub use error::JournalError;
pub use member::{Member, fetch, share};
pub use owner::Owner;
