//! A coordinator as a member of those that share a database.

use std::path::Path;

use spelrum_store::Writer;
use tokio::sync::watch;

use crate::address::Address;
use crate::error::JournalError;

/// A coordinator, as the others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name, for people.
    pub name: String,
    /// Where the others connect to it: `host:port`.
    pub address: String,
}

/// A coordinator that shares a database.
#[derive(Debug)]
pub struct Member {
    owner: watch::Sender<Option<Owner>>,
}

impl Member {
    /// Connects, checks the server, and creates the journal's tables if they are absent.
    ///
    /// # Errors
    /// If the server cannot be reached, refuses, or does not suit.
    pub async fn join(_address: &Address, _copy: &Path, _me: Owner) -> Result<Self, JournalError> {
        todo!()
    }

    /// The coordinator that owns the database; `None` while nobody does.
    #[must_use]
    pub fn owner(&self) -> watch::Receiver<Option<Owner>> {
        self.owner.subscribe()
    }

    /// Keeps the copy up to date until this coordinator may write: it owns the database from then on, until the writer
    /// fails with [`StoreError::TakenOver`](spelrum_store::StoreError::TakenOver), or is closed. An earlier writer must
    /// have been closed or dropped. Dropping the future leaves everything right: call this again to go on.
    ///
    /// # Errors
    /// If the server or the copy fails for good. A server that cannot be reached is waited for.
    pub async fn follow(&mut self) -> Result<Writer, JournalError> {
        todo!()
    }

    /// Lets the others take over at once. Call it after the writer was closed.
    ///
    /// # Errors
    /// If the server cannot be reached: the others take over when they have waited long enough.
    pub async fn release(&mut self) -> Result<(), JournalError> {
        todo!()
    }
}

/// Begins a journal from a database file that no coordinator has open. The file is only read.
///
/// # Errors
/// If the server has a database already, or fails; or if the file cannot be read.
pub async fn share(_address: &Address, _file: &Path) -> Result<(), JournalError> {
    todo!()
}

/// Writes a copy of a shared database as a plain file.
///
/// # Errors
/// If the server has no database, or fails; or if the file exists or cannot be written.
pub async fn fetch(_address: &Address, _to: &Path) -> Result<(), JournalError> {
    todo!()
}
