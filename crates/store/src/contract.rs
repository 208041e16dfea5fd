//! What the dispatcher and viewers ask of a store, whichever it is: SQLite behind a coordinator, memory
//! in tests.
//!
//! The store keeps and finds; it decides nothing that another store might decide otherwise. Decisions
//! are pure functions of `spelrum_model`, or the scheduler's.
//!
//! **Ownership.** An experiment is owned by one coordinator at a time: only its owner leases its games
//! and takes their results in. A coordinator owns what it owns for a [`Term`]; terms only grow, and
//! whoever owns later has the greater one, so that a coordinator that was replaced finds out at its
//! next transaction and writes nothing more. With SQLite all experiments of a file have one owner,
//! whoever opened it last. A store that several coordinators share would keep a term for each
//! experiment; what is asked here stays the same.

use std::collections::BTreeSet;
use std::future::Future;

use spelrum_answers::Removing;
use spelrum_answers::{
    CellCursor, CellsPage, Comparisons, Detail, ExperimentSummary, ExperimentsPage, FoundGame,
    GameCursor, GamesPage, GamesQuestion, OpeningCursor, OpeningsPage, Overview, Phases, Progress,
    Ratings, Report, SettledCells, WhichGame,
};
use spelrum_model::ExperimentState;
use spelrum_model::course::Noted;
use spelrum_model::speed::Speed;
use spelrum_model::withheld::Barred;
use spelrum_model::{
    CellId, DefinitionHash, ExperimentId, FinishedTraining, GameId, LeaseId, Plan, PlayedGame,
    PlayedVerification, WorkerId,
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

/// For how long a coordinator owns experiments: the greatest term of a store owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term(pub i64);

/// A store with the right to write to it.
pub trait Store: Send {
    /// Its transactions.
    type Transaction<'s>: WriteTransaction + 's
    where
        Self: 's;

    /// The term for which this coordinator owns its experiments.
    fn term(&self) -> Term;

    /// Begins a transaction. One that is dropped without a commit leaves nothing behind.
    ///
    /// # Errors
    /// [`StoreError::TakenOver`] if another coordinator owns the experiments now, or if the store fails.
    fn begin(&mut self) -> impl Future<Output = Result<Self::Transaction<'_>, StoreError>> + Send;

    /// What the scheduler starts from: all owned experiments that are not over.
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

    /// The unfinished experiments that are not of this revision of the engine.
    ///
    /// # Errors
    /// If the store fails.
    fn unfinished_of_other_revisions(
        &mut self,
        engine_revision: u32,
    ) -> impl Future<Output = Result<Vec<OtherRevision>, StoreError>> + Send;

    /// The owned experiments whose courses go on.
    ///
    /// # Errors
    /// If the store fails.
    fn open_courses(&mut self) -> impl Future<Output = Result<Vec<OpenCourse>, StoreError>> + Send;

    /// Whether something is being removed, or room that it took is still to be given back.
    ///
    /// # Errors
    /// If the store fails.
    fn is_removing(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Whether some worker's results are being taken out.
    ///
    /// # Errors
    /// If the store fails.
    fn is_excluding(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Gives back some of the room that removed rows took; returns whether there is more to do.
    ///
    /// # Errors
    /// If the store fails.
    fn shrink(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Waits until the store is found damaged, by whomever reads or writes it: nothing is committed from then on.
    fn damaged(&self) -> impl Future<Output = StoreError> + Send;

    /// Whether the store should pause between two transactions for what it has to do for itself.
    fn is_upkeep_due(&self) -> bool;

    /// Does it; returns whether it is done, or somebody who reads is in its way.
    ///
    /// # Errors
    /// If the store fails; nothing is lost then.
    fn upkeep(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// What viewers ask of a store, whether or not a coordinator writes to it. Each answer is of one moment.
/// The statistics are over games that count, those of cells over cells that the sweep names.
pub trait Reading: Send + Sync {
    /// A part of the list of all experiments, oldest first: from the first on, or after this one.
    ///
    /// # Errors
    /// If the store fails.
    fn experiments(
        &self,
        after: Option<ExperimentId>,
        experiments_max: u32,
    ) -> impl Future<Output = Result<ExperimentsPage, StoreError>> + Send;

    /// The experiment with this UUID or name, as [`WriteTransaction::experiment`] finds it.
    ///
    /// # Errors
    /// If the store fails.
    fn experiment(
        &self,
        which: &str,
    ) -> impl Future<Output = Result<Option<ExperimentSummary>, StoreError>> + Send;

    /// How far an experiment is; nothing if it is not there.
    ///
    /// # Errors
    /// If the store fails.
    fn progress(
        &self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<Option<Progress>, StoreError>> + Send;

    /// The results of the experiment with this UUID or name; nothing if there is none.
    ///
    /// # Errors
    /// If it has too many results for one answer, or the store fails.
    fn report(
        &self,
        which: &str,
        detail: Detail,
    ) -> impl Future<Output = Result<Option<Report>, StoreError>> + Send;

    /// A part of what came of an experiment's cells by opening, in the grid's order: from the first on, or
    /// after this one.
    ///
    /// # Errors
    /// If the store fails.
    fn openings(
        &self,
        experiment: ExperimentId,
        after: Option<OpeningCursor>,
        openings_max: u32,
    ) -> impl Future<Output = Result<OpeningsPage, StoreError>> + Send;

    /// What changes between the cells of the experiment with this UUID or name; nothing if there is none.
    ///
    /// # Errors
    /// If the store fails.
    fn comparisons(
        &self,
        which: &str,
    ) -> impl Future<Output = Result<Option<Comparisons>, StoreError>> + Send;

    /// How the games of the experiment with this UUID or name were played; nothing if there is no such experiment.
    ///
    /// # Errors
    /// If it has too many cells and lengths of games for one answer, or the store fails.
    fn overview(
        &self,
        which: &str,
    ) -> impl Future<Output = Result<Option<Overview>, StoreError>> + Send;

    /// How long moves took by phase in the cells of the experiment with this UUID or name; nothing if there is
    /// none.
    ///
    /// # Errors
    /// If it has too many cells and phases for one answer, or the store fails.
    fn phases(
        &self,
        which: &str,
    ) -> impl Future<Output = Result<Option<Phases>, StoreError>> + Send;

    /// The ratings of the players of the experiment with this UUID or name; nothing if there is none.
    ///
    /// # Errors
    /// If it has more games or players than are rated, or the store fails.
    fn ratings(
        &self,
        which: &str,
    ) -> impl Future<Output = Result<Option<Ratings>, StoreError>> + Send;

    /// A part of an experiment's cells, in the grid's order: from the first on, or after this one.
    ///
    /// # Errors
    /// If the store fails.
    fn cells(
        &self,
        experiment: ExperimentId,
        after: Option<CellCursor>,
        cells_max: u32,
    ) -> impl Future<Output = Result<CellsPage, StoreError>> + Send;

    /// The cells of an experiment without a game to play, of those that got a result after the game with
    /// this id, in the order of their last games.
    ///
    /// # Errors
    /// If the store fails.
    fn settled_cells(
        &self,
        experiment: ExperimentId,
        after_game_id: i64,
        cells_max: u32,
    ) -> impl Future<Output = Result<SettledCells, StoreError>> + Send;

    /// A part of a list of settled games: from the first on, or after this one.
    ///
    /// # Errors
    /// If the store fails.
    fn games(
        &self,
        question: GamesQuestion,
        after: Option<GameCursor>,
        games_max: u32,
    ) -> impl Future<Output = Result<GamesPage, StoreError>> + Send;

    /// A settled game, whole, or why there is none.
    ///
    /// # Errors
    /// If the store fails.
    fn game(&self, which: WhichGame) -> impl Future<Output = Result<FoundGame, StoreError>> + Send;

    /// The definition of a cell, by its hash, as canonical JSON.
    ///
    /// # Errors
    /// If the store fails.
    fn definition(
        &self,
        hash: DefinitionHash,
    ) -> impl Future<Output = Result<Option<String>, StoreError>> + Send;

    /// The definition of a cell, by its id.
    ///
    /// # Errors
    /// If the store fails.
    fn definition_of(
        &self,
        cell: CellId,
    ) -> impl Future<Output = Result<Option<String>, StoreError>> + Send;
}

/// Everything in it is stored, or nothing.
pub trait WriteTransaction: Send {
    /// Stores a sweep as an experiment, finds the one that is there, or lets it become what the sweep
    /// says now. What the scheduler has to store of cells must be stored before. If it is refused, the
    /// transaction is as it was before and may go on.
    ///
    /// # Errors
    /// If the one that is there cannot grow (cancelled, of another engine, with no cell in common), a
    /// number is too large, or the store fails.
    fn submit(
        &mut self,
        sweep: Sweep<'_>,
    ) -> impl Future<Output = Result<Submitted, StoreError>> + Send;

    /// The experiment with this UUID or name. Of several with the name it is the newest that is not
    /// over, or the newest.
    ///
    /// # Errors
    /// If the store fails.
    fn experiment(
        &mut self,
        which: &str,
    ) -> impl Future<Output = Result<Option<Found>, StoreError>> + Send;

    /// Stores a new state of an experiment.
    ///
    /// # Errors
    /// If the store fails.
    fn set_state(
        &mut self,
        experiment: ExperimentId,
        state: ExperimentState,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores another priority of an experiment.
    ///
    /// # Errors
    /// If the store fails.
    fn set_priority(
        &mut self,
        experiment: ExperimentId,
        priority: i32,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notes that an experiment has a course: it is not finished when its games are.
    ///
    /// # Errors
    /// If the store fails.
    fn open_course(
        &mut self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores the cells of a plan behind those that an experiment has: its course asked for them, after
    /// it was told of so many. `None` if the experiment has one of them already; nothing is stored then.
    ///
    /// # Errors
    /// If a number is too large, or the store fails.
    fn add_cells(
        &mut self,
        experiment: ExperimentId,
        plan: &Plan,
        told: u64,
    ) -> impl Future<Output = Result<Option<Vec<CellState>>, StoreError>> + Send;

    /// What came of a settled cell, kept as what its experiment's course is told of it: once.
    ///
    /// # Errors
    /// If the store fails.
    fn tell(
        &mut self,
        cell: CellId,
    ) -> impl Future<Output = Result<CellOutcome, StoreError>> + Send;

    /// Keeps what is to be known of an experiment's course. What is noted already stays.
    ///
    /// # Errors
    /// If a number is too large, or the store fails.
    fn note(
        &mut self,
        experiment: ExperimentId,
        notes: &[Noted],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notes that the course of an experiment has ended.
    ///
    /// # Errors
    /// If the store fails.
    fn end_course(
        &mut self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes the results of an experiment's failed games back, so that they can be played again: of those
    /// that count, in cells that its sweep names. Their attempts are forgotten, and the stop rules of their
    /// cells read from the first unit again. What the scheduler has to store of cells must be stored before.
    ///
    /// # Errors
    /// [`StoreError::HasCourse`] if the experiment takes a course of its own, or if the store fails.
    fn retry_failed(
        &mut self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<Retry, StoreError>> + Send;

    /// Who is meant by an id or a name, and what excluding them from an experiment, or from all, would do.
    ///
    /// # Errors
    /// If the store fails.
    fn excludable(
        &mut self,
        which: &str,
        from: Option<ExperimentId>,
    ) -> impl Future<Output = Result<Excludable, StoreError>> + Send;

    /// Decides that a worker's results are taken out, of an experiment or of all, and that none count any more.
    /// Those of games that began before a time by the worker's clock stay. Deciding the same again changes
    /// nothing.
    ///
    /// # Errors
    /// If the store fails.
    fn begin_exclusion(
        &mut self,
        worker: WorkerId,
        from: Option<ExperimentId>,
        since_unix_us: Option<i64>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Lets workers in again, and whoever was excluded for being a later start of one of them: whatever they were
    /// excluded from, or only to the games of an engine. Returns who that is, in the order of their ids.
    ///
    /// # Errors
    /// If the store fails.
    fn readmit(
        &mut self,
        workers: &[WorkerId],
        engine: Option<&str>,
    ) -> impl Future<Output = Result<Vec<WorkerId>, StoreError>> + Send;

    /// Bars a worker from an engine: what it played with it is taken out, and no more of that counts. Doing it again
    /// changes nothing.
    ///
    /// # Errors
    /// If the store fails.
    fn bar(
        &mut self,
        worker: WorkerId,
        barred: &Barred,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Bars a worker that has had no lease yet from the engines that another of its name on its host is barred from.
    /// Returns these, by name.
    ///
    /// # Errors
    /// If the store fails.
    fn inherit_bars(
        &mut self,
        worker: WorkerId,
    ) -> impl Future<Output = Result<Vec<Barred>, StoreError>> + Send;

    /// The engines of a game's players by their names in sweeps, of who moves first in it and of the other.
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

    /// Excludes a worker that has had no lease yet from what another of its name on its host is excluded from.
    /// Returns what that is.
    ///
    /// # Errors
    /// If the store fails.
    fn inherit_exclusions(
        &mut self,
        worker: WorkerId,
    ) -> impl Future<Output = Result<Vec<Option<ExperimentId>>, StoreError>> + Send;

    /// Takes a few of the results out that are to be taken out. What the scheduler has to store of cells must be
    /// stored before. `None`: there is nothing (more) to take out.
    ///
    /// # Errors
    /// If the store fails.
    fn exclude_some(
        &mut self,
    ) -> impl Future<Output = Result<Option<Vec<TakenOut>>, StoreError>> + Send;

    /// What the scheduler must know of an experiment that it has forgotten; without the games.
    ///
    /// # Errors
    /// If the store fails.
    fn whole(
        &mut self,
        experiment: ExperimentId,
    ) -> impl Future<Output = Result<Retry, StoreError>> + Send;

    /// Lets the transaction write, so that its commit tells whether that can be done.
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

    /// By what the worker with this UUID proves who it is; `None` if there is no such worker.
    ///
    /// # Errors
    /// If the store fails.
    fn worker_proof(
        &mut self,
        uuid: &str,
    ) -> impl Future<Output = Result<Option<WorkerProof>, StoreError>> + Send;

    /// Keeps the SHA-256 of a worker's secret.
    ///
    /// # Errors
    /// If the store fails.
    fn keep_worker_secret(
        &mut self,
        worker: WorkerId,
        sha256: [u8; 32],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps what a worker has measured of its machine, each measurement once however often it is told.
    ///
    /// # Errors
    /// If the store fails.
    fn store_speeds(
        &mut self,
        worker: WorkerId,
        speeds: &[Speed],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// What a worker must be told of cells, in order.
    ///
    /// # Errors
    /// If a cell is not there, or the store fails.
    fn leased_cells(
        &mut self,
        cells: &[CellId],
    ) -> impl Future<Output = Result<Vec<LeasedCell>, StoreError>> + Send;

    /// What the scheduler must know of games that workers report, in order: each with its worker and
    /// the lease it names.
    ///
    /// # Errors
    /// If the store fails.
    fn facts(
        &mut self,
        games: &[(WorkerId, LeaseId, GameId)],
    ) -> impl Future<Output = Result<Vec<GameFacts>, StoreError>> + Send;

    /// Stores results that count (invariant 4). A game that has its settled result already, or comes
    /// twice, is kept beside it instead.
    ///
    /// # Errors
    /// If a game is not one that an engine reports ([`PlayedGame::check`]), or the store fails.
    fn store_games(
        &mut self,
        games: &[(WorkerId, PlayedGame)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps other results whole, each with the reason why it does not count: that it came after a
    /// cancel, or what a comparison with the settled result says
    /// ([`spelrum_model::repeat::compare`]).
    ///
    /// # Errors
    /// If a game is not one that an engine reports, or the store fails.
    fn store_uncounted(
        &mut self,
        games: &[(WorkerId, PlayedGame)],
        after_cancel: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps results whole that were disturbed and whose games are played again: each once, by the lease under which
    /// it was reported.
    ///
    /// # Errors
    /// If a game is not one that an engine reports, or the store fails.
    fn store_disturbed(
        &mut self,
        games: &[(WorkerId, LeaseId, PlayedGame)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores networks that were trained (invariant 4): one that is there stays.
    ///
    /// # Errors
    /// If the store fails.
    fn store_trainings(
        &mut self,
        trainings: &[(WorkerId, FinishedTraining)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps what is not a record of its game, each once and a bounded part of it, and says for each
    /// whether it is new.
    ///
    /// # Errors
    /// If the store fails.
    fn keep_refused(
        &mut self,
        refused: &[Refused],
    ) -> impl Future<Output = Result<Vec<bool>, StoreError>> + Send;

    /// Orders that games of an experiment are played once more by others, each in a cell of its own; returns the new
    /// cells. Games that wait to be verified already, or whose results are not there any more, are left out.
    ///
    /// # Errors
    /// If the store fails.
    fn order_verifications(
        &mut self,
        experiment: ExperimentId,
        games: &[ToVerify],
    ) -> impl Future<Output = Result<Vec<CellState>, StoreError>> + Send;

    /// Stores what came of verifications, each played by the worker beside it; returns those that came out
    /// otherwise. One that has a verdict keeps it.
    ///
    /// # Errors
    /// If the store fails.
    fn store_verifications(
        &mut self,
        verifications: &[(WorkerId, PlayedVerification)],
    ) -> impl Future<Output = Result<Vec<Deviation>, StoreError>> + Send;

    /// Notes what workers said of games that failed: the last message of each game stays.
    ///
    /// # Errors
    /// If the store fails.
    fn note_failures(
        &mut self,
        games: &[(GameId, String)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Settles games as failed, with the message. They have no outcome and never count; a game that has
    /// its settled result already stays as it is.
    ///
    /// # Errors
    /// If the store fails.
    fn settle_failed(
        &mut self,
        games: &[(GameId, String)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores what the scheduler must find again.
    ///
    /// # Errors
    /// If the store fails.
    fn apply(&mut self, changes: &Changes) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Decides that an experiment, or its moves, are removed. `games` says how many there are, for
    /// people who watch it go. From here on its games count as never leased.
    ///
    /// # Errors
    /// If the store fails.
    fn begin_removal(
        &mut self,
        experiment: ExperimentId,
        what: Removing,
        games: u64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes a little of what is being removed.
    ///
    /// # Errors
    /// If the store fails.
    fn remove_some(&mut self) -> impl Future<Output = Result<Removed, StoreError>> + Send;

    /// Looks at some leases after this one, and forgets those that ended before the latest `kept` ones
    /// were granted and that nobody can report for any more: all their games have a result, or their
    /// experiments are over. What is reported under them all the same is rejected (invariant 6).
    ///
    /// Returns the last lease that was looked at, or `None` if none was left to look at.
    ///
    /// # Errors
    /// If the store fails.
    fn forget_leases(
        &mut self,
        after: LeaseId,
        kept: u64,
    ) -> impl Future<Output = Result<Option<LeaseId>, StoreError>> + Send;

    /// Looks at some workers after this one, and forgets those that said Hello last before this time by the
    /// clock on the wall, are not among the `known`, and that nothing else refers to: no lease and no result.
    /// If one says Hello again, it is a new worker: no id comes twice.
    ///
    /// Returns the last worker that was looked at, or `None` if none was left to look at.
    ///
    /// # Errors
    /// If the store fails.
    fn forget_workers(
        &mut self,
        after: WorkerId,
        before_unix_us: i64,
        known: &BTreeSet<WorkerId>,
    ) -> impl Future<Output = Result<Option<WorkerId>, StoreError>> + Send;

    /// Commits: from here on everything is on disk.
    ///
    /// # Errors
    /// If the store fails; nothing of the transaction is stored then.
    fn commit(self) -> impl Future<Output = Result<(), StoreError>> + Send;
}
