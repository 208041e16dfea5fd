//! Networks: the trainings that experiments need, and their results. An experiment has a cell for each training that
//! it needed first; its games wait for that cell, and every experiment can use the network.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spelrum_engine::network::{DistanceErrors, Epoch, Recipe, Run, SideErrors, SquareErrors};
use spelrum_engine::{Parameters, Side};
use spelrum_model::{
    CellId, DefinitionHash, FinishedTraining, GameId, TrainedNetwork, TrainingDefinition, WorkerId,
};
use spelrum_scheduling::scheduler::{CellState, Tasks};

use crate::error::StoreError;
use crate::schema::encoding::{hexadecimal, rows};
use crate::schema::numbers::{count, integer};
use crate::write::requirements::ends;
use crate::write::transaction::Transaction;

/// The cell number of all trainings: outside the grid, before all its cells.
const TRAINING_NUMBER: i64 = -1;

/// Records the networks that players name, and lets the experiment train missing ones. Returns the new cells of
/// trainings.
pub(crate) async fn insert_trainings(
    tx: &mut Transaction<'_>,
    experiment: i64,
    players: impl Iterator<Item = (i64, &str)>,
) -> Result<Vec<CellState>, StoreError> {
    note_networks(tx, experiment, players, true).await
}

/// Records the networks that players name, and adds trainings of missing ones if the experiment `trains`.
pub(crate) async fn note_networks(
    tx: &mut Transaction<'_>,
    experiment: i64,
    players: impl Iterator<Item = (i64, &str)>,
    trains: bool,
) -> Result<Vec<CellState>, StoreError> {
    let mut states = Vec::new();
    let mut seen = BTreeSet::new();
    for (player, json) in players {
        // Few players have a network: the others need not be parsed.
        if !json.contains("\"network\"") {
            continue;
        }
        let parameters: Parameters = serde_json::from_str(json).unwrap_or_default();
        let Some(training) = TrainingDefinition::from_parameters(&parameters) else { continue };
        let network = note_network(tx, &training).await?;
        sqlx::query!(
            "UPDATE players SET network_id = ?2 WHERE player_id = ?1 AND network_id IS NULL",
            player,
            network
        )
        .execute(tx.connection())
        .await?;
        if trains && seen.insert(network) {
            states.extend(insert_training(tx, experiment, network, &training).await?);
        }
    }
    Ok(states)
}

/// Stores the network that a training makes, so that it is known from now on.
pub(crate) async fn note_network(
    tx: &mut Transaction<'_>,
    training: &TrainingDefinition,
) -> Result<i64, StoreError> {
    let hash = training.hash().to_string();
    let ending = training.recipe().endgame().name();
    let recipe = recipe_json(training.recipe());
    sqlx::query!(
        "INSERT INTO networks (definition_hash, ending, recipe_json) VALUES (?1, ?2, ?3)
        ON CONFLICT (definition_hash) DO NOTHING",
        hash,
        ending,
        recipe
    )
    .execute(tx.connection())
    .await?;
    let id = sqlx::query_scalar!(
        r#"SELECT network_id AS "id!" FROM networks WHERE definition_hash = ?"#,
        hash
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(id)
}

/// The cell of a training, if the network is missing and the experiment has no cell for it.
async fn insert_training(
    tx: &mut Transaction<'_>,
    experiment: i64,
    network: i64,
    training: &TrainingDefinition,
) -> Result<Option<CellState>, StoreError> {
    // A network whose training failed for other experiments is tried again.
    sqlx::query!(
        "UPDATE networks SET failure = NULL, settled_unix_us = NULL
        WHERE network_id = ?1 AND failure IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM cells AS c
            WHERE c.experiment_id = ?2 AND c.number = ?3 AND c.trains_network_id = ?1)",
        network,
        experiment,
        TRAINING_NUMBER
    )
    .execute(tx.connection())
    .await?;
    let is_needed = sqlx::query_scalar!(
        r#"SELECT EXISTS (
            SELECT 1 FROM networks WHERE network_id = ?1 AND settled_unix_us IS NULL
        ) AND NOT EXISTS (
            SELECT 1 FROM cells AS c
            WHERE c.experiment_id = ?2 AND c.number = ?3 AND c.trains_network_id = ?1
        ) AS "is_needed!: bool""#,
        network,
        experiment,
        TRAINING_NUMBER
    )
    .fetch_one(tx.connection())
    .await?;
    if !is_needed {
        return Ok(None);
    }
    let hash = training.hash().to_string();
    let recipe = recipe_json(training.recipe());
    let conditions = training_conditions(tx).await?;
    let [first, second] = training_players(tx, &recipe).await?;
    let id = tx.last_id("cells").await? + 1;
    sqlx::query!(
        "INSERT INTO cells (experiment_id, cell_id, number, definition_hash, conditions_id, seed,
            first_player_id, second_player_id, first_player_name, second_player_name, openings,
            games_planned, swap_sides, timed, in_sweep, trains_network_id)
        VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, 'training', '', 'start', 1, 0, 0, 0, ?8)",
        experiment,
        id,
        TRAINING_NUMBER,
        hash,
        conditions,
        first,
        second,
        network
    )
    .execute(tx.connection())
    .await?;
    Ok(Some(CellState { swap_sides: false, ..CellState::new(CellId(id), 1) }))
}

