//! An in-memory store: the slow and obvious twin of the SQLite store, for tests of it and of the code above it. A
//! transaction works on a copy of everything; there are no stored sums and no indexes.

mod barred;
mod courses;
mod disturbance;
mod engines;
mod exclusion;
mod margins;
mod networks;
mod reading;
mod results;
mod scheduling;
mod speeds;
mod sweeps;
mod verifications;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spelrum_answers::StatedClaim;
use spelrum_engine::Outcome;
use spelrum_model::course::Noted;
use spelrum_model::speed::Speed;
use spelrum_model::withheld::Barred;
use spelrum_model::{
    AxisValue, CellId, DefinitionHash, ExperimentId, ExperimentSettings, ExperimentState,
    FinishedTraining, GameId, GameRange, LeaseId, Plan, PlayedGame, PlayedVerification, Task,
    TrainingDefinition, WorkerId,
};
use spelrum_scheduling::course::CellOutcome;
use spelrum_scheduling::scheduler::{Attempts, CellState, Changes, LeaseEnd, Snapshot};
use spelrum_statistics::StopRule;

use spelrum_store::contract::{Store, Term, WriteTransaction};
use spelrum_store::decisions::Needs;
use spelrum_store::decisions::Reason;
use spelrum_store::{
    Deviation, Excludable, Found, GameFacts, LeaseHolder, LeasedCell, OpenCourse, OtherRevision,
    Refused, Removed, Removing, Retry, StoppedForForfeits, StoreError, Submitted, Sweep, TakenOut,
    ToVerify, WorkerIntroduction, WorkerProof,
};

/// An in-memory store, and the right to write to it for its term.
#[derive(Clone, Debug)]
pub(crate) struct InMemory {
    shared: Arc<Mutex<State>>,
    term: Term,
}

impl InMemory {
    /// Creates an empty store.
    #[must_use]
    pub(crate) fn new() -> Self {
        let state = State { term: 1, ..State::default() };
        Self { term: Term(state.term), shared: Arc::new(Mutex::new(state)) }
    }

    /// Takes over from another coordinator, which can write nothing from here on.
    #[must_use]
    pub(crate) fn take_over(&self) -> Self {
        let mut state = lock(&self.shared);
        state.term += 1;
        Self { term: Term(state.term), shared: Arc::clone(&self.shared) }
    }

    /// Results kept beside the settled ones, in order, with the stored name of the reason.
    #[must_use]
    pub(crate) fn uncounted(&self) -> Vec<(GameId, &'static str)> {
        let state = lock(&self.shared);
        state.uncounted.iter().map(|result| (result.game.game, result.reason.name())).collect()
    }
}

impl Default for InMemory {
    fn default() -> Self {
        Self::new()
    }
}

/// An open transaction.
#[derive(Debug)]
pub(crate) struct Pending<'s> {
    shared: &'s Mutex<State>,
    state: State,
}

#[derive(Clone, Debug, Default)]
struct State {
    term: i64,
    /// The greatest ids ever given; ids are never reused.
    last_experiment: i64,
    last_cell: i64,
    last_worker: i64,
    last_lease: i64,
    last_game: i64,
    experiments: BTreeMap<ExperimentId, Experiment>,
    cells: BTreeMap<CellId, Cell>,
    /// By UUID.
    workers: BTreeMap<String, Worker>,
    /// Workers' measurements of a game: when, and the speed.
    speeds: BTreeMap<(WorkerId, String), Vec<(i64, Speed)>>,
    leases: BTreeMap<LeaseId, Lease>,
    attempts: BTreeMap<GameId, Attempts>,
    /// Workers' latest messages about failed games.
    messages: BTreeMap<GameId, String>,
    games: BTreeMap<GameId, Settled>,
    uncounted: Vec<Uncounted>,
    refused: Vec<Refused>,
    /// Settled networks, by the definitions of their trainings.
    networks: BTreeMap<DefinitionHash, networks::Network>,
    /// In order of exclusion.
    exclusions: Vec<exclusion::Exclusion>,
    /// Removals in progress.
    removals: BTreeMap<ExperimentId, Removing>,
}

