//! Summaries of experiments and workers.

use std::sync::Arc;

use serde::Deserialize;
use spelrum_answers::{ExperimentSummary, ExperimentsPage, StopsOf, WorkerSummary};
use spelrum_model::speed::Scaling;
use spelrum_model::{ExperimentId, Task, WorkerId};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::encoding::rows;
use crate::schema::experiment_states::state_of;
use crate::schema::machine_columns::labels_of;
use crate::schema::numbers::scaling;
use crate::schema::settings::monotone;

/// Maximum number of experiments that `status` reads and shows: well below the size limit of a message, and as quick
/// beside many more (invariant 9).
pub(crate) const STATUS_EXPERIMENTS_MAX: u32 = 1_000;

impl Readers {
    /// Returns a page of experiments, oldest first: from the start, or after this one.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn experiments(
        &self,
        after: Option<ExperimentId>,
        experiments_max: u32,
    ) -> Result<ExperimentsPage, StoreError> {
        let first = after.map_or(0, |ExperimentId(after)| after.saturating_add(1));
        // One extra row shows whether there are more.
        let limit = i64::from(experiments_max) + 1;
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            let list = sqlx::query_scalar!(
                r#"SELECT e.experiment_id AS "experiment_id!" FROM experiments AS e
                WHERE e.experiment_id >= ? AND NOT EXISTS (
                    SELECT 1 FROM removals AS x
                    WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
                ORDER BY e.experiment_id LIMIT ?"#,
                first,
                limit
            )
            .fetch_all(&mut *snapshot)
            .await?;
            summaries(&mut snapshot, &list).await
        };
        let experiments_max = usize::try_from(experiments_max).unwrap_or(usize::MAX);
        Ok(ExperimentsPage::new(self.in_time(reading).await?, experiments_max))
    }

    /// Returns the experiments that `status` shows, oldest first, and the total number. Unfinished ones are chosen
    /// first, newest first, then the newest others, `STATUS_EXPERIMENTS_MAX` in all.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn current_experiments(&self) -> Result<(Vec<ExperimentSummary>, u64), StoreError> {
        self.in_time(async { current(&mut *self.snapshot().await?).await }).await
    }

    /// Returns the state of the stop rules of these experiments' cells, in the order of the experiments.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn stops(
        &self,
        experiments: &[ExperimentSummary],
    ) -> Result<Vec<StopsOf>, StoreError> {
        let list: Vec<i64> = experiments.iter().map(|summary| summary.experiment.0).collect();
        let list = rows(&list)?;
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            let found = sqlx::query!(
                r#"SELECT c.experiment_id AS "experiment_id!", s.rule AS "rule!",
                    count(*) AS "cells!: u64", count(c.stop_number) AS "cells_ended!: u64",
                    count(CASE WHEN c.repeats = 1
                        AND c.stop_number = k.openings_count * (1 + c.swap_sides) THEN 1 END)
                        AS "cells_one_round!: u64"
                FROM json_each(?) AS j
                CROSS JOIN cells AS c ON c.experiment_id = j.value AND c.in_sweep = 1
                JOIN stop_rules AS s ON s.stop_rule_id = c.stop_rule_id
                JOIN conditions AS k ON k.conditions_id = c.conditions_id
                GROUP BY c.experiment_id, s.rule ORDER BY c.experiment_id, s.rule"#,
                list
            )
            .fetch_all(&mut *snapshot)
            .await?;
            let found = found.into_iter().map(|row| StopsOf {
                experiment: ExperimentId(row.experiment_id),
                rule: row.rule,
                cells: row.cells,
                cells_ended: row.cells_ended,
                cells_one_round: row.cells_one_round,
                games_expected: None,
            });
            Ok(found.collect())
        };
        self.in_time(reading).await
    }

    /// Returns the experiment with this UUID or name. Among several with the name, the newest unfinished one wins, or
    /// else the newest.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn experiment(&self, which: &str) -> Result<Option<ExperimentSummary>, StoreError> {
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            let Some(found) = find(&mut snapshot, which).await? else { return Ok(None) };
            summary(&mut snapshot, found).await
        };
        self.in_time(reading).await
    }

    /// Returns only the experiment's id, which is fast.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn experiment_id(&self, which: &str) -> Result<Option<ExperimentId>, StoreError> {
        self.in_time(async { find(&mut *self.snapshot().await?, which).await }).await
    }

    /// Returns the workers that introduced themselves most recently, newest first, up to `workers_max`; fields known
    /// only to a running coordinator are 0.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn workers(&self, workers_max: u32) -> Result<Vec<WorkerSummary>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT w.worker_id AS "worker_id!", w.name, w.host, w.slots, w.engine_revision,
                w.labels_json, w.credential,
                (SELECT coalesce(sum(r.games), 0) FROM worker_results AS r
                    WHERE r.worker_id = w.worker_id) AS "games!: u64"
            FROM workers AS w ORDER BY w.last_hello_unix_us DESC, w.worker_id DESC LIMIT ?"#,
            workers_max
        )
        .fetch_all(self.reads())
        .await?;
        let found = found.into_iter().map(|row| WorkerSummary {
            worker: WorkerId(row.worker_id),
            name: row.name,
            host: row.host,
            slots: row.slots,
            quiet_slots: 0,
            engine_revision: row.engine_revision,
            silent_ms: 0,
            leased_games: 0,
            playing_games: 0,
            reported_games: row.games,
            lost_games: 0,
            memory_bytes: None,
            engines: Arc::default(),
            engines_total: 0,
            built: Arc::default(),
            labels: labels_of(&row.labels_json).into(),
            credential: row.credential,
            conduct: Default::default(),
        });
        Ok(found.collect())
    }
}

