//! Tasks other than games: trainings of networks, and verifications of games.

use std::collections::BTreeSet;

use spelrum_model::{
    CellId, ExperimentId, FinishedTraining, GameId, Plan, PlayedVerification, TrainingDefinition,
    WorkerId,
};
use spelrum_scheduling::scheduler::CellState;
use spelrum_store::decisions::{RESULT_IS_GONE, VERIFICATION_NUMBER, count, hexadecimal, integer};
use spelrum_store::{Deviation, StoreError, ToVerify};

use crate::numbers::{number, small};
use crate::transaction::PgTransaction;
use crate::{cells, parts};

/// The network of a training's definition in the database.
async fn network(
    tx: &mut PgTransaction<'_>,
    training: &TrainingDefinition,
    recipe_json: &str,
) -> Result<i64, StoreError> {
    let hash = training.hash().to_string();
    run!(
        tx,
        "INSERT INTO networks (definition_hash, ending, recipe_json) VALUES ($1, $2, $3)
        ON CONFLICT (definition_hash) DO NOTHING",
        &hash,
        training.recipe().endgame().name(),
        recipe_json,
    );
    Ok(value!(tx, i64, "SELECT network_id FROM networks WHERE definition_hash = $1", hash))
}

/// Adds trainings to an experiment of networks that a plan's players need and that are missing; returns their cells.
pub(crate) async fn add_trainings(
    tx: &mut PgTransaction<'_>,
    experiment: i64,
    plan: &Plan,
) -> Result<Vec<i64>, StoreError> {
    let (mut added, mut seen) = (Vec::new(), BTreeSet::new());
    for player in &plan.players {
        let json = &*player.parameters_json;
        let parameters = serde_json::from_str(json).unwrap_or_default();
        let Some(training) = TrainingDefinition::from_parameters(&parameters) else { continue };
        // Its definition has the recipe as its first player, and nothing as its second.
        let recipe = serde_json::to_string(training.recipe().parameters()).unwrap_or_default();
        let recipe = &*recipe;
        let network = network(tx, &training, recipe).await?;
        run!(
            tx,
            "UPDATE players SET network_id = $2 WHERE parameters_json = $1 AND network_id IS NULL",
            json,
            network,
        );
        let exists = value!(
            tx,
            bool,
            "SELECT EXISTS (SELECT 1 FROM cells WHERE experiment_id = $1 AND trains_network_id = $2)",
            experiment,
            network
        );
        if exists || !seen.insert(network) {
            continue;
        }
        // A network whose training failed for other experiments is tried again.
        run!(
            tx,
            "UPDATE networks SET failure = NULL, settled_unix_us = NULL
            WHERE network_id = $1 AND failure IS NOT NULL",
            network,
        );
        let is_trained = "SELECT content IS NOT NULL FROM networks WHERE network_id = $1";
        if value!(tx, bool, is_trained, network) {
            continue;
        }
        let players = parts::players(tx, &[("training", recipe), ("training", "{}")]).await?;
        let conditions = parts::conditions(tx, TrainingDefinition::JSON_PREFIX, None).await?;
        let cell = tx.take_ids("cells", 1).await?;
        run!(
            tx,
            "INSERT INTO cells (experiment_id, cell_id, number, definition_hash, conditions_id, seed,
                first_player_id, second_player_id, first_player_name, second_player_name, games_planned,
                swap_sides, timed, in_sweep, trains_network_id)
            VALUES ($1, $2, $3, $4, $5, 0, $6, $7, 'training', '', 1, 0, 0, 0, $8)",
            experiment,
            cell,
            VERIFICATION_NUMBER,
            training.hash().to_string(),
            conditions,
            players[recipe],
            players["{}"],
            network,
        );
        added.push(cell);
    }
    Ok(added)
}

/// Stores trained networks. An existing one stays.
pub(crate) async fn store_trainings(
    tx: &mut PgTransaction<'_>,
    trainings: &[(WorkerId, FinishedTraining)],
) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    for (worker, training) in trainings {
        let Some(trained) = &training.trained else { continue };
        run!(
            tx,
            "UPDATE networks SET settled_unix_us = $2, failure = NULL, bytes = $3, sha256 = $4, content = $5,
                engine_revision = $6, worker_id = $7, started_unix_us = $8, wall_us = $9
            WHERE content IS NULL
                AND network_id = (SELECT trains_network_id FROM cells WHERE cell_id = $1)",
            training.task.cell.0,
            now,
            count(trained.bytes.len()),
            hexadecimal(&training.sha256),
            &trained.bytes,
            i64::from(training.engine_revision),
            worker.0,
            training.started_unix_us,
            integer(training.wall_us),
        );
    }
    Ok(())
}

/// Settles the trainings and verifications among these tasks as failed.
pub(crate) async fn settle_failed(
    tx: &mut PgTransaction<'_>,
    tasks: &[(GameId, String)],
) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    let cells: Vec<i64> = tasks.iter().map(|(task, _)| task.cell.0).collect();
    let messages: Vec<&str> = tasks.iter().map(|(_, message)| &**message).collect();
    run!(
        tx,
        "UPDATE networks SET settled_unix_us = $3, failure = j.message
        FROM unnest($1::bigint[], $2::text[]) AS j (cell_id, message)
        JOIN cells AS c ON c.cell_id = j.cell_id
        WHERE networks.network_id = c.trains_network_id AND networks.content IS NULL",
        &cells,
        &messages,
        now,
    );
    run!(
        tx,
        "UPDATE verifications SET settled_unix_us = $3, verdict = 'not played', failure = j.message
        FROM unnest($1::bigint[], $2::text[]) AS j (cell_id, message)
        WHERE verifications.cell_id = j.cell_id AND settled_unix_us IS NULL",
        cells,
        messages,
        now,
    );
    Ok(())
}