#[derive(Clone, Debug)]
struct Experiment {
    uuid: String,
    name: String,
    game: String,
    task: Task,
    state: ExperimentState,
    settings: ExperimentSettings,
    /// Forfeits of games with greater ids pause the experiment.
    forfeits_after: i64,
    /// The player with too many forfeits, while the experiment is paused for that.
    stopped_for: Option<String>,
    engine_revision: u32,
    toml: String,
    files: BTreeMap<String, String>,
    /// UUIDs of all submits that changed the experiment.
    versions: BTreeSet<String>,
    axes: Vec<String>,
    anchors: Vec<String>,
    /// Whether its moves were ever deleted.
    is_pruned: bool,
    course: Option<CourseState>,
    /// Notes of its course.
    notes: Vec<Noted>,
    claims: Vec<StatedClaim>,
}

#[derive(Clone, Debug)]
struct Cell {
    experiment: ExperimentId,
    number: u64,
    hash: DefinitionHash,
    /// The part of its definition shared with other cells.
    definition_prefix: String,
    definition_json: String,
    /// Parameters of its players, as canonical JSON.
    players: [String; 2],
    place: Vec<(String, AxisValue)>,
    player_names: [String; 2],
    openings_count: Option<u64>,
    swap_sides: bool,
    timed: bool,
    repeats: bool,
    games_planned: u64,
    in_sweep: bool,
    /// Whether the sweep names the cell with other builds.
    superseded: bool,
    next_number: u64,
    returned: Vec<GameRange>,
    rule: Option<StopRule>,
    decided_number: u64,
    stop_number: Option<u64>,
    chess960: bool,
    /// Requirements of a game of this cell.
    needs: Needs,
    is_deterministic: bool,
    /// How many cells had been reported to the course when it requested this one.
    asked_after: Option<u64>,
    /// The outcome reported to the course.
    outcome: Option<CellOutcome>,
    /// Whether its one task is a training.
    is_training: bool,
    /// The subject of its one task, if that is a verification.
    verifies: Option<verifications::Verification>,
}

impl Cell {
    /// Creates the cell of a training, which no report shows.
    fn training(experiment: ExperimentId, training: &TrainingDefinition) -> Self {
        let definition_json = training.canonical_json();
        Self {
            experiment,
            number: 0,
            hash: training.hash(),
            definition_prefix: TrainingDefinition::JSON_PREFIX.to_owned(),
            definition_json,
            players: Default::default(),
            place: Vec::new(),
            player_names: Default::default(),
            openings_count: None,
            swap_sides: false,
            timed: false,
            repeats: false,
            games_planned: 1,
            in_sweep: false,
            superseded: false,
            next_number: 0,
            returned: Vec::new(),
            rule: None,
            decided_number: 0,
            stop_number: None,
            chess960: false,
            needs: Needs { memory_bytes: training.recipe().memory_bytes(), ..Needs::default() },
            is_deterministic: true,
            asked_after: None,
            outcome: None,
            is_training: true,
            verifies: None,
        }
    }

    /// Whether a time limit or a clock bounds its players' moves.
    fn has_time_limit(&self) -> bool {
        self.players.iter().any(|json| {
            let parameters: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
            ["move_time_us", "clock"].iter().any(|limit| parameters.get(limit).is_some())
        })
    }

    /// Games to play, up to where the stop rule ends the cell.
    fn games_wanted(&self) -> u64 {
        self.stop_number.unwrap_or(self.games_planned)
    }

    pub(super) fn first_player_moves_first(&self, number: u64) -> bool {
        !self.swap_sides || number.is_multiple_of(2)
    }

    /// Half points of the first player in a game.
    pub(super) fn half_points(&self, game: &PlayedGame) -> usize {
        let points = match game.record.outcome {
            Outcome::Win => 2,
            Outcome::Draw => 1,
            Outcome::Loss => 0,
        };
        if self.first_player_moves_first(game.game.number) { points } else { 2 - points }
    }
}

/// State of an experiment's course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CourseState {
    Open,
    Ended,
}

#[derive(Clone, Debug)]
struct Worker {
    id: WorkerId,
    introduction: WorkerIntroduction,
    secret_sha256: Option<[u8; 32]>,
    last_hello_unix_us: i64,
}

#[derive(Clone, Debug)]
struct Lease {
    worker: WorkerId,
    granted: Vec<GameRange>,
    granted_unix_us: i64,
    end: Option<LeaseEnd>,
}

