//! Played games: the engine's record with its identity, and [`v1::Game`].

use spelrum_engine::{
    GameRecord, MoveRecord, MoveValue, Outcome, Remarks, SearchDetails, SearchReport, Side,
    Termination, termination_named,
};
use spelrum_model::engines::EngineIdentity;
use spelrum_model::speed::ScaledTime;
use spelrum_model::{CellId, GameId, PlayedGame};

use crate::limits::{MOVE_BYTES_MAX, PLIES_MAX, POSITION_BYTES_MAX};
use crate::wire_error::{at_most, id, in_range, margin, moment, number, plain_text, unknown_word};
use crate::{Fault, WireError, engines, names, speeds, v1};

/// A game as its worker reports it.
#[must_use]
pub fn to_wire(played: PlayedGame) -> v1::Game {
    let PlayedGame {
        game,
        engine_revision,
        opening,
        record,
        moves_hash,
        values,
        engines,
        forfeit,
        scaled,
        started_unix_us,
    } = played;
    let [first_engine, second_engine] = engines.map(|engine| engine.map(engines::identity_to_wire));
    v1::Game {
        cell_id: game.cell.0,
        number: game.number,
        engine_revision,
        opening,
        first_side: names::side_to_wire(record.first_side).into(),
        outcome: names::outcome_to_wire(record.outcome).into(),
        margin: record.margin,
        termination: record.termination.name().to_owned(),
        moves_hash,
        started_unix_us,
        wall_us: record.wall_us,
        moves: record.moves.into_iter().map(move_to_wire).collect(),
        move_values: values
            .into_iter()
            .map(|MoveValue { mv, value }| v1::MoveValue { r#move: mv, value })
            .collect(),
        first_engine,
        second_engine,
        forfeit: forfeit.map(engines::forfeit_to_wire),
        scaled: scaled.map(speeds::scaled_to_wire),
    }
}

pub(crate) fn move_to_wire(record: MoveRecord) -> v1::Move {
    v1::Move {
        mover: record.mover.into(),
        r#move: record.mv,
        position_key: record.position_key,
        legal_moves: record.legal_moves,
        depth: record.search.depth,
        nodes: record.search.nodes,
        evaluations: record.search.evaluations,
        full_tree_leaves: record.search.full_tree_leaves,
        score: record.search.score,
        wall_us: record.wall_us,
        cpu_us: record.cpu_us,
        ended_by: record.search.ended_by.name().to_owned(),
        told_us: record.search.told_us,
        involuntary_switches: record.involuntary_switches,
        remarks: record.remarks.map(|remarks| remarks_to_wire(*remarks)),
    }
}

fn remarks_to_wire(remarks: Remarks) -> v1::Remarks {
    let Remarks { note, distribution, refused, details } = remarks;
    let SearchDetails { seldepth, hashfull, tbhits, pv } = details;
    let probability = |(mv, millionths)| v1::Probability { r#move: mv, millionths };
    let distribution = distribution.into_iter().map(probability).collect();
    v1::Remarks { note, distribution, refused, seldepth, hashfull, tbhits, pv }
}

fn remarks_from_wire(remarks: v1::Remarks) -> Remarks {
    let v1::Remarks { note, distribution, refused, seldepth, hashfull, tbhits, pv } = remarks;
    let probability = |v1::Probability { r#move: mv, millionths }| (mv, millionths);
    let distribution = distribution.into_iter().map(probability).collect();
    let details = SearchDetails { seldepth, hashfull, tbhits, pv };
    Remarks { note, distribution, refused, details }
}

/// Checks a reported game and returns its id. Afterwards [`from_wire`] cannot fail on it.
///
/// # Errors
/// The first field that is malformed.
pub fn check(game: &v1::Game) -> Result<GameId, WireError> {
    let id = game_id(game.cell_id, game.number)?;
    in_range("engine_revision", game.engine_revision.into(), 1, u32::MAX.into())?;
    plain_text("opening", &game.opening, POSITION_BYTES_MAX)?;
    first_side(game)?;
    outcome(game)?;
    margin("margin", game.margin)?;
    termination(game)?;
    number("moves_hash", game.moves_hash)?;
    moment("started_unix_us", game.started_unix_us)?;
    number("wall_us", game.wall_us)?;
    at_most("moves", game.moves.len(), PLIES_MAX)?;
    for (ply, mv) in game.moves.iter().enumerate() {
        check_move(mv).map_err(|error| error.within(format_args!("moves[{ply}]")))?;
    }
    at_most("move_values", game.move_values.len(), PLIES_MAX)?;
    for (index, value) in game.move_values.iter().enumerate() {
        let within = |error: WireError| error.within(format_args!("move_values[{index}]"));
        plain_text("move", &value.r#move, MOVE_BYTES_MAX).map_err(within)?;
        number("value", value.value.unsigned_abs()).map_err(within)?;
    }
    for (field, engine) in
        [("first_engine", &game.first_engine), ("second_engine", &game.second_engine)]
    {
        identity(engine.as_ref()).map_err(|error| error.within(field))?;
    }
    if let Some(forfeit) = &game.forfeit {
        engines::check_forfeit(forfeit).map_err(|error| error.within("forfeit"))?;
    }
    scaled(game)?;
    Ok(id)
}

fn scaled(game: &v1::Game) -> Result<Option<ScaledTime>, WireError> {
    let read = |scaled| speeds::scaled(scaled).map_err(|error| error.within("scaled"));
    game.scaled.map(read).transpose()
}

fn identity(engine: Option<&v1::EngineIdentity>) -> Result<Option<EngineIdentity>, WireError> {
    engine.map(engines::identity_from_wire).transpose()
}

/// Parses a reported game.
///
/// # Errors
/// As [`check`].
pub fn from_wire(game: v1::Game) -> Result<PlayedGame, WireError> {
    let id = check(&game)?;
    let (first_side, outcome, termination) =
        (first_side(&game)?, outcome(&game)?, termination(&game)?);
    let engines = [identity(game.first_engine.as_ref())?, identity(game.second_engine.as_ref())?];
    let scaled = scaled(&game)?;
    let mut moves = Vec::with_capacity(game.moves.len());
    for mv in game.moves {
        moves.push(move_from_wire(mv)?);
    }
    let (margin, wall_us) = (game.margin, game.wall_us);
    let record = GameRecord { first_side, outcome, margin, termination, moves, wall_us };
    Ok(PlayedGame {
        game: id,
        engine_revision: game.engine_revision,
        opening: game.opening,
        record,
        moves_hash: game.moves_hash,
        values: game
            .move_values
            .into_iter()
            .map(|value| MoveValue { mv: value.r#move, value: value.value })
            .collect(),
        engines,
        forfeit: game.forfeit.map(engines::forfeit_from_wire),
        scaled,
        started_unix_us: game.started_unix_us,
    })
}

/// A game's identity.
pub(crate) fn game_id(cell: i64, game_number: u64) -> Result<GameId, WireError> {
    Ok(GameId { cell: CellId(id("cell_id", cell)?), number: number("number", game_number)? })
}

fn first_side(game: &v1::Game) -> Result<Side, WireError> {
    v1::Side::try_from(game.first_side)
        .ok()
        .and_then(names::side_from_wire)
        .ok_or_else(|| WireError::new("first_side", Fault::UnknownVariant(game.first_side)))
}

fn outcome(game: &v1::Game) -> Result<Outcome, WireError> {
    v1::Outcome::try_from(game.outcome)
        .ok()
        .and_then(names::outcome_from_wire)
        .ok_or_else(|| WireError::new("outcome", Fault::UnknownVariant(game.outcome)))
}

fn termination(game: &v1::Game) -> Result<Termination, WireError> {
    termination_named(&game.termination)
        .ok_or_else(|| WireError::new("termination", unknown_word(&game.termination)))
}

pub(crate) fn check_move(mv: &v1::Move) -> Result<(), WireError> {
    in_range("mover", mv.mover.into(), 0, 1)?;
    plain_text("move", &mv.r#move, MOVE_BYTES_MAX)?;
    number("position_key", mv.position_key)?;
    number("nodes", mv.nodes)?;
    number("evaluations", mv.evaluations)?;
    number("full_tree_leaves", mv.full_tree_leaves)?;
    number("wall_us", mv.wall_us)?;
    number("cpu_us", mv.cpu_us)?;
    number("told_us", mv.told_us.unwrap_or(0))?;
    number("involuntary_switches", mv.involuntary_switches.unwrap_or(0))?;
    if let Some(remarks) = &mv.remarks {
        at_most("remarks.distribution", remarks.distribution.len(), Remarks::MOVES_MAX)?;
        if remarks_from_wire(remarks.clone()).problem().is_some() {
            return Err(WireError::new("remarks", Fault::NotPlainText));
        }
    }
    ended_by(mv).map(drop)
}

pub(crate) fn move_from_wire(mv: v1::Move) -> Result<MoveRecord, WireError> {
    let ended_by = ended_by(&mv)?;
    Ok(MoveRecord {
        mover: u8::from(mv.mover == 1),
        mv: mv.r#move,
        position_key: mv.position_key,
        legal_moves: mv.legal_moves,
        search: SearchReport {
            depth: mv.depth,
            nodes: mv.nodes,
            evaluations: mv.evaluations,
            full_tree_leaves: mv.full_tree_leaves,
            score: mv.score,
            ended_by,
            told_us: mv.told_us,
        },
        wall_us: mv.wall_us,
        cpu_us: mv.cpu_us,
        involuntary_switches: mv.involuntary_switches,
        remarks: mv.remarks.map(|remarks| Box::new(remarks_from_wire(remarks))),
    })
}

fn ended_by(mv: &v1::Move) -> Result<spelrum_engine::EndedBy, WireError> {
    spelrum_engine::EndedBy::named(&mv.ended_by)
        .ok_or_else(|| WireError::new("ended_by", unknown_word(&mv.ended_by)))
}
