//! The file of a coordinator that does not write.

use std::path::{Path, PathBuf};
use std::time::Duration;

use spelrum_store::shared::{LocalCopy, Place, schema};
use spelrum_store::{Readers, SqlValue, StoreError};

use crate::base::{at, beside, download, remove, rename, state};
use crate::error::JournalError;
use crate::log::{Database, Log, Replica, State};

/// Where a base is written while it is incomplete.
pub(crate) const INCOMPLETE: &str = "-base";
/// Where a copy is put that may have what the journal has not.
const REPLACED: &str = "-replaced";
/// How often a copy is replaced without a change that could be applied to it.
const REPLACED_TIMES: u32 = 3;

/// How often a copy is tried that another process has, and the wait between.
const HELD_TIMES: u32 = 10;
const HELD_WAIT: Duration = Duration::from_millis(100);

/// A copy at a path.
#[derive(Debug)]
pub(crate) struct LocalReplica {
    path: PathBuf,
    copy: Option<LocalCopy>,
    /// Whether it was downloaded by this process.
    is_fetched: bool,
    /// How often it was replaced since a change was applied.
    replaced: u32,
}

impl LocalReplica {
    /// Opens the copy, which [`check`] has accepted. One that is damaged counts as absent: all of it is in the journal.
    ///
    /// # Errors
    /// If another process has it, or it is not a database of ours.
    pub(crate) async fn open(path: &Path) -> Result<Self, JournalError> {
        let mut left = HELD_TIMES;
        let mut opened = LocalCopy::open(path).await;
        // A call that was dropped may still end.
        while left > 0 && matches!(opened, Err(StoreError::Held { .. })) {
            left -= 1;
            tokio::time::sleep(HELD_WAIT).await;
            opened = LocalCopy::open(path).await;
        }
        let copy = match opened {
            Ok(copy) => copy,
            Err(error) if is_broken(&error) => {
                tracing::warn!("the copy is fetched anew: {error}");
                None
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self { path: path.to_owned(), copy, is_fetched: false, replaced: 0 })
    }

    /// Closes the file, which is complete afterwards; returns what is in it.
    pub(crate) async fn close(self) -> Result<Option<State>, JournalError> {
        let Some(copy) = self.copy else { return Ok(None) };
        let state = state(&copy);
        copy.close().await?;
        Ok(Some(state))
    }
}

/// Refuses a database that this release does not know, and a file that is not a copy of it, without a change to the file.
pub(crate) async fn check(path: &Path, database: Option<&Database>) -> Result<(), JournalError> {
    let other = || JournalError::OtherDatabase { path: path.to_owned() };
    if let Some(database) = database {
        check_schema(database)?;
    }
    if !path.exists() {
        return Ok(());
    }
    let (uuid, followed) = match Readers::open(path).await {
        Ok(readers) => {
            let uuid = readers.query("SELECT uuid FROM databases", 1).await;
            let followed =
                readers.query("SELECT 1 FROM databases WHERE journal_number > 0", 1).await;
            readers.close().await;
            // An older release's file has no such column.
            (uuid, followed.is_ok_and(|table| !table.rows.is_empty()))
        }
        Err(error) => (Err(error), false),
    };
    let Some(database) = database else {
        let path = path.to_owned();
        let empty = JournalError::EmptyJournal { path: path.clone() };
        return Err(if followed { empty } else { JournalError::OtherDatabase { path } });
    };
    match uuid {
        Ok(table) => match table.rows.first().and_then(|row| row.first()) {
            Some(SqlValue::Text(uuid)) if **uuid == *database.uuid => Ok(()),
            _ => Err(other()),
        },
        // Whatever it is, it is kept beside the copy that replaces it.
        Err(error) if is_broken(&error) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn check_schema(database: &Database) -> Result<(), JournalError> {
    if database.schema > schema() {
        return Err(JournalError::NewerSchema { schema: database.schema, known: schema() });
    }
    Ok(())
}

/// A name beside the copy that no file has.
fn replaced(path: &Path) -> PathBuf {
    let names = (2..).map(|number| format!("{REPLACED}-{number}"));
    let mut files = std::iter::once(REPLACED.to_owned()).chain(names);
    let is_free = |file: &PathBuf| {
        [file.clone(), beside(file, "-wal")].iter().all(|file| file.symlink_metadata().is_err())
    };
    let free = files.find_map(|suffix| Some(beside(path, &suffix)).filter(is_free));
    // The numbers do not end.
    free.unwrap_or_else(|| beside(path, REPLACED))
}

/// Whether only another copy helps.
fn is_broken(error: &StoreError) -> bool {
    error.is_damage() || matches!(error, StoreError::LogLost { .. })
}

impl Replica for LocalReplica {
    fn state(&self) -> Option<State> {
        let mut state = state(self.copy.as_ref()?);
        // A file that no change was ever applied to may have changed apart from the journal since it was shared.
        if state.place.number == 0 && !self.is_fetched {
            state.place.number = -1;
        }
        Some(state)
    }

    async fn apply(&mut self, changes: Vec<(Place, Vec<u8>)>) -> Result<(), JournalError> {
        let Some(copy) = &mut self.copy else { return Ok(()) };
        match copy.apply(changes).await {
            Ok(()) => self.replaced = 0,
            Err(error)
                if self.replaced < REPLACED_TIMES
                    && (is_broken(&error) || matches!(error, StoreError::Journal { .. })) =>
            {
                tracing::warn!("the copy is fetched anew: {error}");
                self.copy = None;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn replace<L: Log>(
        &mut self,
        log: &mut L,
        database: &Database,
        is_known: bool,
    ) -> Result<bool, JournalError> {
        check_schema(database)?;
        if self.copy.as_ref().is_some_and(|copy| copy.database_uuid() != database.uuid) {
            return Err(JournalError::OtherDatabase { path: self.path.clone() });
        }
        let incomplete = beside(&self.path, INCOMPLETE);
        if !download(log, &database.base, &incomplete).await? {
            remove(&incomplete)?;
            return Ok(false);
        }
        let is_known = is_known && self.copy.is_some();
        if let Some(copy) = self.copy.take() {
            // What it lacks is in the journal, or in the log that is kept with it.
            let _ = copy.close().await;
        }
        if !is_known && self.path.exists() {
            let replaced = replaced(&self.path);
            rename(&self.path, &replaced)?;
            let log = beside(&self.path, "-wal");
            if log.exists() {
                rename(&log, &beside(&replaced, "-wal"))?;
            }
            tracing::warn!(
                "the copy {} is not known to be in the journal: it is {} from now on, and the journal's database is \
                 fetched",
                self.path.display(),
                replaced.display()
            );
        }
        remove(&self.path)?;
        rename(&incomplete, &self.path)?;
        self.replaced += 1;
        self.is_fetched = true;
        self.copy = LocalCopy::open(&self.path).await?;
        match &self.copy {
            Some(copy) if copy.database_uuid() == database.uuid => Ok(true),
            Some(_) => {
                let problem = "it is of another database".to_owned();
                Err(JournalError::DamagedBase { problem })
            }
            None => Err(at(&self.path)(std::io::ErrorKind::NotFound.into())),
        }
    }
}
