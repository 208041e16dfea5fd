//! Replayed games for programs. Keys are those of the results database, and are only ever added.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use spelrum_engine::{ENGINE_REVISION, EndedBy, Outcome, Remarks};
use spelrum_model::engines::Forfeit;

use super::tables::JudgedJson;
use super::text::positions;
use super::{Check, Compared, Plies, Replayed};
use crate::data;

#[derive(Serialize)]
struct Json<'a> {
    /// The engine that replayed them.
    engine_revision: u32,
    games: Vec<Game<'a>>,
}

#[derive(Serialize)]
struct Game<'a> {
    game_id: i64,
    experiment: &'a str,
    experiment_uuid: &'a str,
    cell_id: i64,
    number: u64,
    game: &'static str,
    first_player: &'a str,
    second_player: &'a str,
    opening: &'a str,
    /// The side of the game that moved first from the opening.
    first_side: &'static str,
    /// For the first mover.
    outcome: Outcome,
    /// The first mover's margin, in the game's unit; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<i32>,
    termination: &'static str,
    plies: u32,
    moves_hash: u64,
    wall_us: Option<u64>,
    engine_revision: u32,
    counted: bool,
    not_counted_reason: Option<&'a str>,
    moves_recorded: bool,
    /// The external engines that played; null for built-in players.
    first_engine: Option<Engine<'a>>,
    second_engine: Option<Engine<'a>>,
    /// How one of them forfeited the game.
    forfeit: Option<JsonForfeit<'a>>,
    /// `same`, `different` or `not_checked`.
    check: &'static str,
    /// The comparison of the moves: `moves` or `moves_hash`; with external engines, `own_moves` or `rules`.
    compared: Option<&'static str>,
    difference: Option<JsonDifference<'a>>,
    /// Why the record violates the rules.
    irregularity: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<Move<'a>>>,
}

#[derive(Serialize)]
struct Engine<'a> {
    name: &'a str,
    author: &'a str,
    sha256: String,
}

#[derive(Serialize)]
struct JsonForfeit<'a> {
    message: &'a str,
    output: &'a str,
}

#[derive(Serialize)]
struct JsonDifference<'a> {
    /// `None` for properties of the whole game.
    ply: Option<u32>,
    fields: Vec<JsonField<'a>>,
}

#[derive(Serialize)]
struct JsonField<'a> {
    field: &'a str,
    recorded: &'a Value,
    played: &'a Value,
}

#[derive(Serialize)]
struct Move<'a> {
    ply: u32,
    side: u8,
    player: &'a str,
    /// Before the move, in the game's notation.
    position: Option<String>,
    r#move: &'a str,
    position_after: Option<String>,
    legal_moves: u32,
    depth: u32,
    nodes: u64,
    evaluations: u64,
    full_tree_leaves: u64,
    score: Option<i32>,
    wall_us: u64,
    cpu_us: u64,
    /// Involuntary context switches, if known.
    involuntary_switches: Option<u64>,
    ended_by: EndedBy,
    /// Time reported by an external engine.
    told_us: Option<u64>,
    #[serde(flatten)]
    remarks: Option<&'a Remarks>,
    /// Verdict of an exact table, if tables were used and have the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_table: Option<JudgedJson>,
}

/// Writes games, each with its replay's result, and the moves of these plies, if any.
pub fn write(out: &mut dyn Write, games: &[Replayed], plies: Option<Plies>) -> io::Result<()> {
    let games = games.iter().map(|replayed| Game::new(replayed, plies)).collect();
    data::write_json(out, &Json { engine_revision: ENGINE_REVISION, games })
}

impl<'a> Game<'a> {
    fn new(replayed: &'a Replayed, plies: Option<Plies>) -> Self {
        let Replayed { game, again, .. } = replayed;
        let same = |compared| ("same", Some(compared), None);
        let mut irregularity = None;
        let (check, compared, difference) = match again.as_ref().map(|again| &again.check) {
            None => ("not_checked", None, None),
            Some(Check::Same(Compared::Moves)) => same("moves"),
            Some(Check::Same(Compared::Hash)) => same("moves_hash"),
            Some(Check::Same(Compared::OwnMoves)) => same("own_moves"),
            Some(Check::Same(Compared::Rules)) => same("rules"),
            Some(Check::Irregular(problem)) => {
                irregularity = Some(problem.as_str());
                ("different", None, None)
            }
            Some(Check::Different(difference)) => {
                let fields = difference.fields.iter().map(|field| JsonField {
                    field: &field.name,
                    recorded: &field.recorded,
                    played: &field.played,
                });
                let fields = fields.collect();
                ("different", None, Some(JsonDifference { ply: difference.ply, fields }))
            }
        };
        let [first_engine, second_engine] = game.engines.each_ref().map(|engine| {
            engine.as_ref().map(|identity| Engine {
                name: &identity.name,
                author: &identity.author,
                sha256: identity.sha256_hex(),
            })
        });
        Self {
            game_id: game.game_id,
            experiment: &game.experiment,
            experiment_uuid: &game.experiment_uuid,
            cell_id: game.game.cell.0,
            number: game.game.number,
            game: game.definition.rules.name(),
            first_player: &game.names[0],
            second_player: &game.names[1],
            opening: &game.opening,
            first_side: game.end.first_side.name(),
            outcome: game.end.outcome,
            margin: game.end.margin,
            termination: game.end.termination.name(),
            plies: game.end.plies,
            moves_hash: game.end.moves_hash,
            wall_us: game.wall_us,
            engine_revision: game.engine_revision,
            counted: game.not_counted_reason.is_none(),
            not_counted_reason: game.not_counted_reason.as_deref(),
            moves_recorded: game.has_moves(),
            first_engine,
            second_engine,
            forfeit: game
                .forfeit
                .as_ref()
                .map(|Forfeit { message, output }| JsonForfeit { message, output }),
            check,
            compared,
            difference,
            irregularity,
            moves: plies.map(|plies| moves(replayed, plies)),
        }
    }
}

fn moves(replayed: &Replayed, plies: Plies) -> Vec<Move<'_>> {
    let Replayed { game, by_tables, .. } = replayed;
    let moves = replayed.moves();
    let positions = positions(game, moves);
    let position = |ply: u32| {
        let found = positions.iter().find(|position| position.ply == ply);
        found.map(|position| position.position.clone())
    };
    let shown = (0..).zip(moves).filter(|(ply, _)| plies.contains(*ply));
    let shown = shown.map(|(ply, record)| Move {
        ply,
        side: record.mover,
        player: &game.names[usize::from(record.mover.min(1))],
        position: position(ply),
        r#move: &record.mv,
        position_after: position(ply + 1),
        legal_moves: record.legal_moves,
        depth: record.search.depth,
        nodes: record.search.nodes,
        evaluations: record.search.evaluations,
        full_tree_leaves: record.search.full_tree_leaves,
        score: record.search.score,
        wall_us: record.wall_us,
        cpu_us: record.cpu_us,
        involuntary_switches: record.involuntary_switches,
        ended_by: record.search.ended_by,
        told_us: record.search.told_us,
        remarks: record.remarks.as_deref(),
        by_table: by_tables.as_ref().and_then(|tables| tables.at(ply)).map(JudgedJson::from),
    });
    shown.collect()
}