/// The common part of all trainings, as workers get it: the beginning of their definitions.
async fn training_conditions(tx: &mut Transaction<'_>) -> Result<i64, StoreError> {
    let prefix = TrainingDefinition::JSON_PREFIX;
    sqlx::query!(
        "INSERT INTO conditions (definition_prefix) VALUES (?)
        ON CONFLICT (definition_prefix) DO NOTHING",
        prefix
    )
    .execute(tx.connection())
    .await?;
    let id = sqlx::query_scalar!(
        r#"SELECT conditions_id AS "id!" FROM conditions WHERE definition_prefix = ?"#,
        prefix
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(id)
}

/// A training's definition has the recipe as its first player, and `{}` as its second.
async fn training_players(tx: &mut Transaction<'_>, recipe: &str) -> Result<[i64; 2], StoreError> {
    let mut ids = [0; 2];
    for (id, json) in ids.iter_mut().zip([recipe, "{}"]) {
        let hash = DefinitionHash::from_json(json).to_string();
        sqlx::query!(
            "INSERT INTO players (hash, algorithm, parameters_json) VALUES (?1, 'training', ?2)
            ON CONFLICT (hash) DO NOTHING",
            hash,
            json
        )
        .execute(tx.connection())
        .await?;
        *id = sqlx::query_scalar!(r#"SELECT player_id AS "id!" FROM players WHERE hash = ?"#, hash)
            .fetch_one(tx.connection())
            .await?;
    }
    Ok(ids)
}

/// Adds to an experiment's cells the trainings that their games wait for, and to trainings their details.
pub(crate) async fn add_to_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    cells: &mut [CellState],
) -> Result<(), StoreError> {
    let Some((first, last)) = ends(cells) else { return Ok(()) };
    let trainings = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", n.network_id AS "network_id!", n.recipe_json
        FROM cells AS c CROSS JOIN networks AS n ON n.network_id = c.trains_network_id
        WHERE c.experiment_id = ? AND c.number = ?"#,
        experiment,
        TRAINING_NUMBER
    )
    .fetch_all(tx.connection())
    .await?;
    if trainings.is_empty() {
        return Ok(());
    }
    let mut recipes = BTreeMap::new();
    let mut training_of = BTreeMap::new();
    for row in trainings {
        recipes.insert(CellId(row.cell_id), row.recipe_json);
        training_of.insert(row.network_id, CellId(row.cell_id));
    }
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", p.network_id AS "network_id!"
        FROM cells AS c
        CROSS JOIN players AS p ON p.player_id IN (c.first_player_id, c.second_player_id)
        WHERE +c.experiment_id = ?1 AND c.cell_id BETWEEN ?2 AND ?3
            AND p.network_id IS NOT NULL"#,
        experiment,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    let mut after: BTreeMap<CellId, BTreeSet<CellId>> = BTreeMap::new();
    for row in found {
        if let Some(training) = training_of.get(&row.network_id) {
            after.entry(CellId(row.cell_id)).or_default().insert(*training);
        }
    }
    let mut shared: BTreeMap<BTreeSet<CellId>, Arc<[CellId]>> = BTreeMap::new();
    for cell in cells {
        if let Some(recipe) = recipes.get(&cell.cell) {
            cell.tasks = Tasks::Trainings;
            cell.in_sweep = true;
            cell.memory_bytes = memory_bytes(recipe);
        } else if let Some(trainings) = after.remove(&cell.cell) {
            let list = || trainings.iter().copied().collect();
            let list = Arc::clone(shared.entry(trainings.clone()).or_insert_with(list));
            cell.after = Some(list);
        }
    }
    Ok(())
}

