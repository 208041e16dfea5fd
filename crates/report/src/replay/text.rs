//! A replayed game for people.

use std::cmp::Reverse;
use std::io::{self, Write};

use serde_json::Value;
use spelrum_engine::{
    EndedBy, MoveRecord, Outcome, Remarks, ReplayedPosition, SearchDetails, Side, replay_moves,
};
use spelrum_model::Difference;
use spelrum_model::engines::Forfeit;

use super::{Check, Compared, Plies, RecordedGame, Replayed};
use crate::text::{count, counted, duration_us, ended_by_text, percent};

/// Moves whose probability is shown.
const PROBABILITIES_SHOWN: usize = 6;

/// Writes a game move by move: the board, the move and its cost, the board after it. Then the result, and whether the
/// engine's replay is identical.
///
/// The moves are the recorded ones; if there are none, those of the replay.
pub fn write_game(out: &mut dyn Write, replayed: &Replayed, plies: Plies) -> io::Result<()> {
    let Replayed { game, again, by_tables } = replayed;
    write_heading(out, game)?;
    if !game.has_moves() {
        writeln!(out, "Its moves are not recorded: these are of the game played again.")?;
    }
    let moves = replayed.moves();
    let positions = positions(game, moves);
    if let Some(before) = positions.iter().find(|position| plies.contains(position.ply)) {
        writeln!(out, "\n{}", before.board.trim_end())?;
    }
    for (ply, record) in (0..).zip(moves).filter(|(ply, _)| plies.contains(*ply)) {
        writeln!(out)?;
        write_move(out, game, ply, record)?;
        record.remarks.as_deref().map_or(Ok(()), |remarks| write_remarks(out, remarks))?;
        if let Some(judged) = by_tables.as_ref().and_then(|tables| tables.at(ply)) {
            writeln!(out, "  by the table: {}", judged.words())?;
        }
        match positions.iter().find(|position| position.ply == ply + 1) {
            Some(after) => writeln!(out, "\n{}", after.board.trim_end())?,
            None => {
                writeln!(out, "\nThis is not a legal move here.")?;
                break;
            }
        }
    }
    writeln!(out, "\n{}", end(game))?;
    if let Some(Forfeit { message, output }) = &game.forfeit {
        writeln!(out, "The program's fault: {message}.")?;
        if !output.is_empty() {
            writeln!(out, "What was said last:")?;
            output.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
        }
    }
    if let Some(reason) = &game.not_counted_reason {
        writeln!(out, "It is not counted: {reason}.")?;
    }
    if let Some(by_tables) = by_tables {
        by_tables.summary(game, moves).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    again.as_ref().map_or(Ok(()), |again| write_comparison(out, &again.check))
}

/// Writes only whether the engine's replay is identical.
pub fn write_check(out: &mut dyn Write, replayed: &Replayed) -> io::Result<()> {
    let game_id = replayed.game.game_id;
    match replayed.again.as_ref().map(|again| &again.check) {
        None => writeln!(out, "Game {game_id}: not checked"),
        Some(Check::Same(Compared::Moves)) => writeln!(out, "Game {game_id}: the same"),
        Some(Check::Same(Compared::Hash)) => {
            writeln!(out, "Game {game_id}: the same moves, by their hash")
        }
        Some(Check::Same(Compared::OwnMoves)) => {
            writeln!(out, "Game {game_id}: the same by our player; by the rules for its opponent")
        }
        Some(Check::Same(Compared::Rules)) => {
            writeln!(out, "Game {game_id}: checked by the rules: an external engine played")
        }
        Some(Check::Irregular(problem)) => {
            writeln!(out, "Game {game_id}: not a game by the rules: {problem}")
        }
        Some(Check::Different(difference)) => {
            match difference.ply {
                Some(ply) => writeln!(out, "Game {game_id}: different at ply {ply}")?,
                None => writeln!(out, "Game {game_id}: different")?,
            }
            write_fields(out, difference)
        }
    }
}

/// Writes the number of games with identical replays.
pub fn write_verdict(out: &mut dyn Write, games: &[Replayed]) -> io::Result<()> {
    let again = games.iter().filter_map(|replayed| replayed.again.as_ref());
    let (mut same, mut different) = (0, 0);
    for again in again {
        *(if again.is_different() { &mut different } else { &mut same }) += 1;
    }
    writeln!(out, "{} the same, {} different", count(same), count(different))
}

fn write_heading(out: &mut dyn Write, game: &RecordedGame) -> io::Result<()> {
    let [first, second] = &game.names;
    writeln!(
        out,
        "Game {} of {}: cell {}, number {}",
        game.game_id, game.experiment, game.game.cell, game.game.number
    )?;
    // Most games begin with the game's usual first side.
    let side = match game.end.first_side {
        Side::First => "",
        Side::Second => " (with the second side)",
    };
    writeln!(out, "{first} moves first{side}, {second} second, from {}", game.opening)?;
    for (player, engine) in game.names.iter().zip(&game.engines) {
        if let Some(engine) = engine {
            let (name, hash) = (engine.shown_name(), engine.sha256_short());
            writeln!(out, "{player} was the program {name} (SHA-256 {hash}…)")?;
        }
    }
    Ok(())
}

fn write_move(
    out: &mut dyn Write,
    game: &RecordedGame,
    ply: u32,
    record: &MoveRecord,
) -> io::Result<()> {
    let player = &game.names[usize::from(record.mover.min(1))];
    writeln!(out, "Ply {ply}: {player} plays {} (of {})", record.mv, record.legal_moves)?;
    writeln!(out, "  {}", search_words(game, record))
}

/// What is recorded of a move's search, in words.
pub(crate) fn search_words(game: &RecordedGame, record: &MoveRecord) -> String {
    let search = &record.search;
    let time = duration_us(record.wall_us as f64);
    // External engines report no evaluations, and some no nodes: their 0 means unknown.
    let is_external = game.engines[usize::from(record.mover.min(1))].is_some();
    let count_or_unknown = |number: u64| match is_external && number == 0 {
        true => "unknown".to_owned(),
        false => count(number),
    };
    if search.nodes == 0 && search.score.is_none() {
        let reason = match search.ended_by {
            EndedBy::OnlyMove => "the only move",
            EndedBy::Depth
            | EndedBy::Nodes
            | EndedBy::Evaluations
            | EndedBy::Generations
            | EndedBy::Simulations
            | EndedBy::Time
            | EndedBy::Proven => match is_external {
                true => "its search is unknown",
                false => "without a search",
            },
        };
        return format!("{reason}, {time}");
    }
    let score = search.score.map_or_else(|| "none".to_owned(), |score| score.to_string());
    format!(
        "score {score}, depth {} (ended by {}), {} nodes, {} evaluations, {time}",
        count_or_unknown(search.depth.into()),
        ended_by_text(search.ended_by),
        count_or_unknown(search.nodes),
        count_or_unknown(search.evaluations),
    )
}

/// Writes what an external engine reported of its move.
fn write_remarks(out: &mut dyn Write, remarks: &Remarks) -> io::Result<()> {
    remark_words(remarks).iter().try_for_each(|words| writeln!(out, "  {words}"))?;
    remarks.note.lines().try_for_each(|line| writeln!(out, "  | {line}"))
}

/// What an external engine reported of its move beside its note, each in words: of its search, answers that were
/// refused, and its probabilities, the greatest first.
pub(crate) fn remark_words(remarks: &Remarks) -> Vec<String> {
    let Remarks { distribution, refused, details, .. } = remarks;
    let mut phrases = Vec::new();
    let SearchDetails { seldepth, hashfull, tbhits, pv } = details;
    let words = [
        seldepth.map(|plies| format!("{plies} plies at most")),
        hashfull.map(|permille| format!("table {} full", percent(f64::from(permille) / 1e3))),
        tbhits.filter(|&hits| hits > 0).map(|hits| counted(hits, "hit") + " in endgame tables"),
        (!pv.is_empty()).then(|| format!("line {pv}")),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    if !words.is_empty() {
        phrases.push(format!("it searched: {}", words.join(", ")));
    }
    if *refused > 0 {
        phrases
            .push(format!("asked again after {}", counted(u64::from(*refused), "refused answer")));
    }
    if !distribution.is_empty() {
        let mut moves: Vec<_> = distribution.iter().collect();
        moves.sort_by_key(|(_, millionths)| Reverse(**millionths));
        let left_out = moves.len().saturating_sub(PROBABILITIES_SHOWN);
        let shown = moves.iter().take(PROBABILITIES_SHOWN);
        let shown = shown
            .map(|(mv, millionths)| format!("{mv} {}", percent(f64::from(**millionths) / 1e6)));
        let mut words = shown.collect::<Vec<_>>().join(", ");
        if left_out > 0 {
            words.push_str(&format!(", and {} less probable", count(left_out as u64)));
        }
        phrases.push(format!("it gave {words}"));
    }
    phrases
}

fn write_comparison(out: &mut dyn Write, check: &Check) -> io::Result<()> {
    match check {
        Check::Same(Compared::Moves) => writeln!(
            out,
            "The engine does the same again: moves, depths, nodes, evaluations and scores."
        ),
        Check::Same(Compared::Hash) => writeln!(
            out,
            "The engine plays the same moves again, by their hash: they are not recorded."
        ),
        Check::Same(Compared::OwnMoves) => writeln!(
            out,
            "Our player does the same again; its opponent is an external engine, checked by the rules."
        ),
        Check::Same(Compared::Rules) => {
            writeln!(out, "Checked by the rules: an external engine played.")
        }
        Check::Irregular(problem) => writeln!(out, "It is not a game by the rules: {problem}."),
        Check::Different(difference) => {
            match difference.ply {
                Some(ply) => writeln!(out, "The engine does otherwise at ply {ply}:")?,
                None => writeln!(out, "The engine does otherwise:")?,
            }
            write_fields(out, difference)
        }
    }
}

fn write_fields(out: &mut dyn Write, difference: &Difference) -> io::Result<()> {
    for field in &difference.fields {
        let (recorded, played) = (plain(&field.recorded), plain(&field.played));
        writeln!(out, "  {}: recorded {recorded}, played again {played}", field.name)?;
    }
    Ok(())
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// The result, as a sentence.
pub(crate) fn end(game: &RecordedGame) -> String {
    let [first, second] = &game.names;
    let result = match game.end.outcome {
        Outcome::Win => format!("{first} wins"),
        Outcome::Draw => "A draw".to_owned(),
        Outcome::Loss => format!("{second} wins"),
    };
    let margin = game.end.margin.filter(|&margin| margin != 0);
    let by = margin
        .zip(game.definition.rules.game().margin)
        .map_or_else(String::new, |(margin, unit)| format!(" by {} {unit}", margin.unsigned_abs()));
    let plies = match game.end.plies {
        1 => "1 ply".to_owned(),
        plies => format!("{plies} plies"),
    };
    let time = game.wall_us.map(|us| format!(" and {}", duration_us(us as f64)));
    let why = game.end.termination.words();
    format!("{result}{by} after {plies}{}: {why}.", time.unwrap_or_default())
}

/// Returns the positions along these moves, up to the first illegal one.
pub(super) fn positions(game: &RecordedGame, moves: &[MoveRecord]) -> Vec<ReplayedPosition> {
    let after = |plies: usize| {
        let moves = moves.iter().take(plies).map(|record| record.mv.as_str());
        replay_moves(&game.definition.rules, &game.opening, moves).ok()
    };
    (0..=moves.len()).rev().find_map(after).unwrap_or_default()
}