/// Finds the experiment with this UUID or name: see [`Readers::experiment`]. An experiment that is being deleted counts
/// as missing.
pub(crate) async fn find(
    connection: &mut SqliteConnection,
    which: &str,
) -> Result<Option<ExperimentId>, StoreError> {
    let found = sqlx::query_scalar!(
        r#"SELECT e.experiment_id AS "experiment_id!" FROM experiments AS e
        WHERE (e.uuid = ?1 OR e.name = ?1) AND NOT EXISTS (
            SELECT 1 FROM removals AS x
            WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
        ORDER BY e.uuid = ?1 DESC, e.state IN ('running', 'paused') DESC, e.experiment_id DESC
        LIMIT 1"#,
        which
    )
    .fetch_optional(connection)
    .await?;
    Ok(found.map(ExperimentId))
}

pub(crate) async fn summary(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Option<ExperimentSummary>, StoreError> {
    Ok(summaries(connection, &[experiment.0]).await?.pop())
}

/// Single facts of an experiment that its summary leaves out.
pub(crate) struct Facts {
    pub(crate) description: String,
    pub(crate) engine_revision: u32,
    pub(crate) moves_recorded: bool,
    pub(crate) scaling: Option<Scaling>,
    /// The player for whose forfeits the experiment was paused.
    pub(crate) stopped_for: Option<String>,
    /// The axis whose values are replicates.
    pub(crate) replicates: Option<String>,
    /// The axes along which curves only rise or only fall.
    pub(crate) monotone: Vec<String>,
}

pub(crate) async fn facts(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Option<Facts>, StoreError> {
    let row = sqlx::query!(
        r#"SELECT description, engine_revision, record = 'moves' AS "moves_recorded!: bool",
            reference_speed, factor_max_permille, forfeits_player, replicates, monotone_json
        FROM experiments WHERE experiment_id = ?"#,
        experiment.0
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| Facts {
        description: row.description,
        engine_revision: row.engine_revision,
        moves_recorded: row.moves_recorded,
        scaling: scaling(row.reference_speed, row.factor_max_permille),
        stopped_for: row.forfeits_player,
        replicates: row.replicates,
        monotone: monotone(row.monotone_json.as_deref()),
    }))
}

/// The experiments that `status` shows: see [`Readers::current_experiments`].
pub(crate) async fn current(
    connection: &mut SqliteConnection,
) -> Result<(Vec<ExperimentSummary>, u64), StoreError> {
    let list = sqlx::query_scalar!(
        r#"SELECT e.experiment_id AS "experiment_id!" FROM experiments AS e
        WHERE NOT EXISTS (
            SELECT 1 FROM removals AS x
            WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
        ORDER BY e.state IN ('running', 'paused') DESC, e.experiment_id DESC LIMIT ?"#,
        STATUS_EXPERIMENTS_MAX
    )
    .fetch_all(&mut *connection)
    .await?;
    let total = sqlx::query_scalar!(
        r#"SELECT (SELECT count(*) FROM experiments)
            - (SELECT count(*) FROM removals AS x JOIN experiments AS e
                ON e.experiment_id = x.experiment_id WHERE x.what = 'everything')
            AS "total!: u64""#
    )
    .fetch_one(&mut *connection)
    .await?;
    Ok((summaries(connection, &list).await?, total))
}

/// Sums over an experiment's cells: cells, games planned, games settled, games failed.
#[derive(Deserialize)]
struct Sums(u64, u64, u64, u64);

/// Summaries of these experiments, oldest first: as in the view `experiment_progress`, except that each experiment's
/// cells are read once for all sums.
async fn summaries(
    connection: &mut SqliteConnection,
    list: &[i64],
) -> Result<Vec<ExperimentSummary>, StoreError> {
    let list = rows(list)?;
    let found = sqlx::query!(
        r#"SELECT e.experiment_id AS "experiment_id!", e.uuid, e.name, e.game, e.kind, e.state,
            e.submitted_unix_us, e.priority,
            (SELECT json_array(count(*),
                    coalesce(sum(coalesce(c.stop_number, c.games_planned)), 0),
                    coalesce(sum(r.games + r.games_failed), 0), coalesce(sum(r.games_failed), 0))
                FROM cells AS c LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
                WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS "sums!: String"
        FROM experiments AS e
        WHERE e.experiment_id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
            SELECT 1 FROM removals AS x
            WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
        ORDER BY e.experiment_id"#,
        list
    )
    .fetch_all(connection)
    .await?;
    found
        .into_iter()
        .map(|row| {
            let sums = serde_json::from_str(&row.sums);
            let Sums(cells, games_planned, games_settled, games_failed) =
                sums.map_err(|error| sqlx::Error::Decode(error.into()))?;
            Ok(ExperimentSummary {
                experiment: ExperimentId(row.experiment_id),
                uuid: row.uuid,
                name: row.name,
                game: row.game,
                task: Task::from_experiments(&row.kind).unwrap_or_default(),
                state: state_of(&row.state),
                priority: row.priority,
                cells,
                games_planned,
                games_settled,
                games_failed,
                submitted_unix_us: row.submitted_unix_us,
            })
        })
        .collect()
}
