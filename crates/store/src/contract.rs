//! The interface between the dispatcher and a store: SQLite behind a coordinator, memory in tests.
//!
//! A store keeps and finds records; it makes no decision that another store could make differently. Decisions are pure
//! functions of `spelrum_model`, or belong to the scheduler.
//!
//! **Ownership.** One coordinator at a time owns an experiment: only the owner leases its games and accepts their
//! results. Ownership lasts for a [`Term`]. Terms only grow and a later owner has the greater one, so a replaced
//! coordinator notices at its next transaction and writes nothing more. With SQLite, the coordinator that opened a
//! file last owns all its experiments. A store shared by several coordinators would keep a term for each experiment;
//! this interface would stay the same.

use std::collections::BTreeSet;
use std::future::Future;

use spelrum_answers::Removing;
use spelrum_model::ExperimentState;
use spelrum_model::course::Noted;
use spelrum_model::speed::Speed;
use spelrum_model::withheld::Barred;
use spelrum_model::{
    CellId, ExperimentId, FinishedTraining, GameId, LeaseId, Plan, PlayedGame, PlayedVerification,
    WorkerId,
};
use spelrum_scheduling::course::CellOutcome;
use spelrum_scheduling::scheduler::{CellState, Changes, Snapshot};

use crate::error::StoreError;
use crate::write::barred_workers::StoppedForForfeits;
use crate::write::courses::OpenCourse;
use crate::write::exclusion::{Excludable, TakenOut};
use crate::write::experiments::{Found, OtherRevision};
use crate::write::leased_cells::LeasedCell;
use crate::write::refused_results::Refused;
use crate::write::removal::Removed;
use crate::write::reported_games::GameFacts;
use crate::write::retry::Retry;
use crate::write::scheduling::LeaseHolder;
use crate::write::submit::{Submitted, Sweep};
use crate::write::verifications::{Deviation, ToVerify};
use crate::write::workers::{WorkerIntroduction, WorkerProof};

/// The term for which a coordinator owns experiments; the greatest term of a store is the owner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term(pub i64);

/// A store with the right to write to it.
pub trait Store: Send {
    /// The store's transactions.
    type Transaction<'s>: WriteTransaction + 's
    where
        Self: 's;

    /// The term for which this coordinator owns its experiments.
    fn term(&self) -> Term;

    /// Begins a transaction. Dropping it without a commit leaves nothing behind.
    ///
    /// # Errors
    /// [`StoreError::TakenOver`] if another coordinator owns the experiments now, or if the store fails.
    fn begin(&mut self) -> impl Future<Output = Result<Self::Transaction<'_>, StoreError>> + Send;

    /// The scheduler's initial state: all owned experiments that are not over.
    ///
    /// # Errors
    /// If the store fails.
    fn snapshot(&mut self) -> impl Future<Output = Result<Snapshot, StoreError>> + Send;

    /// The workers that hold live leases, by id.
    ///
    /// # Errors
    /// If the store fails.
    fn lease_holders(
        &mut self,
    ) -> impl Future<Output = Result<Vec<LeaseHolder>, StoreError>> + Send;

    /// Unfinished experiments of another revision of the engine.
    ///
    /// # Errors
    /// If the store fails.
    fn unfinished_of_other_revisions(
        &mut self,
        engine_revision: u32,
    ) -> impl Future<Output = Result<Vec<OtherRevision>, StoreError>> + Send;

    /// The owned experiments whose courses are still open.
    ///
    /// # Errors
    /// If the store fails.
    fn open_courses(&mut self) -> impl Future<Output = Result<Vec<OpenCourse>, StoreError>> + Send;

