//! How well the players of an accuracy experiment choose: sums over the view `choices`.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::TryStreamExt as _;
use spelrum_answers::{CellAccuracy, Stratum, reference_text};
use spelrum_model::{CellId, ExperimentId};
use spelrum_statistics::choice::{AccuracySums, SkillSums, WinSums};
use spelrum_statistics::{Clustered, OpeningSum};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::encoding::rows;

/// Accuracy of every cell that the sweep names, in grid order, up to this many rows.
pub(crate) async fn accuracy(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    limit: i64,
) -> Result<Vec<CellAccuracy>, StoreError> {
    // Every figure but the count is a sum of reals, even if whole. Materialized, so that a position's winning moves are
    // counted once rather than for each of these sums.
    let found = sqlx::query!(
        r#"WITH h AS MATERIALIZED (
            SELECT s.number, s.second_player_id, s.cell_id, c.plies, c.is_best, c.rank, c.loss,
                c.random_best, c.random_rank, c.random_loss, c.best_rank, c.keeps_win,
                c.random_keeps_win
            FROM cells AS s CROSS JOIN choices AS c ON c.cell_id = s.cell_id
            WHERE s.experiment_id = ? AND s.in_sweep = 1)
        SELECT h.cell_id AS "cell_id!", r.parameters_json AS "parameters_json!", h.plies,
            total(1) AS "positions!: f64", total(h.is_best) AS "best!: f64",
            total(h.rank) AS "rank!: f64", total(h.rank * h.rank) AS "rank_squared!: f64",
            total(h.loss) AS "loss!: f64", total(1.0 * h.loss * h.loss) AS "loss_squared!: f64",
            total(h.random_best) AS "random_best!: f64", total(h.random_rank) AS "random_rank!: f64",
            total(h.random_loss) AS "random_loss!: f64", total(h.best_rank) AS "best_rank!: f64",
            total(h.is_best - h.random_best) AS "best_gain!: f64",
            total(1.0 - h.random_best) AS "best_room!: f64",
            total((h.is_best - h.random_best) * (h.is_best - h.random_best))
                AS "best_gain_squared!: f64",
            total((h.is_best - h.random_best) * (1.0 - h.random_best)) AS "best_gain_room!: f64",
            total((1.0 - h.random_best) * (1.0 - h.random_best)) AS "best_room_squared!: f64",
            total(h.random_rank - h.rank) AS "rank_gain!: f64",
            total(h.random_rank - h.best_rank) AS "rank_room!: f64",
            total((h.random_rank - h.rank) * (h.random_rank - h.rank)) AS "rank_gain_squared!: f64",
            total((h.random_rank - h.rank) * (h.random_rank - h.best_rank)) AS "rank_gain_room!: f64",
            total((h.random_rank - h.best_rank) * (h.random_rank - h.best_rank))
                AS "rank_room_squared!: f64",
            total(h.random_loss - h.loss) AS "loss_gain!: f64",
            total((h.random_loss - h.loss) * (h.random_loss - h.loss)) AS "loss_gain_squared!: f64",
            total((h.random_loss - h.loss) * h.random_loss) AS "loss_gain_room!: f64",
            total(h.random_loss * h.random_loss) AS "loss_room_squared!: f64",
            total(h.keeps_win IS NOT NULL) AS "wins!: f64", total(h.keeps_win) AS "wins_kept!: f64",
            total(h.random_keeps_win) AS "wins_random!: f64",
            total(h.keeps_win - h.random_keeps_win) AS "wins_gain!: f64",
            total(1.0 - h.random_keeps_win) AS "wins_room!: f64",
            total((h.keeps_win - h.random_keeps_win) * (h.keeps_win - h.random_keeps_win))
                AS "wins_gain_squared!: f64",
            total((h.keeps_win - h.random_keeps_win) * (1.0 - h.random_keeps_win))
                AS "wins_gain_room!: f64",
            total((1.0 - h.random_keeps_win) * (1.0 - h.random_keeps_win))
                AS "wins_room_squared!: f64"
        FROM h CROSS JOIN players AS r ON r.player_id = h.second_player_id
        GROUP BY h.number, h.cell_id, h.plies ORDER BY h.number, h.cell_id, h.plies LIMIT ?"#,
        experiment.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    let strata = found.into_iter().map(|row| {
        let sums = AccuracySums {
            positions: row.positions,
            best: row.best,
            rank: row.rank,
            rank_squared: row.rank_squared,
            loss: row.loss,
            loss_squared: row.loss_squared,
            random_best: row.random_best,
            random_rank: row.random_rank,
            random_loss: row.random_loss,
            best_rank: row.best_rank,
            best_skill: SkillSums {
                gain: row.best_gain,
                room: row.best_room,
                gain_squared: row.best_gain_squared,
                gain_room: row.best_gain_room,
                room_squared: row.best_room_squared,
            },
            rank_skill: SkillSums {
                gain: row.rank_gain,
                room: row.rank_room,
                gain_squared: row.rank_gain_squared,
                gain_room: row.rank_gain_room,
                room_squared: row.rank_room_squared,
            },
            loss_skill: SkillSums {
                gain: row.loss_gain,
                room: row.random_loss,
                gain_squared: row.loss_gain_squared,
                gain_room: row.loss_gain_room,
                room_squared: row.loss_room_squared,
            },
            wins: WinSums {
                positions: row.wins,
                kept: row.wins_kept,
                random: row.wins_random,
                skill: SkillSums {
                    gain: row.wins_gain,
                    room: row.wins_room,
                    gain_squared: row.wins_gain_squared,
                    gain_room: row.wins_gain_room,
                    room_squared: row.wins_room_squared,
                },
            },
        };
        Stratum {
            cell: CellId(row.cell_id),
            reference: reference_text(&row.parameters_json),
            plies: row.plies,
            sums,
        }
    });
    Ok(CellAccuracy::from_strata(&strata.collect::<Vec<_>>()))
}

/// The share of best moves in each of these cells, over its positions: number k is the same position in all cells with the
/// same conditions. Cells without choices are absent.
pub(crate) async fn shares_of_best(
    connection: &mut SqliteConnection,
    cells: BTreeSet<i64>,
) -> Result<BTreeMap<CellId, Clustered>, StoreError> {
    let list = rows(&cells.into_iter().collect::<Vec<_>>())?;
    let mut found = sqlx::query!(
        r#"SELECT s.cell_id AS "cell_id!", s.conditions_id AS "conditions_id!: u64",
            c.number AS "number!: u64", c.is_best AS "is_best!: bool"
        FROM json_each(?) AS j CROSS JOIN cells AS s ON s.cell_id = j.value
        CROSS JOIN choices AS c ON c.cell_id = s.cell_id
        ORDER BY s.cell_id, c.number"#,
        list
    )
    .fetch(connection);
    let mut choices = BTreeMap::<CellId, Vec<OpeningSum>>::new();
    while let Some(row) = found.try_next().await? {
        choices.entry(CellId(row.cell_id)).or_default().push(OpeningSum {
            opening: (row.conditions_id, row.number),
            weight: 1.0,
            sum: f64::from(u8::from(row.is_best)),
        });
    }
    let share =
        |(cell, choices): (CellId, Vec<OpeningSum>)| Some((cell, Clustered::score(&choices)?));
    Ok(choices.into_iter().filter_map(share).collect())
}
