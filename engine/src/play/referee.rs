//! Whether a record is one of a game: it is played again by the rules, without any search.

use std::fmt::{Debug, Display};
use std::ops::ControlFlow;

use crate::core::host::{Host, Timeless};
use crate::core::rules::Rules;
use crate::core::termination::Termination;
use crate::games::game::Game;
use crate::play::arbiter::{Board, PlayError, arbitrate};
use crate::play::records::{GameRecord, MoveRecord, Outcome, SearchReport};
use crate::play::seat::{Answer, Fault, OutsidePlayer, OutsideSeat, Seat, TextTurn};
use crate::with_game;

/// What a record says that the rules do not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Irregularity(String);

impl Irregularity {
    /// An irregularity in words, as the end of "the record is wrong: …".
    #[must_use]
    pub fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}

/// Plays a record's moves on a board and compares what follows from the rules: that every move is legal
/// and in its usual notation, whose it is, the key of the position before it and the number of legal
/// moves there and of leaves of the full tree of its depth, which side moved first, where the game ended, why, for whom, and by how much. A forfeit is believed.
/// Where scores end a game ([`Board::adjudication`]) the recorded ones must; what else the players' searches
/// said of themselves is not looked at.
///
/// # Errors
/// The first thing that does not follow.
pub fn referee(board: &Board<'_>, record: &GameRecord) -> Result<(), Irregularity> {
    let ruled = with_game!(board.rules, G => play_again::<G>(board, record));
    let ruled = match ruled {
        Ok(ruled) => ruled,
        Err(PlayError::Aborted) => {
            let plies = record.moves.len();
            return Err(Irregularity(format!("the game is not over after its {plies} moves")));
        }
        Err(error) => return Err(Irregularity(error.to_string())),
    };
    for (ply, (told, ruled)) in record.moves.iter().zip(&ruled.moves).enumerate() {
        compare_moves(told, ruled)
            .map_err(|problem| Irregularity(format!("move {ply}: {problem}")))?;
    }
    if let Some(MoveRecord { mv, .. }) = record.moves.get(ruled.moves.len()) {
        let ply = ruled.moves.len();
        let problem = if ruled.termination == Termination::ILLEGAL_MOVE {
            "is not a legal move"
        } else {
            "comes after the end of the game"
        };
        return Err(Irregularity(format!("move {ply}: `{mv}` {problem}")));
    }
    differs("the side that moved first", word(record.first_side), word(ruled.first_side))
        .and_then(|()| {
            differs("the termination", record.termination.name(), ruled.termination.name())
        })
        .and_then(|()| differs("the outcome", word(record.outcome), word(ruled.outcome)))
        .and_then(|()| differs("the margin", in_words(record.margin), in_words(ruled.margin)))
        .map_err(Irregularity)
}

/// Whether a game that ended like this can have this margin, as far as can be told without its moves: there is
/// one exactly where the rules of a game that counts it ended it, and it is of who won.
///
/// # Errors
/// What does not follow.
pub fn referee_margin(
    rules: &Rules,
    outcome: Outcome,
    termination: Termination,
    margin: Option<i32>,
) -> Result<(), Irregularity> {
    let game = rules.game();
    let is_ruled = game.margin.is_some() && game.terminations.contains(&termination);
    let problem = match margin {
        // A rule that looks back may end a game that goes on by its position.
        None if !is_ruled || game.history_matters => return Ok(()),
        None => "there is no margin",
        Some(_) if !is_ruled => "there is a margin, and nothing that counts one ended the game",
        Some(margin) => match (margin.signum(), outcome) {
            (1, Outcome::Win) | (0, Outcome::Draw) | (-1, Outcome::Loss) => return Ok(()),
            _ => "the margin is not of who won",
        },
    };
    Err(Irregularity::new(problem))
}

fn play_again<G: Game>(board: &Board<'_>, record: &GameRecord) -> Result<GameRecord, PlayError> {
    let (mut first, mut second) = (Recorded(record), Recorded(record));
    let seats: [&mut dyn Seat<G>; 2] =
        [&mut OutsideSeat(&mut first), &mut OutsideSeat(&mut second)];
    arbitrate(board, seats, &Timeless, &mut |_| ControlFlow::Continue(()))
}

/// Plays what is recorded.
struct Recorded<'r>(&'r GameRecord);

impl OutsidePlayer for Recorded<'_> {
    fn choose(&mut self, turn: &TextTurn<'_>, _host: &dyn Host) -> Result<Answer<String>, Fault> {
        let GameRecord { moves, termination, .. } = self.0;
        if let Some(MoveRecord { mv, search, .. }) = moves.get(turn.moves.len()) {
            let SearchReport { depth, score, .. } = *search;
            let search = SearchReport { depth, score, ..SearchReport::UNKNOWN };
            return Ok(Answer { mv: mv.clone(), search });
        }
        Err(Fault::of_termination(*termination))
    }
}

fn compare_moves(told: &MoveRecord, ruled: &MoveRecord) -> Result<(), String> {
    differs("its notation", &told.mv, &ruled.mv)?;
    differs("who made it", told.mover, ruled.mover)?;
    differs("the key of the position before it", told.position_key, ruled.position_key)?;
    differs("the number of legal moves", told.legal_moves, ruled.legal_moves)?;
    let leaves = [told, ruled].map(|it| it.search.full_tree_leaves);
    differs("the number of leaves of the full tree", leaves[0], leaves[1])
}

/// A variant's name in lower case.
fn word(variant: impl Debug) -> String {
    format!("{variant:?}").to_lowercase()
}

/// A margin, or that there is none.
fn in_words(margin: Option<i32>) -> String {
    margin.map_or_else(|| "none".to_owned(), |margin| margin.to_string())
}

fn differs<T: PartialEq + Display>(what: &str, told: T, ruled: T) -> Result<(), String> {
    if told == ruled { Ok(()) } else { Err(format!("{what} is {ruled}, not {told}")) }
}
