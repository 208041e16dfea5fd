//! Storing a sweep: a new experiment with its axes and its own views, or an existing one updated to a changed file.

use std::collections::BTreeMap;

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::builds;
use spelrum_model::builds::AWAITED_BUILD;
use spelrum_model::change::{Change, PLACEMENT};
use spelrum_model::claims::{ClaimStanding, Restatement};
use spelrum_model::{ExperimentId, ExperimentState, Plan};
use spelrum_scheduling::scheduler::{Attempts, CellState};
use spelrum_sweep::{SweepText, plan_sweep};
use sqlx::{Connection as _, SqliteConnection};

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::encoding::rows;
use crate::schema::experiment_states::state_of;
use crate::schema::experiment_views;
use crate::schema::numbers::{integer, safe};
use crate::schema::settings;
use crate::write::sweep_changes::{check, compare};
use crate::write::sweep_files::{self, files};
use crate::write::transaction::Transaction;
use crate::write::{
    cells, claims, experiments, growth, networks, requirements, scheduling, stop_readings,
    verifications,
};

/// A sweep to store.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'s> {
    /// Chosen by the client for each submit, so that repeating a submit changes nothing.
    pub uuid: &'s str,
    /// The sweep's text.
    pub toml: &'s str,
    /// The files that the sweep names.
    pub files: &'s BTreeMap<String, String>,
    /// The sweep's meaning.
    pub plan: &'s Plan,
    /// Whether to create a separate experiment even if the name is already in use.
    pub new_experiment: bool,
    /// The UUID of the experiment whose awaited builds this sweep names, now that they exist: it applies to no other
    /// experiment, and changes nothing if they are named already.
    pub fills: Option<&'s str>,
}

/// Outcome of a submit.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The experiment's UUID; the existing one's if it existed.
    pub uuid: String,
    /// Whether the experiment existed before.
    pub existed: bool,
    /// What the sweep changed in an existing experiment, if it differs from the last sweep.
    pub change: Option<Change>,
    /// Whether the scheduler must be informed.
    pub tell: bool,
    /// Cells that are new to the scheduler, or differ from its state.
    pub cells: Vec<CellState>,
    /// Attempts of unsettled games, if the scheduler has no state of the experiment.
    pub attempts: Vec<Attempts>,
    /// Total number of games of the experiment's cells.
    pub games: u64,
    /// The standing of its claims.
    pub claims: Vec<ClaimStanding>,
}

/// Preview of a submit.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// The UUID and state of the existing experiment.
    pub existing: Option<(String, ExperimentState)>,
    /// What the sweep would change in the existing experiment, if it differs from the last sweep.
    pub change: Option<Change>,
    /// Number of games left to play in each cell of the plan.
    pub games_left: Vec<u64>,
    /// The standing that its claims would have.
    pub claims: Vec<ClaimStanding>,
}

impl Preview {
    /// The total number of games of the plan's cells.
    #[must_use]
    pub fn games(&self, plan: &Plan) -> u64 {
        match &self.change {
            Some(change) => change.games_kept + change.games_to_play,
            None => plan.games(),
        }
    }
}

/// An experiment with the sweep's name, or the submit's UUID.
struct Existing {
    experiment: i64,
    uuid: String,
    candidate: Candidate,
}

/// An experiment that a submit could apply to.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Its state.
    pub state: ExperimentState,
    /// Whether this very submit was already carried out.
    pub repeated: bool,
    /// Whether the experiment already has this text and the files that it names; with a course, also another text that
    /// asks for the same.
    pub same_text: bool,
    /// The revision of the engine that it was submitted to.
    pub engine_revision: u32,
    /// Whether the experiment has, or had, a course of its own.
    pub has_course: bool,
}

