//! Checks records of games by replaying them by the rules, without any search.

use std::cell::Cell;
use std::fmt::{Debug, Display};
use std::ops::ControlFlow;
use std::time::Duration;

use crate::core::host::{Host, Timeless};
use crate::core::position::Ending;
use crate::core::rules::Rules;
use crate::core::termination::Termination;
use crate::games::game::Game;
use crate::play::arbiter::{Board, PlayError, arbitrate};
use crate::play::records::{GameRecord, MoveRecord, Outcome, SearchReport};
use crate::play::seat::{Answer, ExternalPlayer, ExternalSeat, Fault, Seat, TextTurn};
use crate::with_game;

/// A statement of a record that the rules contradict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Irregularity(String);

impl Irregularity {
    /// The irregularity, as the end of "the record is wrong: …".
    #[must_use]
    pub fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}

/// Replays a record's moves on a board and compares all that follows from the rules: that every move is legal
/// and in its usual notation, the mover, the key of the position and the number of legal moves before it and
/// of leaves of the full tree of its depth, the side that moved first, and the game's end, reason, result and
/// margin. A forfeit is taken as true, and so is what Syzygy tables give in a position that the rule covers
/// ([`SyzygyRule`](crate::SyzygyRule)): who referees need not have them. If scores end a game ([`Board::adjudication`]), the recorded ones must
/// do so; other reports of the players' searches are ignored.
///
/// # Errors
/// The first statement that the rules contradict.
pub fn referee(board: &Board<'_>, record: &GameRecord) -> Result<(), Irregularity> {
    let ruled = with_game!(board.rules, G => replay::<G>(board, record));
    let ruled = match ruled {
        Ok(ruled) => ruled,
        Err(PlayError::Aborted) => {
            let plies = record.moves.len();
            return Err(Irregularity(format!("the game is not over after its {plies} moves")));
        }
        Err(error) => return Err(Irregularity(error.to_string())),
    };
    for (ply, (recorded, ruled)) in record.moves.iter().zip(&ruled.moves).enumerate() {
        compare_moves(recorded, ruled)
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
    check_equal("the side that moved first", word(record.first_side), word(ruled.first_side))
        .and_then(|()| {
            check_equal("the termination", record.termination.name(), ruled.termination.name())
        })
        .and_then(|()| check_equal("the outcome", word(record.outcome), word(ruled.outcome)))
        .and_then(|()| check_equal("the margin", in_words(record.margin), in_words(ruled.margin)))
        .map_err(Irregularity)
}

/// Checks without the moves whether a game that ended like this can have this margin: there is one exactly if
/// the rules of a game with margins ended it, and its sign is the winner's.
///
/// # Errors
/// The contradiction.
pub fn referee_margin(
    rules: &Rules,
    outcome: Outcome,
    termination: Termination,
    margin: Option<i32>,
) -> Result<(), Irregularity> {
    let game = rules.game();
    let is_ruled = game.margin.is_some() && game.terminations.contains(&termination);
    let problem = match margin {
        // A history rule may end a game whose position is not over.
        None if !is_ruled || game.history_matters => return Ok(()),
        None => "there is no margin",
        Some(_) if !is_ruled => "there is a margin, but no rule that counts one ended the game",
        Some(margin) => match (margin.signum(), outcome) {
            (1, Outcome::Win) | (0, Outcome::Draw) | (-1, Outcome::Loss) => return Ok(()),
            _ => "the margin contradicts the outcome",
        },
    };
    Err(Irregularity::new(problem))
}

fn replay<G: Game>(board: &Board<'_>, record: &GameRecord) -> Result<GameRecord, PlayError> {
    let (mut first, mut second) = (Recorded(record), Recorded(record));
    let seats: [&mut dyn Seat<G>; 2] =
        [&mut ExternalSeat(&mut first), &mut ExternalSeat(&mut second)];
    let host = RecordedEnd { record, moves: Cell::new(0) };
    arbitrate(board, seats, &host, &mut |_| {
        host.moves.update(|moves| moves + 1);
        ControlFlow::Continue(())
    })
}

/// Has the tables that ended the recorded game, if tables did.
struct RecordedEnd<'r> {
    record: &'r GameRecord,
    /// The number of moves made.
    moves: Cell<usize>,
}

impl Host for RecordedEnd<'_> {
    fn wall(&self) -> Duration {
        Timeless.wall()
    }

    fn cpu(&self) -> Duration {
        Timeless.cpu()
    }

    fn syzygy_ending(&self, _position: &str, _fifty_moves: bool) -> Option<Ending> {
        let GameRecord { moves, termination, outcome, first_side, .. } = self.record;
        let is_here = *termination == Termination::SYZYGY && moves.len() == self.moves.get();
        let winner = match outcome {
            Outcome::Win => Some(*first_side),
            Outcome::Draw => None,
            Outcome::Loss => Some(first_side.other()),
        };
        is_here.then_some(Ending { winner, termination: *termination })
    }
}

/// Plays the recorded moves.
struct Recorded<'r>(&'r GameRecord);

impl ExternalPlayer for Recorded<'_> {
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

fn compare_moves(recorded: &MoveRecord, ruled: &MoveRecord) -> Result<(), String> {
    check_equal("its notation", &recorded.mv, &ruled.mv)?;
    check_equal("the mover", recorded.mover, ruled.mover)?;
    check_equal("the key of the position before it", recorded.position_key, ruled.position_key)?;
    check_equal("the number of legal moves", recorded.legal_moves, ruled.legal_moves)?;
    let leaves = [recorded, ruled].map(|side| side.search.full_tree_leaves);
    check_equal("the number of leaves of the full tree", leaves[0], leaves[1])
}

/// A variant's name in lower case.
fn word(variant: impl Debug) -> String {
    format!("{variant:?}").to_lowercase()
}

/// A margin in words, or that there is none.
fn in_words(margin: Option<i32>) -> String {
    margin.map_or_else(|| "none".to_owned(), |margin| margin.to_string())
}

fn check_equal<T: PartialEq + Display>(
    quantity: &str,
    recorded: T,
    ruled: T,
) -> Result<(), String> {
    if recorded == ruled { Ok(()) } else { Err(format!("{quantity} is {ruled}, not {recorded}")) }
}
