//! What needs somebody, as far as the file knows it.

use std::path::Path;

use spelrum_engine::ENGINE_REVISION;
use spelrum_proto::v1;
use spelrum_tournament::{CellId, ExperimentId};

use super::error::StoreError;
use super::read::Readers;
use super::scheduling::unsigned;
use super::transaction::rows;

/// A file system with less free space than this is too full for a database that grows.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// Experiments whose failed games are looked at for their messages.
const EXPERIMENTS_WITH_FAILURES_MAX: usize = 20;

/// Failed games whose messages are counted, for each.
const MESSAGES_COUNTED_MAX: i64 = 10_000;

/// A message is shown up to this length.
const MESSAGE_BYTES_SHOWN_MAX: usize = 200;

/// Things of one kind that are named.
const NAMED_MAX: usize = 100;

/// The cell of an experiment whose games need most memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargestCell {
    /// The cell.
    pub cell: i64,
    /// Its experiment's name.
    pub experiment: String,
    /// The names of its players.
    pub players: [String; 2],
    /// Bytes of memory that a game of it may take.
    pub memory_bytes: u64,
}

impl Readers {
    /// What needs somebody in these experiments, and in the database as a whole.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn attention(
        &self,
        experiments: &[v1::ExperimentSummary],
    ) -> Result<Vec<v1::Attention>, StoreError> {
        let uuids: Vec<&str> = experiments.iter().map(|it| &*it.experiment_uuid).collect();
        let uuids = rows(&uuids)?;
        let mut attention = self.conflicts(&uuids).await?;
        attention.extend(self.refused(&uuids).await?);
        attention.extend(self.failed(experiments).await?);
        attention.extend(self.lost(&uuids).await?);
        attention.extend(self.other_engine(&uuids).await?);
        attention.extend(experiments.iter().filter_map(paused).take(NAMED_MAX));
        attention.extend(self.removals().await?.iter().map(removal).take(NAMED_MAX));
        attention.extend(free_bytes(self.path()).and_then(little_space));
        Ok(attention)
    }

    /// Results of deterministic games that differ (invariant 2).
    async fn conflicts(&self, uuids: &str) -> Result<Vec<v1::Attention>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.name, count(*) AS "results!: i64",
                count(DISTINCT u.worker_id) AS "workers!: i64"
            FROM uncounted_games AS u INDEXED BY uncounted_games_conflicts
            JOIN cells AS c ON c.cell_id = u.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE u.reason = 'conflict' AND e.uuid IN (SELECT value FROM json_each(?))
            GROUP BY e.experiment_id ORDER BY e.experiment_id LIMIT 100"#,
            uuids
        )
        .fetch_all(self.own())
        .await?;
        Ok(found
            .into_iter()
            .map(|row| {
                let (results, workers) = (unsigned(row.results), unsigned(row.workers));
                v1::Attention {
                    kind: "conflicts".to_owned(),
                    count: results,
                    problem: format!(
                        "{results} {} of {workers} {} from the settled one of the same game, \
                         which must not happen",
                        noun(results, "result", "results"),
                        noun(workers, "worker differs", "workers differ"),
                    ),
                    remedy:
                        "find the machine whose memory or build is wrong: spelrum sql \"SELECT \
                             w.host, w.name, u.cell_id, u.number FROM uncounted_games u JOIN \
                             workers w USING (worker_id) WHERE u.reason = 'conflict'\""
                            .to_owned(),
                    experiment: row.name,
                }
            })
            .collect())
    }

    /// Results that are not records of their games.
    async fn refused(&self, uuids: &str) -> Result<Vec<v1::Attention>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.name AS "name!: String", count(*) AS "results!: i64",
                count(DISTINCT r.worker_id) AS "workers!: i64", max(r.problem) AS "problem!: String"
            FROM refused_results AS r
            JOIN cells AS c ON c.cell_id = r.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE e.uuid IN (SELECT value FROM json_each(?))
            GROUP BY e.experiment_id ORDER BY e.experiment_id LIMIT 100"#,
            uuids
        )
        .fetch_all(self.own())
        .await?;
        Ok(found
            .into_iter()
            .map(|row| {
                let (results, workers) = (unsigned(row.results), unsigned(row.workers));
                v1::Attention {
                    kind: "refused".to_owned(),
                    count: results,
                    problem: format!(
                        "{results} {} of {workers} {} refused, since the rules do not allow {}: {}",
                        noun(results, "result", "results"),
                        noun(workers, "worker was", "workers were"),
                        noun(results, "it", "them"),
                        row.problem,
                    ),
                    remedy:
                        "the games are played again; find the machine whose memory or build is \
                             wrong: spelrum sql \"SELECT w.host, w.name, r.problem FROM \
                             refused_results r JOIN workers w USING (worker_id)\""
                            .to_owned(),
                    experiment: row.name,
                }
            })
            .collect())
    }

    /// Games that finally failed, with what most of them say.
    async fn failed(
        &self,
        experiments: &[v1::ExperimentSummary],
    ) -> Result<Vec<v1::Attention>, StoreError> {
        let failing = experiments.iter().rev().filter(|it| it.games_failed > 0);
        let mut attention = Vec::new();
        for experiment in failing.take(EXPERIMENTS_WITH_FAILURES_MAX) {
            let most = sqlx::query!(
                r#"SELECT message AS "message!: String", count(*) AS "games!: i64" FROM (
                    SELECT g.failure AS message
                    FROM experiments AS e
                    JOIN cells AS c ON c.experiment_id = e.experiment_id
                    JOIN attempts AS a ON a.cell_id = c.cell_id
                    JOIN games AS g ON g.cell_id = a.cell_id AND g.number = a.number
                    WHERE e.uuid = ? AND g.failure IS NOT NULL LIMIT ?)
                GROUP BY message ORDER BY 2 DESC, 1 LIMIT 1"#,
                experiment.experiment_uuid,
                MESSAGES_COUNTED_MAX
            )
            .fetch_optional(self.own())
            .await?;
            let games = experiment.games_failed;
            let failed = noun(games, "game has finally failed", "games have finally failed");
            let problem = match most {
                None => format!("{games} {failed}"),
                Some(most) if unsigned(most.games) == games => {
                    format!("{games} {failed}: {}", shortened(&most.message))
                }
                Some(most) => {
                    format!(
                        "{games} {failed}, {} of them: {}",
                        most.games,
                        shortened(&most.message)
                    )
                }
            };
            attention.push(v1::Attention {
                kind: "failed_games".to_owned(),
                experiment: experiment.name.clone(),
                count: games,
                problem,
                remedy: format!(
                    "see them all: spelrum sql \"SELECT * FROM failures WHERE experiment = '{}' \
                     AND finally_failed\"",
                    experiment.name
                ),
            });
        }
        Ok(attention)
    }

    /// Games that were lost with their workers more than once and have no result.
    async fn lost(&self, uuids: &str) -> Result<Vec<v1::Attention>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.name, count(*) AS "games!: i64",
                sum(a.lost_alone >= 2) AS "suspects!: i64"
            FROM attempts AS a
            JOIN cells AS c ON c.cell_id = a.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE a.lost >= 2 AND e.state IN ('running', 'paused')
                AND e.uuid IN (SELECT value FROM json_each(?))
                AND NOT EXISTS (
                    SELECT 1 FROM games AS g WHERE g.cell_id = a.cell_id AND g.number = a.number)
            GROUP BY e.experiment_id ORDER BY e.experiment_id LIMIT 100"#,
            uuids
        )
        .fetch_all(self.own())
        .await?;
        Ok(found
            .into_iter()
            .map(|row| {
                let games = unsigned(row.games);
                let lost = noun(games, "game was", "games were");
                let suspects = match row.suspects {
                    0 => String::new(),
                    1 => "; 1 of them is suspected of ending its workers".to_owned(),
                    many => format!("; {many} of them are suspected of ending their workers"),
                };
                v1::Attention {
                    kind: "lost_games".to_owned(),
                    count: games,
                    problem: format!("{games} {lost} lost with a worker twice or more{suspects}"),
                    remedy: "read what the workers that ended wrote last, and what their systems \
                             say of their memory; a game that ends ten workers is given up"
                        .to_owned(),
                    experiment: row.name,
                }
            })
            .collect())
    }

    /// Cells with the names of their experiments, of which a cell that is deleted has none.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn cells_named(
        &self,
        cells: &[(ExperimentId, CellId, u64)],
    ) -> Result<Vec<LargestCell>, StoreError> {
        let list: Vec<i64> = cells.iter().map(|(_, cell, _)| cell.0).collect();
        let list = rows(&list)?;
        let found = sqlx::query!(
            r#"SELECT c.cell_id AS "cell_id!: i64", e.name, c.first_player_name,
                c.second_player_name
            FROM cells AS c JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE c.cell_id IN (SELECT value FROM json_each(?))
            ORDER BY c.cell_id"#,
            list
        )
        .fetch_all(self.own())
        .await?;
        let bytes = |cell: i64| cells.iter().find(|(_, it, _)| it.0 == cell).map(|it| it.2);
        Ok(found
            .into_iter()
            .filter_map(|row| {
                Some(LargestCell {
                    cell: row.cell_id,
                    experiment: row.name,
                    players: [row.first_player_name, row.second_player_name],
                    memory_bytes: bytes(row.cell_id)?,
                })
            })
            .collect())
    }

    /// Experiments that another engine has begun (invariant 2).
    async fn other_engine(&self, uuids: &str) -> Result<Vec<v1::Attention>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT name, engine_revision FROM experiments
            WHERE state IN ('running', 'paused') AND engine_revision <> ?2
                AND uuid IN (SELECT value FROM json_each(?1))
            ORDER BY experiment_id LIMIT 100"#,
            uuids,
            ENGINE_REVISION
        )
        .fetch_all(self.own())
        .await?;
        let told = found.into_iter().map(|row| v1::Attention {
            kind: "other_engine".to_owned(),
            count: 1,
            problem: format!(
                "it was begun with revision {} of the engine, and this program has {ENGINE_REVISION}: \
                 none of its games are handed out",
                row.engine_revision
            ),
            remedy: "go on with the release it was begun with, or submit it under another name"
                .to_owned(),
            experiment: row.name,
        });
        Ok(told.collect())
    }
}

