//! The store: one SQLite file. Only this module knows SQL.

use std::path::Path;

use spelrum_proto::v1;
use spelrum_tournament::scheduler::{CellState, ExperimentState};
use spelrum_tournament::scheduler::{Changes, Snapshot};
use spelrum_tournament::{DefinitionHash, ExperimentId, GameId, LeaseId, Plan, WorkerId};

/// Why the store could not do something. Completes the sentence "failed to …".
#[derive(Debug, thiserror::Error)]
#[error("scaffold")]
pub enum StoreError {}

/// The one writer connection of a results database. There is one in the world: a second
/// coordinator on the same file is refused, or ends itself at its next transaction (the epoch).
#[derive(Debug)]
pub struct Writer {}

/// Read-only connections to a results database; cheap to clone.
#[derive(Clone, Debug)]
pub struct Readers {}

/// An open `BEGIN IMMEDIATE` transaction. Dropped without a commit, it leaves nothing behind.
#[derive(Debug)]
pub struct Transaction<'w> {
    _writer: &'w mut Writer,
}

/// What a submit did.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// The experiment.
    pub experiment: ExperimentId,
    /// Its UUID: of the one that was there, if it existed.
    pub uuid: String,
    /// Whether it existed before, with the same UUID, or the same name and text.
    pub existed: bool,
    /// Its cells as the scheduler needs them; empty if it existed.
    pub cells: Vec<CellState>,
    /// How many games they have together.
    pub games: u64,
}

/// A worker as it introduced itself.
#[derive(Clone, Debug)]
pub struct WorkerIntroduction {
    /// Made by the worker at its start.
    pub uuid: String,
    /// For people.
    pub name: String,
    /// Its machine.
    pub host: String,
    /// Its playing threads.
    pub slots: u32,
    /// What its engine plays.
    pub engine_revision: u32,
    /// Its program's version.
    pub version: String,
}

/// Facts about a game that a worker reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameFacts {
    /// Whether it has a settled result.
    pub settled: bool,
    /// Whether it was ever leased to this worker under the lease it names.
    pub leased: bool,
}

impl Writer {
    /// Opens or creates the database, migrates it, refuses what cannot work (not a database, a
    /// newer schema, read-only, a network file system, another coordinator), raises the epoch.
    ///
    /// # Errors
    /// See [`StoreError`]; nothing is changed then.
    pub async fn open(_path: &Path) -> Result<Self, StoreError> {
        todo!("scaffold")
    }

    /// This run's epoch.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        todo!("scaffold")
    }

    /// Read-only connections to the same file.
    #[must_use]
    pub fn readers(&self) -> Readers {
        todo!("scaffold")
    }

    /// What the scheduler starts from.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn snapshot(&mut self) -> Result<Snapshot, StoreError> {
        todo!("scaffold")
    }

    /// Begins a transaction, and checks the epoch.
    ///
    /// # Errors
    /// If the database is busy, full, or another coordinator has taken it over.
    pub async fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        todo!("scaffold")
    }
}

impl Transaction<'_> {
    /// Stores an experiment with its players and cells, or finds the one that is there.
    ///
    /// # Errors
    /// If the same name is there with another text, or the database fails.
    pub async fn submit(
        &mut self,
        _uuid: &str,
        _toml: &str,
        _plan: &Plan,
    ) -> Result<Submitted, StoreError> {
        todo!("scaffold")
    }

    /// Stores or finds a worker by its UUID.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn introduce(
        &mut self,
        _worker: &WorkerIntroduction,
    ) -> Result<WorkerId, StoreError> {
        todo!("scaffold")
    }

    /// Looks up what the scheduler must know of reported games, in order.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn facts(
        &mut self,
        _worker: WorkerId,
        _games: &[(LeaseId, GameId)],
    ) -> Result<Vec<GameFacts>, StoreError> {
        todo!("scaffold")
    }

    /// Stores settled results, their moves (if the sweep records them) and all rollups.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn store_games(
        &mut self,
        _worker: WorkerId,
        _games: &[v1::Game],
    ) -> Result<(), StoreError> {
        todo!("scaffold")
    }

    /// Keeps other results whole in `uncounted_games`; tells repeats from conflicts itself.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn store_uncounted(
        &mut self,
        _worker: WorkerId,
        _games: &[v1::Game],
        _after_cancel: bool,
    ) -> Result<(), StoreError> {
        todo!("scaffold")
    }

    /// Settles games as failed, with the message.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn settle_failed(&mut self, _games: &[(GameId, String)]) -> Result<(), StoreError> {
        todo!("scaffold")
    }

    /// Stores a new state of an experiment.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn set_state(
        &mut self,
        _experiment: ExperimentId,
        _state: ExperimentState,
    ) -> Result<(), StoreError> {
        todo!("scaffold")
    }

    /// Stores what the scheduler must find again.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn apply(&mut self, _changes: &Changes) -> Result<(), StoreError> {
        todo!("scaffold")
    }

    /// Commits: from here on everything is on disk.
    ///
    /// # Errors
    /// If the database fails; nothing of the transaction is stored then.
    pub async fn commit(self) -> Result<(), StoreError> {
        todo!("scaffold")
    }
}

/// A value in a query's result.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A real.
    Real(f64),
    /// A text.
    Text(String),
    /// A blob.
    Blob(Vec<u8>),
}

/// A query's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<SqlValue>>,
    /// Whether rows were cut off.
    pub truncated: bool,
}

impl Readers {
    /// Opens an existing database for reading only, whether or not a coordinator has it.
    ///
    /// # Errors
    /// If there is none, or it is none.
    pub async fn open(_path: &Path) -> Result<Self, StoreError> {
        todo!("scaffold")
    }

    /// Runs one read-only statement, bounded in rows and time.
    ///
    /// # Errors
    /// If it is no single read-only statement, is wrong, or takes too long.
    pub async fn query(&self, _sql: &str, _rows_max: u32) -> Result<Table, StoreError> {
        todo!("scaffold")
    }

    /// The definition of a cell, by its hash.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn definition(&self, _hash: DefinitionHash) -> Result<Option<String>, StoreError> {
        todo!("scaffold")
    }

    /// All experiments, or the one with this UUID or name.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn experiments(
        &self,
        _which: Option<&str>,
    ) -> Result<Vec<v1::ExperimentSummary>, StoreError> {
        todo!("scaffold")
    }
}
