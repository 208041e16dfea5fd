//! Games as text, for every game.

use std::collections::BTreeSet;
use std::fmt;

use crate::core::book::{BookFormat, BookPosition};
use crate::core::external::Protocol;
use crate::core::position::Position;
use crate::core::problem::{Problem, RangeProblem};
use crate::core::rules::Rules;
use crate::games::game::Game;
use crate::with_game;

/// A position and the moves played from it.
///
/// The notation is the position's, a colon, and the moves, each after a space: `.........: b2 a1`.
/// Without position and colon the moves start from the rules' start position.
///
/// ```
/// use spelrum_engine::games::Pentago;
/// use spelrum_engine::{Played, Rules};
///
/// let rules = Rules::from_name("pentago")?;
/// let game = Played::<Pentago>::parse(&rules, "b2-1r e5-4l")?;
/// assert_eq!(game.last().to_string(), ".......w....................b.......");
/// assert_eq!(Played::parse(&rules, &game.to_string())?, game);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played<P: Position> {
    /// The first position.
    pub start: P,
    /// Legal moves, in order.
    pub moves: Vec<P::Move>,
}

impl<P: Position> Played<P> {
    /// No moves yet.
    #[must_use]
    pub const fn from_start(start: P) -> Self {
        Self { start, moves: Vec::new() }
    }

    /// The position after all the moves.
    #[must_use]
    pub fn last(&self) -> P {
        let mut position = self.start.clone();
        for &mv in &self.moves {
            position.play_unchecked(mv);
        }
        position
    }
}

impl<P: Game> Played<P> {
    /// Reads a game.
    ///
    /// # Errors
    /// If the position cannot be read, or a move cannot be read or is not legal; the problem names its
    /// ply.
    pub fn parse(rules: &Rules, text: &str) -> Result<Self, Problem> {
        let (start, moves) = match text.split_once(':') {
            None => (P::start(rules).map_err(|problem| problem.moved_to(()))?, text),
            Some((position, moves)) => (P::parse(rules, position.trim())?, moves),
        };
        let mut played = Self::from_start(start);
        let mut position = played.start.clone();
        for (ply, text) in (1..).zip(moves.split_whitespace()) {
            let mv = parse_legal_move(&position, text).map_err(|error| {
                Problem::new(format!("ply {ply}: {}", error.what), error.remedy)
            })?;
            played.moves.push(mv);
            position.play_unchecked(mv);
        }
        Ok(played)
    }
}

impl<P: Position> fmt::Display for Played<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.start)?;
        self.moves.iter().try_for_each(|mv| write!(f, " {mv}"))
    }
}

/// Reads a move and checks that it is legal here.
///
/// # Errors
/// If the text is not a move of the game, or the move is not legal in the position.
pub fn parse_legal_move<P: Position>(position: &P, text: &str) -> Result<P::Move, Problem> {
    let mv = position.parse_move(text)?;
    if position.is_legal(mv) {
        return Ok(mv);
    }
    let problem = format!("`{text}` is not legal in `{position}`");
    let remedy = match position.ending() {
        Some(ending) => {
            format!("leave it out: the game is over ({})", P::describe(ending))
        }
        None => format!("a legal move is `{}`", position.nth_legal_move(0)),
    };
    Err(Problem::new(problem, remedy))
}

/// The legal moves of a position in the game's notation, in canonical order.
///
/// # Errors
/// If the text is not a position of this game, or the game is over there.
pub fn legal_moves(rules: &Rules, position: &str) -> Result<Vec<String>, Problem> {
    fn typed<G: Game>(rules: &Rules, position: &str) -> Result<Vec<String>, Problem> {
        let mut moves = Vec::new();
        opening_position::<G>(rules, position)?.legal_moves(&mut moves);
        Ok(moves.iter().map(ToString::to_string).collect())
    }
    with_game!(rules, G => typed::<G>(rules, position))
}

/// The moves of a game in an external engine's notation, preceded by those that lead from the start to the
/// opening. `None` if the game cannot derive moves to the opening.
///
/// # Errors
/// If the opening or a move is not of this game.
pub fn engine_moves<'m>(
    rules: &Rules,
    opening: &str,
    moves: impl IntoIterator<Item = &'m str>,
    protocol: Protocol,
) -> Result<Option<Vec<String>>, Problem> {
    fn typed<'m, G: Game>(
        rules: &Rules,
        opening: &str,
        moves: impl IntoIterator<Item = &'m str>,
        protocol: Protocol,
    ) -> Result<Option<Vec<String>>, Problem> {
        let mut position = G::parse(rules, opening)?;
        let Some(leading) = position.moves_from_start() else { return Ok(None) };
        let write = |mv: G::Move| G::engine_move(mv, protocol).unwrap_or_else(|| mv.to_string());
        let mut moves_of_game: Vec<String> = leading.into_iter().map(write).collect();
        for text in moves {
            let mv = parse_legal_move(&position, text)?;
            moves_of_game.push(write(mv));
            position.play_unchecked(mv);
        }
        Ok(Some(moves_of_game))
    }
    with_game!(rules, G => typed::<G>(rules, opening, moves, protocol))
}