/// Whether the experiment of this name is updated to the sweep, rather than left unchanged.
pub fn becomes(name: &str, candidate: Candidate) -> Result<bool, StoreError> {
    let name = || name.to_owned();
    if candidate.repeated {
        Ok(false)
    } else if candidate.state == ExperimentState::Cancelled {
        Err(StoreError::Cancelled { name: name() })
    } else if candidate.same_text {
        Ok(false)
    } else if candidate.engine_revision != ENGINE_REVISION {
        Err(StoreError::OtherEngine { name: name(), revision: candidate.engine_revision })
    } else if candidate.has_course {
        Err(StoreError::HasCourse { name: name() })
    } else {
        Ok(true)
    }
}

/// Whether a stored sweep waits for builds of its engines.
pub fn awaits_builds(toml: &str) -> bool {
    builds::split(toml).1.values().any(|build| build == AWAITED_BUILD)
}

/// What to do with a sweep.
enum Decision {
    /// Create a new experiment.
    Begin,
    /// Change nothing.
    Leave(Existing),
    /// Update the experiment to the sweep.
    Grow(Existing),
}

impl Sweep<'_> {
    /// Whether another text asks for the same, apart from comments and its description of itself: an experiment with a
    /// course then continues unchanged.
    pub fn asks_what_did(&self, toml: &str, files: BTreeMap<String, String>) -> bool {
        let plan = plan_sweep(&SweepText { files, ..SweepText::new(&self.plan.name, toml) });
        plan.is_ok_and(|mut plan| {
            plan.settings.description.clone_from(&self.plan.settings.description);
            plan == *self.plan
        })
    }

    /// Finds the experiment that the sweep applies to, and refuses impossible sweeps.
    async fn decide(&self, connection: &mut SqliteConnection) -> Result<Decision, StoreError> {
        let Some(found) = self.existing(connection).await? else {
            return match self.fills {
                Some(_) => Err(StoreError::Missing { what: "an experiment" }),
                None => Ok(Decision::Begin),
            };
        };
        let grows = becomes(&self.plan.name, found.candidate)?;
        Ok(if grows { Decision::Grow(found) } else { Decision::Leave(found) })
    }

    /// The experiment that a repeated submit created or changed; otherwise the one with the sweep's name: the newest
    /// that is not over, or else the newest.
    async fn existing(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Option<Existing>, StoreError> {
        let name = (!self.new_experiment && self.fills.is_none()).then_some(&self.plan.name);
        let fills = self.fills;
        let found = sqlx::query!(
            r#"SELECT e.experiment_id AS "experiment_id!", e.uuid, e.state, e.sweep_toml,
                e.engine_revision, e.course IS NOT NULL AS "has_course!: bool",
                v.uuid IS NOT NULL AS "repeated!: bool"
            FROM experiments AS e
            LEFT JOIN sweep_versions AS v ON v.experiment_id = e.experiment_id AND v.uuid = ?1
            -- From two indexes, and not through all experiments.
            WHERE e.experiment_id IN (
                SELECT experiment_id FROM sweep_versions WHERE uuid = ?1
                UNION ALL SELECT experiment_id FROM experiments WHERE name = ?2
                UNION ALL SELECT experiment_id FROM experiments WHERE uuid = ?3)
            ORDER BY v.uuid IS NULL, e.state NOT IN ('running', 'paused'), e.experiment_id DESC
            LIMIT 1"#,
            self.uuid,
            name,
            fills
        )
        .fetch_optional(&mut *connection)
        .await?;
        let Some(row) = found else { return Ok(None) };
        let files = files(connection, row.experiment_id).await?;
        let same_text = (row.sweep_toml == self.toml && files == *self.files)
            || (row.has_course && self.asks_what_did(&row.sweep_toml, files));
        Ok(Some(Existing {
            experiment: row.experiment_id,
            uuid: row.uuid,
            candidate: Candidate {
                state: state_of(&row.state),
                repeated: row.repeated || (self.fills.is_some() && !awaits_builds(&row.sweep_toml)),
                same_text,
                engine_revision: row.engine_revision,
                has_course: row.has_course,
            },
        }))
    }
}

