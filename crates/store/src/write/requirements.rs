//! Requirements of cells' games on a worker, from the players' parameters: memory, and engines.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_answers::CostedPlayer;
use spelrum_engine::{Parameters, memory_bytes_of};
use spelrum_model::capabilities::{EngineRequest, GameRequest};
use spelrum_model::demands::Demands;
use spelrum_model::engines::NeededEngine;
use spelrum_model::placement::{Placement, TimedGames};
use spelrum_scheduling::scheduler::CellState;

use crate::error::StoreError;
use crate::write::transaction::Transaction;

/// Requirements of one or both players of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Bytes of memory that they can take.
    pub memory_bytes: u64,
    /// Their engines, in a fixed order.
    pub engines: Vec<NeededEngine>,
    /// Their requests to these engines, in a fixed order.
    pub requests: Vec<EngineRequest>,
    /// The shortest time limit for a move in microseconds, if any.
    pub move_limit_us: Option<u64>,
}

impl Needs {
    /// The requirements of a player with these parameters.
    pub fn from_parameters(parameters_json: &str) -> Self {
        // The worker refuses parameters that the current engine cannot parse.
        let parameters = serde_json::from_str::<Parameters>(parameters_json).unwrap_or_default();
        Self {
            memory_bytes: memory_bytes_of(&parameters),
            engines: NeededEngine::from_parameters(&parameters).into_iter().collect(),
            requests: EngineRequest::from_parameters(&parameters, GameRequest::default())
                .into_iter()
                .collect(),
            move_limit_us: CostedPlayer::from_json(parameters_json, false).time_limit_us,
        }
    }

    /// A cell's demands on its worker for this game, beside memory.
    pub fn demands(self, placement: &Placement, game: &GameRequest, is_timed: bool) -> Demands {
        let timed = TimedGames { game: &game.name, move_limit_us: self.move_limit_us };
        let request = |request| EngineRequest { game: game.clone(), ..request };
        let requests = self.requests.into_iter().map(request).collect();
        Demands { requests, ..placement.demands(self.engines, is_timed.then_some(timed)) }
    }

    /// The requirements of two players that play at once.
    pub fn together(&self, other: &Self) -> Self {
        let mut engines = [&*self.engines, &other.engines].concat();
        engines.sort_unstable();
        let mut requests = [&*self.requests, &other.requests].concat();
        requests.sort_unstable();
        let limits = [self.move_limit_us, other.move_limit_us];
        let move_limit_us = limits.into_iter().flatten().min();
        let memory_bytes = self.memory_bytes + other.memory_bytes;
        Self { memory_bytes, engines, requests, move_limit_us }
    }
}

/// Adds to some of an experiment's cells the requirements of a game of each, with both players running at once, and
/// the sweep's demands on workers. Computed from the definitions, not stored.
pub(crate) async fn add_to_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    cells: &mut [CellState],
) -> Result<(), StoreError> {
    let Some((first, last)) = ends(cells) else { return Ok(()) };
    let players = sqlx::query!(
        r#"SELECT player_id AS "player_id!", parameters_json FROM players
        WHERE player_id IN (
            SELECT first_player_id FROM cells
            WHERE +experiment_id = ?1 AND cell_id BETWEEN ?2 AND ?3
            UNION SELECT second_player_id FROM cells
            WHERE +experiment_id = ?1 AND cell_id BETWEEN ?2 AND ?3)"#,
        experiment,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    let of_players: BTreeMap<i64, Needs> = players
        .into_iter()
        .map(|row| (row.player_id, Needs::from_parameters(&row.parameters_json)))
        .collect();
    let pairs = sqlx::query!(
        r#"SELECT cell_id AS "cell_id!", first_player_id, second_player_id FROM cells
        WHERE +experiment_id = ?1 AND cell_id BETWEEN ?2 AND ?3"#,
        experiment,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    let pairs: BTreeMap<i64, [i64; 2]> = pairs
        .into_iter()
        .map(|row| (row.cell_id, [row.first_player_id, row.second_player_id]))
        .collect();
    let row = sqlx::query!(
        "SELECT game, placement_json FROM experiments WHERE experiment_id = ?",
        experiment
    )
    .fetch_one(tx.connection())
    .await?;
    let placement = Placement::from_json(row.placement_json.as_deref());
    let has_engines = of_players.values().any(|needs| !needs.engines.is_empty());
    let chess960 = if has_engines {
        chess960_cells(tx, experiment, first, last).await?
    } else {
        BTreeSet::new()
    };
    let game = GameRequest::from_game_name(&row.game);
    let nothing = Needs::default();
    let mut shared = BTreeSet::new();
    for cell in cells {
        let players = pairs.get(&cell.cell.0).copied().unwrap_or_default();
        let [first, second] = players.map(|id| of_players.get(&id).unwrap_or(&nothing));
        let needs = first.together(second);
        cell.memory_bytes = needs.memory_bytes;
        let game = GameRequest { chess960: chess960.contains(&cell.cell.0), ..game.clone() };
        cell.demands = needs.demands(&placement, &game, cell.timed).shared(&mut shared);
    }
    Ok(())
}

/// The Chess960 cells among some of an experiment.
async fn chess960_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    first: i64,
    last: i64,
) -> Result<BTreeSet<i64>, StoreError> {
    let cells = sqlx::query_scalar!(
        r#"SELECT c.cell_id AS "cell_id!"
        FROM cells AS c JOIN condition_rules AS r ON r.conditions_id = c.conditions_id
        WHERE +c.experiment_id = ?1 AND c.cell_id BETWEEN ?2 AND ?3
            AND r.rule = 'chess960' AND r.value_text = 'true'"#,
        experiment,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(cells.into_iter().collect())
}

/// The least and the greatest id of some cells; `None` if there are no cells. A course adds a few cells to tens of
/// thousands, again and again: lookups for them stay between these ids. The plus in `+experiment_id` in a query keeps
/// SQLite from scanning all cells of the experiment instead.
pub(crate) fn ends(cells: &[CellState]) -> Option<(i64, i64)> {
    let ids = || cells.iter().map(|cell| cell.cell.0);
    ids().min().zip(ids().max())
}
