//! Results of verifications, and games to verify.

use std::collections::BTreeMap;

use spelrum_answers::{
    DifferentGame, FoundGame, NamedWorker, SettledGame, Verifications, VerifiedPair,
    WaitingVerifications, WhichGame,
};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{CellId, Difference, ExperimentId, GameId, WorkerId};

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::encoding::rows;
use crate::write::verifications::VERIFICATION_NUMBER;

/// Maximum number of worker pairs and of waiting workers in an answer.
const NAMED_MAX: i64 = 1_000;

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
        let revision = sqlx::query_scalar!(
            r#"SELECT engine_revision AS revision FROM experiments WHERE experiment_id = ?"#,
            experiment.0
        )
        .fetch_one(self.reads())
        .await?;
        Ok(revision)
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
        let pairs = sqlx::query!(
            r#"SELECT v.played_by_worker_id AS "played_by?",
                v.verified_by_worker_id AS "verified_by!",
                sum(v.verdict = 'same') AS "same!: u64",
                sum(v.verdict = 'different') AS "different!: u64"
            FROM cells AS c CROSS JOIN verifications AS v ON v.cell_id = c.cell_id
            WHERE c.experiment_id = ?1 AND c.number = ?2 AND v.verdict IN ('same', 'different')
            GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ?3"#,
            experiment.0,
            VERIFICATION_NUMBER,
            NAMED_MAX
        )
        .fetch_all(&mut *snapshot)
        .await?;
        let waiting = sqlx::query!(
            r#"SELECT v.played_by_worker_id AS "played_by?", count(*) AS "games!: u64",
                sum(EXISTS (
                    SELECT 1 FROM lease_ranges AS r JOIN leases AS l ON l.lease_id = r.lease_id
                    WHERE r.cell_id = v.cell_id AND l.ended_by IS NULL)) AS "leased!: u64"
            FROM cells AS c CROSS JOIN verifications AS v ON v.cell_id = c.cell_id
            WHERE c.experiment_id = ?1 AND c.number = ?2 AND v.settled_unix_us IS NULL
            GROUP BY 1 ORDER BY 1 LIMIT ?3"#,
            experiment.0,
            VERIFICATION_NUMBER,
            NAMED_MAX
        )
        .fetch_all(&mut *snapshot)
        .await?;
        let different = sqlx::query!(
            r#"SELECT v.game_id, v.verified_cell_id, v.number, v.played_by_worker_id AS "played_by?",
                v.verified_by_worker_id AS "verified_by!", v.difference_json AS "json!"
            FROM cells AS c CROSS JOIN verifications AS v ON v.cell_id = c.cell_id
            WHERE c.experiment_id = ?1 AND c.number = ?2 AND v.verdict = 'different'
            ORDER BY v.settled_unix_us, v.cell_id LIMIT ?3"#,
            experiment.0,
            VERIFICATION_NUMBER,
            DIFFERENT_MAX
        )
        .fetch_all(&mut *snapshot)
        .await?;
        let sums = sqlx::query!(
            r#"SELECT coalesce(sum(v.verdict = 'different'), 0) AS "different!: u64",
                coalesce(sum(v.verdict = 'not played'), 0) AS "not_played!: u64",
                min(v.failure) AS "because?: String"
            FROM cells AS c CROSS JOIN verifications AS v ON v.cell_id = c.cell_id
            WHERE c.experiment_id = ?1 AND c.number = ?2"#,
            experiment.0,
            VERIFICATION_NUMBER
        )
        .fetch_one(&mut *snapshot)
        .await?;
        let ids = pairs.iter().flat_map(|row| [row.played_by, Some(row.verified_by)]);
        let ids = ids
            .chain(waiting.iter().map(|row| row.played_by))
            .chain(different.iter().flat_map(|row| [row.played_by, Some(row.verified_by)]));
        let ids: Vec<i64> = ids.flatten().collect();
        let ids = rows(&ids)?;
        let named = sqlx::query!(
            r#"SELECT worker_id AS "worker_id!", name, host FROM workers
            WHERE worker_id IN (SELECT value FROM json_each(?))"#,
            ids
        )
        .fetch_all(&mut *snapshot)
        .await?;
        let named: BTreeMap<i64, NamedWorker> = named
            .into_iter()
            .map(|row| {
                let worker = WorkerId(row.worker_id);
                (row.worker_id, NamedWorker { worker, name: row.name, host: row.host })
            })
            .collect();
        let name = |id: i64| {
            let unknown =
                NamedWorker { worker: WorkerId(id), name: String::new(), host: String::new() };
            named.get(&id).cloned().unwrap_or(unknown)
        };
        let pair = |row: (Option<i64>, i64, u64, u64)| VerifiedPair {
            played_by: row.0.map(name),
            verified_by: name(row.1),
            same: row.2,
            different: row.3,
        };
        Ok(Verifications {
            pairs: pairs
                .iter()
                .map(|row| pair((row.played_by, row.verified_by, row.same, row.different)))
                .collect(),
            waiting: waiting
                .iter()
                .map(|row| WaitingVerifications {
                    played_by: row.played_by.map(name),
                    games: row.games,
                    leased: row.leased,
                    // A file does not know who is connected.
                    has_worker: false,
                })
                .collect(),
            different: different
                .iter()
                .map(|row| DifferentGame {
                    game_id: row.game_id,
                    game: GameId { cell: CellId(row.verified_cell_id), number: row.number },
                    played_by: row.played_by.map(name),
                    verified_by: name(row.verified_by),
                    difference: read_difference(&row.json),
                })
                .collect(),
            different_total: sums.different,
            not_played: sums.not_played,
            not_played_because: sums.because,
        })
    }
}

/// Parses a stored difference; an empty one if a later version wrote it in another form.
fn read_difference(json: &str) -> Difference {
    serde_json::from_str(json).unwrap_or(Difference { ply: None, fields: Vec::new() })
}
