//! A coordinator as a member of those that share a database.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use spelrum_store::shared::schema;
use spelrum_store::{BackupError, StoreError, Writer};
use tokio::sync::watch;
use uuid::Uuid;

use crate::address::Address;
use crate::base::{Temporary, at, beside, remove, rename, settle, snapshot};
use crate::error::JournalError;
use crate::log::{Claim, Log as _, catch_up, follow};
use crate::owner::Owner;
use crate::ownership::Ownership;
use crate::patience::{Patience, SILENCE};
use crate::replica::{INCOMPLETE, LocalReplica, check};
use crate::server::Server;
use crate::tables::{check_readable, prepare};
use crate::trouble::Trouble;

/// Wait after an attempt to own the database that failed.
const AGAIN: Duration = Duration::from_secs(1);

/// A coordinator that shares a database.
#[derive(Debug)]
pub struct Member {
    server: Server,
    path: PathBuf,
    claim: Claim,
    owner: watch::Sender<Option<Owner>>,
    silence: Duration,
    /// The term of the last takeover.
    term: Option<i64>,
}

impl Member {
    /// Connects, checks the server and the copy, and creates the journal's tables if they are absent.
    ///
    /// # Errors
    /// If the server cannot be reached, refuses, or does not suit, or the file is not a copy of its database.
    pub async fn join(address: &Address, copy: &Path, me: Owner) -> Result<Self, JournalError> {
        let mut server = Server::new(address.clone());
        prepare(&mut server).await?;
        let head = server.head().await?;
        check(copy, head.database.as_ref()).await?;
        LocalReplica::open(copy).await?.close().await?;
        let owner = watch::Sender::new(head.current_owner());
        let claim = Claim { holder: Uuid::new_v4().to_string(), owner: me };
        Ok(Self { server, path: copy.to_owned(), claim, owner, silence: SILENCE, term: None })
    }