/// Converts a move of an external engine to the game's notation, in the position after these moves. The
/// arbiter checks whether it is legal.
///
/// # Errors
/// If it is not a move of the game, or an earlier move is not.
pub fn parse_engine_move<'m>(
    rules: &Rules,
    opening: &str,
    moves: impl IntoIterator<Item = &'m str>,
    text: &str,
    protocol: Protocol,
) -> Result<String, Problem> {
    fn typed<'m, G: Game>(
        rules: &Rules,
        opening: &str,
        moves: impl IntoIterator<Item = &'m str>,
        text: &str,
        protocol: Protocol,
    ) -> Result<String, Problem> {
        let mut position = G::parse(rules, opening)?;
        for text in moves {
            position.play_unchecked(parse_legal_move(&position, text)?);
        }
        Ok(position.parse_engine_move(text, protocol)?.to_string())
    }
    with_game!(rules, G => typed::<G>(rules, opening, moves, text, protocol))
}

/// The positions of a book in the game's notation, in the book's order: each line of EPD, and of each game of
/// PGN the position after `plies` plies, or its last if it has fewer or `plies` is `None`. Positions equal to
/// earlier ones, up to the game's symmetries, are left out.
///
/// # Errors
/// If the game has no books in this format, the book has an error, or a game is over where it is cut.
pub fn book_positions(
    rules: &Rules,
    format: BookFormat,
    text: &str,
    plies: Option<u32>,
) -> Result<Vec<BookPosition<String>>, RangeProblem> {
    book_entries(rules, format, text, plies).into_iter().collect()
}

/// [`book_positions`], with an error in place of each line or game that cannot be read, or that is over where
/// it is cut. An error without bytes is about the whole book.
#[must_use]
pub fn book_entries(
    rules: &Rules,
    format: BookFormat,
    text: &str,
    plies: Option<u32>,
) -> Vec<Result<BookPosition<String>, RangeProblem>> {
    fn typed<G: Game>(
        rules: &Rules,
        format: BookFormat,
        text: &str,
        plies: Option<u32>,
    ) -> Vec<Result<BookPosition<String>, RangeProblem>> {
        let start = match G::start(rules) {
            Ok(start) => start,
            Err(problem) => return vec![Err(problem.moved_to(0..0))],
        };
        let mut seen = BTreeSet::new();
        let mut positions = Vec::new();
        for found in G::read_book(&start, format, text, plies) {
            let found =
                found.and_then(|BookPosition { position, place }| match position.ending() {
                    None => Ok(BookPosition { position, place }),
                    Some(ending) => Err(Problem::at(
                        place,
                        format!("here the game is over ({})", G::describe(ending)),
                        "leave it out, or take fewer plies of each game",
                    )),
                });
            match found {
                Err(error) => positions.push(Err(error)),
                Ok(BookPosition { position, place }) if seen.insert(position.canonical_key()) => {
                    positions.push(Ok(BookPosition { position: position.to_string(), place }));
                }
                Ok(_) => {}
            }
        }
        positions
    }
    with_game!(rules, G => typed::<G>(rules, format, text, plies))
}

/// Moves from a position, in the game's notation, converted to the customary one ([`Game::written`]).
///
/// # Errors
/// If the position or a move cannot be read, or a move is not legal.
pub fn written_moves<'m>(
    rules: &Rules,
    position: &str,
    moves: impl IntoIterator<Item = &'m str>,
) -> Result<Vec<String>, Problem> {
    fn typed<'m, G: Game>(
        rules: &Rules,
        position: &str,
        moves: impl IntoIterator<Item = &'m str>,
    ) -> Result<Vec<String>, Problem> {
        let mut position = G::parse(rules, position)?;
        let mut written = Vec::new();
        for text in moves {
            let mv = parse_legal_move(&position, text)?;
            written.push(position.written(mv));
            position.play_unchecked(mv);
        }
        Ok(written)
    }
    with_game!(rules, G => typed::<G>(rules, position, moves))
}

/// Parses a position from which a game can start or a search can move.
pub(crate) fn opening_position<G: Game>(rules: &Rules, text: &str) -> Result<G, Problem> {
    let position = G::parse(rules, text)?;
    if position.is_over() {
        return Err(Problem::new(
            format!("in `{text}` the game is over"),
            "give a position that can still be played",
        ));
    }
    Ok(position)
}
