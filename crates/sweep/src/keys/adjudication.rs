//! The keys of `adjudication`, with their bounds and defaults.

use spelrum_engine::search::WIN;

use super::{Key, Kind};

/// The farthest score from 0 that a rule may demand: a win on the board.
pub(crate) const SCORE_MAX: i64 = WIN as i64;

/// Maximum number of moves that a rule may consider, or wait for.
pub(crate) const MOVES_MAX: i64 = 5_000;

/// Moves of `resign`: the usual value of match runners.
pub(crate) const RESIGN_MOVES: i64 = 3;

/// Moves of `draw`.
pub(crate) const DRAW_MOVES: i64 = 8;

/// The keys of `adjudication`, at least one of which is given.
pub(crate) const ADJUDICATION: &[Key] = &[
    Key::new(
        "resign",
        "Lost by scores",
        "A side loses whose last scores are all this bad: `{ score = 600, moves = 3, both = true }`.",
        Kind::Table(RESIGN),
    ),
    Key::new(
        "draw",
        "Drawn by scores",
        "A game is drawn if the last scores of both sides are all this near to 0: `{ score = 10, moves = 8, \
         after = 40 }`.",
        Kind::Table(DRAW),
    ),
    Key::new(
        "tables",
        "Ended by exact tables",
        "`true`: a chess game ends at its first position of four pieces or fewer, none of them a pawn, with \
         the result of the exact table: a win for the side that mates, a draw if neither does.",
        Kind::Switch { default: false },
    ),
];

/// The keys of `resign`.
pub(crate) const RESIGN: &[Key] = &[
    Key::new(
        "score",
        "",
        "A side loses if its scores are at most the negative of this, in the evaluation's unit (in chess a hundredth \
         of a pawn).",
        Kind::Whole { min: 1, max: Some(SCORE_MAX), default: None },
    )
    .required(),
    Key::new(
        "moves",
        "",
        "For how many of its latest moves in a row the loser's scores must be so bad.",
        Kind::Whole { min: 1, max: Some(MOVES_MAX), default: Some(RESIGN_MOVES) },
    ),
    Key::new(
        "both",
        "",
        "`true`: the other side's scores must also be at least `score` for as many of its own latest moves; `false`: \
         the loser's scores are enough.",
        Kind::Switch { default: true },
    ),
];

/// The keys of `draw`.
pub(crate) const DRAW: &[Key] = &[
    Key::new(
        "score",
        "",
        "A game is drawn if all scores are at most this far from 0, in the evaluation's unit (in chess a hundredth of \
         a pawn).",
        Kind::Whole { min: 0, max: Some(SCORE_MAX), default: None },
    )
    .required(),
    Key::new(
        "moves",
        "",
        "For how many of each side's latest moves in a row scores must be so near to 0.",
        Kind::Whole { min: 1, max: Some(MOVES_MAX), default: Some(DRAW_MOVES) },
    ),
    Key::new(
        "after",
        "",
        "How many full moves, of two plies each, must have been played from the opening first.",
        Kind::Whole { min: 0, max: Some(MOVES_MAX), default: Some(0) },
    ),
    Key::new(
        "restart",
        "",
        "`true`: a capture or a pawn move is the first move that counts, as in fastchess and cutechess; in \
         chess only.",
        Kind::Switch { default: false },
    ),
];