/// Stores trained networks. An existing one stays.
///
/// # Errors
/// If the database fails.
pub(crate) async fn store_trainings(
    tx: &mut Transaction<'_>,
    trainings: &[(WorkerId, FinishedTraining)],
) -> Result<(), StoreError> {
    for (worker, training) in trainings {
        let cell = training.task.cell.0;
        let network =
            sqlx::query_scalar!("SELECT trains_network_id FROM cells WHERE cell_id = ?", cell)
                .fetch_optional(tx.connection())
                .await?;
        if let Some(network) = network.flatten() {
            settle_network(tx, network, *worker, training).await?;
        }
    }
    Ok(())
}

/// Stores a trained network, unless it exists.
pub(crate) async fn settle_network(
    tx: &mut Transaction<'_>,
    network: i64,
    worker: WorkerId,
    training: &FinishedTraining,
) -> Result<(), StoreError> {
    let Some(trained) = &training.trained else { return Ok(()) };
    let sha256 = hexadecimal(&training.sha256);
    let (bytes, wall_us) = (count(trained.bytes.len()), integer(training.wall_us));
    let now = tx.now_unix_us;
    let stored = sqlx::query!(
        "UPDATE networks SET settled_unix_us = ?2, failure = NULL, bytes = ?3, sha256 = ?4,
            content = ?5, engine_revision = ?6, worker_id = ?7, started_unix_us = ?8,
            wall_us = ?9
        WHERE content IS NULL AND network_id = ?1",
        network,
        now,
        bytes,
        sha256,
        trained.bytes,
        training.engine_revision,
        worker.0,
        training.started_unix_us,
        wall_us
    )
    .execute(tx.connection())
    .await?;
    if stored.rows_affected() > 0 {
        insert_curves(tx, network, trained).await?;
    }
    Ok(())
}