fn paused(experiment: &v1::ExperimentSummary) -> Option<v1::Attention> {
    let left = experiment.games_planned.saturating_sub(experiment.games_settled);
    (experiment.state == "paused").then(|| v1::Attention {
        kind: "paused".to_owned(),
        experiment: experiment.name.clone(),
        count: left,
        problem: format!("it is paused, with {left} {} to play", noun(left, "game", "games")),
        remedy: format!("let it go on: spelrum resume {}", experiment.name),
    })
}

fn removal(removal: &v1::Removal) -> v1::Attention {
    let v1::Removal { experiment, games, games_done, shrinking, .. } = removal;
    let what = match removal.what() {
        v1::RemoveWhat::Moves => "its moves are being dropped",
        v1::RemoveWhat::Everything | v1::RemoveWhat::Unspecified => "it is being deleted",
    };
    let left = games.saturating_sub(*games_done);
    let problem = if *shrinking {
        format!("{what}: the rows are gone, the file is shrinking")
    } else {
        format!("{what}: {left} of {games} {} left", noun(*games, "game is", "games are"))
    };
    v1::Attention {
        kind: "removal".to_owned(),
        experiment: experiment.clone(),
        count: left,
        problem,
        remedy: "nothing, while a coordinator has the database: it goes on by itself".to_owned(),
    }
}

