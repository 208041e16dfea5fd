//! Cells that a stop rule has not ended yet, for a forecast of their games.

use spelrum_answers::{CellsSeen, ExpectedGames, OpenCell};
use spelrum_model::ExperimentId;
use spelrum_statistics::forecast::Backlog;
use spelrum_statistics::{GameCounts, OpeningSpread, PairCounts, Tally};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::write::stop_rules::RuleRow;

/// Open cells that are looked at one by one; more are taken to be like them. Progress is asked for every second.
const OPEN_CELLS_MAX: u32 = 32;

/// Games that the cells of an experiment are expected to play still, and the backlog of these games alone; `None` if its
/// cells have no rule.
pub(crate) async fn expected_games(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    backlog: &Backlog,
) -> Result<Option<(ExpectedGames, Backlog)>, StoreError> {
    let sums = sqlx::query!(
        r#"SELECT count(*) AS "cells!: u64",
            coalesce(sum(r.games > 0 AND r.games + r.games_failed
                >= coalesce(c.stop_number, c.games_planned)), 0) AS "ended!: u64",
            coalesce(sum(1.0 * coalesce(c.stop_number, c.games_planned) / c.games_planned)
                FILTER (WHERE r.games > 0 AND r.games + r.games_failed
                    >= coalesce(c.stop_number, c.games_planned)), 0.0) AS "ended_shares!: f64",
            coalesce(sum(r.games > 0 AND r.games + r.games_failed
                < coalesce(c.stop_number, c.games_planned)), 0) AS "open!: u64"
        FROM cells AS c LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1 AND c.stop_rule_id IS NOT NULL"#,
        experiment.0
    )
    .fetch_one(&mut *connection)
    .await?;
    if sums.cells == 0 {
        return Ok(None);
    }
    // In an order without a pattern, always the same.
    let rows = sqlx::query!(
        r#"SELECT s.precision, s.over_pairs AS "over_pairs!: bool", s.elo0, s.elo1, s.alpha, s.beta,
            s.model, c.games_planned AS "games_max!: u64", c.swap_sides AS "swap_sides!: bool",
            k.openings_count AS "openings_count?: u64", r.games AS "games!: u64",
            r.games_failed AS "games_failed!: u64", r.wins AS "wins!: u64",
            r.draws AS "draws!: u64", r.losses AS "losses!: u64", r.pairs_0 AS "pairs_0!: u64",
            r.pairs_half AS "pairs_half!: u64", r.pairs_1 AS "pairs_1!: u64",
            r.pairs_1_half AS "pairs_1_half!: u64", r.pairs_2 AS "pairs_2!: u64",
            r.openings_effective AS "openings_effective?: f64",
            r.openings_variance AS "openings_variance?: f64"
        FROM cells AS c JOIN cell_results AS r ON r.cell_id = c.cell_id
        JOIN stop_rules AS s ON s.stop_rule_id = c.stop_rule_id
        JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1 AND c.stop_number IS NULL AND r.games > 0
            AND r.games + r.games_failed < c.games_planned
        ORDER BY c.cell_id * 40503 % 65536, c.cell_id LIMIT ?2"#,
        experiment.0,
        OPEN_CELLS_MAX
    )
    .fetch_all(connection)
    .await?;
    let open = rows.into_iter().filter_map(|row| {
        let rule = RuleRow {
            precision: row.precision,
            over_pairs: row.over_pairs,
            elo0: row.elo0,
            elo1: row.elo1,
            alpha: row.alpha,
            beta: row.beta,
            model: row.model,
        };
        let tally = match row.swap_sides {
            true => Tally::Pairs(PairCounts([
                row.pairs_0,
                row.pairs_half,
                row.pairs_1,
                row.pairs_1_half,
                row.pairs_2,
            ])),
            false => Tally::Games(GameCounts([row.losses, row.draws, row.wins])),
        };
        let spread = row.openings_effective.zip(row.openings_variance);
        Some(OpenCell {
            rule: rule.read()?,
            tally,
            spread: spread.map(|(effective, variance)| OpeningSpread { effective, variance }),
            openings: row.openings_count,
            games_max: row.games_max,
            games_settled: row.games + row.games_failed,
        })
    });
    let open: Vec<OpenCell> = open.collect();
    let seen = CellsSeen { ended: sums.ended, ended_shares: sums.ended_shares, open: sums.open };
    Ok(Some(ExpectedGames::from_cells(&open, seen, backlog)))
}
