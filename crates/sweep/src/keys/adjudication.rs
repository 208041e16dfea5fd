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
pub(crate) static ADJUDICATION: [Key; 3] = [
    Key::new(
        "resign",
        "Lost by scores",
        "A side loses whose last scores are all this bad: { score = 600, moves = 3, both = true }.",
        Kind::Table(&RESIGN),
    ),
    Key::new(
        "draw",
        "Drawn by scores",
        "A game is drawn if the last scores of both sides are all this near to 0: \
         { score = 10, moves = 8, after = 40 }.",
        Kind::Table(&DRAW),
    ),
    Key::new(
        "tables",
        "Ended by exact tables",
        "Whether a chess game ends as the exact table of its last four pieces or fewer says. Default: false.",
        Kind::Switch { default: false },
    ),
];

/// The keys of `resign`.
pub(crate) static RESIGN: [Key; 3] = [
    Key::new(
        "score",
        "",
        "How far below 0 the loser's scores are, in the evaluation's unit: hundredths of a pawn in chess.",
        Kind::Whole { min: 1, max: Some(SCORE_MAX), default: None },
    )
    .required(),
    Key::new(
        "moves",
        "",
        "In how many of its moves, one behind the other. Default: 3.",
        Kind::Whole { min: 1, max: Some(MOVES_MAX), default: Some(RESIGN_MOVES) },
    ),
    Key::new(
        "both",
        "",
        "Whether the winner's scores must be as far above 0 in as many moves. Default: true.",
        Kind::Switch { default: true },
    ),
];

/// The keys of `draw`.
pub(crate) static DRAW: [Key; 4] = [
    Key::new(
        "score",
        "",
        "How far from 0 scores may be, in the evaluation's unit: hundredths of a pawn in chess.",
        Kind::Whole { min: 0, max: Some(SCORE_MAX), default: None },
    )
    .required(),
    Key::new(
        "moves",
        "",
        "In how many moves of each side, one behind the other. Default: 8.",
        Kind::Whole { min: 1, max: Some(MOVES_MAX), default: Some(DRAW_MOVES) },
    ),
    Key::new(
        "after",
        "",
        "Not before so many full moves, of two plies, from the opening. Default: 0.",
        Kind::Whole { min: 0, max: Some(MOVES_MAX), default: Some(0) },
    ),
    Key::new(
        "restart",
        "",
        "Whether counting starts again at each capture and pawn move of chess, as other match runners count. Default: \
         false.",
        Kind::Switch { default: false },
    ),
];
