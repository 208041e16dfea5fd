//! An experiment's progress and remaining work, polled while it runs.

use spelrum_answers::Progress;
use spelrum_model::ExperimentId;
use spelrum_statistics::forecast::{Backlog, GameSpread};

use crate::error::StoreError;
use crate::read::engines::forfeits;
use crate::read::expected_games::expected_games;
use crate::read::readers::Readers;
use crate::schema::experiment_states::state_of;

impl Readers {
    /// Returns an experiment's progress and remaining work as sums over its cells: one row for any number of cells,
    /// from the rollups and the latest games. `None` if the experiment is missing.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn progress(&self, experiment: ExperimentId) -> Result<Option<Progress>, StoreError> {
        self.in_time(self.look(experiment)).await
    }

    async fn look(&self, experiment: ExperimentId) -> Result<Option<Progress>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let row = sqlx::query!(
            r#"WITH work (games_planned, games_left, games, games_failed, wall_us, is_stopped) AS (
                SELECT coalesce(c.stop_number, c.games_planned),
                    max(0, coalesce(c.stop_number, c.games_planned)
                        - coalesce(r.games + r.games_failed, 0)),
                    coalesce(r.games, 0), coalesce(r.games_failed, 0), coalesce(r.wall_us, 0.0),
                    c.stop_number IS NOT NULL
                FROM cells AS c LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
                WHERE c.experiment_id = ?1 AND c.in_sweep = 1),
            sums AS (
                SELECT count(*) AS cells,
                    coalesce(sum(games_left = 0), 0) AS cells_settled,
                    coalesce(sum(is_stopped), 0) AS cells_stopped,
                    coalesce(sum(games_planned), 0) AS games_planned,
                    coalesce(sum(games + games_failed), 0) AS games_settled,
                    coalesce(sum(games_failed), 0) AS games_failed,
                    coalesce(sum(games_left), 0) AS games_left,
                    coalesce(sum(wall_us), 0.0) AS wall_us,
                    coalesce(sum(games_left) FILTER (WHERE games = 0), 0) AS unseen_games_left,
                    coalesce(sum(games_left * wall_us / games) FILTER (WHERE games > 0), 0.0)
                        AS seen_us,
                    coalesce(sum(games_left * wall_us / games * games_left * wall_us / games
                            * (1.0 / games + 1.0 / games_left))
                        FILTER (WHERE games > 0 AND games_left > 0), 0.0) AS seen_squares,
                    coalesce(max(wall_us / games) FILTER (WHERE games > 0 AND games_left > 0), 0.0)
                        AS longest_us,
                    coalesce(sum(games > 0), 0) AS seen_cells,
                    coalesce(sum(wall_us / games) FILTER (WHERE games > 0), 0.0) AS means_us,
                    coalesce(sum(wall_us / games * wall_us / games) FILTER (WHERE games > 0), 0.0)
                        AS mean_squares
                FROM work),
            trainings AS (
                SELECT count(*) AS networks, count(n.settled_unix_us) AS settled
                FROM cells AS c JOIN networks AS n ON n.network_id = c.trains_network_id
                WHERE c.experiment_id = ?1 AND c.number < 0),
            latest (off, weight) AS (
                SELECT g.wall_us * r.games / r.wall_us - 1.0, 1.0 - 1.0 / r.games
                FROM games AS g NOT INDEXED
                JOIN cells AS c ON c.cell_id = g.cell_id
                JOIN cell_results AS r ON r.cell_id = g.cell_id
                WHERE g.game_id > (SELECT max(game_id) - 500 FROM games) AND g.counted = 1
                    AND c.experiment_id = ?1 AND r.games >= 2 AND r.wall_us > 0)
            SELECT e.state, e.forfeits_player, s.cells AS "cells!: u64",
                s.cells_settled AS "cells_settled!: u64", s.cells_stopped AS "cells_stopped!: u64",
                (SELECT s.rule FROM cells AS c
                    JOIN stop_rules AS s ON s.stop_rule_id = c.stop_rule_id
                    WHERE c.experiment_id = ?1 AND c.in_sweep = 1 LIMIT 1) AS "stop_rule?",
                s.games_planned AS "games_planned!: u64", s.games_settled AS "games_settled!: u64",
                s.games_failed AS "games_failed!: u64", s.games_left AS "games_left!: u64",
                s.wall_us AS "wall_us!: f64", s.unseen_games_left AS "unseen_games_left!: u64",
                s.seen_us AS "seen_us!: f64", s.seen_squares AS "seen_squares!: f64",
                s.longest_us AS "longest_us!: f64", s.seen_cells AS "seen_cells!: u64",
                s.means_us AS "means_us!: f64", s.mean_squares AS "mean_squares!: f64",
                (SELECT coalesce(sum(off * off), 0.0) FROM latest) AS "spread_squares!: f64",
                (SELECT coalesce(sum(weight), 0.0) FROM latest) AS "spread_weight!: f64",
                (SELECT coalesce(sum(w.slots), 0) FROM workers AS w WHERE w.worker_id IN (
                    SELECT l.worker_id FROM leases AS l
                    WHERE l.ended_by IS NULL AND EXISTS (
                        SELECT 1 FROM lease_ranges AS g JOIN cells AS c ON c.cell_id = g.cell_id
                        WHERE g.lease_id = l.lease_id AND c.experiment_id = ?1)))
                    AS "slots!: u64",
                e.games_at_once,
                (SELECT coalesce(max(game_id), 0) FROM games) AS "last_game_id!: i64",
                t.networks AS "networks!: u64", t.settled AS "networks_settled!: u64"
            FROM experiments AS e JOIN sums AS s JOIN trainings AS t
            WHERE e.experiment_id = ?1"#,
            experiment.0
        )
        .fetch_optional(&mut *snapshot)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let forfeits = forfeits(&mut snapshot, experiment).await?;
        let backlog = Backlog {
            games_left: row.games_left,
            unseen_games_left: row.unseen_games_left,
            seen_us: row.seen_us,
            seen_squares: row.seen_squares,
            longest_us: row.longest_us,
            seen_cells: row.seen_cells,
            means_us: row.means_us,
            mean_squares: row.mean_squares,
        };
        let expected = match row.stop_rule {
            Some(_) => expected_games(&mut snapshot, experiment, &backlog).await?,
            None => None,
        };
        Ok(Some(Progress {
            state: state_of(&row.state),
            cells: row.cells,
            cells_settled: row.cells_settled,
            stop_rule: row.stop_rule,
            cells_stopped: row.cells_stopped,
            games_planned: row.games_planned,
            games_settled: row.games_settled,
            games_failed: row.games_failed,
            forfeits,
            stopped_for: row.forfeits_player,
            networks: row.networks,
            networks_settled: row.networks_settled,
            wall_us: row.wall_us,
            games_expected: expected.map(|(games, _)| games),
            backlog: expected.map_or(backlog, |(_, backlog)| backlog),
            spread: GameSpread { squares: row.spread_squares, weight: row.spread_weight },
            slots: row.slots.min(row.games_at_once.map_or(u64::MAX, u64::from)),
            last_game_id: row.last_game_id,
        }))
    }
}
