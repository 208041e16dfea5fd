//! Cells as they are stored, and as the scheduler has them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spelrum_engine::Outcome;
use spelrum_engine::Parameters;
use spelrum_engine::network::Recipe;
use spelrum_model::capabilities::GameRequest;
use spelrum_model::engines::NeededEngine;
use spelrum_model::placement::Placement;
use spelrum_model::{AxisValue, CellId, DefinitionHash, DefinitionJson, GameRange, WorkerId};
use spelrum_scheduling::scheduler::{CellState, Tasks};
use spelrum_scheduling::stopping::{Points, Reading, Settled};
use spelrum_statistics::{GameCounts, StopRule};
use spelrum_store::StoreError;
use spelrum_store::decisions::{CellReading, Needs, RuleRow};

use crate::numbers::number;
use crate::transaction::PgTransaction;

/// A cell with what it refers to.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct Cell {
    pub(crate) cell_id: i64,
    pub(crate) experiment_id: i64,
    /// Below zero for the cells of trainings and verifications.
    pub(crate) number: i64,
    pub(crate) definition_hash: String,
    pub(crate) definition_prefix: String,
    pub(crate) first_player_id: i64,
    pub(crate) second_player_id: i64,
    pub(crate) first_player_name: String,
    pub(crate) second_player_name: String,
    pub(crate) first_json: String,
    pub(crate) second_json: String,
    openings_count: Option<i64>,
    pub(crate) swap_sides: bool,
    pub(crate) timed: bool,
    pub(crate) repeats: bool,
    #[sqlx(try_from = "i64")]
    pub(crate) games_planned: u64,
    pub(crate) in_sweep: bool,
    pub(crate) superseded: bool,
    #[sqlx(try_from = "i64")]
    pub(crate) next_number: u64,
    #[sqlx(try_from = "i64")]
    decided_number: u64,
    stop_number: Option<i64>,
    asked_after: Option<i64>,
    pub(crate) stop_rule_id: Option<i64>,
    precision: Option<f64>,
    over_pairs: bool,
    elo0: Option<f64>,
    elo1: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    model: Option<String>,
    pub(crate) trains_network_id: Option<i64>,
    first_network_id: Option<i64>,
    second_network_id: Option<i64>,
    is_verification: bool,
    played_by_worker_id: Option<i64>,
    pub(crate) game: String,
    is_informative: bool,
    placement_json: Option<String>,
}

/// Cells that a condition selects: `c` are cells, `e` their experiments.
macro_rules! cells {
    ($tx:expr, $where:literal $(, $value:expr)* $(,)?) => {
        sqlx::query_as::<_, $crate::cells::Cell>(concat!(
            "SELECT c.cell_id, c.experiment_id, c.number, c.definition_hash, k.definition_prefix,
                c.first_player_id, c.second_player_id, c.first_player_name, c.second_player_name,
                f.parameters_json AS first_json, s.parameters_json AS second_json, k.openings_count,
                c.swap_sides = 1 AS swap_sides, c.timed = 1 AS timed, c.repeats = 1 AS repeats, c.games_planned,
                c.in_sweep = 1 AS in_sweep, c.superseded = 1 AS superseded, c.next_number, c.decided_number,
                c.stop_number, c.asked_after, c.stop_rule_id, r.precision,
                coalesce(r.over_pairs, 0) = 1 AS over_pairs, r.elo0, r.elo1, r.alpha, r.beta, r.model,
                c.trains_network_id, f.network_id AS first_network_id, s.network_id AS second_network_id,
                v.cell_id IS NOT NULL AS is_verification, v.played_by_worker_id, e.game,
                e.allocation = 'informative' AS is_informative, e.placement_json
            FROM cells AS c
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            JOIN conditions AS k ON k.conditions_id = c.conditions_id
            JOIN players AS f ON f.player_id = c.first_player_id
            JOIN players AS s ON s.player_id = c.second_player_id
            LEFT JOIN stop_rules AS r ON r.stop_rule_id = c.stop_rule_id
            LEFT JOIN verifications AS v ON v.cell_id = c.cell_id
            WHERE ", $where, " ORDER BY c.experiment_id, c.number, c.cell_id"
        ))$(.bind($value))*.fetch_all($tx.connection()).await?
    };
}
pub(crate) use cells;

