//! The trait every game implements, and the words shared by all of them.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::evaluation::{Evaluation, EvaluationVisitor};
use crate::parameters::EvaluationInfo;
use crate::rng::{PlayoutRandom, Random};
use crate::rules::{Rules, RulesError};
use crate::search::knowledge::Knowledge;
use crate::solve::Solver;

/// Whose marbles, marks or pieces. White moves first from the start position of every game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// Moves first from the start position.
    White,
    /// The other.
    Black,
}

impl Colour {
    /// The opponent's colour.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }

    /// `white` or `black`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::White => "white",
            Self::Black => "black",
        }
    }

    /// 0 for white, 1 for black.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::White => 0,
            Self::Black => 1,
        }
    }
}

/// How a position that is over ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ending {
    /// The winner, or `None` for a draw.
    pub winner: Option<Colour>,
    /// Why it is over.
    pub termination: Termination,
}

impl Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.winner {
            None => write!(f, "a draw: {}", self.termination.words()),
            Some(winner) => write!(f, "{} wins: {}", winner.name(), self.termination.words()),
        }
    }
}

/// Why a game ended. The names are stored in the results database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// Pentago: a placement made five in a row; no quadrant was turned.
    FiveByPlacement,
    /// Pentago: after the turn of the quadrant exactly one side has five in a row.
    FiveByRotation,
    /// Pentago: after the turn of the quadrant both sides have five in a row: a draw.
    BothFive,
    /// The board is full and nobody has won: a draw.
    FullBoard,
    /// Tic-tac-toe: three in a row.
    ThreeInARow,
    /// Nim: the last object was taken.
    LastObject,
    /// The game reached the sweep's greatest number of plies: adjudicated a draw.
    MaxPlies,
}

impl Termination {
    /// Every termination, in order.
    pub const ALL: [Self; 7] = [
        Self::FiveByPlacement,
        Self::FiveByRotation,
        Self::BothFive,
        Self::FullBoard,
        Self::ThreeInARow,
        Self::LastObject,
        Self::MaxPlies,
    ];

    /// The name that is stored, such as `five_by_rotation`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FiveByPlacement => "five_by_placement",
            Self::FiveByRotation => "five_by_rotation",
            Self::BothFive => "both_five",
            Self::FullBoard => "full_board",
            Self::ThreeInARow => "three_in_a_row",
            Self::LastObject => "last_object",
            Self::MaxPlies => "max_plies",
        }
    }

    /// Why the game ended, in words for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::FiveByPlacement => "five in a row by a placement",
            Self::FiveByRotation => "five in a row after a turn",
            Self::BothFive => "both have five in a row",
            Self::FullBoard => "the board is full",
            Self::ThreeInARow => "three in a row",
            Self::LastObject => "the last object is taken",
            Self::MaxPlies => "the game reached its greatest number of plies",
        }
    }
}

