//! The results database on a PostgreSQL server: the store's interface for the dispatcher, over the tables of
//! `migrations/` here, which have the names and columns of SQLite's.
//!
//! Nothing of the product uses it yet. What it has is what the store's contract asks (`crates/store/tests`): every
//! answer is the one that SQLite and the store in memory give. What it lacks is in `docs/architecture.md`.
//!
//! **Ownership** has its simplest form: one term for all experiments of a database, in the one row of `ownership`. Every
//! transaction begins by locking that row, and fails with [`StoreError::TakenOver`] where the term has grown. So writers
//! wait for each other, and primary keys and this row lock alone carry correctness.
//!
//! Queries are not checked at compile time: `query!` would need a database of this dialect beside SQLite's. Every one of
//! them runs in the contract's tests.

/// Runs a statement; returns the number of rows that it changed.
macro_rules! run {
    ($tx:expr, $sql:expr $(, $value:expr)* $(,)?) => {
        sqlx::query($sql)$(.bind($value))*.execute($tx.connection()).await?.rows_affected()
    };
}

/// All rows of a query, each as a tuple or a struct.
macro_rules! all {
    ($tx:expr, $row:ty, $sql:expr $(, $value:expr)* $(,)?) => {
        sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_all($tx.connection()).await?
    };
}

/// The first row of a query, if any.
macro_rules! first {
    ($tx:expr, $row:ty, $sql:expr $(, $value:expr)* $(,)?) => {
        sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_optional($tx.connection()).await?
    };
}

/// The one value of a query's one row.
macro_rules! value {
    ($tx:expr, $value_type:ty, $sql:expr $(, $value:expr)* $(,)?) => {
        sqlx::query_scalar::<_, $value_type>($sql)$(.bind($value))*.fetch_one($tx.connection()).await?
    };
}

mod cells;
mod contract;
mod courses;
mod exclusion;
mod experiments;
mod numbers;
mod parts;
mod reading;
mod removal;
mod results;
mod scheduling;
mod settings;
mod sweeps;
mod tasks;
mod transaction;
mod workers;

pub use reading::PgReaders;
pub use sqlx::postgres::PgConnectOptions;
pub use transaction::{PgStore, PgTransaction};

#[cfg(doc)]
use spelrum_store::StoreError;