    /// Whether a removal is in progress, or its disk space has yet to be released.
    ///
    /// # Errors
    /// If the store fails.
    fn is_removing(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Whether any worker's results are being discarded.
    ///
    /// # Errors
    /// If the store fails.
    fn is_excluding(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Releases some of the disk space of removed rows; returns whether more is left.
    ///
    /// # Errors
    /// If the store fails.
    fn shrink(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Waits until any reader or writer finds the store damaged; nothing is committed after that.
    fn damaged(&self) -> impl Future<Output = StoreError> + Send;

    /// Whether the store should pause between two transactions for upkeep.
    fn is_upkeep_due(&self) -> bool;

    /// Runs the upkeep; returns whether it is done or a reader blocks it.
    ///
    /// # Errors
    /// If the store fails; nothing is lost then.
    fn upkeep(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// A transaction: all of it is stored, or nothing.
pub trait WriteTransaction: Send {
    /// Stores a sweep as an experiment, finds the existing one, or updates that one to the sweep. The scheduler's
    /// pending changes of cells must be stored first. A refusal leaves the transaction as it was, still usable.
    ///
    /// # Errors
    /// If the existing experiment cannot grow (cancelled, of another engine, with no cell in common), a number is too
    /// large, or the store fails.
    fn submit(
        &mut self,
        sweep: Sweep<'_>,
    ) -> impl Future<Output = Result<Submitted, StoreError>> + Send;

    /// The experiment with this UUID or name. If several share the name: the newest that is not over, else the newest.
    ///
    /// # Errors
    /// If the store fails.
    fn experiment(
        &mut self,
        which: &str,
    ) -> impl Future<Output = Result<Option<Found>, StoreError>> + Send;

    /// Stores an experiment's new state.
    ///
    /// # Errors
    /// If the store fails.
    fn set_state(
        &mut self,
        experiment: ExperimentId,
        state: ExperimentState,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores an experiment's new priority.
    ///
    /// # Errors
    /// If the store fails.
    fn set_priority(
        &mut self,
        experiment: ExperimentId,
        priority: i32,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Records that an experiment has a course, so it does not finish with its games.
    ///
    /// # Errors
    /// If the store fails.
    fn open_course(
        &mut self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Appends the cells of a plan that an experiment's course asked for after receiving this many results. Returns
    /// `None` and stores nothing if the experiment already has one of the cells.
    ///
    /// # Errors
    /// If a number is too large, or the store fails.
    fn add_cells(
        &mut self,
        experiment: ExperimentId,
        plan: &Plan,
        results_before: u64,
    ) -> impl Future<Output = Result<Option<Vec<CellState>>, StoreError>> + Send;

    /// Stores a settled cell's result as the course receives it: once.
    ///
    /// # Errors
    /// If the store fails.
    fn tell(
        &mut self,
        cell: CellId,
    ) -> impl Future<Output = Result<CellOutcome, StoreError>> + Send;

    /// Stores facts about an experiment's course; existing ones stay.
    ///
    /// # Errors
    /// If a number is too large, or the store fails.
    fn note(
        &mut self,
        experiment: ExperimentId,
        notes: &[Noted],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Records that an experiment's course has ended.
    ///
    /// # Errors
    /// If the store fails.
    fn end_course(
        &mut self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Withdraws the results of an experiment's failed games for replay: those that count, in cells that its sweep
    /// names. Clears their attempts; the stop rules of their cells start again from the first unit. The scheduler's
    /// pending changes of cells must be stored first.
    ///
    /// # Errors
    /// [`StoreError::HasCourse`] if the experiment has a course of its own, or if the store fails.
    fn retry_failed(
        &mut self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<Retry, StoreError>> + Send;

    /// Workers that match an id or a name, and the effect of excluding them from one experiment or all.
    ///
    /// # Errors
    /// If the store fails.
    fn excludable(
        &mut self,
        which: &str,
        from: Option<ExperimentId>,
    ) -> impl Future<Output = Result<Excludable, StoreError>> + Send;

    /// Begins discarding a worker's results in one experiment or all; none of them count from now on. Games that began
    /// before a given time by the worker's clock stay. Repeating the call changes nothing.
    ///
    /// # Errors
    /// If the store fails.
    fn begin_exclusion(
        &mut self,
        worker: WorkerId,
        from: Option<ExperimentId>,
        since_unix_us: Option<i64>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Readmits workers, and the later starts of them that were excluded with them: to everything they were excluded
    /// from, or only to an engine's games. Returns their ids in order.
    ///
    /// # Errors
    /// If the store fails.
    fn readmit(
        &mut self,
        workers: &[WorkerId],
        engine: Option<&str>,
    ) -> impl Future<Output = Result<Vec<WorkerId>, StoreError>> + Send;

    /// Bars a worker from an engine: its results with that engine are discarded and new ones do not count. Repeating
    /// the call changes nothing.
    ///
    /// # Errors
    /// If the store fails.
    fn bar(
        &mut self,
        worker: WorkerId,
        barred: &Barred,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Bars a worker that has had no lease yet from the engines that a worker of the same name and host is barred
    /// from. Returns the engines' names.
    ///
    /// # Errors
    /// If the store fails.
    fn inherit_bars(
        &mut self,
        worker: WorkerId,
    ) -> impl Future<Output = Result<Vec<Barred>, StoreError>> + Send;

    /// The engines of a game's two players, by their names in sweeps; the first to move comes first.
    ///
    /// # Errors
    /// If the store fails.
    fn engines_of_sides(
        &mut self,
        game: GameId,
    ) -> impl Future<Output = Result<[Option<String>; 2], StoreError>> + Send;

    /// Pauses running experiments with these cells in which a player has forfeited more games than the sweep allows.
    ///
    /// # Errors
    /// If the store fails.
    fn stop_for_forfeits(
        &mut self,
        cells: &[CellId],
    ) -> impl Future<Output = Result<Vec<StoppedForForfeits>, StoreError>> + Send;

    /// Excludes a worker that has had no lease yet from whatever a worker of the same name and host is excluded from.
    /// Returns these exclusions.
    ///
    /// # Errors
    /// If the store fails.
    fn inherit_exclusions(
        &mut self,
        worker: WorkerId,
    ) -> impl Future<Output = Result<Vec<Option<ExperimentId>>, StoreError>> + Send;

    /// Discards a batch of the results due for discarding. The scheduler's pending changes of cells must be stored
    /// first. `None`: nothing is left to discard.
    ///
    /// # Errors
    /// If the store fails.
    fn exclude_some(
        &mut self,
    ) -> impl Future<Output = Result<Option<Vec<TakenOut>>, StoreError>> + Send;

    /// The scheduler's state of an experiment that it has dropped from memory, without the games.
    ///
    /// # Errors
    /// If the store fails.
    fn reload_experiment(
        &mut self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<Retry, StoreError>> + Send;

    /// Makes the transaction write, so that its commit shows whether the store is writable.
    ///
    /// # Errors
    /// If the store fails.
    fn touch(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores or finds a worker by its UUID.
    ///
    /// # Errors
    /// If the store fails.
    fn introduce(
        &mut self,
        worker: &WorkerIntroduction,
    ) -> impl Future<Output = Result<WorkerId, StoreError>> + Send;

    /// How the worker with this UUID proves its identity; `None` if there is no such worker.
    ///
    /// # Errors
    /// If the store fails.
    fn worker_proof(
        &mut self,
        uuid: &str,
    ) -> impl Future<Output = Result<Option<WorkerProof>, StoreError>> + Send;

    /// Stores the SHA-256 of a worker's secret.
    ///
    /// # Errors
    /// If the store fails.
    fn keep_worker_secret(
        &mut self,
        worker: WorkerId,
        sha256: [u8; 32],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores a worker's measurements of its machine, each once however often it is reported.
    ///
    /// # Errors
    /// If the store fails.
    fn store_speeds(
        &mut self,
        worker: WorkerId,
        speeds: &[Speed],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The details of cells that a worker needs, in order.
    ///
    /// # Errors
    /// If a cell is missing, or the store fails.
    fn leased_cells(
        &mut self,
        cells: &[CellId],
    ) -> impl Future<Output = Result<Vec<LeasedCell>, StoreError>> + Send;

    /// The scheduler's facts about reported games, in order: each game with its worker and the lease it names.
    ///
    /// # Errors
    /// If the store fails.
    fn facts(
        &mut self,
        games: &[(WorkerId, LeaseId, GameId)],
    ) -> impl Future<Output = Result<Vec<GameFacts>, StoreError>> + Send;

    /// Stores results that count (invariant 4). A game that already has its settled result, or comes twice, is kept
    /// beside that result instead.
    ///
    /// # Errors
    /// If a game is not one that an engine reports ([`PlayedGame::check`]), or the store fails.
    fn store_games(
        &mut self,
        games: &[(WorkerId, PlayedGame)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores other results completely, each with the reason why it does not count: it came after a cancel, or the
    /// outcome of comparing it with the settled result ([`spelrum_model::repeat::compare`]).
    ///
    /// # Errors
    /// If a game is not one that an engine reports, or the store fails.
    fn store_uncounted(
        &mut self,
        games: &[(WorkerId, PlayedGame)],
        after_cancel: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores complete results of disturbed games that will be replayed: each once, by the lease under which it was
    /// reported.
    ///
    /// # Errors
    /// If a game is not one that an engine reports, or the store fails.
    fn store_disturbed(
        &mut self,
        games: &[(WorkerId, LeaseId, PlayedGame)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores trained networks (invariant 4); an existing one stays.
    ///
    /// # Errors
    /// If the store fails.
    fn store_trainings(
        &mut self,
        trainings: &[(WorkerId, FinishedTraining)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps a bounded part of each result that is not a valid record of its game, once; returns for each whether it
    /// is new.
    ///
    /// # Errors
    /// If the store fails.
    fn keep_refused(
        &mut self,
        refused: &[Refused],
    ) -> impl Future<Output = Result<Vec<bool>, StoreError>> + Send;

    /// Orders replays of an experiment's games on other workers, each in a cell of its own; returns the new cells.
    /// Skips games that already wait for verification or whose results no longer exist.
    ///
    /// # Errors
    /// If the store fails.
    fn order_verifications(
        &mut self,
        experiment: ExperimentId,
        games: &[ToVerify],
    ) -> impl Future<Output = Result<Vec<CellState>, StoreError>> + Send;

    /// Stores verdicts of verifications, each with the worker that replayed the game; returns those that differ. An
    /// existing verdict stays.
    ///
    /// # Errors
    /// If the store fails.
    fn store_verifications(
        &mut self,
        verifications: &[(WorkerId, PlayedVerification)],
    ) -> impl Future<Output = Result<Vec<Deviation>, StoreError>> + Send;

    /// Stores workers' messages about failed games: the last message of each game stays.
    ///
    /// # Errors
    /// If the store fails.
    fn note_failures(
        &mut self,
        games: &[(GameId, String)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Settles games as failed, with the message. They have no outcome and never count; a game that already has a
    /// settled result is unchanged.
    ///
    /// # Errors
    /// If the store fails.
    fn settle_failed(
        &mut self,
        games: &[(GameId, String)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores the scheduler's state for its next start.
    ///
    /// # Errors
    /// If the store fails.
    fn apply(&mut self, changes: &Changes) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Begins removing an experiment, or only its moves. `games` is the number of games concerned, for showing
    /// progress. The experiment's games become unleased.
    ///
    /// # Errors
    /// If the store fails.
    fn begin_removal(
        &mut self,
        experiment: ExperimentId,
        what: Removing,
        games: u64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes a small batch of a removal in progress.
    ///
    /// # Errors
    /// If the store fails.
    fn remove_some(&mut self) -> impl Future<Output = Result<Removed, StoreError>> + Send;

    /// Examines some leases after this one, and deletes those that ended before the latest `kept` ones were granted
    /// and that no worker can report for: all their games have a result, or their experiments are over. Later reports
    /// under a deleted lease are rejected (invariant 6).
    ///
    /// Returns the last lease examined, or `None` if none was left.
    ///
    /// # Errors
    /// If the store fails.
    fn forget_leases(
        &mut self,
        after: LeaseId,
        kept: u64,
    ) -> impl Future<Output = Result<Option<LeaseId>, StoreError>> + Send;

    /// Examines some workers after this one, and deletes those whose last Hello was before this wall-clock time, that
    /// are not among the `known`, and to which no lease and no result refers. A deleted worker that says Hello again
    /// is a new one: ids are never reused.
    ///
    /// Returns the last worker examined, or `None` if none was left.
    ///
    /// # Errors
    /// If the store fails.
    fn forget_workers(
        &mut self,
        after: WorkerId,
        before_unix_us: i64,
        known: &BTreeSet<WorkerId>,
    ) -> impl Future<Output = Result<Option<WorkerId>, StoreError>> + Send;

    /// Commits; everything is on disk once this returns.
    ///
    /// # Errors
    /// If the store fails; nothing of the transaction is stored then.
    fn commit(self) -> impl Future<Output = Result<(), StoreError>> + Send;
}