    /// Takes over after another silence of the owner than 5 s: for tests. An owner is heard of every second.
    #[must_use]
    pub fn with_silence(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// The coordinator that owns the database; `None` while none does.
    #[must_use]
    pub fn owner(&self) -> watch::Receiver<Option<Owner>> {
        self.owner.subscribe()
    }

    /// Keeps the copy up to date until this coordinator may write: it owns the database from then on, until the writer
    /// fails with [`StoreError::TakenOver`], or is closed. An earlier writer must have been closed or dropped. Dropping
    /// the future leaves everything right: call this again to go on.
    ///
    /// # Errors
    /// If the server or the copy fails for good. A server that cannot be reached is waited for.
    pub async fn follow(&mut self) -> Result<Writer, JournalError> {
        let mut opening = Trouble::new("to open the copy");
        let mut taking = Trouble::new("to take the database over");
        loop {
            let mut replica = match LocalReplica::open(&self.path).await {
                Ok(replica) => replica,
                Err(error) if !error.is_lasting() => {
                    opening.met(&error);
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            opening.over();
            let mut patience = Patience::new(self.silence);
            let (owner, server) = (&self.owner, &mut self.server);
            let publish = |current: Option<Owner>| {
                owner.send_if_modified(|owner| {
                    let is_other = *owner != current;
                    *owner = current;
                    is_other
                });
            };
            let following = follow(server, &mut replica, &mut patience, &self.claim, publish).await;
            if matches!(following, Err(JournalError::NoDatabase)) {
                return Err(JournalError::EmptyJournal { path: self.path.clone() });
            }
            let term = following?;
            self.term = Some(term);
            match self.own(term, replica).await {
                Ok(writer) => {
                    taking.over();
                    self.owner.send_replace(Some(self.claim.owner.clone()));
                    return Ok(writer);
                }
                Err(
                    error @ (JournalError::TakenOver { .. }
                    | JournalError::Store(
                        StoreError::TakenOver { .. } | StoreError::Journal { .. },
                    )),
                ) => taking.met(&error),
                Err(error) if error.is_passing_at_copy() => {
                    taking.met(&error);
                    // Others may have more luck: they get the time for it.
                    let _ = self.release().await;
                    tokio::time::sleep(SILENCE).await;
                }
                Err(error) if !error.is_lasting() => {
                    taking.met(&error);
                }
                Err(error) => {
                    // Others may have more luck.
                    let _ = self.release().await;
                    return Err(error);
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Opens the copy, which has all changes of the journal, for writing under this term.
    async fn own(&mut self, term: i64, replica: LocalReplica) -> Result<Writer, JournalError> {
        let (mut ownership, bases) = Ownership::begin(
            self.server.address(),
            term,
            self.claim.owner.clone(),
            self.owner.clone(),
        );
        let state = replica.close().await?;
        match state {
            None => {
                // Nobody has made a database yet. It gets its name when it is in the journal: otherwise a coordinator that
                // is killed between would leave a database that is not the journal's.
                let incomplete = beside(&self.path, INCOMPLETE);
                remove(&incomplete)?;
                Writer::open(&incomplete).await?.close().await?;
                let state = settle(&incomplete).await?;
                ownership.upload(&incomplete, state).await?;
                rename(&incomplete, &self.path)?;
            }
            Some(state) if state.schema < schema() => {
                // Opening migrates. No changes say how, so that the migrated file becomes the base with the same number:
                // from then on, the head has the greater schema, and each other copy is replaced by this base before it
                // gets a change of the new schema. If this coordinator ends before, its own copy is replaced, too.
                Writer::migrate_copy(&self.path).await?;
                let migrated = settle(&self.path).await?;
                ownership.upload(&self.path, migrated).await?;
            }
            Some(_) => {}
        }
        let writer = Writer::open_shared(&self.path, Box::new(ownership)).await?;
        bases.begin(writer.readers());
        Ok(writer)
    }

    /// Lets the others take over at once. Call it after the writer was closed.
    ///
    /// # Errors
    /// If the server cannot be reached: the others take over when they have waited long enough.
    pub async fn release(&mut self) -> Result<(), JournalError> {
        let Some(term) = self.term.take() else { return Ok(()) };
        self.server.release(term, &self.claim.holder).await?;
        self.owner.send_if_modified(|owner| {
            let is_this = owner.as_ref() == Some(&self.claim.owner);
            owner.take_if(|_| is_this);
            is_this
        });
        Ok(())
    }
}

/// Begins a journal from a database file that no coordinator has open. Opening migrates the file; it is otherwise left as
/// it is, and is not a copy of the shared database.
///
/// # Errors
/// If the server has a database already, or fails; or if the file cannot be read.
pub async fn share(address: &Address, file: &Path) -> Result<(), JournalError> {
    let mut server = Server::new(address.clone());
    prepare(&mut server).await?;
    let in_use = || JournalError::InUse { path: file.to_owned() };
    if server.head().await?.database.is_some() {
        return Err(in_use());
    }
    if !file.exists() {
        return Err(StoreError::MissingDatabase { path: file.to_owned() }.into());
    }
    let holder = Uuid::new_v4().to_string();
    let copy = Temporary(beside(file, &format!("-upload-{holder}")));
    let writer = Writer::open(file).await?;
    let copied = snapshot(writer.readers(), &copy.0, || false).await;
    writer.close().await?;
    let state = copied?;
    // A coordinator that makes a database at this moment loses its term, and follows this one.
    let head = server.head().await?;
    let owner = Owner { name: "spelrum share".to_owned(), address: String::new() };
    let claim = Claim { holder, owner };
    let taken = match head.database {
        None => server.take(&head, state.place.term, &claim).await?,
        Some(_) => None,
    };
    let term = taken.ok_or_else(in_use)?;
    let published = watch::Sender::new(None);
    let (mut ownership, _) = Ownership::begin(address, term, claim.owner.clone(), published);
    let uploaded = ownership.upload(&copy.0, state).await;
    let released = server.release(term, &claim.holder).await;
    uploaded.and(released)
}

/// Writes a copy of a shared database as a plain file.
///
/// # Errors
/// If the server has no database, or fails; or if the file exists or cannot be written.
pub async fn fetch(address: &Address, to: &Path) -> Result<(), JournalError> {
    // The place in the header of a copy's mark (sqlite.org/fileformat2.html#database_header): whoever opens the file for
    // writing gives it an id of its own.
    const USER_VERSION: (u64, [u8; 4]) = (60, 1_u32.to_be_bytes());
    let exists = || BackupError::Exists { to: to.to_owned(), there: to.to_owned() };
    if to.symlink_metadata().is_ok() {
        return Err(exists().into());
    }
    let mut server = Server::new(address.clone());
    check_readable(&mut server).await?;
    if server.head().await?.database.is_none() {
        return Err(JournalError::NoDatabase);
    }
    let temporary = Temporary(beside(to, "-unfinished"));
    let incomplete = &temporary.0;
    remove(incomplete)?;
    let mut replica = LocalReplica::open(incomplete).await?;
    catch_up(&mut server, &mut replica).await?;
    replica.close().await?;
    let file = OpenOptions::new().write(true).open(incomplete).map_err(at(incomplete))?;
    let (offset, mark) = USER_VERSION;
    file.write_all_at(&mark, offset).and_then(|()| file.sync_all()).map_err(at(incomplete))?;
    // A link is made only where there is no file.
    match std::fs::hard_link(incomplete, to) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists().into()),
        Err(_) => rename(incomplete, to),
        Ok(()) => remove(incomplete),
    }
}