impl Cell {
    pub(crate) fn hash(&self) -> Result<DefinitionHash, StoreError> {
        let unknown = |_| StoreError::UnknownValue {
            column: "definition_hash",
            value: self.definition_hash.clone(),
        };
        self.definition_hash.parse().map_err(unknown)
    }

    pub(crate) fn names(&self) -> [String; 2] {
        [self.first_player_name.clone(), self.second_player_name.clone()]
    }

    pub(crate) fn parameters(&self) -> [Parameters; 2] {
        [&self.first_json, &self.second_json]
            .map(|json| serde_json::from_str(json).unwrap_or_default())
    }

    /// The engines of its players.
    pub(crate) fn engines(&self) -> [Option<String>; 2] {
        self.parameters()
            .map(|player| NeededEngine::from_parameters(&player).map(|needed| needed.engine))
    }

    pub(crate) fn stop_number(&self) -> Option<u64> {
        self.stop_number.map(number)
    }

    pub(crate) fn openings_count(&self) -> Option<u64> {
        self.openings_count.map(number)
    }

    pub(crate) fn asked_after(&self) -> Option<u64> {
        self.asked_after.map(number)
    }

    /// Whether the game with this number counts once played (invariant 7).
    pub(crate) fn counts(&self, game: u64) -> bool {
        self.stop_number().is_none_or(|stop| game < stop)
    }

    pub(crate) fn first_player_moves_first(&self, game: u64) -> bool {
        !self.swap_sides || game.is_multiple_of(2)
    }

    /// Half points of its first player in a game.
    pub(crate) fn half_points(&self, game: u64, outcome: Outcome) -> usize {
        let points = Points::from(outcome);
        let points = if self.first_player_moves_first(game) { points } else { points.swapped() };
        points.half_points()
    }

    /// Its players in the order in which they move in a game.
    pub(crate) fn movers(&self, game: u64) -> [i64; 2] {
        let [first, second] = [self.first_player_id, self.second_player_id];
        if self.first_player_moves_first(game) { [first, second] } else { [second, first] }
    }

    pub(crate) fn rule(&self) -> Option<StopRule> {
        let Self { precision, over_pairs, elo0, elo1, alpha, beta, ref model, .. } = *self;
        RuleRow { precision, over_pairs, elo0, elo1, alpha, beta, model: model.clone() }.read()
    }

    /// What its rule has read, and is to read next; `None` if it just gets all its games.
    fn reading(&self, settled: &[End]) -> Option<Reading> {
        let read = CellReading {
            rule: self.rule(),
            swap_sides: self.swap_sides,
            openings_count: self.openings_count(),
            repeats: self.repeats,
            games_planned: self.games_planned,
        };
        let mut reading = read.start()?;
        let decided_number = self.decided_number;
        let games_of_unit = if self.swap_sides { 2 } else { 1 };
        let (below, beyond) =
            settled.split_at(settled.partition_point(|end| end.number < decided_number));
        for unit in below.chunk_by(|a, b| a.number / games_of_unit == b.number / games_of_unit) {
            let mut half_points = Vec::new();
            for end in unit {
                let Some((outcome, moves_hash)) = end.played else { continue };
                half_points.push(self.half_points(end.number, outcome));
                if let Some(round) = &mut reading.round {
                    round.note(end.number, games_of_unit, moves_hash);
                }
            }
            if half_points.len() as u64 == games_of_unit {
                let sum = half_points.iter().sum::<usize>();
                reading.tally.add(sum);
                if let Some(openings) = &mut reading.openings {
                    openings.add(unit[0].number / games_of_unit, 1, sum as u64);
                }
            }
        }
        let settled = |end: &End| {
            let Some((outcome, moves_hash)) = end.played else {
                return (end.number, Settled::Failed);
            };
            let points = Points::from(outcome);
            let moves_first = self.first_player_moves_first(end.number);
            let points = if moves_first { points } else { points.swapped() };
            (end.number, Settled::Played(points, moves_hash))
        };
        // A cell that has ended needs no more of them, unless a further round may show that it goes on.
        let is_several = reading
            .round
            .as_ref()
            .is_some_and(|round| round.units() * games_of_unit < self.games_planned);
        if self.stop_number() != Some(decided_number) || is_several {
            reading.beyond = beyond.iter().map(settled).collect();
        }
        Some(Reading { decided_number, ..reading })
    }
}

