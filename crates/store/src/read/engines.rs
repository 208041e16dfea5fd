//! External engines: which of them played, and which games they forfeited.

use spelrum_answers::{
    EnginesUsed, ForfeitKind, MIXED_CELLS_MAX, MixedCell, PlayerForfeits, UsedEngine,
    forfeits_by_player,
};
use spelrum_model::engines::{EngineIdentity, Forfeit};
use spelrum_model::{CellId, ExperimentId};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::numbers::count;
use crate::write::game_engines::Engines;

/// The external engines that played a game.
pub(crate) async fn engines_of(
    connection: &mut SqliteConnection,
    game: i64,
) -> Result<Engines, StoreError> {
    let found = sqlx::query!(
        r#"SELECT x.side, e.name, e.author, e.sha256
        FROM game_engines AS x JOIN engines AS e ON e.engine_id = x.engine_id
        WHERE x.game_id = ?"#,
        game
    )
    .fetch_all(connection)
    .await?;
    let mut engines = [None, None];
    for row in found {
        engines[usize::from(row.side != 0)] = Some(identity(row.name, row.author, row.sha256)?);
    }
    Ok(engines)
}

/// How one of them forfeited a game, if so.
pub(crate) async fn forfeit_of(
    connection: &mut SqliteConnection,
    game: i64,
) -> Result<Option<Forfeit>, StoreError> {
    Ok(sqlx::query_as!(Forfeit, "SELECT message, output FROM forfeits WHERE game_id = ?", game)
        .fetch_optional(connection)
        .await?)
}

/// The external engines that played an experiment's counted games.
pub(crate) async fn engines_used(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<EnginesUsed, StoreError> {
    let any = sqlx::query_scalar!(r#"SELECT EXISTS (SELECT 1 FROM game_engines) AS "any!: bool""#)
        .fetch_one(&mut *connection)
        .await?;
    if !any {
        return Ok(EnginesUsed::default());
    }
    let forfeits = forfeits(&mut *connection, experiment).await?;
    // Only cells with external engines are read: other cells may have a million games.
    let found = sqlx::query!(
        r#"SELECT CASE (g.number % 2 * c.swap_sides + x.side) % 2 WHEN 0 THEN c.first_player_name
                ELSE c.second_player_name END AS "player!: String",
            e.name, e.author, e.sha256,
            CASE (g.number % 2 * c.swap_sides + x.side) % 2 WHEN 0 THEN f.parameters_json
                ELSE s.parameters_json END ->> '$.build' AS "build?: String",
            count(DISTINCT c.cell_id) AS "cells!: u64",
            count(DISTINCT g.game_id) AS "games!: u64"
        FROM cells AS c
        JOIN players AS f ON f.player_id = c.first_player_id
        JOIN players AS s ON s.player_id = c.second_player_id
        CROSS JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
        CROSS JOIN game_engines AS x ON x.game_id = g.game_id
        CROSS JOIN engines AS e ON e.engine_id = x.engine_id
        WHERE c.experiment_id = ? AND c.in_sweep = 1
            AND (f.parameters_json ->> '$.engine' IS NOT NULL OR s.parameters_json ->> '$.engine' IS NOT NULL)
        GROUP BY 1, e.engine_id, 5 ORDER BY 1, e.name, e.author, e.sha256, 5"#,
        experiment.0
    )
    .fetch_all(&mut *connection)
    .await?;
    let engines = found.into_iter().map(|row| {
        Ok(UsedEngine {
            player: row.player,
            engine: identity(row.name, row.author, row.sha256)?,
            build: row.build,
            cells: row.cells,
            games: row.games,
        })
    });
    let engines = engines.collect::<Result<Vec<_>, StoreError>>()?;
    let cells_max = count(MIXED_CELLS_MAX);
    let mixed = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", count(DISTINCT x.engine_id) AS "programs!: u64",
            CASE CASE x.side WHEN 0 THEN g.first_player_id ELSE g.second_player_id END
                WHEN c.first_player_id THEN c.first_player_name
                ELSE c.second_player_name END AS "player!: String"
        FROM cells AS c
        JOIN players AS f ON f.player_id = c.first_player_id
        JOIN players AS s ON s.player_id = c.second_player_id
        CROSS JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
        CROSS JOIN game_engines AS x ON x.game_id = g.game_id
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1
            AND (f.parameters_json ->> '$.engine' IS NOT NULL OR s.parameters_json ->> '$.engine' IS NOT NULL)
        GROUP BY c.number, c.cell_id,
            CASE x.side WHEN 0 THEN g.first_player_id ELSE g.second_player_id END = c.first_player_id
        HAVING count(DISTINCT x.engine_id) > 1
        ORDER BY c.number, c.cell_id,
            CASE x.side WHEN 0 THEN g.first_player_id ELSE g.second_player_id END <> c.first_player_id
        LIMIT ?2"#,
        experiment.0,
        cells_max
    )
    .fetch_all(connection)
    .await?;
    let mixed = mixed.into_iter().map(|row| MixedCell {
        cell: CellId(row.cell_id),
        player: row.player,
        programs: row.programs,
    });
    Ok(EnginesUsed { engines, mixed: mixed.collect(), forfeits })
}

/// Forfeits among an experiment's counted games, read from the forfeits alone, however many other games there are.
pub(crate) async fn forfeits(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<PlayerForfeits>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT CASE (g.number % 2 * c.swap_sides + (g.outcome = 'win')) % 2
                WHEN 0 THEN c.first_player_name ELSE c.second_player_name END AS "player!: String",
            g.termination AS "kind!", count(*) AS "games!: u64"
        FROM games AS g INDEXED BY games_forfeited JOIN cells AS c ON c.cell_id = g.cell_id
        WHERE g.counted = 1
            AND g.termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit')
            AND c.experiment_id = ? AND c.in_sweep = 1
        GROUP BY 1, 2"#,
        experiment.0
    )
    .fetch_all(&mut *connection)
    .await?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let games = sqlx::query!(
        r#"SELECT name AS "name!", sum(games) AS "games!: u64" FROM (
            SELECT c.first_player_name AS name, r.games
            FROM cells AS c JOIN cell_results AS r ON r.cell_id = c.cell_id
            WHERE c.experiment_id = ?1 AND c.in_sweep = 1
            UNION ALL
            SELECT c.second_player_name, r.games
            FROM cells AS c JOIN cell_results AS r ON r.cell_id = c.cell_id
            WHERE c.experiment_id = ?1 AND c.in_sweep = 1
                AND c.second_player_name <> c.first_player_name)
        GROUP BY name"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let games_of =
        |player: &str| games.iter().find(|row| row.name == player).map_or(0, |row| row.games);
    let counts = found
        .into_iter()
        .filter_map(|row| Some((row.player, ForfeitKind::named(&row.kind)?, row.games)));
    Ok(forfeits_by_player(counts, games_of))
}

fn identity(name: String, author: String, sha256: String) -> Result<EngineIdentity, StoreError> {
    match EngineIdentity::parse_sha256(&sha256) {
        Some(sha256) => Ok(EngineIdentity { name, author, sha256 }),
        None => Err(StoreError::UnknownValue { column: "sha256", value: sha256 }),
    }
}