/// Takes back failures of an experiment's trainings; returns the tasks to be done again.
pub(crate) async fn retry_trainings(
    tx: &mut PgTransaction<'_>,
    experiment: i64,
) -> Result<Vec<GameId>, StoreError> {
    let failed = all!(
        tx,
        (i64,),
        "UPDATE networks SET settled_unix_us = NULL, failure = NULL FROM cells AS c
        WHERE c.experiment_id = $1 AND networks.network_id = c.trains_network_id
            AND networks.failure IS NOT NULL
        RETURNING c.cell_id",
        experiment
    );
    let failed: Vec<i64> = failed.into_iter().map(|(cell,)| cell).collect();
    // Those that were leased, and wait for nothing.
    let leased = all!(
        tx,
        (i64,),
        "SELECT cell_id FROM cells AS c WHERE cell_id = ANY($1) AND next_number > 0
            AND NOT EXISTS (SELECT 1 FROM returned_ranges AS r WHERE r.cell_id = c.cell_id)",
        failed
    );
    Ok(leased.into_iter().map(|(cell,)| GameId { cell: CellId(cell), number: 0 }).collect())
}

/// Orders verifications of games, each in a cell of its own; returns the new cells.
pub(crate) async fn order_verifications(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
    games: &[ToVerify],
) -> Result<Vec<CellState>, StoreError> {
    let now = tx.now_unix_us;
    let mut ordered = Vec::new();
    for game in games {
        let (cell, game_number) = (game.game.cell.0, integer(game.game.number));
        let known = first!(
            tx,
            (i64,),
            "SELECT (SELECT count(*) FROM verifications AS v
                WHERE v.verified_cell_id = g.cell_id AND v.number = g.number)
            FROM games AS g
            WHERE g.game_id = $1 AND g.cell_id = $2 AND g.number = $3 AND NOT EXISTS (
                SELECT 1 FROM verifications AS v
                WHERE v.game_id = g.game_id AND v.settled_unix_us IS NULL)",
            game.game_id,
            cell,
            game_number
        );
        let Some((before,)) = known else { continue };
        let (hash, stops) = game.named(small(before));
        let id = tx.take_ids("cells", 1).await?;
        run!(
            tx,
            "INSERT INTO cells (experiment_id, cell_id, number, definition_hash, conditions_id, seed,
                first_player_id, second_player_id, first_player_name, second_player_name, games_planned,
                swap_sides, timed, in_sweep)
            SELECT $1, $2, $3, $4, conditions_id, 0, first_player_id, second_player_id, first_player_name,
                second_player_name, 1, 0, 0, 0
            FROM cells WHERE cell_id = $5",
            experiment.0,
            id,
            VERIFICATION_NUMBER,
            hash.to_string(),
            cell,
        );
        run!(
            tx,
            "INSERT INTO verifications (cell_id, verified_cell_id, number, game_id, ordered_before, stops_json,
                played_by_worker_id, ordered_unix_us)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            id,
            cell,
            game_number,
            game.game_id,
            before,
            stops,
            game.played_by.map(|worker| worker.0),
            now,
        );
        ordered.push(id);
    }
    cells::some_states(tx, experiment.0, &ordered).await
}

/// Stores verdicts, each with the worker that replayed the game; returns those that differ. An existing one stays.
pub(crate) async fn store_verifications(
    tx: &mut PgTransaction<'_>,
    verifications: &[(WorkerId, PlayedVerification)],
) -> Result<Vec<Deviation>, StoreError> {
    let now = tx.now_unix_us;
    let mut deviations = Vec::new();
    for (worker, PlayedVerification { played, difference }) in verifications {
        let verdict = if difference.is_some() { "different" } else { "same" };
        let ply = difference.as_ref().and_then(|difference| difference.ply);
        let json = difference
            .as_ref()
            .map(|difference| serde_json::to_string(difference).unwrap_or_default());
        let stored = first!(
            tx,
            (i64, i64, String, Option<i64>),
            "UPDATE verifications SET settled_unix_us = $2, verified_by_worker_id = $3, engine_revision = $4,
                verdict = CASE WHEN game_id IS NULL THEN 'not played' ELSE $5 END,
                failure = CASE WHEN game_id IS NULL THEN $6::text END,
                ply = CASE WHEN game_id IS NOT NULL THEN $7::bigint END,
                difference_json = CASE WHEN game_id IS NOT NULL THEN $8::text END
            WHERE cell_id = $1 AND settled_unix_us IS NULL
            RETURNING verified_cell_id, number, verdict, played_by_worker_id",
            played.game.cell.0,
            now,
            worker.0,
            i64::from(played.engine_revision),
            verdict,
            RESULT_IS_GONE,
            ply.map(i64::from),
            json
        );
        let Some((cell, game_number, _, played_by)) =
            stored.filter(|(_, _, verdict, _)| verdict == "different")
        else {
            continue;
        };
        deviations.push(Deviation {
            game: GameId { cell: CellId(cell), number: number(game_number) },
            played_by: played_by.map(WorkerId),
            verified_by: *worker,
            ply,
        });
    }
    Ok(deviations)
}
