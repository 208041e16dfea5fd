//! Games ready for storing: checked, with the rows that they refer to.

use std::collections::BTreeSet;
use std::sync::Arc;

use spelrum_engine::{ClockRule, Outcome};
use spelrum_model::disturbance::{TimedCell, Timing, is_lost_time_known};
use spelrum_model::{DefinitionJson, GameId, OpeningsRule, PlayedGame, WorkerId};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::{integer, scaling};
use crate::write::cache::{Cache, CellInfo, ValuedBy};
use crate::write::openings;
use crate::write::rollup_sums::half_points;
use crate::write::transaction::Transaction;

/// A game ready for storing.
pub(crate) struct Checked<'g> {
    pub(crate) worker: WorkerId,
    pub(crate) played: &'g PlayedGame,
    pub(crate) number: i64,
    pub(crate) cell: Arc<CellInfo>,
    pub(crate) opening_id: i64,
}

impl Checked<'_> {
    pub(crate) fn cell_id(&self) -> i64 {
        self.played.game.cell.0
    }

    /// The outcome for the first mover.
    pub(crate) fn outcome(&self) -> Outcome {
        self.played.record.outcome
    }

    pub(crate) fn movers(&self) -> [i64; 2] {
        self.cell.movers(self.number)
    }

    /// Half points of the cell's first player.
    pub(crate) fn half_points(&self) -> usize {
        half_points(self.cell.first_player_moves_first(self.number), self.outcome())
    }

    pub(crate) fn id(&self) -> (i64, i64) {
        (self.cell_id(), self.number)
    }

    /// Whether the game counts; otherwise it lies beyond its cell's end (invariant 7).
    pub(crate) fn counts(&self) -> bool {
        self.cell.counts(self.number)
    }
}

/// Checks games, and looks up their cells and openings.
pub(crate) async fn check<'g>(
    tx: &mut Transaction<'_>,
    games: &'g [(WorkerId, PlayedGame)],
) -> Result<Vec<Checked<'g>>, StoreError> {
    fill_cells(tx, games.iter().map(|(_, played)| played.game.cell.0)).await?;
    let mut checked = Vec::with_capacity(games.len());
    for (worker, played) in games {
        let GameId { cell, number } = played.game;
        let invalid = |problem| StoreError::InvalidGame { cell_id: cell.0, number, problem };
        played.check().map_err(invalid)?;
        let Some(cell) = tx.cache.cells.get(&cell.0) else {
            return Err(invalid("there is no such cell".to_owned()));
        };
        let (number, cell) = (integer(number), Arc::clone(cell));
        checked.push(Checked { worker: *worker, played, number, cell, opening_id: 0 });
    }
    let names = checked.iter().map(|game| (&*game.cell.game, &*game.played.opening));
    openings::fill_openings(tx, names).await?;
    for game in &mut checked {
        let name = (game.cell.game.clone(), game.played.opening.clone());
        if let Some(&id) = tx.cache.openings.get(&name) {
            game.opening_id = id;
        }
    }
    Ok(checked)
}

/// Reads cells into the cache.
pub(crate) async fn fill_cells(
    tx: &mut Transaction<'_>,
    cells: impl Iterator<Item = i64>,
) -> Result<(), StoreError> {
    let cells: BTreeSet<i64> = cells.collect();
    if tx.cache.cells.len() + cells.len() > Cache::ENTRIES_MAX {
        tx.cache.cells.clear();
    }
    let missing: Vec<i64> =
        cells.into_iter().filter(|cell| !tx.cache.cells.contains_key(cell)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = rows(&missing)?;
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", c.experiment_id, c.first_player_id, c.second_player_id,
            c.swap_sides, e.game,
            e.record = 'moves' AS "record_moves!: bool",
            e.record = 'moves' AND e.record_details AS "record_details!: bool",
            f.parameters_json ->> '$.clock' AS "first_clock?: String",
            s.parameters_json ->> '$.clock' AS "second_clock?: String", c.stop_number AS "stop_number: i64",
            k.openings_count AS "openings_count: i64", c.conditions_id, c.timed, e.disturbed_above,
            e.replays_max, e.reference_speed, e.factor_max_permille, f.algorithm AS first_algorithm,
            s.algorithm AS second_algorithm,
            CASE e.kind WHEN 'accuracy' THEN k.definition_prefix END AS "valued_prefix?: String"
        FROM jsonb_each(?) AS j
        JOIN cells AS c ON c.cell_id = j.value
        JOIN conditions AS k ON k.conditions_id = c.conditions_id
        JOIN experiments AS e ON e.experiment_id = c.experiment_id
        JOIN players AS f ON f.player_id = c.first_player_id
        JOIN players AS s ON s.player_id = c.second_player_id"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    tx.cache.cells.extend(found.into_iter().map(|cell| {
        let positions = cell.valued_prefix.as_deref().and_then(DefinitionJson::conditions_of);
        let valued_by = positions.map(|definition| ValuedBy {
            conditions: cell.conditions_id,
            reference: cell.second_player_id,
            // A cache of cells has no room for each cell's positions.
            positions: if matches!(definition.openings, OpeningsRule::Listed { .. }) {
                OpeningsRule::Listed { positions: Arc::default() }
            } else {
                definition.openings
            },
        });
        let timing = Timing {
            disturbed_above: cell.disturbed_above,
            replays_max: cell.replays_max,
            scaling: scaling(cell.reference_speed, cell.factor_max_permille),
        };
        let known = [&cell.first_algorithm, &cell.second_algorithm]
            .map(|algorithm| is_lost_time_known(algorithm));
        let clock = |clock: Option<String>| ClockRule::parse(&clock?);
        let clocks = [cell.first_clock, cell.second_clock].map(clock);
        let info = CellInfo {
            experiment: cell.experiment_id,
            game: cell.game,
            players: [cell.first_player_id, cell.second_player_id],
            swap_sides: cell.swap_sides,
            openings_count: cell.openings_count,
            record_moves: cell.record_moves,
            detailed: cell.record_details.then_some(clocks),
            valued_by,
            stop_number: cell.stop_number,
            timed: cell.timed.then_some(TimedCell { timing, known, swap_sides: cell.swap_sides }),
        };
        (cell.cell_id, Arc::new(info))
    }));
    Ok(())
}
