//! Results of verifications, and games to verify.

use spelrum_answers::{
    DifferentGame, FoundGame, NamedWorker, SettledGame, Verdict, VerificationCount, Verifications,
    WhichGame,
};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{CellId, Difference, ExperimentId, GameId, WorkerId};

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::read::summaries::facts;
use crate::schema::encoding::rows;
use crate::write::verifications::VERIFICATION_NUMBER;

/// Maximum number of counts by player, verifier and verdict that are read.
const COUNTS_MAX: i64 = 100_000;

/// Maximum number of differing games in an answer: each may name two openings.
const DIFFERENT_MAX: i64 = 100;

impl Readers {
    /// The cells named by an experiment's sweep in grid order, each with its number of planned games. Cells of retired
    /// builds are left out, since their games cannot be replayed.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn cells_to_draw_from(
        &self,
        experiment: ExperimentId,
    ) -> Result<Vec<(CellId, u64)>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT cell_id AS "cell_id!", coalesce(stop_number, games_planned) AS "games!: u64"
            FROM cells WHERE experiment_id = ? AND in_sweep = 1 AND superseded = 0
            ORDER BY number, cell_id"#,
            experiment.0
        )
        .fetch_all(self.reads())
        .await?;
        Ok(found.into_iter().map(|row| (CellId(row.cell_id), row.games)).collect())
    }

    /// Revision of the engine that plays an experiment's games.
    ///
    /// # Errors
    /// If the database fails, or the experiment is missing.
    pub async fn engine_revision_of(&self, experiment: ExperimentId) -> Result<u32, StoreError> {
        let facts = facts(&mut *self.reads().acquire().await?, experiment).await?;
        Ok(facts.ok_or(StoreError::Missing { what: "an experiment" })?.engine_revision)
    }

    /// Returns the ids of those of these results that were verified by this engine, or wait for it.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn known_verifications(&self, game_ids: &[i64]) -> Result<Vec<i64>, StoreError> {
        let list = rows(game_ids)?;
        let found = sqlx::query_scalar!(
            r#"SELECT DISTINCT v.game_id AS "game_id!"
            FROM json_each(?1) AS j CROSS JOIN verifications AS v ON v.game_id = j.value
            WHERE v.settled_unix_us IS NULL
                OR (v.verdict <> 'not played' AND v.engine_revision = ?2)"#,
            list,
            ENGINE_REVISION
        )
        .fetch_all(self.reads())
        .await?;
        Ok(found)
    }

    /// Returns the stored game that a verification is about; `None` if its result was discarded.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn verified_game(&self, cell: CellId) -> Result<Option<SettledGame>, StoreError> {
        let game =
            sqlx::query_scalar!("SELECT game_id FROM verifications WHERE cell_id = ?", cell.0)
                .fetch_optional(self.reads())
                .await?;
        let Some(game) = game.flatten() else { return Ok(None) };
        Ok(match self.game(WhichGame::Id(game)).await? {
            FoundGame::Settled(game) => Some(*game),
            FoundGame::Missing(_) => None,
        })
    }

    /// Returns the results of an experiment's verifications.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn verifications(
        &self,
        experiment: ExperimentId,
    ) -> Result<Verifications, StoreError> {
        self.in_time(self.all_verifications(experiment)).await
    }

    async fn all_verifications(
        &self,
        experiment: ExperimentId,
    ) -> Result<Verifications, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let counts = sqlx::query!(
            r#"SELECT v.verdict, p.worker_id AS "player?", p.name AS "player_name?",
                p.host AS "player_host?", w.worker_id AS "verifier?", w.name AS "verifier_name?",
                w.host AS "verifier_host?", count(*) AS "games!: u64",
                sum(v.settled_unix_us IS NULL AND EXISTS (
                    SELECT 1 FROM lease_ranges AS r JOIN leases AS l ON l.lease_id = r.lease_id
                    WHERE r.cell_id = v.cell_id AND l.ended_by IS NULL)) AS "leased!: u64",
                min(v.failure) AS "failure?: String"
            FROM cells AS c CROSS JOIN verifications AS v ON v.cell_id = c.cell_id
            LEFT JOIN workers AS p ON p.worker_id = v.played_by_worker_id
            LEFT JOIN workers AS w ON w.worker_id = v.verified_by_worker_id
            WHERE c.experiment_id = ?1 AND c.number = ?2
            GROUP BY p.worker_id, w.worker_id, v.verdict
            ORDER BY p.worker_id, w.worker_id LIMIT ?3"#,
            experiment.0,
            VERIFICATION_NUMBER,
            COUNTS_MAX
        )
        .fetch_all(&mut *snapshot)
        .await?;
        let counts = counts.into_iter().map(|row| VerificationCount {
            played_by: named(row.player, row.player_name, row.player_host),
            verified_by: named(row.verifier, row.verifier_name, row.verifier_host),
            verdict: row.verdict.as_deref().and_then(Verdict::named),
            games: row.games,
            leased: row.leased,
            failure: row.failure,
        });
        let different = sqlx::query!(
            r#"SELECT v.game_id, v.verified_cell_id, v.number, p.worker_id AS "player?",
                p.name AS "player_name?", p.host AS "player_host?", w.worker_id AS "verifier!",
                w.name, w.host, v.difference_json AS "json!"
            FROM cells AS c CROSS JOIN verifications AS v ON v.cell_id = c.cell_id
            LEFT JOIN workers AS p ON p.worker_id = v.played_by_worker_id
            JOIN workers AS w ON w.worker_id = v.verified_by_worker_id
            WHERE c.experiment_id = ?1 AND c.number = ?2 AND v.verdict = 'different'
            ORDER BY v.settled_unix_us, v.cell_id LIMIT ?3"#,
            experiment.0,
            VERIFICATION_NUMBER,
            DIFFERENT_MAX
        )
        .fetch_all(&mut *snapshot)
        .await?;
        let different = different.into_iter().map(|row| DifferentGame {
            game_id: row.game_id,
            game: GameId { cell: CellId(row.verified_cell_id), number: row.number },
            played_by: named(row.player, row.player_name, row.player_host),
            verified_by: NamedWorker {
                worker: WorkerId(row.verifier),
                name: row.name,
                host: row.host,
            },
            difference: read_difference(&row.json),
        });
        Ok(Verifications::new(counts, different.collect()))
    }
}

fn named(worker: Option<i64>, name: Option<String>, host: Option<String>) -> Option<NamedWorker> {
    Some(NamedWorker { worker: WorkerId(worker?), name: name?, host: host? })
}

/// Parses a stored difference; an empty one if a later version wrote it in another form.
fn read_difference(json: &str) -> Difference {
    serde_json::from_str(json).unwrap_or(Difference { ply: None, fields: Vec::new() })
}