/// How a game ended, or that it finally failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) number: u64,
    /// The outcome for the first mover, and the hash of the moves.
    pub(crate) played: Option<(Outcome, u64)>,
    pub(crate) margin: Option<i32>,
}

/// The settled games of cells, in the order of their numbers.
pub(crate) async fn ends(
    tx: &mut PgTransaction<'_>,
    cells: &[i64],
) -> Result<BTreeMap<i64, Vec<End>>, StoreError> {
    let found = all!(
        tx,
        (i64, i64, Option<String>, Option<i64>, Option<i32>),
        "SELECT cell_id, number, outcome, moves_hash, margin FROM games WHERE cell_id = ANY($1)
        ORDER BY cell_id, number",
        cells
    );
    let mut ends: BTreeMap<i64, Vec<End>> = BTreeMap::new();
    for (cell, game, outcome, moves_hash, margin) in found {
        let outcome = outcome.as_deref().and_then(Outcome::named);
        let played = outcome.zip(moves_hash.map(number));
        ends.entry(cell).or_default().push(End { number: number(game), played, margin });
    }
    Ok(ends)
}

/// All cells of experiments as the scheduler has them, by experiment and in the grid's order.
pub(crate) async fn states(
    tx: &mut PgTransaction<'_>,
    experiments: &[i64],
) -> Result<BTreeMap<i64, Vec<CellState>>, StoreError> {
    let cells = cells!(tx, "c.experiment_id = ANY($1)", experiments);
    let is_read = |cell: &&Cell| cell.stop_rule_id.is_some() || cell.repeats || cell.is_informative;
    let read: Vec<i64> = cells.iter().filter(is_read).map(|cell| cell.cell_id).collect();
    let ends = ends(tx, &read).await?;
    let mut returned: BTreeMap<i64, Vec<GameRange>> = BTreeMap::new();
    let ids: Vec<i64> = cells.iter().map(|cell| cell.cell_id).collect();
    for (cell, first, games) in all!(
        tx,
        (i64, i64, i64),
        "SELECT cell_id, first_number, games FROM returned_ranges WHERE cell_id = ANY($1)
        ORDER BY cell_id, first_number",
        &ids
    ) {
        let range = GameRange { cell: CellId(cell), first: number(first), count: number(games) };
        returned.entry(cell).or_default().push(range);
    }
    let trainings: BTreeMap<(i64, i64), CellId> = cells
        .iter()
        .filter_map(|cell| {
            Some(((cell.experiment_id, cell.trains_network_id?), CellId(cell.cell_id)))
        })
        .collect();
    let mut shared = BTreeSet::new();
    let mut chess960 = BTreeMap::new();
    let mut states: BTreeMap<i64, Vec<CellState>> = BTreeMap::new();
    for cell in &cells {
        let settled = ends.get(&cell.cell_id).map_or(&[][..], Vec::as_slice);
        let mut played = GameCounts::default();
        if cell.is_informative {
            for end in settled.iter().filter(|end| cell.counts(end.number)) {
                if let Some((outcome, _)) = end.played {
                    played.0[cell.half_points(end.number, outcome)] += 1;
                }
            }
        }
        let needs = [&cell.first_json, &cell.second_json].map(|json| Needs::from_parameters(json));
        let needs = needs[0].together(&needs[1]);
        let is_chess960 = !needs.engines.is_empty()
            && *chess960.entry(&cell.definition_prefix).or_insert_with(|| {
                DefinitionJson::conditions_of(&cell.definition_prefix)
                    .is_some_and(|definition| GameRequest::from_rules(&definition.rules).chess960)
            });
        let game = GameRequest { chess960: is_chess960, ..GameRequest::from_game_name(&cell.game) };
        let placement = Placement::from_json(cell.placement_json.as_deref());
        let networks = [cell.first_network_id, cell.second_network_id];
        let after: BTreeSet<CellId> = networks
            .into_iter()
            .flatten()
            .filter_map(|network| trainings.get(&(cell.experiment_id, network)).copied())
            .collect();
        let after: Arc<[CellId]> = after.into_iter().collect();
        let mut state = CellState {
            in_sweep: cell.in_sweep && !cell.superseded,
            swap_sides: cell.swap_sides,
            next_number: cell.next_number,
            returned: returned.remove(&cell.cell_id).unwrap_or_default(),
            decided_number: cell.decided_number,
            stop_number: cell.stop_number(),
            reading: cell.reading(settled).map(Box::new),
            memory_bytes: needs.memory_bytes,
            demands: needs.demands(&placement, &game, cell.timed).shared(&mut shared),
            after: Some(after).filter(|after| !after.is_empty()),
            timed: cell.timed,
            played,
            ..CellState::new(CellId(cell.cell_id), cell.games_planned)
        };
        if cell.trains_network_id.is_some() {
            let recipe = Recipe::from_parameters(&cell.parameters()[0]);
            state.memory_bytes = recipe.map_or(0, |recipe| recipe.memory_bytes());
            (state.tasks, state.in_sweep) = (Tasks::Trainings, true);
        } else if cell.is_verification {
            let not_by = cell.played_by_worker_id.map(WorkerId);
            // The networks existed when the game was played.
            (state.tasks, state.in_sweep, state.after) =
                (Tasks::Verifications { not_by }, true, None);
        }
        states.entry(cell.experiment_id).or_default().push(state);
    }
    Ok(states)
}

