//! A recorded game out of the results.

use spelrum_coordinator::store::questions;
use spelrum_engine::{
    EndedBy, MoveRecord, Outcome, SearchReport, Side, Termination, termination_named,
};
use spelrum_proto::limits::QUERY_ROWS_MAX;
use spelrum_tournament::names;
use spelrum_tournament::{CellDefinition, CellId, DefinitionHash, GameId};

use super::{End, RecordedGame};
use crate::answer::{Answer, Row, unexpected};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::ResultsSource;

/// How a person names a game.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    /// By its row.
    Row(i64),
    /// By its cell and its number there.
    InCell(GameId),
}

/// Finds a game that has a result.
pub(crate) async fn recorded_game(source: &ResultsSource, which: Which) -> Result<RecordedGame> {
    let found = match which {
        Which::Row(game_id) => ask(source, &questions::game(game_id)).await?,
        Which::InCell(game) => ask(source, &questions::game_of_cell(game)).await?,
    };
    let Some(row) = found.rows().next() else {
        return Err(match which {
            Which::Row(game_id) => CliError::new(Exit::Input, format!("find game {game_id}"))
                .because("there is no settled game of this id")
                .help("list them: spelrum sql 'SELECT game_id, cell_id, number FROM games'"),
            Which::InCell(game) => why_not_in_cell(source, game).await?,
        });
    };
    let game_id = row.integer("game_id")?;
    if let Some(failure) = row.optional_text("failure")? {
        return Err(CliError::new(Exit::Input, format!("replay game {game_id}"))
            .because(format!("it has no result, since it failed: {failure}"))
            .help("see what failed: spelrum sql 'SELECT * FROM failures'"));
    }
    let cell = CellId(row.integer("cell_id")?);
    let plies = small(&row, "plies")?;
    let moves = ask(source, &questions::moves(game_id)).await?;
    let moves: Vec<_> = moves.rows().map(|row| recorded_move(&row)).collect::<Result<_>>()?;
    Ok(RecordedGame {
        game_id,
        it: GameId { cell, number: row.count("number")? },
        definition: definition(source, cell).await?,
        experiment: row.text("experiment")?,
        experiment_uuid: row.text("experiment_uuid")?,
        names: [row.text("first_name")?, row.text("second_name")?],
        opening: row.text("opening")?,
        end: End {
            first_side: first_side(&row)?,
            outcome: outcome(&row)?,
            termination: termination(&row)?,
            plies,
            moves_hash: row.count("moves_hash")?,
        },
        moves: (plies == 0 || !moves.is_empty()).then_some(moves),
        engine_revision: small(&row, "engine_revision")?,
        wall_us: row.optional_integer("wall_us")?.map(|us| fitting("wall_us", us)).transpose()?,
        not_counted_reason: row.optional_text("not_counted_reason")?,
    })
}

/// Why there is no game with this number in this cell.
async fn why_not_in_cell(source: &ResultsSource, game: GameId) -> Result<CliError> {
    let GameId { cell, number } = game;
    let failed = |reason: String, help: &str| {
        CliError::new(Exit::Input, format!("find game {number} of cell {cell}"))
            .because(reason)
            .help(help)
    };
    let cells = ask(source, &questions::cell(cell)).await?;
    let Some(row) = cells.rows().next() else {
        return Ok(failed(
            format!("there is no cell {cell}"),
            "list them: spelrum sql 'SELECT cell_id, axes, player, opponent FROM results'",
        ));
    };
    let planned = row.count("games_planned")?;
    Ok(match planned.checked_sub(1) {
        Some(last) if number <= last => failed(
            "it is not settled yet".to_owned(),
            "wait for it, or play it: spelrum run FILE, or spelrum worker",
        ),
        Some(last) => failed(
            format!("the cell's games have the numbers 0 to {last}"),
            "give one of these as --number",
        ),
        None => failed("the cell has no games".to_owned(), "choose another cell"),
    })
}

/// All that decides a cell's games.
async fn definition(source: &ResultsSource, cell: CellId) -> Result<CellDefinition> {
    let cells = ask(source, &questions::cell(cell)).await?;
    let row = cells.rows().next().ok_or_else(|| unexpected("cell_id", "names no cell"))?;
    let json = row.text("definition_json")?;
    let damaged = |reason: String| {
        CliError::new(Exit::Database, format!("read the definition of cell {cell}"))
            .because(reason)
            .help("use the version of spelrum that wrote this database, or a copy of it")
    };
    if DefinitionHash::of_json(&json).to_string() != row.text("definition_hash")? {
        return Err(damaged("it is not the one that its hash was made of".to_owned()));
    }
    serde_json::from_str(&json).map_err(|error| damaged(error.to_string()))
}

fn recorded_move(row: &Row<'_>) -> Result<MoveRecord> {
    Ok(MoveRecord {
        mover: small(row, "side")?,
        mv: row.text("move")?,
        position_key: row.count("position_key")?,
        legal_moves: small(row, "legal_moves")?,
        search: SearchReport {
            depth: small(row, "depth")?,
            nodes: row.count("nodes")?,
            evaluations: row.count("evaluations")?,
            full_tree_leaves: row.count("full_tree_leaves")?,
            score: row
                .optional_integer("score")?
                .map(|score| fitting("score", score))
                .transpose()?,
            ended_by: ended_by(row)?,
        },
        wall_us: row.count("wall_us")?,
        cpu_us: row.count("cpu_us")?,
    })
}

fn first_side(row: &Row<'_>) -> Result<Side> {
    let name = row.text("first_side")?;
    names::side(&name).ok_or_else(|| unexpected("first_side", &format!("is {name}")))
}

fn outcome(row: &Row<'_>) -> Result<Outcome> {
    match row.text("outcome")?.as_str() {
        "win" => Ok(Outcome::Win),
        "draw" => Ok(Outcome::Draw),
        "loss" => Ok(Outcome::Loss),
        other => Err(unexpected("outcome", &format!("is {other}"))),
    }
}

fn termination(row: &Row<'_>) -> Result<Termination> {
    let name = row.text("termination")?;
    termination_named(&name).ok_or_else(|| unexpected("termination", &format!("is {name}")))
}

fn ended_by(row: &Row<'_>) -> Result<EndedBy> {
    let name = row.text("ended_by")?;
    names::ended_by(&name).ok_or_else(|| unexpected("ended_by", &format!("is {name}")))
}

fn small<T: TryFrom<i64>>(row: &Row<'_>, column: &str) -> Result<T> {
    fitting(column, row.integer(column)?)
}

fn fitting<T: TryFrom<i64>>(column: &str, integer: i64) -> Result<T> {
    T::try_from(integer).map_err(|_| unexpected(column, &format!("is {integer}")))
}

async fn ask(source: &ResultsSource, sql: &str) -> Result<Answer> {
    Ok(Answer::new(source.query(sql, QUERY_ROWS_MAX).await?))
}
