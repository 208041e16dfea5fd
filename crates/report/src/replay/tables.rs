//! Exact tables applied to a recorded game with few pieces: the value of each position, and the moves that lost
//! value.

use serde::Serialize;
use spelrum_engine::games::Chess;
use spelrum_engine::tables::{self, TableValue};
use spelrum_engine::{Game as _, MoveRecord};

use super::RecordedGame;
use super::text::positions;
use crate::error::{Error, Kind, Result};

/// Table verdicts on a game's moves.
#[derive(Debug)]
pub struct ByTables {
    /// By ply; `None` before a table has the position.
    moves: Vec<Option<Judged>>,
}

/// The value of a position and what the move kept of it, both for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    /// With the best move.
    pub(super) before: TableValue,
    /// With the move that was made.
    pub(super) after: TableValue,
}

/// Loss by a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// Nothing.
    None,
    /// This many plies, by which mate comes later, or sooner for the mated side.
    Plies(u32),
    /// A win or a draw.
    Outcome,
}

/// Totals over the moves of one player.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    moves: u32,
    slower: u32,
    plies: u32,
}

impl ByTables {
    /// Looks the positions of these moves up. Tables not yet loaded in this process are read or computed, which takes
    /// seconds.
    ///
    /// # Errors
    /// If the game is not chess, because only chess has tables.
    pub fn new(game: &RecordedGame, moves: &[MoveRecord]) -> Result<Self> {
        let rules = &game.definition.rules;
        if rules.name() != Chess::rules().name() {
            return Err(Error::new(
                Kind::Input,
                format!("look game {} up in tables", game.game_id),
            )
            .because(format!("it is a game of {}, and tables are of chess endings", rules.name()))
            .help("leave --tables out"));
        }
        let value = |position: &str| tables::value(&Chess::parse(rules, position).ok()?);
        let positions = positions(game, moves);
        let values: Vec<_> = positions.iter().map(|position| value(&position.position)).collect();
        let judged = values
            .windows(2)
            .map(|both| Some(Judged { before: both[0]?, after: both[1]?.for_mover() }));
        Ok(Self { moves: judged.collect() })
    }

    /// Returns the verdict on one ply.
    pub(super) fn at(&self, ply: u32) -> Option<Judged> {
        self.moves.get(usize::try_from(ply).ok()?).copied().flatten()
    }

    /// Returns a summary of the game: a line for each player that moved in a position of a table.
    pub(super) fn summary(&self, game: &RecordedGame, moves: &[MoveRecord]) -> Vec<String> {
        let judged = || self.moves.iter().zip(moves).zip(0_u32..);
        let Some(first) = judged().find(|((verdict, _), _)| verdict.is_some()).map(|(_, ply)| ply)
        else {
            return vec![
                "No move of this game was made in a position that a table has.".to_owned(),
            ];
        };
        let mut lines = vec![format!("By exact tables, from ply {first} on:")];
        for (mover, name) in (0..).zip(&game.names) {
            let mut tally = Tally::default();
            let mut given_away = Vec::new();
            for ((judged, _), ply) in judged().filter(|((_, record), _)| record.mover == mover) {
                let Some(judged) = judged else { continue };
                tally.moves += 1;
                match judged.loss() {
                    Loss::None => {}
                    Loss::Plies(plies) => {
                        tally.slower += 1;
                        tally.plies += plies;
                    }
                    Loss::Outcome => given_away.push((ply, *judged)),
                }
            }
            if tally.moves > 0 {
                lines.push(format!("  {name}: {}", tally.words(given_away.len())));
            }
            lines.extend(
                given_away
                    .into_iter()
                    .map(|(ply, judged)| format!("    ply {ply}: {}", judged.words())),
            );
        }
        lines
    }
}

impl Tally {
    fn words(self, given_away: usize) -> String {
        let Self { moves, slower, plies } = self;
        let best = moves as usize - slower as usize - given_away;
        let mut words = format!("{best} of {moves} moves the best");
        if slower > 0 {
            words.push_str(&format!(", {slower} worse by {plies} plies in all"));
        }
        if given_away > 0 {
            words.push_str(&format!(", {given_away} gave a win or a draw away"));
        }
        words
    }
}

impl Judged {
    fn loss(self) -> Loss {
        let Self { before, after } = self;
        if before.value() != after.value() {
            return Loss::Outcome;
        }
        match before.on_scale().abs_diff(after.on_scale()) {
            0 => Loss::None,
            plies => Loss::Plies(plies),
        }
    }

    /// Completes "by the table: …".
    pub(super) fn words(self) -> String {
        let Self { before, after } = self;
        let then = match (before, self.loss()) {
            (TableValue::Draw, Loss::None) => "the move keeps the draw".to_owned(),
            (_, Loss::None) => "the move is the best".to_owned(),
            (TableValue::Loss { .. }, Loss::Plies(plies)) => {
                format!("the move loses {plies} plies sooner")
            }
            (_, Loss::Plies(plies)) => format!("the move wins {plies} plies later"),
            (_, Loss::Outcome) => format!("the move gives that away: {}", value_words(after)),
        };
        format!("{}; {then}", value_words(before))
    }
}

/// Describes a position's value to the side to move.
fn value_words(value: TableValue) -> String {
    match value {
        TableValue::Win { plies: 1 } => "mates in 1 ply".to_owned(),
        TableValue::Win { plies } => format!("mates in {plies} plies"),
        TableValue::Draw => "a draw".to_owned(),
        TableValue::Loss { plies } => format!("is mated in {plies} plies"),
    }
}

/// A value for programs, from the mover's view.
#[derive(Debug, Serialize)]
pub(super) struct ValueJson {
    /// 1, 0 or -1.
    value: i32,
    /// To mate; null for a draw.
    plies: Option<u32>,
}

/// A verdict for programs.
#[derive(Debug, Serialize)]
pub(super) struct JudgedJson {
    best: ValueJson,
    made: ValueJson,
}

impl From<Judged> for JudgedJson {
    fn from(Judged { before, after }: Judged) -> Self {
        let json = |value: TableValue| ValueJson { value: value.value(), plies: value.plies() };
        Self { best: json(before), made: json(after) }
    }
}