/// All cells of one experiment as the scheduler has them.
pub(crate) async fn states_of(
    tx: &mut PgTransaction<'_>,
    experiment: i64,
) -> Result<Vec<CellState>, StoreError> {
    Ok(states(tx, &[experiment]).await?.remove(&experiment).unwrap_or_default())
}

/// Some of them, in the order of the ids.
pub(crate) async fn some_states(
    tx: &mut PgTransaction<'_>,
    experiment: i64,
    cells: &[i64],
) -> Result<Vec<CellState>, StoreError> {
    let states = states_of(tx, experiment).await?;
    let mut states: BTreeMap<CellId, CellState> =
        states.into_iter().map(|state| (state.cell, state)).collect();
    Ok(cells.iter().filter_map(|cell| states.remove(&CellId(*cell))).collect())
}

/// The places of an experiment's cells on its axes, each in the order of the axes; also on axes that it no longer has if
/// those are wanted.
pub(crate) async fn places(
    tx: &mut PgTransaction<'_>,
    experiment: i64,
    with_former_axes: bool,
) -> Result<BTreeMap<i64, Vec<(String, AxisValue)>>, StoreError> {
    let mut places: BTreeMap<i64, Vec<(String, AxisValue)>> = BTreeMap::new();
    for (cell, axis, number, text) in all!(
        tx,
        (i64, String, Option<f64>, String),
        "SELECT a.cell_id, a.axis, a.value_number, a.value_text
        FROM cells AS c
        JOIN cell_axes AS a ON a.cell_id = c.cell_id
        LEFT JOIN experiment_axes AS x ON x.experiment_id = c.experiment_id AND x.axis = a.axis
        WHERE c.experiment_id = $1 AND ($2 OR x.axis IS NOT NULL) ORDER BY a.cell_id, x.number",
        experiment,
        with_former_axes
    ) {
        places.entry(cell).or_default().push((axis, AxisValue { number, text }));
    }
    Ok(places)
}
