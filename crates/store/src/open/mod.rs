//! Opening a database, and keeping it open safely.
//!
//! | file | subject |
//! |---|---|
//! | `database` | opening a database for writing, and refusing what cannot work |
//! | `writer` | the writing connection |
//! | `connection` | settings of connections |
//! | `lock`, `file_identity`, `at_rest` | the file's holder and identity, and reading a file that no program has open |
//! | `wal`, `checkpoint`, `log_keeper`, `log_loss` | the write-ahead log: its bytes, its move into the file, and its remains after a crash |
//! | `alarm` | reporting damage to all users of the file |
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