impl Readers {
    /// Previews a submit without changing anything.
    ///
    /// # Errors
    /// As when it is submitted.
    pub async fn preview(&self, sweep: Sweep<'_>) -> Result<Preview, StoreError> {
        self.compare(sweep).await.inspect_err(|error| self.alarm().raise_if_damage(error))
    }

    async fn compare(&self, sweep: Sweep<'_>) -> Result<Preview, StoreError> {
        let mut connection = self.reads().acquire().await?;
        // All reads see one state of the database.
        let mut reading = connection.begin().await?;
        let planned = || sweep.plan.cells.iter().map(|cell| cell.games).collect();
        match sweep.decide(&mut reading).await? {
            Decision::Begin => Ok(Preview {
                games_left: planned(),
                claims: Restatement::new(sweep.plan, &[], false).standings(sweep.plan, &[]),
                ..Preview::default()
            }),
            Decision::Leave(found) => {
                let compared = compare(&mut reading, found.experiment, sweep.plan).await?;
                Ok(Preview {
                    existing: Some((found.uuid, found.candidate.state)),
                    change: None,
                    games_left: compared.games_left,
                    claims: claims::standings(&mut reading, found.experiment).await?,
                })
            }
            Decision::Grow(found) => {
                let compared = compare(&mut reading, found.experiment, sweep.plan).await?;
                check(&compared, &sweep.plan.name)?;
                Ok(Preview {
                    existing: Some((found.uuid, found.candidate.state)),
                    change: Some(compared.change),
                    games_left: compared.games_left,
                    claims: claims::restated(&mut reading, found.experiment, sweep.plan).await?,
                })
            }
        }
    }
}

/// Stores an experiment with its players and cells, finds the existing one, or updates that one to the sweep. The
/// scheduler's pending changes of cells must be stored first. A refusal leaves the transaction as it was, still
/// usable.
///
/// # Errors
/// If the existing experiment cannot grow (cancelled, of another engine, or with no cell in common), or the database
/// fails.
pub(crate) async fn submit(
    tx: &mut Transaction<'_>,
    sweep: Sweep<'_>,
) -> Result<Submitted, StoreError> {
    sqlx::query!("SAVEPOINT submit").execute(tx.connection()).await?;
    let submitted = store_sweep(tx, sweep).await;
    if submitted.is_err() {
        // After a disk error SQLite has rolled back everything, and no savepoint is left.
        let _undone = sqlx::query!("ROLLBACK TO submit").execute(tx.connection()).await;
    }
    let released = sqlx::query!("RELEASE submit").execute(tx.connection()).await;
    let submitted = submitted?;
    released?;
    Ok(submitted)
}

async fn store_sweep(tx: &mut Transaction<'_>, sweep: Sweep<'_>) -> Result<Submitted, StoreError> {
    let mut submitted = match sweep.decide(tx.connection()).await? {
        Decision::Begin => begin_experiment(tx, sweep).await?,
        Decision::Leave(found) => {
            experiment_views::restore_views(tx, found.experiment).await?;
            let games = games_planned(tx, found.experiment).await?;
            let claims = claims::standings(tx.connection(), found.experiment).await?;
            Submitted::unchanged(found, games, claims)
        }
        Decision::Grow(found) => grow(tx, sweep, found).await?,
    };
    requirements::add_to_cells(tx, submitted.experiment.0, &mut submitted.cells).await?;
    stop_readings::add_to_cells(tx, submitted.experiment.0, &mut submitted.cells).await?;
    scheduling::add_played(tx, submitted.experiment.0, &mut submitted.cells).await?;
    networks::add_to_cells(tx, submitted.experiment.0, &mut submitted.cells).await?;
    verifications::add_to_cells(tx, submitted.experiment.0, &mut submitted.cells).await?;
    Ok(submitted)
}