/// A position of a two-player game of perfect information, with all that its rules need.
///
/// Moves are played by copying: a position is small and `Clone`. Whose turn it is is the
/// position's own business, so that games with passes or double moves fit.
///
/// `Display` writes the compact notation that [`Game::parse`] reads back to an equal position.
pub trait Position: Clone + Eq + Hash + Debug + Display + Send + 'static {
    /// A move. `Ord` is the canonical order in which [`Position::legal_moves`] lists moves.
    /// `Display` writes the notation that [`Position::parse_move`] reads.
    type Move: Copy + Eq + Ord + Hash + Debug + Display + Send + 'static;

    /// Who moves now; in a position that is over, who would.
    fn to_move(&self) -> Colour;

    /// How the game ended, or `None` while it goes on.
    fn ending(&self) -> Option<Ending>;

    /// Whether the game is over: whether [`Position::ending`] has an answer.
    fn is_over(&self) -> bool {
        self.ending().is_some()
    }

    /// Appends the legal moves in canonical order; none if and only if the game is over.
    fn legal_moves(&self, moves: &mut Vec<Self::Move>);

    /// The number of legal moves; 0 if and only if the game is over.
    fn legal_move_count(&self) -> u32;

    /// The legal move with this index in canonical order, without listing the others.
    ///
    /// # Panics
    /// If `index` is not below [`Position::legal_move_count`].
    fn nth_legal_move(&self, index: u32) -> Self::Move;

    /// A legal move, each equally likely, from one random number: always the one that
    /// [`Position::nth_legal_move`] has at [`Random::below`] the [`Position::legal_move_count`].
    ///
    /// # Panics
    /// If the game is over.
    fn random_move(&self, random: &mut Random) -> Self::Move {
        self.nth_legal_move(random.below(self.legal_move_count()))
    }

    /// The first move in canonical order that wins at once for who makes it, if there is one.
    ///
    /// A game that knows better than to make every move should say so.
    fn winning_move(&self) -> Option<Self::Move> {
        let mover = self.to_move();
        (0..self.legal_move_count()).map(|index| self.nth_legal_move(index)).find(|&mv| {
            let mut child = self.clone();
            child.play_unchecked(mv);
            child.ending().is_some_and(|ending| ending.winner == Some(mover))
        })
    }

    /// Plays random moves until the game is over or so many have been made, and says how many.
    ///
    /// Each legal move is equally likely: it is the one that [`Position::nth_legal_move`] has at
    /// [`PlayoutRandom::below`] the [`Position::legal_move_count`], one number for each move. A
    /// faster way of a game's own plays the same moves.
    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        while plies < plies_max && !self.is_over() {
            self.play_unchecked(self.nth_legal_move(random.below(self.legal_move_count())));
            plies += 1;
        }
        plies
    }

    /// The same, but that a side with a [`Position::winning_move`] makes it, for which it needs no
    /// number.
    fn play_decisively(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        while plies < plies_max && !self.is_over() {
            match self.winning_move() {
                Some(mv) => self.play_unchecked(mv),
                None => _ = self.play_randomly(random, 1),
            }
            plies += 1;
        }
        plies
    }

    /// Whether the move is legal here.
    fn is_legal(&self, mv: Self::Move) -> bool;

    /// Plays a legal move. What an illegal one does is unspecified, but memory-safe.
    fn play_unchecked(&mut self, mv: Self::Move);

    /// A key below 2^53 that is equal for positions that are equal up to the game's symmetries
    /// (and, but for hash collisions, only for those). Part of the recorded data: it never changes.
    fn canonical_key(&self) -> u64;

    /// The leaves of the full tree of this depth if no game in it ended early, saturating at
    /// 2^53 - 1: the yardstick that a report holds a search's evaluations against.
    fn full_tree_leaves(&self, depth: u32) -> u64;

    /// A multi-line board for people.
    fn board(&self) -> String;

    /// Reads a move in this position's notation. Legality is not checked.
    ///
    /// # Errors
    /// If the text is no move of this game.
    fn parse_move(&self, text: &str) -> Result<Self::Move, NotationError>;
}

/// A game with everything that generic code needs to go from data to it. What is played by
/// positions alone needs only [`Position`]. From a [`Rules`] to the type: [`crate::with_game!`].
pub trait Game: Knowledge {
    /// The kinds of ended games that [`crate::perft()`] counts apart, by their names in its output.
    const LEAF_KINDS: &'static [&'static str];

    /// The game's evaluations, the default first.
    const EVALUATIONS: &'static [EvaluationInfo];

    /// What finds the exact values of the game's positions.
    type Solver: Solver<Self> + Default + Debug;

    /// The start position.
    ///
    /// # Errors
    /// If the rules are another game's or fail [`Rules::validate`].
    fn start(rules: &Rules) -> Result<Self, RulesError>;

    /// Reads a position in the game's notation. A position that is over is read too.
    ///
    /// # Errors
    /// If the text is no position of this game under these rules.
    fn parse(rules: &Rules, text: &str) -> Result<Self, NotationError>;

    /// Which of [`Game::LEAF_KINDS`] a game ended in by a move of `mover` is.
    fn leaf_kind(ending: Ending, mover: Colour) -> usize;

    /// Calls the visitor with the evaluation as its own type, so that a search can be compiled
    /// for it; `None` if this game lacks the evaluation.
    fn visit_evaluation<V: EvaluationVisitor<Self>>(
        evaluation: &Evaluation,
        visitor: V,
    ) -> Option<V::Output>;
}

/// A text that is no position or no move, with what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct NotationError {
    /// What is wrong, with the place.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

impl From<RulesError> for NotationError {
    fn from(error: RulesError) -> Self {
        Self { problem: error.problem, remedy: error.remedy }
    }
}

/// The greatest number of leaves that [`Position::full_tree_leaves`] gives: 2^53 - 1.
pub(crate) const LEAVES_MAX: u64 = (1 << 53) - 1;

/// The product of the first `depth` numbers of moves, saturating at [`LEAVES_MAX`].
pub(crate) fn product_of_moves(moves: impl Iterator<Item = u64>, depth: u32) -> u64 {
    moves
        .take(usize::try_from(depth).unwrap_or(usize::MAX))
        .fold(1_u64, u64::saturating_mul)
        .min(LEAVES_MAX)
}

/// Mixes words into a key below 2^53, for all time: from 0 on, each word is XORed in and the sum
/// with 2^64 divided by the golden ratio goes through the finaliser of SplitMix64 (Steele, Lea &
/// Flood 2014, "Fast splittable pseudorandom number generators", as revised by Vigna); the key is
/// the highest 53 bits of the last result.
pub(crate) fn mix_key<const WORDS: usize>(words: [u64; WORDS]) -> u64 {
    let mixed = words.into_iter().fold(0_u64, |state, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    });
    mixed >> 11
}
