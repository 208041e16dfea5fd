//! Opening a database, and keeping it open safely.
//!
//! | file | subject |
//! |---|---|
//! | `database` | opening a database to write, and refusing what cannot work |
//! | `writer` | the connection that writes |
//! | `connection` | settings of connections |
//! | `lock`, `file_identity`, `at_rest` | who has the file, which file it is, and reading one that nobody has open |
//! | `wal`, `checkpoint`, `log_keeper`, `log_loss` | the write-ahead log: its bytes, its move into the file, and what a crash has left of it |
//! | `alarm` | damage that was found, for all who use the file |
//! | `failure_tests` | tests of a writer whose disk fails |

pub(crate) mod alarm;
pub(crate) mod at_rest;
pub(crate) mod checkpoint;
pub(crate) mod connection;
pub(crate) mod database;
#[cfg(test)]
mod failure_tests;
pub(crate) mod file_identity;
pub(crate) mod lock;
pub(crate) mod log_keeper;
pub(crate) mod log_loss;
pub(crate) mod wal;
pub(crate) mod writer;