async fn begin_experiment(
    tx: &mut Transaction<'_>,
    sweep: Sweep<'_>,
) -> Result<Submitted, StoreError> {
    let Sweep { uuid, plan, .. } = sweep;
    let experiment = insert_experiment(tx, uuid, sweep.toml, plan).await?;
    insert_settings(tx, experiment, plan).await?;
    let cells = cells::insert_cells(tx, experiment, plan).await?;
    experiment_views::create_views(tx, experiment).await?;
    let games = plan.games();
    let change =
        Change { cells_added: plan.cells.len() as u64, games_to_play: games, ..Change::default() };
    sweep_files::keep(tx, ExperimentId(experiment), sweep.files).await?;
    insert_version(tx, experiment, sweep, &change).await?;
    let claims = claims::state(tx, experiment, plan).await?;
    Ok(Submitted {
        experiment: ExperimentId(experiment),
        uuid: uuid.to_owned(),
        existed: false,
        change: None,
        tell: true,
        cells,
        attempts: Vec::new(),
        games,
        claims,
    })
}

async fn grow(
    tx: &mut Transaction<'_>,
    sweep: Sweep<'_>,
    found: Existing,
) -> Result<Submitted, StoreError> {
    let Existing { experiment, uuid, candidate } = found;
    let plan = sweep.plan;
    let compared = compare(tx.connection(), experiment, plan).await?;
    check(&compared, &plan.name)?;
    let mut cells = growth::grow_cells(tx, experiment, plan, &compared).await?;
    update_experiment(tx, experiment, sweep.toml, plan).await?;
    drop_settings(tx, experiment).await?;
    insert_settings(tx, experiment, plan).await?;
    experiment_views::drop_views(tx, experiment).await?;
    experiment_views::create_views(tx, experiment).await?;
    let rules_differ = compared.rules_differ();
    let change = compared.change;
    sweep_files::keep(tx, ExperimentId(experiment), sweep.files).await?;
    insert_version(tx, experiment, sweep, &change).await?;
    let claims = claims::state(tx, experiment, plan).await?;
    let mut attempts = Vec::new();
    let was_finished = candidate.state == ExperimentState::Finished;
    // Only the scheduler determines where cells end by another rule.
    let tell = !was_finished || change.games_to_play > 0 || rules_differ;
    if change.has_changed(PLACEMENT) && !was_finished {
        // The rules of all cells changed. The scheduler already has the games returned to them.
        cells = scheduling::cell_states(tx, experiment).await?;
        cells.iter_mut().for_each(|cell| cell.returned.clear());
    }
    if was_finished {
        // The scheduler has dropped the experiment.
        cells.clear();
        if tell {
            experiments::set_state(tx, ExperimentId(experiment), ExperimentState::Running).await?;
            cells = scheduling::cell_states(tx, experiment).await?;
            attempts = scheduling::open_attempts(tx, Some(experiment)).await?;
        }
    }
    Ok(Submitted {
        experiment: ExperimentId(experiment),
        uuid,
        existed: true,
        games: change.games_kept + change.games_to_play,
        change: Some(change),
        tell,
        cells,
        attempts,
        claims,
    })
}

async fn games_planned(tx: &mut Transaction<'_>, experiment: i64) -> Result<u64, StoreError> {
    let games = sqlx::query_scalar!(
        r#"SELECT coalesce(sum(coalesce(stop_number, games_planned)), 0) AS "games!: i64"
        FROM cells
        WHERE experiment_id = ? AND in_sweep = 1"#,
        experiment
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(u64::try_from(games).unwrap_or(0))
}

pub(crate) async fn insert_experiment(
    tx: &mut Transaction<'_>,
    uuid: &str,
    toml: &str,
    plan: &Plan,
) -> Result<i64, StoreError> {
    let seed = safe("the sweep's seed", plan.seed)?;
    let kind = plan.task().experiments();
    let now = tx.now_unix_us;
    let id = sqlx::query_scalar!(
        r#"INSERT INTO experiments (uuid, name, description, game, seed, state, priority,
            record, sweep_toml, engine_revision, submitted_unix_us, results_view, times_view, kind,
            engine_cpu_known)
        VALUES (?1, ?2, '', ?3, ?4, 'running', 0, 'moves', '', ?5, ?6, '', '', ?7, 1)
        RETURNING experiment_id AS "experiment_id!""#,
        uuid,
        plan.name,
        plan.game,
        seed,
        ENGINE_REVISION,
        now,
        kind,
    )
    .fetch_one(tx.connection())
    .await?;
    update_experiment(tx, id, toml, plan).await?;
    experiment_views::name_views(tx, id, &plan.name).await?;
    Ok(id)
}