/// Whether a network is trained.
pub(crate) async fn is_network_settled(
    tx: &mut Transaction<'_>,
    network: i64,
) -> Result<bool, StoreError> {
    let settled = sqlx::query_scalar!(
        r#"SELECT content IS NOT NULL AS "settled!: bool" FROM networks WHERE network_id = ?"#,
        network
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(settled)
}

async fn insert_curves(
    tx: &mut Transaction<'_>,
    network: i64,
    trained: &TrainedNetwork,
) -> Result<(), StoreError> {
    let runs: Vec<_> = trained.runs.iter().map(run_row).collect();
    let runs = rows(&runs)?;
    sqlx::query!(
        "INSERT INTO network_runs (network_id, part, positions, examples, validation, best_epoch,
            validation_error, constant_error)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6
        FROM jsonb_each(?1)",
        runs,
        network
    )
    .execute(tx.connection())
    .await?;
    let epoch =
        |epoch: &Epoch| (epoch.network, epoch.epoch, epoch.training_error, epoch.validation_error);
    let epochs: Vec<_> = trained.epochs.iter().map(epoch).collect();
    let epochs = rows(&epochs)?;
    sqlx::query!(
        "INSERT INTO network_epochs (network_id, part, epoch, training_error, validation_error)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?1)",
        epochs,
        network
    )
    .execute(tx.connection())
    .await?;
    let sides: Vec<_> = trained.sides.iter().map(side_row).collect();
    let sides = rows(&sides)?;
    sqlx::query!(
        "INSERT INTO network_sides (network_id, part, to_move, positions, mean_plies, spread, error)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5
        FROM jsonb_each(?1)",
        sides,
        network
    )
    .execute(tx.connection())
    .await?;
    let distance = |distance: &DistanceErrors| {
        (distance.network, distance.plies, distance.positions, distance.error, distance.nearer)
    };
    let distances: Vec<_> = trained.distances.iter().map(distance).collect();
    let distances = rows(&distances)?;
    sqlx::query!(
        "INSERT INTO network_distances (network_id, part, plies, positions, error, nearer)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
        FROM jsonb_each(?1)",
        distances,
        network
    )
    .execute(tx.connection())
    .await?;
    let square = |square: &SquareErrors| {
        (square.network, square_name(square), square.positions, square.error)
    };
    let squares: Vec<_> = trained.squares.iter().map(square).collect();
    let squares = rows(&squares)?;
    sqlx::query!(
        "INSERT INTO network_squares (network_id, part, square, positions, error)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?1)",
        squares,
        network
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Settles the trainings among these tasks as failed: their networks cannot be had.
pub(crate) async fn settle_failed_trainings(
    tx: &mut Transaction<'_>,
    tasks: &[(GameId, String)],
) -> Result<(), StoreError> {
    let list: Vec<(i64, &str)> =
        tasks.iter().map(|(task, message)| (task.cell.0, &**message)).collect();
    let (list, now) = (rows(&list)?, tx.now_unix_us);
    sqlx::query!(
        "UPDATE networks SET settled_unix_us = ?2, failure = j.value ->> 1
        FROM jsonb_each(?1) AS j CROSS JOIN cells AS c ON c.cell_id = j.value ->> 0
        WHERE networks.network_id = c.trains_network_id AND networks.content IS NULL",
        list,
        now
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Clears the failures of an experiment's trainings. Returns their tasks.
pub(crate) async fn retry_trainings(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<Vec<GameId>, StoreError> {
    let failed = sqlx::query!(
        r#"UPDATE networks SET settled_unix_us = NULL, failure = NULL
        FROM cells AS c
        WHERE c.experiment_id = ?1 AND c.number = ?2
            AND networks.network_id = c.trains_network_id AND networks.failure IS NOT NULL
        RETURNING networks.network_id AS "network_id!""#,
        experiment,
        TRAINING_NUMBER
    )
    .fetch_all(tx.connection())
    .await?;
    let networks = rows(&failed.iter().map(|row| row.network_id).collect::<Vec<_>>())?;
    let cells = sqlx::query_scalar!(
        r#"SELECT c.cell_id AS "cell_id!" FROM cells AS c
        WHERE c.experiment_id = ?1 AND c.number = ?2 AND c.next_number > 0
            AND c.trains_network_id IN (SELECT value FROM json_each(?3))
            AND NOT EXISTS (SELECT 1 FROM returned_ranges AS r WHERE r.cell_id = c.cell_id)
        ORDER BY c.cell_id"#,
        experiment,
        TRAINING_NUMBER,
        networks
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(cells.into_iter().map(|cell| GameId { cell: CellId(cell), number: 0 }).collect())
}

fn recipe_json(recipe: &Recipe) -> String {
    // The keys of parameters are texts and the numbers finite, so JSON can represent them.
    serde_json::to_string(recipe.parameters()).unwrap_or_default()
}

/// The memory that training by a recipe can take.
fn memory_bytes(recipe: &str) -> u64 {
    let parameters: Parameters = serde_json::from_str(recipe).unwrap_or_default();
    Recipe::from_parameters(&parameters).map_or(0, |recipe| recipe.memory_bytes())
}

fn run_row(run: &Run) -> (u32, u64, u64, u64, u32, f64, f64) {
    (
        run.network,
        run.positions,
        run.examples,
        run.validation,
        run.best_epoch,
        run.validation_error,
        run.constant_error,
    )
}

fn side_row(side: &SideErrors) -> (u32, &'static str, u64, f64, f64, f64) {
    let to_move = match side.to_move {
        Side::First => "white",
        Side::Second => "black",
    };
    (side.network, to_move, side.positions, side.mean_plies, side.spread, side.error)
}

fn square_name(square: &SquareErrors) -> String {
    let file = char::from(b'a' + square.square % 8);
    format!("{file}{}", 1 + square.square / 8)
}
