//! The journal of a shared database, as the store needs it.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

use crate::error::StoreError;

/// A change's place in a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Its number: 1 is the first, and none is left out.
    pub number: i64,
    /// The term of the coordinator that appended it. Two changes of one number that differ have different terms.
    pub term: i64,
}

/// A journal with the right to append to it.
pub trait Journal: Debug + Send + Sync {
    /// The term for which this coordinator may append.
    fn term(&self) -> i64;

    /// Appends a transaction's changes as the change with this number; once this returns, they outlive any machine that
    /// the journal was told to outlive.
    ///
    /// While it is unknown whether a change was appended, this asks again.
    ///
    /// # Errors
    /// [`StoreError::TakenOver`] if another coordinator has the greater term, [`StoreError::Journal`] if the journal does
    /// not answer for too long or refuses. Whether the change was appended is unknown then: the caller must write nothing
    /// more, and read the journal anew.
    fn append(&mut self, number: i64, changes: Vec<u8>) -> BoxFuture<'_, Result<(), StoreError>>;
}