/// Updates the text and the settings of an experiment as a whole to a sweep. With another game or seed, no cell would
/// be in common.
pub(crate) async fn update_experiment(
    tx: &mut Transaction<'_>,
    experiment: i64,
    toml: &str,
    plan: &Plan,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE experiments SET sweep_toml = ?2 WHERE experiment_id = ?1",
        experiment,
        toml
    )
    .execute(tx.connection())
    .await?;
    settings::write(tx.connection(), experiment, &plan.settings).await
}

/// Stores an experiment's axes and anchors.
pub(crate) async fn insert_settings(
    tx: &mut Transaction<'_>,
    experiment: i64,
    plan: &Plan,
) -> Result<(), StoreError> {
    let axes: Vec<&str> = plan.axes.iter().map(|axis| &*axis.name).collect();
    let axes = rows(&axes)?;
    sqlx::query!(
        "INSERT INTO experiment_axes (experiment_id, number, axis)
        SELECT ?2, key, value FROM json_each(?1)",
        axes,
        experiment
    )
    .execute(tx.connection())
    .await?;
    let anchors = rows(&plan.anchors)?;
    sqlx::query!(
        "INSERT INTO experiment_anchors (experiment_id, number, player)
        SELECT ?2, key, value FROM json_each(?1)",
        anchors,
        experiment
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

pub(crate) async fn drop_settings(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<(), StoreError> {
    sqlx::query!("DELETE FROM experiment_axes WHERE experiment_id = ?", experiment)
        .execute(tx.connection())
        .await?;
    sqlx::query!("DELETE FROM experiment_anchors WHERE experiment_id = ?", experiment)
        .execute(tx.connection())
        .await?;
    Ok(())
}

async fn insert_version(
    tx: &mut Transaction<'_>,
    experiment: i64,
    sweep: Sweep<'_>,
    change: &Change,
) -> Result<(), StoreError> {
    let Sweep { uuid, toml, .. } = sweep;
    let now = tx.now_unix_us;
    let [kept, continued, added, returned, dropped, games_kept, games_to_play] = [
        change.cells_kept,
        change.cells_continued,
        change.cells_added,
        change.cells_returned,
        change.cells_dropped,
        change.games_kept,
        change.games_to_play,
    ]
    .map(integer);
    sqlx::query!(
        "INSERT INTO sweep_versions (experiment_id, version, uuid, sweep_toml,
            submitted_unix_us, cells_kept, cells_continued, cells_added, cells_returned,
            cells_dropped, games_kept, games_to_play)
        SELECT ?1, coalesce(max(version), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
        FROM sweep_versions WHERE experiment_id = ?1",
        experiment,
        uuid,
        toml,
        now,
        kept,
        continued,
        added,
        returned,
        dropped,
        games_kept,
        games_to_play
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

impl Submitted {
    fn unchanged(found: Existing, games: u64, claims: Vec<ClaimStanding>) -> Self {
        Self {
            experiment: ExperimentId(found.experiment),
            uuid: found.uuid,
            existed: true,
            change: None,
            tell: false,
            cells: Vec::new(),
            attempts: Vec::new(),
            games,
            claims,
        }
    }
}
