//! Problems that need attention, as far as the database shows them.

use std::path::Path;

use spelrum_answers::{
    Attention, ConflictParty, Conflicts, DeviatingGames, ExperimentSummary, FailedGames, Findings,
    ForfeitedGames, LostGames, MostFailed, NamedCell, NamedParty, OtherEngine, RefusedResults,
    attention_of_results,
};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, WorkerId};

use crate::error::StoreError;
use crate::read::engines::forfeits;
use crate::read::readers::Readers;
use crate::read::summaries::facts;
use crate::schema::encoding::rows;

/// Maximum number of experiments whose failed games are searched for messages.
const EXPERIMENTS_WITH_FAILURES_MAX: usize = 20;

/// Maximum number of workers named as parties to an experiment's conflicts.
const PARTIES_MAX: usize = 5;

/// Maximum number of failed games per experiment whose messages are counted.
const MESSAGES_COUNTED_MAX: i64 = 10_000;

impl Readers {
    /// Problems that need attention in these experiments and in the database as a whole.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn attention(
        &self,
        experiments: &[ExperimentSummary],
    ) -> Result<Vec<Attention>, StoreError> {
        Ok(attention_of_results(experiments, &self.findings(experiments).await?))
    }

    /// Findings in these experiments and in the database as a whole that may need attention.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn findings(
        &self,
        experiments: &[ExperimentSummary],
    ) -> Result<Findings, StoreError> {
        let list: Vec<i64> = experiments.iter().map(|summary| summary.experiment.0).collect();
        let list = rows(&list)?;
        Ok(Findings {
            conflicts: self.conflicts(&list).await?,
            deviating: self.deviating(&list).await?,
            refused: self.refused(&list).await?,
            failed: self.failed(experiments).await?,
            forfeits: self.forfeited(experiments).await?,
            lost: self.lost(&list).await?,
            other_engine: self.other_engine(&list).await?,
            removals: self.removals().await?,
            free_bytes: free_bytes(self.path()),
        })
    }

    /// Differing results of deterministic games (invariant 2).
    async fn conflicts(&self, experiments: &str) -> Result<Vec<Conflicts>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.name, count(*) AS "results!: u64",
                count(DISTINCT u.worker_id) AS "workers!: u64"
            FROM uncounted_games AS u INDEXED BY uncounted_games_conflicts
            JOIN cells AS c ON c.cell_id = u.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE u.reason = 'conflict' AND e.experiment_id IN (SELECT value FROM json_each(?))
            GROUP BY e.experiment_id ORDER BY e.experiment_id LIMIT 100"#,
            experiments
        )
        .fetch_all(self.reads())
        .await?;
        let parties = sqlx::query!(
            r#"SELECT name AS "experiment!", worker_id AS "worker_id!",
                worker AS "worker!", host AS "host!", count(*) AS "conflicts!: u64"
            FROM (
                SELECT e.name, w.worker_id, w.name AS worker, w.host
                FROM uncounted_games AS u INDEXED BY uncounted_games_conflicts
                JOIN cells AS c ON c.cell_id = u.cell_id
                JOIN experiments AS e ON e.experiment_id = c.experiment_id
                JOIN games AS g ON g.cell_id = u.cell_id AND g.number = u.number
                JOIN workers AS w ON w.worker_id IN (u.worker_id, g.worker_id)
                WHERE u.reason = 'conflict' AND e.experiment_id IN (SELECT value FROM json_each(?1)))
            GROUP BY name, worker_id ORDER BY count(*) DESC, worker_id LIMIT 1000"#,
            experiments
        )
        .fetch_all(self.reads())
        .await?;
        let found = found.into_iter().map(|row| {
            let its = parties.iter().filter(|party| party.experiment == row.name);
            let party = its.map(|party| ConflictParty {
                worker: WorkerId(party.worker_id),
                name: party.worker.clone(),
                host: party.host.clone(),
                conflicts: party.conflicts,
            });
            let parties = party.take(PARTIES_MAX).collect();
            let (results, workers) = (row.results, row.workers);
            Conflicts { experiment: row.name, results, workers, parties }
        });
        Ok(found.collect())
    }

    /// Games whose verification differed: by experiment, original worker and verifying worker, most games first.
    async fn deviating(&self, experiments: &str) -> Result<Vec<DeviatingGames>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.name AS "name!", count(*) AS "games!: u64", p.worker_id AS "played_by?",
                p.name AS "player?", p.host AS "player_host?", w.worker_id AS "verified_by!",
                w.name AS "verifier!", w.host AS "verifier_host!"
            FROM verifications AS v INDEXED BY verifications_different
            JOIN cells AS c ON c.cell_id = v.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            LEFT JOIN workers AS p ON p.worker_id = v.played_by_worker_id
            JOIN workers AS w ON w.worker_id = v.verified_by_worker_id
            -- One whose result was taken out needs nobody any more.
            WHERE v.verdict = 'different' AND v.game_id IS NOT NULL
                AND e.experiment_id IN (SELECT value FROM json_each(?))
            GROUP BY e.experiment_id, p.worker_id, w.worker_id
            ORDER BY e.experiment_id, count(*) DESC, p.worker_id, w.worker_id LIMIT 100"#,
            experiments
        )
        .fetch_all(self.reads())
        .await?;
        let named = |worker: Option<i64>, name: Option<String>, host: Option<String>| {
            let (worker, name, host) = (worker?, name?, host?);
            Some(NamedParty { worker: WorkerId(worker), name, host })
        };
        let found = found.into_iter().map(|row| DeviatingGames {
            experiment: row.name,
            games: row.games,
            played_by: named(row.played_by, row.player, row.player_host),
            verified_by: NamedParty {
                worker: WorkerId(row.verified_by),
                name: row.verifier,
                host: row.verifier_host,
            },
        });
        Ok(found.collect())
    }

    /// Results that are not records of their games.
    async fn refused(&self, experiments: &str) -> Result<Vec<RefusedResults>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.name AS "name!", count(*) AS "results!: u64",
                count(DISTINCT r.worker_id) AS "workers!: u64", max(r.problem) AS "problem!: String"
            FROM refused_results AS r
            JOIN cells AS c ON c.cell_id = r.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE e.experiment_id IN (SELECT value FROM json_each(?))
            GROUP BY e.experiment_id ORDER BY e.experiment_id LIMIT 100"#,
            experiments
        )
        .fetch_all(self.reads())
        .await?;
        let found = found.into_iter().map(|row| RefusedResults {
            experiment: row.name,
            results: row.results,
            workers: row.workers,
            problem: row.problem,
        });
        Ok(found.collect())
    }

    /// Games that finally failed, with their most frequent message.
    async fn failed(
        &self,
        experiments: &[ExperimentSummary],
    ) -> Result<Vec<FailedGames>, StoreError> {
        let failing = experiments.iter().rev().filter(|summary| summary.games_failed > 0);
        let mut found = Vec::new();
        for experiment in failing.take(EXPERIMENTS_WITH_FAILURES_MAX) {
            let most = sqlx::query!(
                r#"SELECT message AS "message!", count(*) AS "games!: u64" FROM (
                    SELECT g.failure AS message
                    FROM cells AS c
                    JOIN attempts AS a ON a.cell_id = c.cell_id
                    JOIN games AS g ON g.cell_id = a.cell_id AND g.number = a.number
                    WHERE c.experiment_id = ? AND g.failure IS NOT NULL LIMIT ?)
                GROUP BY message ORDER BY 2 DESC, 1 LIMIT 1"#,
                experiment.experiment.0,
                MESSAGES_COUNTED_MAX
            )
            .fetch_optional(self.reads())
            .await?;
            found.push(FailedGames {
                experiment: experiment.name.clone(),
                games: experiment.games_failed,
                most: most.map(|row| MostFailed { message: row.message, games: row.games }),
            });
        }
        Ok(found)
    }

    /// Forfeited games in the newest experiments that are not cancelled, newest experiment first.
    async fn forfeited(
        &self,
        experiments: &[ExperimentSummary],
    ) -> Result<Vec<ForfeitedGames>, StoreError> {
        let mut connection = self.snapshot().await?;
        let any = sqlx::query_scalar!(
            r#"SELECT EXISTS (
                SELECT 1 FROM games INDEXED BY games_forfeited WHERE counted = 1
                    AND termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit'))
                AS "any!: bool""#
        )
        .fetch_one(&mut *connection)
        .await?;
        let mut found = Vec::new();
        if !any {
            return Ok(found);
        }
        let alive =
            experiments.iter().filter(|summary| summary.state != ExperimentState::Cancelled);
        for experiment in alive.rev().take(EXPERIMENTS_WITH_FAILURES_MAX) {
            let facts = facts(&mut connection, experiment.experiment).await?;
            let stopped_for = facts.and_then(|facts| facts.stopped_for);
            let forfeits = forfeits(&mut connection, experiment.experiment).await?;
            found.extend(forfeits.into_iter().map(|forfeits| ForfeitedGames {
                experiment: experiment.name.clone(),
                is_stopped: stopped_for.as_ref() == Some(&forfeits.player),
                forfeits,
            }));
        }
        Ok(found)
    }

    /// Games that were lost with their workers more than once and have no result.
    async fn lost(&self, experiments: &str) -> Result<Vec<LostGames>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.name, count(*) AS "games!: u64",
                sum(a.lost_alone >= 2) AS "suspects!: u64"
            FROM attempts AS a
            JOIN cells AS c ON c.cell_id = a.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE a.lost >= 2 AND e.state IN ('running', 'paused')
                AND e.experiment_id IN (SELECT value FROM json_each(?))
                AND NOT EXISTS (
                    SELECT 1 FROM games AS g WHERE g.cell_id = a.cell_id AND g.number = a.number)
                AND NOT EXISTS (
                    SELECT 1 FROM networks AS n
                    WHERE n.network_id = c.trains_network_id AND n.settled_unix_us IS NOT NULL)
                AND NOT EXISTS (
                    SELECT 1 FROM verifications AS v
                    WHERE v.cell_id = c.cell_id AND v.settled_unix_us IS NOT NULL)
            GROUP BY e.experiment_id ORDER BY e.experiment_id LIMIT 100"#,
            experiments
        )
        .fetch_all(self.reads())
        .await?;
        let found = found.into_iter().map(|row| LostGames {
            experiment: row.name,
            games: row.games,
            suspects: row.suspects,
        });
        Ok(found.collect())
    }

    /// Cells with the names of their experiments; a deleted cell has none.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn cells_named(&self, cells: &[CellId]) -> Result<Vec<NamedCell>, StoreError> {
        let list: Vec<i64> = cells.iter().map(|cell| cell.0).collect();
        let list = rows(&list)?;
        let found = sqlx::query!(
            r#"SELECT c.cell_id AS "cell_id!", e.name, c.first_player_name, c.second_player_name
            FROM cells AS c JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE c.cell_id IN (SELECT value FROM json_each(?))
            ORDER BY c.cell_id"#,
            list
        )
        .fetch_all(self.reads())
        .await?;
        let found = found.into_iter().map(|row| NamedCell {
            cell: CellId(row.cell_id),
            experiment: row.name,
            players: [row.first_player_name, row.second_player_name],
        });
        Ok(found.collect())
    }

    /// Experiments that another engine has begun (invariant 2).
    async fn other_engine(&self, experiments: &str) -> Result<Vec<OtherEngine>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT name, engine_revision FROM experiments
            WHERE state IN ('running', 'paused') AND engine_revision <> ?2
                AND experiment_id IN (SELECT value FROM json_each(?1))
            ORDER BY experiment_id LIMIT 100"#,
            experiments,
            ENGINE_REVISION
        )
        .fetch_all(self.reads())
        .await?;
        let found = found
            .into_iter()
            .map(|row| OtherEngine { experiment: row.name, engine_revision: row.engine_revision });
        Ok(found.collect())
    }
}

/// Free bytes on a file's file system, if known.
fn free_bytes(path: &Path) -> Option<u64> {
    let statistics = rustix::fs::statvfs(path).ok()?;
    Some(statistics.f_bavail.saturating_mul(statistics.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_says_how_much_is_free() {
        assert!(free_bytes(Path::new(".")).is_some());
    }
}