/// A game's settled result.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are the large one")]
enum Settled {
    Played { id: i64, worker: WorkerId, game: PlayedGame, has_moves: bool },
    Failed { id: i64, message: String },
}

/// A result kept beside the settled one.
#[derive(Clone, Debug)]
struct Uncounted {
    reason: Reason,
    worker: WorkerId,
    /// Set for a disturbed result.
    lease: Option<LeaseId>,
    game: PlayedGame,
}

impl Store for InMemory {
    type Transaction<'s> = Pending<'s>;

    fn term(&self) -> Term {
        self.term
    }

    async fn begin(&mut self) -> Result<Pending<'_>, StoreError> {
        let state = lock(&self.shared).clone();
        if state.term != self.term.0 {
            return Err(StoreError::TakenOver { found: state.term, own: self.term.0 });
        }
        Ok(Pending { shared: &self.shared, state })
    }

    async fn snapshot(&mut self) -> Result<Snapshot, StoreError> {
        Ok(self.begin().await?.state.snapshot())
    }

    async fn lease_holders(&mut self) -> Result<Vec<LeaseHolder>, StoreError> {
        Ok(self.begin().await?.state.lease_holders())
    }

    async fn unfinished_of_other_revisions(
        &mut self,
        engine_revision: u32,
    ) -> Result<Vec<OtherRevision>, StoreError> {
        let state = self.begin().await?.state;
        let others = state
            .experiments
            .iter()
            .filter(|(_, stored)| !stored.is_over() && stored.engine_revision != engine_revision)
            .map(|(&experiment, stored)| OtherRevision {
                experiment,
                name: stored.name.clone(),
                engine_revision: stored.engine_revision,
            });
        Ok(others.collect())
    }

    async fn open_courses(&mut self) -> Result<Vec<OpenCourse>, StoreError> {
        self.begin().await?.state.open_courses()
    }

    async fn is_removing(&mut self) -> Result<bool, StoreError> {
        Ok(!self.begin().await?.state.removals.is_empty())
    }

    async fn is_excluding(&mut self) -> Result<bool, StoreError> {
        Ok(self.begin().await?.state.exclusions.iter().any(|exclusion| !exclusion.is_done))
    }

    async fn shrink(&mut self) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn damaged(&self) -> StoreError {
        std::future::pending().await
    }

    fn is_upkeep_due(&self) -> bool {
        false
    }

    async fn upkeep(&mut self) -> Result<bool, StoreError> {
        Ok(true)
    }
}