fn little_space(free_bytes: u64) -> Option<v1::Attention> {
    (free_bytes < FREE_BYTES_MIN).then(|| v1::Attention {
        kind: "little_space".to_owned(),
        experiment: String::new(),
        count: free_bytes,
        problem: format!("the database's file system has {} MiB left", free_bytes >> 20),
        remedy: "free some space, or drop the moves of an experiment: spelrum prune".to_owned(),
    })
}

/// The free bytes of a file's file system, if it says.
fn free_bytes(path: &Path) -> Option<u64> {
    let statistics = rustix::fs::statvfs(path).ok()?;
    Some(statistics.f_bavail.saturating_mul(statistics.f_frsize))
}

fn noun<'n>(count: u64, one: &'n str, many: &'n str) -> &'n str {
    if count == 1 { one } else { many }
}

/// A message in one line, not too long for a list.
fn shortened(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    if line.len() <= MESSAGE_BYTES_SHOWN_MAX {
        return line.to_owned();
    }
    format!("{}…", &line[..line.floor_char_boundary(MESSAGE_BYTES_SHOWN_MAX)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_said_before_it_is_full() {
        assert_eq!(little_space(FREE_BYTES_MIN), None);
        let told = little_space((300 << 20) + 5).unwrap();
        assert_eq!(told.problem, "the database's file system has 300 MiB left");
        assert!(free_bytes(Path::new(".")).is_some());
    }

    #[test]
    fn messages_are_one_short_line() {
        assert_eq!(shortened("panic\nat line 7"), "panic");
        assert_eq!(shortened(&"é".repeat(300)), format!("{}…", "é".repeat(100)));
    }
}