impl WriteTransaction for Pending<'_> {
    async fn submit(&mut self, sweep: Sweep<'_>) -> Result<Submitted, StoreError> {
        // A refusal half way must leave no trace.
        let mut state = self.state.clone();
        let submitted = state.submit(sweep)?;
        self.state = state;
        Ok(submitted)
    }

    async fn experiment(&mut self, which: &str) -> Result<Option<Found>, StoreError> {
        Ok(self.state.experiment(which))
    }

    async fn set_state(
        &mut self,
        experiment: ExperimentId,
        state: ExperimentState,
    ) -> Result<(), StoreError> {
        if let Some(stored) = self.state.experiments.get_mut(&experiment) {
            stored.state = state;
            if state == ExperimentState::Running && stored.stopped_for.is_some() {
                stored.forfeits_after =
                    self.state.games.values().map(Settled::id).max().unwrap_or(0);
            }
            if state != ExperimentState::Paused {
                stored.stopped_for = None;
            }
        }
        Ok(())
    }

    async fn set_priority(
        &mut self,
        experiment: ExperimentId,
        priority: i32,
    ) -> Result<(), StoreError> {
        if let Some(stored) = self.state.experiments.get_mut(&experiment) {
            stored.settings.scheduling.priority = priority;
        }
        Ok(())
    }

    async fn open_course(&mut self, experiment: ExperimentId) -> Result<(), StoreError> {
        self.state.set_course(experiment, CourseState::Open);
        Ok(())
    }

    async fn add_cells(
        &mut self,
        experiment: ExperimentId,
        plan: &Plan,
        results_before: u64,
    ) -> Result<Option<Vec<CellState>>, StoreError> {
        // A refusal half way must leave no trace.
        let mut state = self.state.clone();
        let added = state.extend(experiment, plan, results_before)?;
        self.state = state;
        Ok(added)
    }

    async fn tell(&mut self, cell: CellId) -> Result<CellOutcome, StoreError> {
        self.state.tell(cell)
    }

    async fn note(&mut self, experiment: ExperimentId, notes: &[Noted]) -> Result<(), StoreError> {
        self.state.note(experiment, notes);
        Ok(())
    }

    async fn end_course(&mut self, experiment: ExperimentId) -> Result<(), StoreError> {
        self.state.set_course(experiment, CourseState::Ended);
        Ok(())
    }

    async fn retry_failed(&mut self, experiment: ExperimentId) -> Result<Retry, StoreError> {
        self.state.retry_failed(experiment)
    }

    async fn excludable(
        &mut self,
        which: &str,
        from: Option<ExperimentId>,
    ) -> Result<Excludable, StoreError> {
        Ok(self.state.excludable(which, from))
    }

    async fn begin_exclusion(
        &mut self,
        worker: WorkerId,
        from: Option<ExperimentId>,
        since_unix_us: Option<i64>,
    ) -> Result<(), StoreError> {
        self.state.begin_exclusion(worker, from, since_unix_us);
        Ok(())
    }

    async fn readmit(
        &mut self,
        workers: &[WorkerId],
        engine: Option<&str>,
    ) -> Result<Vec<WorkerId>, StoreError> {
        Ok(self.state.readmit(workers, engine))
    }

    async fn bar(&mut self, worker: WorkerId, barred: &Barred) -> Result<(), StoreError> {
        self.state.bar(worker, barred);
        Ok(())
    }

    async fn inherit_bars(&mut self, worker: WorkerId) -> Result<Vec<Barred>, StoreError> {
        Ok(self.state.inherit_bars(worker))
    }

    async fn engines_of_sides(&mut self, game: GameId) -> Result<[Option<String>; 2], StoreError> {
        Ok(self.state.engines_of_sides(game))
    }

    async fn stop_for_forfeits(
        &mut self,
        cells: &[CellId],
    ) -> Result<Vec<StoppedForForfeits>, StoreError> {
        Ok(self.state.stop_for_forfeits(cells))
    }

    async fn inherit_exclusions(
        &mut self,
        worker: WorkerId,
    ) -> Result<Vec<Option<ExperimentId>>, StoreError> {
        Ok(self.state.inherit_exclusions(worker))
    }

    async fn exclude_some(&mut self) -> Result<Option<Vec<TakenOut>>, StoreError> {
        Ok(self.state.exclude_some())
    }

    async fn reload_experiment(&mut self, experiment: ExperimentId) -> Result<Retry, StoreError> {
        self.state.reload_experiment(experiment)
    }

    async fn touch(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn introduce(&mut self, worker: &WorkerIntroduction) -> Result<WorkerId, StoreError> {
        Ok(self.state.introduce(worker))
    }

    async fn worker_proof(&mut self, uuid: &str) -> Result<Option<WorkerProof>, StoreError> {
        Ok(self.state.worker_proof(uuid))
    }

    async fn keep_worker_secret(
        &mut self,
        worker: WorkerId,
        sha256: [u8; 32],
    ) -> Result<(), StoreError> {
        self.state.keep_worker_secret(worker, sha256);
        Ok(())
    }

    async fn store_speeds(&mut self, worker: WorkerId, speeds: &[Speed]) -> Result<(), StoreError> {
        self.state.store_speeds(worker, speeds);
        Ok(())
    }

    async fn leased_cells(&mut self, cells: &[CellId]) -> Result<Vec<LeasedCell>, StoreError> {
        cells.iter().map(|cell| self.state.leased_cell(*cell)).collect()
    }

    async fn facts(
        &mut self,
        games: &[(WorkerId, LeaseId, GameId)],
    ) -> Result<Vec<GameFacts>, StoreError> {
        Ok(games.iter().map(|game| self.state.facts(*game)).collect())
    }

    async fn store_games(&mut self, games: &[(WorkerId, PlayedGame)]) -> Result<(), StoreError> {
        self.state.check(games)?;
        for (worker, game) in games {
            self.state.settle(*worker, game);
        }
        Ok(())
    }

    async fn store_uncounted(
        &mut self,
        games: &[(WorkerId, PlayedGame)],
        after_cancel: bool,
    ) -> Result<(), StoreError> {
        self.state.check(games)?;
        for (worker, game) in games {
            self.state.keep_uncounted(*worker, game, after_cancel);
        }
        Ok(())
    }

    async fn store_disturbed(
        &mut self,
        games: &[(WorkerId, LeaseId, PlayedGame)],
    ) -> Result<(), StoreError> {
        for (worker, lease, game) in games {
            self.state.check(&[(*worker, game.clone())])?;
            self.state.keep_disturbed(*worker, *lease, game);
        }
        Ok(())
    }

    async fn store_trainings(
        &mut self,
        trainings: &[(WorkerId, FinishedTraining)],
    ) -> Result<(), StoreError> {
        self.state.store_trainings(trainings);
        Ok(())
    }

    async fn order_verifications(
        &mut self,
        experiment: ExperimentId,
        games: &[ToVerify],
    ) -> Result<Vec<CellState>, StoreError> {
        Ok(self.state.order_verifications(experiment, games))
    }

    async fn store_verifications(
        &mut self,
        verifications: &[(WorkerId, PlayedVerification)],
    ) -> Result<Vec<Deviation>, StoreError> {
        Ok(self.state.store_verifications(verifications))
    }

    async fn keep_refused(&mut self, refused: &[Refused]) -> Result<Vec<bool>, StoreError> {
        Ok(refused.iter().map(|refused| self.state.keep_refused(refused)).collect())
    }

    async fn note_failures(&mut self, games: &[(GameId, String)]) -> Result<(), StoreError> {
        self.state.messages.extend(games.iter().cloned());
        Ok(())
    }

    async fn settle_failed(&mut self, games: &[(GameId, String)]) -> Result<(), StoreError> {
        for (game, message) in games {
            self.state.settle_failed(*game, message);
        }
        Ok(())
    }

    async fn apply(&mut self, changes: &Changes) -> Result<(), StoreError> {
        self.state.apply(changes);
        Ok(())
    }

    async fn begin_removal(
        &mut self,
        experiment: ExperimentId,
        what: Removing,
        _games: u64,
    ) -> Result<(), StoreError> {
        self.state.begin_removal(experiment, what);
        Ok(())
    }

    async fn remove_some(&mut self) -> Result<Removed, StoreError> {
        Ok(self.state.remove_some())
    }

    async fn forget_leases(
        &mut self,
        after: LeaseId,
        kept: u64,
    ) -> Result<Option<LeaseId>, StoreError> {
        Ok(self.state.forget_leases(after, kept))
    }

    async fn forget_workers(
        &mut self,
        after: WorkerId,
        before_unix_us: i64,
        known: &BTreeSet<WorkerId>,
    ) -> Result<Option<WorkerId>, StoreError> {
        Ok(self.state.forget_workers(after, before_unix_us, known))
    }

    async fn commit(self) -> Result<(), StoreError> {
        let mut shared = lock(self.shared);
        if shared.term != self.state.term {
            return Err(StoreError::TakenOver { found: shared.term, own: self.state.term });
        }
        *shared = self.state;
        Ok(())
    }
}

impl Settled {
    /// The id of the result.
    fn id(&self) -> i64 {
        match self {
            Self::Played { id, .. } | Self::Failed { id, .. } => *id,
        }
    }
}

impl Experiment {
    fn is_over(&self) -> bool {
        matches!(self.state, ExperimentState::Finished | ExperimentState::Cancelled)
    }
}

fn lock(shared: &Mutex<State>) -> MutexGuard<'_, State> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Settled games of a cell, up to where its stop rule ends it.
    fn settled_below_stop(&self, id: CellId) -> u64 {
        let stop = self.cells.get(&id).and_then(|cell| cell.stop_number).unwrap_or(u64::MAX);
        self.settled_of(id).filter(|(game, _)| game.number < stop).count() as u64
    }

    fn settled_of(&self, cell: CellId) -> impl Iterator<Item = (&GameId, &Settled)> {
        self.games.range(GameId { cell, number: 0 }..=GameId { cell, number: u64::MAX })
    }
}
